//! What requests work with once start-up is over.

use crate::client::Client;
use crate::hub::Hub;
use model::clock::Timestamp;
use model::ids::{EnvironmentId, SessionId};
use model::workspace::Role;
use orchestrator::orchestrator::Orchestrator;
use projector::running::Projector;
use std::collections::HashSet;
use std::sync::Arc;
use store::open::Store;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The open API: everything a request may read from or write through.
pub struct Api {
    pub(crate) store: Store,
    pub(crate) orchestrator: Orchestrator,
    pub(crate) projector: Projector,
    pub(crate) hub: Arc<Hub>,
    pub(crate) server_generation: String,
    /// Accepted requests; they finish although their connection goes.
    pub(crate) requests: TaskTracker,
}

impl Api {
    /// The API over an orchestrator and the hub that its events are published to. `server_generation` changes with
    /// every start of the server.
    #[must_use]
    pub fn new(
        orchestrator: Orchestrator,
        projector: Projector,
        hub: Arc<Hub>,
        server_generation: String,
    ) -> Self {
        let store = orchestrator.store().clone();
        Self {
            store,
            orchestrator,
            projector,
            hub,
            server_generation,
            requests: TaskTracker::new(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// A client opened a session that it had not open: its agent may be resumed, and its environment is looked at once
    /// after the stored rows were sent. Neither holds up the acknowledgement, and both only save time (the next prompt
    /// resumes as well, the next poll looks as well), so they are left out when the client has too much under way.
    pub(crate) fn opened(
        &self,
        client: &Client,
        session_id: SessionId,
        environment_id: Option<EnvironmentId>,
        role: Role,
    ) {
        let Some(place) = client.background() else {
            tracing::debug!(client = client.id.0, session = %session_id, "an opened session is not prepared: too much is under way");
            return;
        };
        let orchestrator = self.orchestrator.clone();
        self.requests.spawn(async move {
            let _place = place;
            if role.may_write()
                && let Err(error) = orchestrator.session_opened(&session_id).await
            {
                tracing::warn!(error = &error as &dyn std::error::Error, session = %session_id, "an opened session was not resumed");
            }
            if let Some(environment_id) = environment_id
                && let Err(error) = orchestrator.refresh_git(&environment_id).await
            {
                tracing::warn!(error = &error as &dyn std::error::Error, environment = %environment_id, "an observation failed");
            }
        });
    }

    /// Keeps polling priority in step with where people look, until `stop`.
    pub(crate) async fn follow_focus(self: Arc<Self>, stop: CancellationToken) {
        let mut focused = HashSet::new();
        loop {
            tokio::select! {
                () = self.hub.focus_changed() => {}
                () = stop.cancelled() => return,
            }
            let wanted = self.hub.focused_environments();
            for id in focused.difference(&wanted) {
                self.orchestrator.set_focus(id, false);
            }
            for id in wanted.difference(&focused) {
                self.orchestrator.set_focus(id, true);
            }
            focused = wanted;
        }
    }
}
