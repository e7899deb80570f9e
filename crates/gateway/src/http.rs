//! The HTTP side: who may knock, what is answered while the server starts, and the routes of the open API.
//!
//! Order of the layers, outermost first: headers on every answer; the door (`Host`, `Origin`); readiness; the secret.
//! Only signing in and the app's files need no secret; agents have secrets of their own ([`crate::mcp`]).

mod assets;
mod attachments;
mod boot;
mod content;
mod headers;
mod sign_in;
mod socket;
mod starting;

use crate::api::Api;
use crate::codes::Codes;
use crate::door::{self, Door};
use crate::mcp::{self, Mcp};
use crate::readiness::Readiness;
use crate::refusal::Refusal;
use crate::uploads::Uploads;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Router, extract};
use flow::outbox::limits::Limits;
use model::bounds;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::compression::CompressionLayer;
use wire::envelope::ErrorCode;

/// What every route sees.
pub(crate) struct State {
    pub(crate) readiness: Arc<Readiness>,
    pub(crate) codes: Arc<Codes>,
    pub(crate) limits: Limits,
    pub(crate) clients: usize,
    pub(crate) uploads: Arc<Uploads>,
    /// What agents reach.
    pub(crate) mcp: Mcp,
    /// Set when the API opens; the routes are there before.
    pub(crate) api: OnceLock<Arc<Api>>,
    pub(crate) connections: TaskTracker,
    pub(crate) stop: CancellationToken,
}

/// All routes.
pub(crate) fn router(state: Arc<State>, door: Door) -> Router {
    let signed = Router::new()
        .route("/ws", get(socket::upgrade))
        .route("/api/v1/sign-out", post(sign_in::sign_out))
        .route(
            "/api/v1/boot",
            get(boot::boot).layer(CompressionLayer::new()),
        )
        .route(
            "/api/v1/messages/{id}/content",
            get(content::content).layer(CompressionLayer::new()),
        )
        .route("/api/v1/attachments", post(attachments::upload))
        .route(
            "/api/v1/attachments/{id}",
            get(attachments::download).delete(attachments::discard),
        )
        .layer(from_fn(require_secret));
    let open = Router::new()
        .merge(signed)
        .route("/api/v1/sign-in", post(sign_in::sign_in))
        .route("/mcp", any(mcp::serve))
        .route("/api/{*rest}", any(no_such_endpoint))
        .fallback(assets::serve)
        .layer(from_fn_with_state(Arc::clone(&state), require_open));
    Router::new()
        .route("/livez", get(starting::livez))
        .route("/readyz", get(starting::readyz))
        .route(starting::SCRIPT_PATH, get(starting::script))
        .fallback_service(open.with_state(Arc::clone(&state)))
        .layer(DefaultBodyLimit::max(bounds::HTTP_BODY_BYTES))
        .layer(from_fn_with_state(Arc::new(door), door::check))
        .layer(from_fn(headers::add))
        .with_state(state)
}

/// A refusal over HTTP: the same words and codes as on the socket, under the status that says the same.
fn refused(refusal: &Refusal) -> Response {
    let status = match refusal.payload().code {
        ErrorCode::BadRequest | ErrorCode::UnknownAction => StatusCode::BAD_REQUEST,
        ErrorCode::ValidationError => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::Conflict => StatusCode::CONFLICT,
        ErrorCode::Busy => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, axum::Json(refusal.payload())).into_response()
}

async fn no_such_endpoint() -> Response {
    (StatusCode::NOT_FOUND, "There is no such endpoint.\n").into_response()
}

/// Answers for the server while it starts; afterwards hands the API to the routes.
async fn require_open(
    extract::State(state): extract::State<Arc<State>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(api) = state.api.get() else {
        return starting::not_ready(&state.readiness, request.headers());
    };
    request.extensions_mut().insert(Arc::clone(api));
    next.run(request).await
}

/// Lets only requests with a secret through, and tells the routes whose it is.
async fn require_secret(mut request: Request, next: Next) -> Response {
    let Some(api) = request.extensions().get::<Arc<Api>>().cloned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    match sign_in::authenticate(&api, request.headers()).await {
        Ok(Some(signed)) => {
            request.extensions_mut().insert(signed);
            next.run(request).await
        }
        Ok(None) => (StatusCode::UNAUTHORIZED, "Sign in first.\n").into_response(),
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a secret could not be looked up"
            );
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "The sign-in could not be checked.\n",
            )
                .into_response()
        }
    }
}
