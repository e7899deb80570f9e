//! What requests work with once start-up is over.

use crate::client::Client;
use crate::hub::Hub;
use model::clock::Timestamp;
use std::sync::Arc;
use store::open::Store;
use tokio_util::task::TaskTracker;

/// The open API: everything a request may read from or write through.
pub struct Api {
    pub(crate) store: Store,
    pub(crate) hub: Arc<Hub>,
    pub(crate) server_generation: String,
    /// Accepted requests; they finish although their connection goes.
    pub(crate) requests: TaskTracker,
}

impl Api {
    /// The API over a store, with the hub that its events are published to. `server_generation` changes with every
    /// start of the server.
    #[must_use]
    pub fn new(store: Store, hub: Arc<Hub>, server_generation: String) -> Self {
        Self {
            store,
            hub,
            server_generation,
            requests: TaskTracker::new(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// Forgets a client and what it subscribed to and focused.
    pub(crate) async fn disconnected(&self, client: &Client) {
        self.hub.disconnect(client);
    }
}
