//! How a session and its task stand, in one row: what the rules of turns read of both before anything happens to either.

use crate::error::Result;
use crate::sql::{Link, sql};
use model::ids::{SessionId, TaskId};
use model::session::{Activity, SessionState};
use model::task::TaskState;

/// A session beside its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The session's state.
    pub session: SessionState,
    /// The agent knows the conversation, so a later process can go on with it.
    pub resumable: bool,
    /// What works, as the row says.
    pub activity: Option<Activity>,
    /// Live subagents.
    pub subagents: u32,
    /// Its task.
    pub task_id: TaskId,
    /// The task's state.
    pub task: TaskState,
    /// What the task is to start with is stored.
    pub intended: bool,
    /// Another session of the task has an open conversational turn.
    pub others_open: bool,
    /// Another session of the task is starting.
    pub others_starting: bool,
}

/// How this session stands.
///
/// # Errors
/// `NotFound` when it does not exist, and whatever the engine says.
pub async fn of_session(link: &mut Link, id: &SessionId) -> Result<Standing> {
    let query = sql(
        "SELECT s.state, s.acp_session_id IS NOT NULL AS resumable, s.foreground_activity, s.active_subagent_count,
                s.task_id, t.state AS task_state, t.launch_prompt IS NOT NULL AS intended,
                EXISTS (SELECT 1 FROM task_sessions o JOIN task_session_turns u ON u.session_id = o.id
                        WHERE o.task_id = s.task_id AND o.id <> s.id AND u.completed_at IS NULL
                          AND NOT u.lifecycle_only) AS others_open,
                EXISTS (SELECT 1 FROM task_sessions o
                        WHERE o.task_id = s.task_id AND o.id <> s.id AND o.state = 'STARTING') AS others_starting
         FROM task_sessions s JOIN tasks t ON t.id = s.task_id WHERE s.id = $1",
    );
    let row = link.one(query.bind(id), "session").await?;
    Ok(Standing {
        session: row.word("state", SessionState::parse)?,
        resumable: row.truth("resumable")?,
        activity: row.maybe_word("foreground_activity", Activity::parse)?,
        subagents: u32::try_from(row.int("active_subagent_count")?).unwrap_or(0),
        task_id: row.id("task_id")?,
        task: row.word("task_state", TaskState::parse)?,
        intended: row.truth("intended")?,
        others_open: row.truth("others_open")?,
        others_starting: row.truth("others_starting")?,
    })
}
