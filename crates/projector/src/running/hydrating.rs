//! Hydration: what a list doubts is derived anew before the list is answered, if that is quickly done (PEN-07).
//!
//! The work is a task of its own and goes on when its list no longer waits, so what was committed is always
//! published. Few run at once; a list that finds no place, or whose time is up, shows what is stored.

use super::Projector;
use crate::project::Projected;
use model::bounds;
use model::ids::TaskId;
use model::summary::TaskStatusSummary;
use std::collections::HashMap;
use std::sync::Arc;
use store::hydration::Doubts;
use tokio::time::{Instant, timeout_at};

/// Until when one answer waits for hydration, whatever the number of lists in it.
#[must_use]
pub fn patience() -> Instant {
    Instant::now() + bounds::HYDRATION_WAIT
}

impl Projector {
    /// Derives the doubted tasks, stores and publishes what changed, and gives the summaries they have now. A task
    /// that fails, or is not done by `until`, is left out: its stored summary is what there is to show.
    pub async fn hydrate(
        &self,
        doubts: Doubts,
        until: Instant,
    ) -> HashMap<TaskId, TaskStatusSummary> {
        if doubts.is_empty() {
            return HashMap::new();
        }
        let places = Arc::clone(&self.inner.hydrations);
        let Ok(place) = timeout_at(until, places.acquire_owned()).await else {
            tracing::debug!(tasks = doubts.len(), "hydration found no place in time");
            // Not those that lack a milestone: they need more than a projection, and the next list looks at them.
            self.poke(&doubts.differing);
            return HashMap::new();
        };
        let projector = self.clone();
        let tasks = doubts.len();
        let work = self.inner.hydrating.spawn(async move {
            let _place = place;
            let mut all = projector.rebuild(&doubts.lacking).await;
            all.absorb(projector.project(&doubts.differing).await);
            all
        });
        match timeout_at(until, work).await {
            Ok(Ok(Projected { summaries, .. })) => summaries,
            Ok(Err(error)) => {
                tracing::error!(tasks, %error, "hydration ended without an answer");
                HashMap::new()
            }
            Err(_) => {
                tracing::debug!(tasks, "a list did not wait for its hydration");
                HashMap::new()
            }
        }
    }
}
