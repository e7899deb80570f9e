//! Requests: one file per area, each function of the form *parse, authorize, carry out, answer*.
//!
//! Invariant: authorization happens here and nowhere else (law 8), at each request: the caller's role in the workspace
//! that owns the id. Commands of the orchestrator are only called after it.

pub(crate) mod accept;
pub(crate) mod access;
mod messages;
mod sessions;
mod subscriptions;
pub(crate) mod tasks;

use crate::api::Api;
use crate::client::Client;
use crate::frame::Lesson;
use crate::refusal::Refusal;
use flow::outbox::keys::Scope;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use wire::action::request as action;
use wire::response::Done;

/// Who asks, and what there is to answer with.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) api: Arc<Api>,
    pub(crate) client: Arc<Client>,
}

/// A successful outcome.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) payload: Box<RawValue>,
    /// What the client holds of the messages in it.
    pub(crate) lessons: Vec<Lesson>,
    /// The scope whose queue is served once this is written.
    pub(crate) opens: Option<Scope>,
}

impl Reply {
    pub(crate) fn new<P: Serialize>(payload: &P) -> Self {
        let payload = serde_json::value::to_raw_value(payload)
            .expect("wire types have string keys and finite numbers only");
        Self {
            payload,
            lessons: Vec::new(),
            opens: None,
        }
    }

    /// Success, with nothing more to say.
    pub(crate) fn done() -> Self {
        Self::new(&Done {})
    }
}

/// Reads a payload as what the action takes.
pub(crate) fn parse<P: DeserializeOwned>(payload: Value) -> Result<P, Refusal> {
    serde_json::from_value(payload).map_err(|error| {
        Refusal::bad_request(format!("The payload does not fit the action: {error}."))
    })
}

/// Carries out a request.
pub(crate) async fn dispatch(call: &Call, action: &str, payload: Value) -> Result<Reply, Refusal> {
    match action {
        action::PING => Ok(Reply::done()),
        action::CLIENT_HELLO => subscriptions::hello(call, payload),
        action::WORKSPACE_SUBSCRIBE => subscriptions::workspace(call, payload).await,
        action::WORKSPACE_UNSUBSCRIBE => subscriptions::leave_workspace(call, payload),
        action::SESSION_SUBSCRIBE => subscriptions::session(call, payload).await,
        action::SESSION_UNSUBSCRIBE => subscriptions::leave_session(call, payload),
        action::SESSION_FOCUS => subscriptions::focus(call, payload).await,
        action::SESSION_UNFOCUS => subscriptions::unfocus(call, payload),
        action::TASK_LIST => tasks::list(call, payload).await,
        action::TASK_GET => tasks::get(call, payload).await,
        action::TASK_PENDING => tasks::pending(call, payload).await,
        action::SESSION_LIST => sessions::list(call, payload).await,
        action::MESSAGE_LIST => messages::list(call, payload).await,
        action::MESSAGE_GET => messages::get(call, payload).await,
        action::MESSAGE_QUEUE_LIST => messages::queue(call, payload).await,
        _ => Err(Refusal::unknown_action()),
    }
}
