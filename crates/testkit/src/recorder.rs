//! A hub that keeps what is published, for tests without a gateway.

use model::event::{Event, EventHub};
use model::ids::TaskId;
use std::sync::{Mutex, PoisonError};

/// Keeps every published event in order.
#[derive(Debug, Default)]
pub struct Recorder {
    events: Mutex<Vec<Event>>,
}

impl Recorder {
    /// The published summaries, in order: which task, which revision.
    #[must_use]
    pub fn summaries(&self) -> Vec<(TaskId, i64)> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events
            .iter()
            .filter_map(|event| match event {
                Event::Summary {
                    task_id, summary, ..
                } => Some((task_id.clone(), summary.revision)),
                _ => None,
            })
            .collect()
    }
}

impl EventHub for Recorder {
    fn publish(&self, event: &Event) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event.clone());
    }
}
