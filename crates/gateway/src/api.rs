//! What requests work with once start-up is over.

use crate::client::Client;
use crate::focus::Focus;
use crate::hub::Hub;
use model::clock::Timestamp;
use model::ids::{EnvironmentId, SessionId};
use model::workspace::Role;
use projector::running::Projector;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::open::Store;
use tokio_util::task::TaskTracker;

/// The open API: everything a request may read from or write through.
pub struct Api {
    pub(crate) store: Store,
    pub(crate) hub: Arc<Hub>,
    pub(crate) projector: Projector,
    pub(crate) server_generation: String,
    /// Accepted requests; they finish although their connection goes.
    pub(crate) requests: TaskTracker,
    focus: Mutex<Focus>,
}

impl Api {
    /// The API over a store, with the hub that its events are published to. `server_generation` changes with every
    /// start of the server.
    #[must_use]
    pub fn new(
        store: Store,
        hub: Arc<Hub>,
        projector: Projector,
        server_generation: String,
    ) -> Self {
        Self {
            store,
            hub,
            projector,
            server_generation,
            requests: TaskTracker::new(),
            focus: Mutex::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// A client opened a session that it had not open.
    pub(crate) fn opened(&self, _session_id: &SessionId, _role: Role) {}

    /// A client looks at a session of this environment.
    pub(crate) fn focus(
        &self,
        client: &Client,
        session_id: &SessionId,
        environment_id: &EnvironmentId,
    ) {
        let _ = self
            .lock_focus()
            .begin(client.id, session_id, environment_id);
    }

    /// A client looks away from a session.
    pub(crate) fn unfocus(&self, client: &Client, session_id: &SessionId) {
        let _ = self.lock_focus().end(client.id, session_id);
    }

    /// Forgets a client and what it subscribed to and focused.
    pub(crate) async fn disconnected(&self, client: &Client) {
        self.hub.disconnect(client);
        let _ = self.lock_focus().end_all(client.id);
    }

    fn lock_focus(&self) -> MutexGuard<'_, Focus> {
        self.focus.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
