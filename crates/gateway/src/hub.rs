//! The hub: committed events go from here into the outbox of everybody who may and wants to know.
//!
//! It has no queue. Publishing (`EventHub`) maps an event to a frame, serialised once and only when somebody listens, or to
//! the key of a message, and pushes it into each subscriber's outbox under that client's lock. The detail of a session
//! goes only to clients that opened it (API-07); what a row shows goes to whoever subscribed to its workspace (API-01).
//!
//! Invariants:
//! - membership is registered before anything is read for a new subscriber, so no event falls in between;
//! - nothing here waits: no `await`, no I/O, locks for a few lines (registry first, then a client's).

pub(crate) mod publish;
pub(crate) mod registry;
mod session_events;
mod snapshot;
#[cfg(test)]
mod tests;
mod workspace_events;

use crate::client::{Client, ClientId};
use crate::focus::{Focus, Looked};
use crate::frame::OutFrame;
use flow::live_text::{LiveText, Suffix};
use flow::outbox::keys::Scope;
use flow::outbox::limits::Limits;
use model::bounds;
use model::clock::Clock;
use model::ids::{EnvironmentId, MessageId, SessionId, TaskId, UserId, WorkspaceId};
use registry::{Joined, Registry, SessionPlace};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::Notify;

/// Everybody who is connected, and the text that still grows.
pub struct Hub {
    registry: RwLock<Registry>,
    live: Mutex<LiveText>,
    focus: Mutex<Focus>,
    focus_changed: Notify,
    clock: Arc<dyn Clock>,
    next_client: AtomicU64,
}

impl Hub {
    /// A hub without clients. `clock` stamps the frames.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            registry: RwLock::default(),
            live: Mutex::default(),
            focus: Mutex::default(),
            focus_changed: Notify::new(),
            clock,
            next_client: AtomicU64::new(1),
        }
    }

    /// Drops what a person sees of a workspace, and voids every authorization for it that was read before: their
    /// membership ended or changed.
    pub fn revoke(&self, workspace_id: &WorkspaceId, user_id: &UserId) {
        let clients = self.write().revoke(workspace_id, user_id);
        self.change_focus(|focus| {
            for client in clients {
                focus.end_workspace(client, workspace_id);
            }
        });
    }

    /// Connected clients.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.read().clients.len()
    }

    pub(crate) fn connect(
        &self,
        user_id: UserId,
        secret_hash: String,
        limits: Limits,
        hello: OutFrame,
    ) -> Arc<Client> {
        let id = ClientId(self.next_client.fetch_add(1, Ordering::Relaxed));
        let client = Arc::new(Client::new(id, user_id, secret_hash, limits));
        client.push(|outbox| {
            outbox.join_at_once(&Scope::User);
            outbox.push_control(hello)
        });
        self.write().clients.insert(id, Arc::clone(&client));
        client
    }

    pub(crate) fn disconnect(&self, client: &Client) {
        self.write().remove(client);
        self.change_focus(|focus| focus.end_client(client.id));
    }

    /// Closes every connection that was made with this secret.
    pub(crate) fn sign_out(&self, secret_hash: &str) {
        for client in self.read().clients.values() {
            if client.secret_hash == secret_hash {
                client.close(wire::envelope::close::SIGNED_OUT);
            }
        }
    }

    /// The access generation of a workspace: read it before an authorization and join under it.
    pub(crate) fn access_generation(&self, workspace_id: &WorkspaceId) -> u64 {
        self.read().generation(workspace_id)
    }

    pub(crate) fn join_workspace(
        &self,
        client: &Arc<Client>,
        id: &WorkspaceId,
        generation: u64,
    ) -> Joined {
        self.write().join_workspace(client, id, generation)
    }

    pub(crate) fn join_session(
        &self,
        client: &Arc<Client>,
        place: &SessionPlace,
        generation: u64,
    ) -> Joined {
        self.write()
            .join_session(client, place, generation, bounds::OPEN_SESSIONS)
    }

    pub(crate) fn leave_workspace(&self, client: &Client, id: &WorkspaceId) {
        self.write().leave_workspace(client, id);
    }

    pub(crate) fn leave_session(&self, client: &Client, id: &SessionId) {
        self.write().leave_session(client, id);
        self.unfocus(client, id);
    }

    /// A client looks at a session. One that disconnected meanwhile looks at nothing.
    pub(crate) fn focus(&self, client: &Client, place: &SessionPlace) -> Looked {
        // Held until the focus is noted: a disconnect is either seen here, or comes after and clears it.
        let registry = self.read();
        if !registry.is_connected(client) {
            return Looked::Gone;
        }
        self.change_focus(|focus| focus.begin(client.id, place, bounds::OPEN_SESSIONS))
    }

    /// A client looks away from a session.
    pub(crate) fn unfocus(&self, client: &Client, id: &SessionId) {
        self.change_focus(|focus| focus.end(client.id, id));
    }

    /// Environments that anybody looks at.
    pub(crate) fn focused_environments(&self) -> HashSet<EnvironmentId> {
        self.focus
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .environments()
    }

    /// Waits until somebody may look elsewhere.
    pub(crate) async fn focus_changed(&self) {
        self.focus_changed.notified().await;
    }

    fn change_focus<R>(&self, change: impl FnOnce(&mut Focus) -> R) -> R {
        let outcome = change(&mut self.focus.lock().unwrap_or_else(PoisonError::into_inner));
        self.focus_changed.notify_one();
        outcome
    }

    /// What of a growing message follows `from`.
    pub(crate) fn suffix(&self, id: &MessageId, from: u64) -> Suffix {
        self.live().suffix(id, from)
    }

    fn in_workspace(&self, id: &WorkspaceId) -> Vec<Arc<Client>> {
        self.read().in_workspace(id).cloned().collect()
    }

    fn in_session(&self, id: &SessionId) -> Vec<Arc<Client>> {
        self.read().in_session(id).cloned().collect()
    }

    fn open_sessions_of(&self, task_id: &TaskId) -> Vec<SessionId> {
        self.read().of_task(task_id)
    }

    fn notification<P: Serialize>(&self, action: &str, payload: &P) -> OutFrame {
        OutFrame::notification(action, payload, self.clock.now())
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Registry> {
        self.registry
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn live(&self) -> MutexGuard<'_, LiveText> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
