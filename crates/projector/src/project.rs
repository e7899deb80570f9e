//! One batch: load, derive, compare-and-update, publish.

use model::bounds;
use model::event::{Event, EventHub};
use model::ids::TaskId;
use model::summary::TaskStatusSummary;
use std::collections::HashMap;
use std::sync::Arc;
use store::authority::{self, LoadedTask};
use store::error::StoreError;
use store::open::Store;
use store::summaries::{self, CompareOutcome};

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
                let one = Box::pin(project(store, hub, std::slice::from_ref(id))).await;
                all.summaries.extend(one.summaries);
                all.written += one.written;
                all.failed.extend(one.failed);
            }
            all
        }
    }
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
    let mut written = Vec::new();
    let mut unchanged = Vec::new();
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
        let (id, workspace) = (&task.task_id, &task.workspace_id);
        match summaries::compare_and_update(
            &mut tx,
            id,
            workspace,
            task.stored.as_ref(),
            &payload,
            now,
        )
        .await?
        {
            CompareOutcome::Written(summary) => {
                written.push((task.task_id.clone(), task.workspace_id, summary))
            }
            CompareOutcome::Unchanged => {
                unchanged.extend(task.stored.map(|stored| (task.task_id.clone(), stored)))
            }
            CompareOutcome::Stale => {
                contended.push(task.task_id);
                continue;
            }
        }
        summaries::mark_derived(&mut tx, &task.task_id, task.authority_seq).await?;
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
