//! Requests: one file per area, each function of the form *parse, authorize, carry out, answer*.
//!
//! Invariant: authorization happens here and nowhere else (law 8), at each request: the caller's role in the workspace
//! that owns the id. Commands of the orchestrator are only called after it.

pub(crate) mod accept;
pub(crate) mod access;
mod agents;
mod clarifications;
mod git;
pub(crate) mod lanes;
mod messages;
mod queue;
mod repositories;
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
        action::TASK_LIST => tasks::list::list(call, payload).await,
        action::TASK_GET => tasks::get(call, payload).await,
        action::TASK_CREATE => tasks::create(call, payload).await,
        action::TASK_UPDATE => tasks::update(call, payload).await,
        action::TASK_MOVE => tasks::move_to(call, payload).await,
        action::TASK_ARCHIVE => tasks::set_archived(call, payload, true).await,
        action::TASK_UNARCHIVE => tasks::set_archived(call, payload, false).await,
        action::TASK_DELETE => tasks::delete(call, payload).await,
        action::TASK_PENDING => tasks::pending(call, payload).await,
        action::TASK_DISMISS_ERROR => tasks::dismiss_error(call, payload).await,
        action::TASK_RECOVER => tasks::recover(call, payload).await,
        action::SESSION_LAUNCH => sessions::launch(call, payload).await,
        action::SESSION_SUBSCRIBE => subscriptions::session(call, payload).await,
        action::SESSION_UNSUBSCRIBE => subscriptions::leave_session(call, payload),
        action::SESSION_FOCUS => subscriptions::focus(call, payload).await,
        action::SESSION_UNFOCUS => subscriptions::unfocus(call, payload),
        action::SESSION_GIT_REFRESH => git::refresh(call, payload).await,
        action::SESSION_LIST => sessions::list(call, payload).await,
        action::SESSION_RENAME => sessions::rename(call, payload).await,
        action::SESSION_SET_PRIMARY => sessions::set_primary(call, payload).await,
        action::SESSION_CLOSE => sessions::close(call, payload).await,
        action::SESSION_STOP => sessions::stop(call, payload).await,
        action::SESSION_DELETE => sessions::delete(call, payload).await,
        action::SESSION_SET_MODEL => sessions::set_model(call, payload).await,
        action::SESSION_SET_MODE => sessions::set_mode(call, payload).await,
        action::SESSION_SET_OPTION => sessions::set_option(call, payload).await,
        action::MESSAGE_ADD => messages::add(call, payload).await,
        action::MESSAGE_RESEND => messages::resend(call, payload).await,
        action::MESSAGE_DELETE => messages::delete(call, payload).await,
        action::MESSAGE_LIST => messages::list(call, payload).await,
        action::MESSAGE_GET => messages::get(call, payload).await,
        action::MESSAGE_QUEUE_LIST => queue::list(call, payload).await,
        action::MESSAGE_QUEUE_UPDATE => queue::update(call, payload).await,
        action::MESSAGE_QUEUE_REORDER => queue::reorder(call, payload).await,
        action::MESSAGE_QUEUE_SEND_NOW => queue::send_now(call, payload).await,
        action::MESSAGE_QUEUE_REMOVE => queue::remove(call, payload).await,
        action::CLARIFICATION_RESPOND => clarifications::respond(call, payload).await,
        action::PERMISSION_RESPOND => messages::respond_permission(call, payload).await,
        action::AGENT_CANCEL => sessions::cancel_turn(call, payload).await,
        action::GIT_CHANGES => git::changes(call, payload).await,
        action::GIT_DIFF => git::diff(call, payload).await,
        action::GIT_MERGE_INTO_BASE => git::merge_into_base(call, payload).await,
        action::REPOSITORY_INSPECT => repositories::inspect(call, payload).await,
        action::REPOSITORY_SUGGEST => repositories::suggest(call, payload).await,
        action::REPOSITORY_BRANCHES => repositories::branches(call, payload).await,
        action::REPOSITORY_ADD => repositories::add(call, payload).await,
        action::REPOSITORY_UPDATE => repositories::update(call, payload).await,
        action::REPOSITORY_REMOVE => repositories::remove(call, payload).await,
        action::AGENT_KNOWN => Ok(agents::known(call)),
        action::AGENT_PROFILE_CREATE => agents::create_profile(call, payload).await,
        action::AGENT_PROFILE_UPDATE => agents::update_profile(call, payload).await,
        action::AGENT_PROFILE_DELETE => agents::delete_profile(call, payload).await,
        _ => Err(Refusal::unknown_action()),
    }
}
