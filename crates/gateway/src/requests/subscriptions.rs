//! What a client wants to be told: the feed of a workspace, the detail of a session, and where its eyes are.
//!
//! Membership is registered before anything is read, under the access generation that the authorization was read
//! under. The acknowledgement is written first; what the snapshot and the live events say meets in one queue, where
//! the newer of each state stays (API-02). Focus acknowledges and changes polling priority, nothing else (API-03).

use super::access::{Need, Subject, require, require_in};
use super::{Call, Reply, parse};
use crate::client::Client;
use crate::focus::Looked;
use crate::frame::OutFrame;
use crate::hub::publish::UNVERSIONED;
use crate::hub::registry::{Joined, SessionPlace};
use crate::refusal::Refusal;
use flow::outbox::keys::{Scope, StateKey};
use model::ids::SessionId;
use model::workspace::Role;
use serde_json::Value;
use wire::action::notification as action;
use wire::notification::{PendingChanged, SessionPayload};
use wire::request::{ClientHello, SessionRef, WorkspaceRef};

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
            Joined::New => return Ok(opening(Scope::Workspace(workspace_id))),
            Joined::Already => return Ok(Reply::done()),
            Joined::Gone => return Err(gone()),
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

pub(super) async fn session(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    for _ in 0..ACCESS_ATTEMPTS {
        let (place, role, generation) = locate(call, &session_id).await?;
        match call.api.hub.join_session(&call.client, &place, generation) {
            Joined::New => {
                if let Err(refusal) = send_snapshot(call, &session_id).await {
                    call.api.hub.leave_session(&call.client, &session_id);
                    return Err(refusal);
                }
                call.api
                    .opened(&call.client, session_id.clone(), place.environment_id, role);
                return Ok(opening(Scope::Session(session_id)));
            }
            Joined::Already => return Ok(Reply::done()),
            Joined::TooMany => return Err(too_many()),
            Joined::Gone => return Err(gone()),
            Joined::AccessChanged => {}
        }
    }
    Err(access_changes())
}

pub(super) fn leave_session(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    call.api.hub.leave_session(&call.client, &session_id);
    Ok(Reply::done())
}

pub(super) async fn focus(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    let (place, ..) = locate(call, &session_id).await?;
    match call.api.hub.focus(&call.client, &place) {
        Looked::Noted => Ok(Reply::done()),
        Looked::TooMany => Err(too_many()),
        Looked::Gone => Err(gone()),
    }
}

pub(super) fn unfocus(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    call.api.hub.unfocus(&call.client, &session_id);
    Ok(Reply::done())
}

/// Where a session belongs, and the access generation under which that was read.
async fn locate(call: &Call, session_id: &SessionId) -> Result<(SessionPlace, Role, u64), Refusal> {
    // The generation is read first; the workspace it belongs to is only known after a look that decides nothing.
    let workspace_id = {
        let mut tx = call.api.store.read().await?;
        store::scope::of_session(&mut tx, session_id)
            .await?
            .ok_or_else(|| Refusal::not_found("session"))?
    };
    let generation = call.api.hub.access_generation(&workspace_id);
    let mut tx = call.api.store.read().await?;
    let role = require_in(&mut tx, call, Subject::Session(session_id), Need::Read).await?;
    let session = store::sessions::get(&mut tx, session_id).await?;
    let place = SessionPlace {
        session_id: session_id.clone(),
        task_id: session.task_id,
        workspace_id: session.workspace_id,
        environment_id: session.task_environment_id,
    };
    Ok((place, role, generation))
}

/// Queues the present state of a session for one client. Live events that came since it joined are kept where they are
/// newer.
async fn send_snapshot(call: &Call, session_id: &SessionId) -> Result<(), Refusal> {
    let hub = &call.api.hub;
    let (session, report, queued, observations) = {
        let mut tx = call.api.store.read().await?;
        let session = store::sessions::get(&mut tx, session_id).await?;
        let report = store::sessions::report(&mut tx, session_id).await?;
        let queued = store::messages::queued(&mut tx, session_id).await?;
        let environments: Vec<_> = session.task_environment_id.iter().cloned().collect();
        let observations = match environments.as_slice() {
            [] => Vec::new(),
            environments => store::snapshots::current(&mut tx, environments).await?,
        };
        (session, report, queued, observations)
    };
    let pending = PendingChanged {
        session_id: session_id.clone(),
        pending_action: session.pending_action,
        pending_action_revision: session.pending_action_revision,
        resolved: None,
    };
    let (revision, task_id) = (session.revision, session.task_id.clone());
    let state = OutFrame::notification(
        action::SESSION_STATE_CHANGED,
        &SessionPayload { session },
        call.api.now(),
    );
    let to = Snapshot {
        client: &call.client,
        scope: Scope::Session(session_id.clone()),
    };
    to.state(StateKey::Session(session_id.clone()), revision, state);
    for observation in &observations {
        let (key, version, frame) = hub.git_state(
            session_id,
            &task_id,
            &observation.environment_id,
            &observation.status,
        );
        to.state(key, version, frame);
    }
    let mut reports = vec![hub.commands_state(session_id, &report.commands)];
    reports.extend(hub.settings_states(session_id, &report.settings));
    reports.push(hub.queue_state(session_id, queued));
    let awaited = call.api.orchestrator.awaited_questions(session_id);
    reports.push(hub.awaited_state(session_id, &awaited));
    reports.extend(
        report
            .usage
            .iter()
            .map(|usage| hub.usage_state(session_id, usage)),
    );
    for (key, frame) in reports {
        to.report(key, frame);
    }
    let pending = OutFrame::notification(action::SESSION_PENDING_CHANGED, &pending, call.api.now());
    call.client
        .push(|outbox| outbox.push_occurrence(&to.scope, pending));
    Ok(())
}

/// Where the frames of a snapshot go.
struct Snapshot<'a> {
    client: &'a Client,
    scope: Scope,
}

impl Snapshot<'_> {
    fn state(&self, key: StateKey, version: i64, frame: OutFrame) {
        self.client
            .push(|outbox| outbox.push_state(&self.scope, key, version, frame));
    }

    /// A report has no revision: one that came live since the join is newer than what was read.
    fn report(&self, key: StateKey, frame: OutFrame) {
        self.state(key, UNVERSIONED - 1, frame);
    }
}

fn opening(scope: Scope) -> Reply {
    Reply {
        opens: Some(scope),
        ..Reply::done()
    }
}

fn too_many() -> Refusal {
    Refusal::busy("Too many sessions are open in this client. Close one first.")
}

/// Nobody reads it: the connection is closed.
fn gone() -> Refusal {
    Refusal::conflict("This connection is closed.")
}

fn access_changes() -> Refusal {
    Refusal::busy("Who may see this workspace is being changed. Try again.")
}
