//! Stored status summaries (`task_status_summaries`): a read model that may be deleted at any time.

use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, sql, sql_in};
use model::clock::Timestamp;
use model::ids::{TaskId, WorkspaceId};
use model::summary::TaskStatusSummary;
use std::collections::HashMap;

/// What a compare-and-update did (PST-03).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompareOutcome {
    /// The value changed and has this revision now.
    Written(Box<TaskStatusSummary>),
    /// The stored value means the same already; nothing was written.
    Unchanged,
    /// The stored row is not the one that the caller saw; load again.
    Stale,
}

/// The stored summaries of these tasks. A row that cannot be read counts as missing.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn of_tasks(
    link: &mut Link,
    ids: &[TaskId],
) -> Result<HashMap<TaskId, TaskStatusSummary>> {
    let query = sql_in(
        "SELECT task_id, revision, payload, updated_at FROM task_status_summaries WHERE task_id IN ({})",
        ids.iter().map(TaskId::as_str),
    );
    let rows = link.all(query).await?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in &rows {
        if let Some(summary) = read(row)? {
            found.insert(row.id("task_id")?, summary);
        }
    }
    Ok(found)
}

/// Reads the three columns of a stored summary; malformed JSON counts as missing.
///
/// # Errors
/// As [`of_tasks`].
pub(crate) fn read(row: &Row) -> Result<Option<TaskStatusSummary>> {
    let Ok(payload) = serde_json::from_str(&row.text("payload")?) else {
        return Ok(None);
    };
    Ok(Some(TaskStatusSummary {
        revision: row.int("revision")?,
        updated_at: row.time("updated_at")?,
        payload,
    }))
}

/// Stores `payload` as the task's summary if the stored row still has revision `seen` (nothing: no row) and means
/// something else (`compare_and_update_task_status_summary`, PST-02, PST-03).
///
/// A row that is made anew starts at Unix milliseconds, so a client that holds an older row's revision takes it.
///
/// # Errors
/// As [`of_tasks`].
pub async fn compare_and_update(
    link: &mut Link,
    task_id: &TaskId,
    workspace_id: &WorkspaceId,
    seen: Option<&TaskStatusSummary>,
    payload: &model::summary::SummaryPayload,
    now: Timestamp,
) -> Result<CompareOutcome> {
    let text = summary::semantic::json(payload);
    if seen.is_some_and(|stored| summary::semantic::json(&stored.payload) == text) {
        return Ok(CompareOutcome::Unchanged);
    }
    let row = if let Some(stored) = seen {
        let update = sql("UPDATE task_status_summaries SET revision = revision + 1, payload = $3, updated_at = $4
                          WHERE task_id = $1 AND revision = $2 RETURNING revision");
        link.maybe(
            update
                .bind(task_id)
                .bind(stored.revision)
                .bind(text.as_str())
                .bind(now),
        )
        .await?
    } else {
        // A row that exists and could not be read is replaced, above whatever revision it had.
        let insert = sql("INSERT INTO task_status_summaries (task_id, workspace_id, revision, payload, updated_at)
                          VALUES ($1, $2, $3, $4, $5)
                          ON CONFLICT (task_id) DO UPDATE SET payload = excluded.payload,
                              updated_at = excluded.updated_at,
                              revision = CASE WHEN excluded.revision > task_status_summaries.revision
                                  THEN excluded.revision ELSE task_status_summaries.revision + 1 END
                          RETURNING revision");
        link.maybe(
            insert
                .bind(task_id)
                .bind(workspace_id)
                .bind(now.as_millis())
                .bind(text.as_str())
                .bind(now),
        )
        .await?
    };
    let Some(row) = row else {
        return Ok(CompareOutcome::Stale);
    };
    Ok(CompareOutcome::Written(Box::new(TaskStatusSummary {
        revision: row.int("revision")?,
        updated_at: now,
        payload: payload.clone(),
    })))
}

/// Moves the fence: the stored summary of this task was derived from `authority_seq` = `seq`. An older derivation
/// never moves it back.
///
/// # Errors
/// As [`of_tasks`].
pub async fn mark_derived(link: &mut Link, task_id: &TaskId, seq: i64) -> Result<()> {
    let update = sql("UPDATE tasks SET derived_seq = $2 WHERE id = $1 AND derived_seq < $2");
    link.execute(update.bind(task_id).bind(seq)).await?;
    Ok(())
}

/// Stale tasks, at most `limit`.
///
/// # Errors
/// As [`of_tasks`].
pub async fn stale_tasks(
    link: &mut Link,
    after: Option<&TaskId>,
    limit: usize,
) -> Result<Vec<TaskId>> {
    let query = sql(
        "SELECT id FROM tasks WHERE derived_seq < authority_seq AND id > $1 ORDER BY id LIMIT $2",
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = link
        .all(query.bind(after.map_or("", TaskId::as_str)).bind(limit))
        .await?;
    rows.iter().map(|row| row.id("id")).collect()
}

/// Tasks without a stored summary, at most `limit`.
///
/// # Errors
/// As [`of_tasks`].
pub async fn missing(link: &mut Link, after: Option<&TaskId>, limit: usize) -> Result<Vec<TaskId>> {
    let query = sql("SELECT id FROM tasks t WHERE id > $1
                     AND NOT EXISTS (SELECT 1 FROM task_status_summaries s WHERE s.task_id = t.id)
                     ORDER BY id LIMIT $2");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = link
        .all(query.bind(after.map_or("", TaskId::as_str)).bind(limit))
        .await?;
    rows.iter().map(|row| row.id("id")).collect()
}
