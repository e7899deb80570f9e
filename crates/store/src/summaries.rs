//! Stored status summaries (`task_status_summaries`): a read model that may be deleted at any time.

use crate::dialect;
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
    let row = match seen {
        Some(stored) => {
            let next = stored.revision.saturating_add(1);
            replace(link, task_id, stored.revision, next, &text, now).await?
        }
        None => make(link, task_id, workspace_id, &text, now).await?,
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

/// Writes over the row of revision `seen`, if that is the one that is stored.
async fn replace(
    link: &mut Link,
    task_id: &TaskId,
    seen: i64,
    next: i64,
    text: &str,
    now: Timestamp,
) -> Result<Option<Row>> {
    let update = sql(
        "UPDATE task_status_summaries SET revision = $3, payload = $4, updated_at = $5
                      WHERE task_id = $1 AND revision = $2 RETURNING revision",
    );
    let update = update.bind(task_id).bind(seen).bind(next);
    link.maybe(update.bind(text).bind(now)).await
}

/// Makes the row of a task that had no readable one. One that can be read was made meanwhile, perhaps from newer
/// authority, and stays; one that cannot is replaced, above whatever revision it had.
async fn make(
    link: &mut Link,
    task_id: &TaskId,
    workspace_id: &WorkspaceId,
    text: &str,
    now: Timestamp,
) -> Result<Option<Row>> {
    let found =
        sql("SELECT revision, payload, updated_at FROM task_status_summaries WHERE task_id = $1");
    if let Some(found) = link.maybe(found.bind(task_id)).await? {
        if read(&found)?.is_some() {
            return Ok(None);
        }
        let seen = found.int("revision")?;
        let next = now.as_millis().max(seen.saturating_add(1));
        return replace(link, task_id, seen, next, text, now).await;
    }
    let insert = sql(
        "INSERT INTO task_status_summaries (task_id, workspace_id, revision, payload, updated_at)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (task_id) DO NOTHING RETURNING revision",
    );
    let insert = insert.bind(task_id).bind(workspace_id);
    link.maybe(insert.bind(now.as_millis()).bind(text).bind(now))
        .await
}

/// The fences of these tasks: the `authority_seq` that each stored summary was derived from. They stand still until
/// this transaction ends. Whoever loaded older authority than a fence says must load again instead of writing: the
/// task is not stale, so nothing would repair what it wrote. Tasks that are gone have none.
///
/// # Errors
/// As [`of_tasks`].
pub async fn lock_fences(link: &mut Link, ids: &[TaskId]) -> Result<HashMap<TaskId, i64>> {
    let query = sql_in(
        "SELECT id, derived_seq FROM tasks WHERE id IN ({}) ORDER BY id",
        ids.iter().map(TaskId::as_str),
    );
    let query = query.and(dialect::for_update(&link.engine));
    link.all(query)
        .await?
        .iter()
        .map(|row| Ok((row.id("id")?, row.int("derived_seq")?)))
        .collect()
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

/// A page of all tasks, and which of them have no summary that can be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnusablePage {
    /// Tasks without a row, with one that cannot be read, or with one that lacks `last_activity_at` (SUM-10).
    pub unusable: Vec<TaskId>,
    /// The last task that was looked at: where the next page goes on. Absent: there is no more.
    pub last: Option<TaskId>,
}

/// Looks through the summaries of `limit` tasks. JSON is not queried inside, so each row is read: a start-up's work,
/// not a request's.
///
/// # Errors
/// As [`of_tasks`].
pub async fn unusable(
    link: &mut Link,
    after: Option<&TaskId>,
    limit: usize,
) -> Result<UnusablePage> {
    let query = sql(
        "SELECT t.id, s.revision, s.payload, s.updated_at FROM tasks t
         LEFT JOIN task_status_summaries s ON s.task_id = t.id
         WHERE t.id > $1 ORDER BY t.id LIMIT $2",
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let query = query.bind(after.map_or("", TaskId::as_str)).bind(limit);
    let mut page = UnusablePage::default();
    for row in link.all(query).await? {
        let id: TaskId = row.id("id")?;
        let stored = match row.maybe_int("revision")? {
            Some(_) => read(&row)?,
            None => None,
        };
        if stored.is_none_or(|stored| stored.payload.last_activity_at.is_none()) {
            page.unusable.push(id.clone());
        }
        page.last = Some(id);
    }
    Ok(page)
}
