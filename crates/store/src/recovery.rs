//! What start-up finds unfinished: the rows that an ended server left in the middle of something.

use crate::error::Result;
use crate::sessions::open;
use crate::sql::{Link, Statement, Value, sql, sql_rows};
use model::clock::Timestamp;
use model::ids::{SessionId, TaskId};
use model::task::TaskState;

/// A session that cannot be as its row says, because no process lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedSession {
    /// The session.
    pub session_id: SessionId,
    /// Its task.
    pub task_id: TaskId,
}

/// Sessions that are RUNNING or STARTING, say that something works, have an execution row, an open turn, unsettled
/// text or an open permission: each of these needs a process, and none lives.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn sessions(link: &mut Link) -> Result<Vec<UnfinishedSession>> {
    let query = Statement::joined(&[
        "SELECT s.id, s.task_id FROM task_sessions s
         WHERE s.state IN ('RUNNING', 'STARTING') OR s.foreground_activity IS NOT NULL
            OR s.active_subagent_count <> 0
            OR EXISTS (SELECT 1 FROM executors_running x WHERE x.session_id = s.id)
            OR EXISTS (SELECT 1 FROM task_session_turns u WHERE u.session_id = s.id AND u.completed_at IS NULL)
            OR EXISTS (SELECT 1 FROM task_session_messages m WHERE m.session_id = s.id AND m.streaming)
            OR EXISTS (SELECT 1 FROM task_session_messages m WHERE m.session_id = s.id
                       AND m.type = 'permission_request' AND ",
        open!(),
        ") ORDER BY s.id",
    ]);
    let rows = link.all(query).await?;
    rows.iter()
        .map(|row| {
            Ok(UnfinishedSession {
                session_id: row.id("id")?,
                task_id: row.id("task_id")?,
            })
        })
        .collect()
}

/// A task that is neither starting nor at work, though its row says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckTask {
    /// The task.
    pub task_id: TaskId,
    /// SCHEDULING or IN_PROGRESS.
    pub state: TaskState,
}

/// Tasks that are SCHEDULING or IN_PROGRESS while no conversational turn of theirs is open.
///
/// # Errors
/// As [`sessions`].
pub async fn tasks(link: &mut Link) -> Result<Vec<StuckTask>> {
    let query = sql(
        "SELECT t.id, t.state FROM tasks t WHERE t.state IN ('SCHEDULING', 'IN_PROGRESS')
         AND NOT EXISTS (SELECT 1 FROM task_sessions s JOIN task_session_turns u ON u.session_id = s.id
                         WHERE s.task_id = t.id AND u.completed_at IS NULL AND NOT u.lifecycle_only)
         ORDER BY t.id",
    );
    link.all(query)
        .await?
        .iter()
        .map(|row| {
            Ok(StuckTask {
                task_id: row.id("id")?,
                state: row.word("state", TaskState::parse)?,
            })
        })
        .collect()
}

/// Tasks that were at work when the server ended wait for a person's look: one statement.
///
/// # Errors
/// As [`sessions`].
pub async fn interrupt(link: &mut Link, tasks: &[TaskId], now: Timestamp) -> Result<()> {
    if tasks.is_empty() {
        return Ok(());
    }
    let update = sql_rows(
        "WITH ended (task_id, at) AS (VALUES ({}))
         UPDATE tasks SET state = 'REVIEW', interrupted_at = ended.at, updated_at = ended.at, revision = revision + 1
         FROM ended WHERE tasks.id = ended.task_id",
        tasks.iter().map(|id| [Value::from(id), Value::from(now)]),
    );
    link.execute(update).await?;
    Ok(())
}

/// Turns of a session that are open, lifecycle ones included, oldest first.
///
/// # Errors
/// As [`sessions`].
pub async fn open_turns(link: &mut Link, session_id: &SessionId) -> Result<Vec<model::turn::Turn>> {
    let query = sql(
        "SELECT * FROM task_session_turns WHERE session_id = $1 AND completed_at IS NULL
                     ORDER BY started_at, id",
    );
    link.all(query.bind(session_id))
        .await?
        .iter()
        .map(crate::turns::read)
        .collect()
}
