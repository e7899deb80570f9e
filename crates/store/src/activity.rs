//! `tasks.last_activity_at` from the durable records (SUM-08, SUM-10), for tasks that lack it.
//!
//! The column is raised by whoever makes a milestone, in the same transaction, so for a task that lived under this
//! schema the records never say more than it does. They say less: a renamed or moved task leaves no dated record.
//! Hence the column is raised from them and never set to them.
//!
//! What counts is what had raised the column when it happened: a user's prompt when it was accepted (queued ones and
//! tombstones too), a conversational turn once it was attempted, and the end of such a turn, unless recovery ended it,
//! which is nobody's activity. A turn that never reached an agent has neither. Lifecycle turns never count (SUM-09).

use crate::error::Result;
use crate::sql::{Link, Value, sql_in, sql_rows};
use crate::summaries;
use model::clock::Timestamp;
use model::ids::TaskId;

/// A task whose column says less than its records, and what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// The task.
    pub task_id: TaskId,
    /// Its latest recorded milestone.
    pub recorded: Timestamp,
}

/// Which of these tasks lack their last milestone, or have an earlier one than the durable records and the stored
/// summary say: two statements, whatever the number of tasks.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn behind(link: &mut Link, ids: &[TaskId]) -> Result<Vec<Behind>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let stored = summaries::of_tasks(link, ids).await?;
    // Word for word the condition of the partial index `task_session_messages_prompts`. Turns are sought session by
    // session and not joined: without statistics PostgreSQL would read all turns that there are for each task.
    let query = sql_in(
        "SELECT t.id, t.last_activity_at, t.created_at,
           (SELECT max(m.created_at) FROM task_session_messages m
            WHERE m.task_id = t.id AND m.author = 'user' AND m.type = 'message') AS prompted,
           (SELECT max((SELECT max(u.started_at) FROM task_session_turns u
                        WHERE u.session_id = s.id AND u.prompt_dispatch_attempted AND NOT u.lifecycle_only))
            FROM task_sessions s WHERE s.task_id = t.id) AS started,
           (SELECT max((SELECT max(u.completed_at) FROM task_session_turns u
                        WHERE u.session_id = s.id AND u.prompt_dispatch_attempted AND NOT u.lifecycle_only
                          AND (u.outcome IS NULL OR u.outcome NOT IN ('not_dispatched', 'interrupted'))))
            FROM task_sessions s WHERE s.task_id = t.id) AS completed
         FROM tasks t WHERE t.id IN ({}) ORDER BY t.id",
        ids.iter().map(TaskId::as_str),
    );
    let mut found = Vec::new();
    for row in link.all(query).await? {
        let task_id: TaskId = row.id("id")?;
        let present = row.maybe_time("last_activity_at")?;
        let shown = stored
            .get(&task_id)
            .and_then(|stored| stored.payload.last_activity_at);
        let recorded = [
            present,
            shown,
            row.maybe_time("prompted")?,
            row.maybe_time("started")?,
            row.maybe_time("completed")?,
        ]
        .into_iter()
        .flatten()
        .fold(row.time("created_at")?, Timestamp::max);
        if present.is_none_or(|present| present < recorded) {
            found.push(Behind { task_id, recorded });
        }
    }
    Ok(found)
}

/// Raises the column of these tasks, never lowers it, and marks those it raised as stale: one statement. Gives them.
///
/// # Errors
/// As [`behind`].
pub async fn raise(link: &mut Link, behind: &[Behind]) -> Result<Vec<TaskId>> {
    if behind.is_empty() {
        return Ok(Vec::new());
    }
    let update = sql_rows(
        "WITH wanted (task_id, recorded) AS (VALUES ({}))
         UPDATE tasks SET last_activity_at = wanted.recorded, authority_seq = tasks.authority_seq + 1
         FROM wanted WHERE tasks.id = wanted.task_id
           AND (tasks.last_activity_at IS NULL OR tasks.last_activity_at < wanted.recorded)
         RETURNING tasks.id AS raised",
        behind.iter().map(|one| [Value::from(&one.task_id), Value::from(one.recorded)]),
    );
    let rows = link.all(update).await?;
    rows.iter().map(|row| row.id("raised")).collect()
}

/// Raises the column of these tasks to what their durable records and their stored summary say, in a constant number
/// of statements, and gives those it raised: they are stale now.
///
/// # Errors
/// As [`behind`].
pub async fn raise_from_records(link: &mut Link, ids: &[TaskId]) -> Result<Vec<TaskId>> {
    let behind = behind(link, ids).await?;
    raise(link, &behind).await
}
