//! Stored status summaries (`task_status_summaries`): a read model that may be deleted at any time.

use crate::dialect;
use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, Value, sql, sql_in, sql_rows};
use model::clock::Timestamp;
use model::ids::{TaskId, WorkspaceId};
use model::summary::{SummaryPayload, TaskStatusSummary};
use std::collections::{HashMap, HashSet};

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

/// Reads a stored summary that stands beside its task, as `summary_revision`, `summary_payload` and
/// `summary_updated_at`; a task without one, and one that cannot be read, have none.
pub(crate) fn read_beside(row: &Row) -> Option<TaskStatusSummary> {
    let payload = row.maybe_text("summary_payload").ok()??;
    Some(TaskStatusSummary {
        revision: row.int("summary_revision").ok()?,
        updated_at: row.time("summary_updated_at").ok()?,
        payload: serde_json::from_str(&payload).ok()?,
    })
}

/// One summary to compare and store.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// The task.
    pub task_id: &'a TaskId,
    /// Its workspace.
    pub workspace_id: &'a WorkspaceId,
    /// The stored row that the caller saw; absent: none that could be read.
    pub seen: Option<&'a TaskStatusSummary>,
    /// What the row is to say.
    pub payload: &'a SummaryPayload,
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
    payload: &SummaryPayload,
    now: Timestamp,
) -> Result<CompareOutcome> {
    let one = Comparison {
        task_id,
        workspace_id,
        seen,
        payload,
    };
    let mut outcomes = compare_and_update_all(link, &[one], now).await?;
    Ok(outcomes.pop().unwrap_or(CompareOutcome::Stale)) // one outcome per comparison
}

/// [`compare_and_update`] for a batch of different tasks, in a constant number of statements (PST-04). The outcomes
/// stand in the order of the comparisons; none depends on another.
///
/// # Errors
/// As [`of_tasks`].
pub async fn compare_and_update_all(
    link: &mut Link,
    comparisons: &[Comparison<'_>],
    now: Timestamp,
) -> Result<Vec<CompareOutcome>> {
    let unseen = comparisons.iter().filter(|one| one.seen.is_none());
    let present = revisions(link, &unseen.map(|one| one.task_id).collect::<Vec<_>>()).await?;
    let mut replaced = Vec::new();
    let mut made = Vec::new();
    let mut unchanged = HashSet::new();
    for one in comparisons {
        let text = summary::semantic::json(one.payload);
        match (one.seen, present.get(one.task_id)) {
            (Some(seen), _) if summary::semantic::json(&seen.payload) == text => {
                unchanged.insert(one.task_id);
            }
            (Some(seen), _) => {
                replaced.push((one, seen.revision, seen.revision.saturating_add(1), text));
            }
            (None, None) => made.push((one, text)),
            // One that can be read was made meanwhile, perhaps from newer authority, and stays.
            (None, Some(Present { readable: true, .. })) => {}
            // One that cannot be read is replaced, above whatever revision it had.
            (None, Some(&Present { revision, .. })) => {
                let next = now.as_millis().max(revision.saturating_add(1));
                replaced.push((one, revision, next, text));
            }
        }
    }
    let mut written = replace(link, &replaced, now).await?;
    written.extend(make(link, &made, now).await?);
    let outcome = |one: &Comparison<'_>| {
        if unchanged.contains(one.task_id) {
            return CompareOutcome::Unchanged;
        }
        written
            .get(one.task_id)
            .map_or(CompareOutcome::Stale, |&revision| {
                CompareOutcome::Written(Box::new(TaskStatusSummary {
                    revision,
                    updated_at: now,
                    payload: one.payload.clone(),
                }))
            })
    };
    Ok(comparisons.iter().map(outcome).collect())
}

/// A row that stands where the caller saw none that could be read.
struct Present {
    revision: i64,
    readable: bool,
}

async fn revisions(link: &mut Link, ids: &[&TaskId]) -> Result<HashMap<TaskId, Present>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let query = sql_in(
        "SELECT task_id, revision, payload, updated_at FROM task_status_summaries WHERE task_id IN ({})",
        ids.iter().map(|id| id.as_str()),
    );
    let rows = link.all(query).await?;
    rows.iter()
        .map(|row| {
            let present = Present {
                revision: row.int("revision")?,
                readable: read(row)?.is_some(),
            };
            Ok((row.id("task_id")?, present))
        })
        .collect()
}

/// Writes over the rows that still have the revision that was seen; gives the new revisions.
async fn replace(
    link: &mut Link,
    rows: &[(&Comparison<'_>, i64, i64, String)],
    now: Timestamp,
) -> Result<HashMap<TaskId, i64>> {
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    let update = sql_rows(
        "WITH wanted (task, seen, next, text, at) AS (VALUES ({}))
         UPDATE task_status_summaries SET revision = wanted.next, payload = wanted.text, updated_at = wanted.at
         FROM wanted WHERE task_status_summaries.task_id = wanted.task
           AND task_status_summaries.revision = wanted.seen
         RETURNING task_status_summaries.task_id AS written, task_status_summaries.revision AS revision",
        rows.iter().map(|(one, seen, next, text)| {
            [
                Value::from(one.task_id),
                Value::from(*seen),
                Value::from(*next),
                Value::from(text.as_str()),
                Value::from(now),
            ]
        }),
    );
    written(&link.all(update).await?)
}

/// Makes the rows of tasks that have none; gives the revisions they begin with.
async fn make(
    link: &mut Link,
    rows: &[(&Comparison<'_>, String)],
    now: Timestamp,
) -> Result<HashMap<TaskId, i64>> {
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    let insert = sql_rows(
        "INSERT INTO task_status_summaries (task_id, workspace_id, revision, payload, updated_at) VALUES ({})
         ON CONFLICT (task_id) DO NOTHING RETURNING task_id AS written, revision",
        rows.iter().map(|(one, text)| {
            [
                Value::from(one.task_id),
                Value::from(one.workspace_id),
                Value::from(now.as_millis()),
                Value::from(text.as_str()),
                Value::from(now),
            ]
        }),
    );
    written(&link.all(insert).await?)
}

fn written(rows: &[Row]) -> Result<HashMap<TaskId, i64>> {
    rows.iter()
        .map(|row| Ok((row.id("written")?, row.int("revision")?)))
        .collect()
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
    mark_all_derived(link, &[(task_id, seq)]).await
}

/// [`mark_derived`] for a batch, in one statement.
///
/// # Errors
/// As [`of_tasks`].
pub async fn mark_all_derived(link: &mut Link, marks: &[(&TaskId, i64)]) -> Result<()> {
    if marks.is_empty() {
        return Ok(());
    }
    let update = sql_rows(
        "WITH wanted (task, seq) AS (VALUES ({}))
         UPDATE tasks SET derived_seq = wanted.seq
         FROM wanted WHERE tasks.id = wanted.task AND tasks.derived_seq < wanted.seq",
        marks
            .iter()
            .map(|&(task_id, seq)| [Value::from(task_id), Value::from(seq)]),
    );
    link.execute(update).await?;
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
    /// Tasks without a row or with one that cannot be read, and tasks that lack `last_activity_at` in it or in
    /// `tasks` (SUM-10).
    pub unusable: Vec<TaskId>,
    /// The last task that was looked at: where the next page goes on. Absent: there is no more.
    pub last: Option<TaskId>,
}

/// Looks through the summaries of `limit` tasks. JSON is not queried inside, so each row is read: a start-up's work,
/// not a request's. They are sought and not joined, because a join of two halves of tables reads both.
///
/// # Errors
/// As [`of_tasks`].
pub async fn unusable(
    link: &mut Link,
    after: Option<&TaskId>,
    limit: usize,
) -> Result<UnusablePage> {
    let query = sql("SELECT id, last_activity_at FROM tasks WHERE id > $1 ORDER BY id LIMIT $2");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let query = query.bind(after.map_or("", TaskId::as_str)).bind(limit);
    let mut tasks = Vec::new();
    for row in link.all(query).await? {
        let dated = row.maybe_int("last_activity_at")?.is_some();
        tasks.push((row.id::<TaskId>("id")?, dated));
    }
    let ids: Vec<TaskId> = tasks.iter().map(|(id, _)| id.clone()).collect();
    let stored = of_tasks(link, &ids).await?;
    let dated = |id: &TaskId| {
        let summary = stored.get(id);
        summary.is_some_and(|stored| stored.payload.last_activity_at.is_some())
    };
    tasks.retain(|(id, has_milestone)| !has_milestone || !dated(id));
    Ok(UnusablePage {
        unusable: tasks.into_iter().map(|(id, _)| id).collect(),
        last: ids.last().cloned(),
    })
}
