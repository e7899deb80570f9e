//! One batch: load, derive, compare-and-update, publish.

use crate::owed::Owed;
use model::bounds;
use model::event::{Event, EventHub};
use model::ids::{TaskId, WorkspaceId};
use model::summary::TaskStatusSummary;
use std::collections::HashMap;
use std::sync::Arc;
use store::activity;
use store::authority::{self, LoadedTask};
use store::error::StoreError;
use store::open::Store;
use store::summaries::{self, CompareOutcome, Comparison};

/// What projecting a batch did.
#[derive(Debug, Default)]
pub struct Projected {
    /// The summary each task has now, as far as it could be projected.
    pub summaries: HashMap<TaskId, TaskStatusSummary>,
    /// How many of them changed, and were published.
    pub written: usize,
    /// Tasks that could not be projected; their stored summary stays.
    pub failed: Vec<TaskId>,
}

impl Projected {
    /// Adds what another batch did.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.summaries.extend(other.summaries);
        self.written += other.written;
        self.failed.extend(other.failed);
    }
}

/// A projection without a past: for whoever projects once. See [`Projection::project`].
pub async fn project(store: &Store, hub: &dyn EventHub, ids: &[TaskId]) -> Projected {
    let owed = &Owed::default();
    Projection { store, hub, owed }.project(ids).await
}

/// From where to where, and what is owed from earlier.
#[derive(Clone, Copy)]
pub(crate) struct Projection<'a> {
    pub(crate) store: &'a Store,
    pub(crate) hub: &'a dyn EventHub,
    pub(crate) owed: &'a Owed,
}

impl Projection<'_> {
    /// Projects these tasks in one transaction; when that fails, each alone, so that one bad task harms no other.
    pub(crate) async fn project(self, ids: &[TaskId]) -> Projected {
        let mut projected = Projected::default();
        if ids.is_empty() {
            return projected;
        }
        let Err(error) = self.batch(ids, &mut projected).await else {
            return projected;
        };
        if let [id] = ids {
            tracing::warn!(task = id.as_str(), %error, "projection failed");
            projected.failed.push(id.clone());
            return projected;
        }
        for id in ids {
            projected.absorb(Box::pin(self.project(std::slice::from_ref(id))).await);
        }
        projected
    }

    /// Raises the last milestone of these tasks to what the durable records say, then projects them; tasks of which
    /// the records cannot be read are not projected, because their summary could go backward in time (SUM-10).
    pub(crate) async fn rebuild(self, ids: &[TaskId]) -> Projected {
        if ids.is_empty() {
            return Projected::default();
        }
        let Err(error) = self.raise(ids).await else {
            return self.project(ids).await;
        };
        let mut projected = Projected::default();
        if let [id] = ids {
            tracing::warn!(task = id.as_str(), %error, "durable records could not be read");
            projected.failed.push(id.clone());
            return projected;
        }
        for id in ids {
            projected.absorb(Box::pin(self.rebuild(std::slice::from_ref(id))).await);
        }
        projected
    }

    /// Looks in a read first: hardly ever is there anything to raise, and then the writer is left alone.
    async fn raise(self, ids: &[TaskId]) -> Result<(), StoreError> {
        let behind = {
            let mut tx = self.store.read().await?;
            activity::behind(&mut tx, ids).await?
        };
        if behind.is_empty() {
            return Ok(());
        }
        let mut tx = self.store.write().await?;
        activity::raise(&mut tx, &behind).await?;
        let _ = tx.commit().await?; // no event: what they show is published when they are projected
        Ok(())
    }

    async fn batch(self, ids: &[TaskId], projected: &mut Projected) -> Result<(), StoreError> {
        let mut wanted = ids.to_vec();
        wanted.sort();
        for _ in 0..=bounds::PROJECTOR_RETRIES {
            let loaded = {
                let mut tx = self.store.read().await?;
                authority::load(&mut tx, &wanted).await?
            };
            if loaded.len() < wanted.len() {
                self.forget_missing(&wanted, &loaded);
            }
            wanted = self.write(loaded, projected).await?;
            if wanted.is_empty() {
                return Ok(());
            }
        }
        // Somebody else keeps writing these rows: they are stale still, and the next sweep finds them.
        for id in &wanted {
            tracing::warn!(
                task = id.as_str(),
                "projection failed: others keep changing its summary"
            );
        }
        projected.failed.extend(wanted);
        Ok(())
    }

    fn forget_missing(self, wanted: &[TaskId], loaded: &[LoadedTask]) {
        for id in wanted {
            if loaded.iter().all(|task| task.task_id != *id) {
                self.owed.forget(id);
            }
        }
    }

    /// Stores what changed and gives the tasks that must be loaded again: what was loaded is not what is stored now.
    async fn write(
        self,
        loaded: Vec<LoadedTask>,
        projected: &mut Projected,
    ) -> Result<Vec<TaskId>, StoreError> {
        let mut tx = self.store.write().await?;
        let now = tx.now();
        let ids: Vec<TaskId> = loaded.iter().map(|task| task.task_id.clone()).collect();
        let fences = summaries::lock_fences(&mut tx, &ids).await?;
        let mut contended = Vec::new();
        let mut derived = Vec::with_capacity(loaded.len());
        for task in loaded {
            // Somebody derived from newer authority since this was loaded, or the task is gone.
            if fences
                .get(&task.task_id)
                .is_none_or(|&fence| task.authority_seq < fence)
            {
                contended.push(task.task_id);
                continue;
            }
            let payload = summary::derive::derive(&task.authority);
            derived.push((task, payload));
        }
        let comparisons: Vec<Comparison<'_>> = derived
            .iter()
            .map(|(task, payload)| Comparison {
                task_id: &task.task_id,
                workspace_id: &task.workspace_id,
                seen: task.stored.as_ref(),
                payload,
            })
            .collect();
        let outcomes = summaries::compare_and_update_all(&mut tx, &comparisons, now).await?;
        let settled: Vec<(&TaskId, i64)> = derived
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| **outcome != CompareOutcome::Stale)
            .map(|((task, _), _)| (&task.task_id, task.authority_seq))
            .collect();
        summaries::mark_all_derived(&mut tx, &settled).await?;
        let mut written = Vec::new();
        let mut unchanged = Vec::new();
        for ((task, _), outcome) in derived.into_iter().zip(outcomes) {
            match outcome {
                CompareOutcome::Written(summary) => {
                    written.push((task.task_id, task.workspace_id, summary));
                }
                CompareOutcome::Unchanged => {
                    let stored = task
                        .stored
                        .map(|stored| (task.task_id, task.workspace_id, stored));
                    unchanged.extend(stored);
                }
                CompareOutcome::Stale => contended.push(task.task_id),
            }
        }
        let committed = tx.commit().await.inspect_err(|_| {
            for (task_id, _, summary) in &written {
                self.owed.note(task_id, summary);
            }
        })?;
        debug_assert!(
            committed.events.is_empty(),
            "summaries are published below, with their revisions"
        );
        projected.written += written.len();
        for (task_id, workspace_id, summary) in written {
            self.owed.forget(&task_id);
            self.publish(workspace_id, &task_id, &summary);
            projected.summaries.insert(task_id, *summary);
        }
        for (task_id, workspace_id, summary) in unchanged {
            if self.owed.settle(&task_id, &summary) {
                self.publish(workspace_id, &task_id, &summary);
            }
            projected.summaries.insert(task_id, summary);
        }
        Ok(contended)
    }

    fn publish(self, workspace_id: WorkspaceId, task_id: &TaskId, summary: &TaskStatusSummary) {
        self.hub.publish(&Event::Summary {
            workspace_id,
            task_id: task_id.clone(),
            summary: Arc::new(summary.clone()),
        });
    }
}
