//! What a client wants to be told: the feed of a workspace, the detail of a session, and where its eyes are.
//!
//! Membership is registered before anything is read, under the access generation that the authorization was read
//! under. The acknowledgement is written first; what the snapshot and the live events say meets in one queue, where
//! the newer of each state stays (API-02). Focus acknowledges and changes polling priority, nothing else (API-03).

use super::access::{Need, Subject, require};
use super::{Call, Reply, parse};
use crate::hub::registry::Joined;
use crate::refusal::Refusal;
use flow::outbox::keys::Scope;
use serde_json::Value;
use wire::request::{ClientHello, WorkspaceRef};

/// The capability of taking appends.
const MESSAGE_APPEND: &str = "message_append";

/// How often an authorization is read again because access changed meanwhile. It changes by hand: twice is plenty.
const ACCESS_ATTEMPTS: usize = 3;

pub(super) fn hello(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let hello: ClientHello = parse(payload)?;
    call.client
        .set_takes_appends(hello.capabilities.iter().any(|word| word == MESSAGE_APPEND));
    Ok(Reply::done())
}

pub(super) async fn workspace(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let WorkspaceRef { workspace_id } = parse(payload)?;
    for _ in 0..ACCESS_ATTEMPTS {
        let generation = call.api.hub.access_generation(&workspace_id);
        require(call, Subject::Workspace(&workspace_id), Need::Read).await?;
        match call
            .api
            .hub
            .join_workspace(&call.client, &workspace_id, generation)
        {
            Joined::New => {
                return Ok(Reply {
                    opens: Some(Scope::Workspace(workspace_id)),
                    ..Reply::done()
                });
            }
            Joined::Already => return Ok(Reply::done()),
            Joined::TooMany | Joined::AccessChanged => {}
        }
    }
    Err(access_changes())
}

pub(super) fn leave_workspace(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let WorkspaceRef { workspace_id } = parse(payload)?;
    call.api.hub.leave_workspace(&call.client, &workspace_id);
    Ok(Reply::done())
}

fn access_changes() -> Refusal {
    Refusal::busy("Who may see this workspace is being changed. Try again.")
}
