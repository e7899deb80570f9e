//! `/mcp`: the tools that flightstrip offers to the agents it started. There is one, by which an agent asks a person.
//!
//! An agent is known by the secret of its process ([`orchestrator::keys`]); it names the session in which is asked, and
//! opens nothing else of this server, as a browser's secret opens nothing here. Each process gets an MCP server of its
//! own, which ends with the process: what one agent was told can be read by no other, whatever ids they guess.
//!
//! Where to read next: [`ask_user`] for the tool.

mod arguments;
mod ask_user;
mod sessions;

use crate::api::Api;
use crate::http::State;
use crate::secret;
use ask_user::AskUser;
use axum::body::Body;
use axum::extract::{self, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use model::bounds;
use orchestrator::keys::Asker;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sessions::Sessions;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// The header by which a client of MCP names its session.
const SESSION_HEADER: &str = "mcp-session-id";

/// Cancelled when the response of a request is not read any more, or has ended.
#[derive(Clone, Debug)]
struct HungUp(CancellationToken);

/// The MCP servers of living agents, by the hashes of their secrets.
#[derive(Default)]
pub(crate) struct Mcp {
    servers: Mutex<HashMap<String, Server>>,
}

#[derive(Clone)]
struct Server {
    service: StreamableHttpService<AskUser, LocalSessionManager>,
    sessions: Sessions,
}

impl Mcp {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Every request of an agent's MCP client.
pub(crate) async fn serve(
    extract::State(state): extract::State<Arc<State>>,
    extract::Extension(api): extract::Extension<Arc<Api>>,
    mut request: Request,
) -> Response {
    let known = bearer(request.headers())
        .and_then(|secret| Some((secret::hash(secret), api.orchestrator.asker(secret)?)));
    let Some((hash, asker)) = known else {
        return (
            StatusCode::UNAUTHORIZED,
            "This is for agents that the server started, while they run.\n",
        )
            .into_response();
    };
    let server = server(&state, &api, hash, asker);
    let named = request.headers().get(SESSION_HEADER);
    let mut in_use = match named.map(|id| id.to_str().unwrap_or_default()) {
        Some(id) => server.sessions.request(id),
        None => match server.sessions.opening().await {
            Some(opening) => Some(opening),
            None => {
                return (
                    StatusCode::SERVICE_UNAVAILABLE,
                    "Too many MCP sessions are in use; end one first.\n",
                )
                    .into_response();
            }
        },
    };
    let hung_up = CancellationToken::new();
    request.extensions_mut().insert(HungUp(hung_up.clone()));
    // Before anything is awaited: a request may be dropped at any time.
    let hang_up = hung_up.drop_guard();
    let (parts, body) = server.service.handle(request).await.into_parts();
    let opened = parts.headers.get(SESSION_HEADER);
    if let (Some(in_use), Some(id)) = (&mut in_use, opened.and_then(|id| id.to_str().ok())) {
        in_use.opened(id);
    }
    let body = Body::new(body).into_data_stream().map(move |piece| {
        let _dropped_with_the_body = (&hang_up, &in_use);
        piece
    });
    Response::from_parts(parts, Body::from_stream(body))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(secret.trim())
}

/// The server of this process, made at its first request.
fn server(state: &Arc<State>, api: &Arc<Api>, hash: String, asker: Asker) -> Server {
    let mut servers = state.mcp.lock();
    if let Some(server) = servers.get(&hash) {
        return server.clone();
    }
    let end = state.stop.child_token();
    let ended = asker.ended().clone();
    let tool = AskUser {
        orchestrator: api.orchestrator.clone(),
        asker,
    };
    let mut open = LocalSessionManager::default();
    let mut session_config = SessionConfig::default();
    // It ends with the process: an agent may work for hours between two questions.
    session_config.keep_alive = None;
    open.session_config = session_config;
    let sessions = Sessions::new(open);
    // Whose request it is was checked at the door, as for every other route.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(bounds::MCP_BODY_BYTES)
        .with_cancellation_token(end.clone());
    let server = Server {
        service: StreamableHttpService::new(
            move || Ok(tool.clone()),
            Arc::clone(&sessions.open),
            config,
        ),
        sessions,
    };
    servers.insert(hash.clone(), server.clone());
    drop(servers);
    let state = Arc::clone(state);
    let tracker = state.connections.clone();
    tracker.spawn(async move {
        tokio::select! {
            () = ended.cancelled() => {}
            () = end.cancelled() => {}
        }
        end.cancel();
        state.mcp.lock().remove(&hash);
    });
    server
}
