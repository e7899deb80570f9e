//! After the commit: events to the hub, pokes to the projector.

use model::event::EventHub;
use projector::running::Projector;
use std::sync::Arc;
use store::tx::Committed;

/// Where committed changes go.
#[derive(Clone)]
pub(crate) struct Publisher {
    pub(crate) hub: Arc<dyn EventHub>,
    pub(crate) projector: Projector,
}

impl Publisher {
    /// Publishes in commit order, then pokes.
    pub(crate) fn publish(&self, committed: &Committed) {
        for event in &committed.events {
            self.hub.publish(event);
        }
        self.projector.poke(&committed.touched);
    }
}
