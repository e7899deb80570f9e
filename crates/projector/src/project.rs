//! One batch: load, derive, compare-and-update, publish.

use model::bounds;
use model::event::{Event, EventHub};
use model::ids::TaskId;
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

/// Projects these tasks in one transaction; when that fails, each alone, so that one bad task harms no other.
pub async fn project(store: &Store, hub: &dyn EventHub, ids: &[TaskId]) -> Projected {
    match batch(store, hub, ids).await {
        Ok(projected) => projected,
        Err(error) if ids.len() == 1 => {
            tracing::warn!(task = %ids.iter().map(TaskId::as_str).collect::<String>(), %error, "projection failed");
            Projected {
                failed: ids.to_vec(),
                ..Projected::default()
            }
        }
        Err(_) => {
            let mut all = Projected::default();
            for id in ids {
                all.absorb(Box::pin(project(store, hub, std::slice::from_ref(id))).await);
            }
            all
        }
    }
}

/// Raises the last milestone of these tasks to what the durable records say, then projects them; tasks of which the
/// records cannot be read are not projected, because their summary could go backward in time (SUM-10).
pub async fn rebuild(store: &Store, hub: &dyn EventHub, ids: &[TaskId]) -> Projected {
    match raise(store, ids).await {
        Ok(()) => project(store, hub, ids).await,
        Err(error) if ids.len() == 1 => {
            tracing::warn!(task = %ids.iter().map(TaskId::as_str).collect::<String>(), %error, "durable records could not be read");
            Projected {
                failed: ids.to_vec(),
                ..Projected::default()
            }
        }
        Err(_) => {
            let mut all = Projected::default();
            for id in ids {
                all.absorb(Box::pin(rebuild(store, hub, std::slice::from_ref(id))).await);
            }
            all
        }
    }
}

/// Looks in a read first: hardly ever is there anything to raise, and then the writer is left alone.
async fn raise(store: &Store, ids: &[TaskId]) -> Result<(), StoreError> {
    let behind = {
        let mut tx = store.read().await?;
        activity::behind(&mut tx, ids).await?
    };
    if behind.is_empty() {
        return Ok(());
    }
    let mut tx = store.write().await?;
    activity::raise(&mut tx, &behind).await?;
    let _ = tx.commit().await?; // no event: what they show is published when they are projected
    Ok(())
}

async fn batch(store: &Store, hub: &dyn EventHub, ids: &[TaskId]) -> Result<Projected, StoreError> {
    let mut projected = Projected::default();
    let mut wanted = ids.to_vec();
    wanted.sort();
    for _ in 0..=bounds::PROJECTOR_RETRIES {
        let loaded = {
            let mut tx = store.read().await?;
            authority::load(&mut tx, &wanted).await?
        };
        wanted = write(store, hub, loaded, &mut projected).await?;
        if wanted.is_empty() {
            return Ok(projected);
        }
    }
    // Somebody else keeps writing these rows: they are stale still, and the next sweep finds them.
    projected.failed.extend(wanted);
    Ok(projected)
}

/// Stores what changed and gives the tasks that must be loaded again: what was loaded is not what is stored now.
async fn write(
    store: &Store,
    hub: &dyn EventHub,
    loaded: Vec<LoadedTask>,
    projected: &mut Projected,
) -> Result<Vec<TaskId>, StoreError> {
    let mut tx = store.write().await?;
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
                unchanged.extend(task.stored.map(|stored| (task.task_id, stored)));
            }
            CompareOutcome::Stale => contended.push(task.task_id),
        }
    }
    let committed = tx.commit().await?;
    debug_assert!(
        committed.events.is_empty(),
        "summaries are published below, with their revisions"
    );
    projected.summaries.extend(unchanged);
    projected.written += written.len();
    for (task_id, workspace_id, summary) in written {
        projected
            .summaries
            .insert(task_id.clone(), (*summary).clone());
        hub.publish(&Event::Summary {
            workspace_id,
            task_id,
            summary: Arc::from(summary),
        });
    }
    Ok(contended)
}
