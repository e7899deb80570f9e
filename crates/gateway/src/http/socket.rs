//! `GET /ws`: from an HTTP request to a served connection. Whoever is not signed in gets 401 before the upgrade.

use super::State;
use super::sign_in::{self, Signed};
use crate::api::Api;
use crate::connection;
use crate::frame::OutFrame;
use crate::listener::Progress;
use axum::extract::connect_info::ConnectInfo;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{self, Extension};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use model::bounds;
use std::sync::Arc;
use wire::action::notification as action;
use wire::envelope::{PROTOCOL, SUBPROTOCOL, close};
use wire::notification::Hello;

/// A frame is read whole up to this, so that one that is moderately too large is answered with its close code and not
/// with a reset; beyond it reading stops.
const READABLE_BYTES: usize = 2 * bounds::INBOUND_FRAME_BYTES;

/// Upgrades and serves.
pub(super) async fn upgrade(
    extract::State(state): extract::State<Arc<State>>,
    Extension(api): Extension<Arc<Api>>,
    Extension(signed): Extension<Signed>,
    ConnectInfo(progress): ConnectInfo<Progress>,
    upgrade: WebSocketUpgrade,
) -> Response {
    if state.clients <= api.hub.clients() {
        tracing::warn!(
            clients = state.clients,
            "a client is refused: too many are connected"
        );
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many clients are connected.\n",
        )
            .into_response();
    }
    if let Err(error) = sign_in::touch(&api, &signed).await {
        // The secret lives long; the next connection notes its use.
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the use of a secret could not be noted"
        );
    }
    let token = state.connections.token();
    let stop = state.stop.clone();
    let limits = state.limits.clone();
    upgrade
        .protocols([SUBPROTOCOL])
        .max_message_size(READABLE_BYTES)
        .max_frame_size(READABLE_BYTES)
        .write_buffer_size(bounds::WRITE_BATCH_BYTES)
        .on_upgrade(async move |socket| {
            let hello = Hello {
                server_generation: api.server_generation.clone(),
                protocol: PROTOCOL,
                features: vec!["message_append".to_owned()],
            };
            let hello = OutFrame::notification(action::HELLO, &hello, api.now());
            let client = api.hub.connect(
                signed.user_id.clone(),
                signed.secret_hash.clone(),
                limits,
                hello,
            );
            // A sign-out between the authentication and this moment did not see the client.
            if let Some(code) = unwelcome(&api, &signed).await {
                client.close(code);
            }
            connection::serve(socket, api, client, progress, stop).await;
            drop(token);
        })
}

/// Why a client that has just connected has to go again, if it has to.
async fn unwelcome(api: &Api, signed: &Signed) -> Option<u16> {
    match sign_in::is_still(api, signed).await {
        Ok(true) => None,
        Ok(false) => Some(close::SIGNED_OUT),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a secret could not be looked up again; its client is closed to connect anew"
            );
            Some(close::RESYNC)
        }
    }
}
