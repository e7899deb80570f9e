//! Sessions.

use crate::active_errors;
use crate::error::{Result, StoreError};
use crate::row::Row;
use crate::sql::{Link, Statement, sql};
use model::agent::{AgentCommandInfo, AgentSettings, AgentUsage};
use model::clock::Timestamp;
use model::error::ActiveError;
use model::ids::{AgentProfileId, EnvironmentId, SessionId, TaskId};
use model::session::{Activity, Session, SessionReport, SessionState};
use model::summary::PendingAction;

/// That message `m` is an open request: a missing or unknown status counts as pending. Word for word the condition of
/// the partial index `task_session_messages_open_requests`, or SQLite reads all messages instead of that index.
macro_rules! open {
    () => {
        "m.type IN ('permission_request', 'clarification_request')
         AND (m.status IS NULL OR m.status NOT IN ('approved', 'rejected', 'answered', 'cancelled', 'expired'))"
    };
}

/// The current turn of session `s`: newest authoritative, not lifecycle-only (PEN-02).
macro_rules! current_turn {
    () => {
        "(SELECT u.id FROM task_session_turns u WHERE u.session_id = s.id AND u.authoritative
          AND NOT u.lifecycle_only ORDER BY u.started_at DESC, u.id DESC LIMIT 1)"
    };
}
pub(crate) use {current_turn, open};

const SELECT: &str = concat!(
    "SELECT s.*, t.workspace_id,
     EXISTS (SELECT 1 FROM task_session_messages m WHERE m.session_id = s.id
             AND m.type = 'permission_request' AND ",
    open!(),
    ") AS permission_pending,
     EXISTS (SELECT 1 FROM task_session_messages m WHERE m.session_id = s.id
             AND m.type = 'clarification_request' AND ",
    open!(),
    " AND m.turn_id = ",
    current_turn!(),
    ") AS clarification_pending
     FROM task_sessions s JOIN tasks t ON t.id = s.task_id "
);

/// What a new session's row holds.
#[derive(Clone, Debug)]
pub struct NewSession<'a> {
    /// Its id.
    pub id: &'a SessionId,
    /// Its task.
    pub task_id: &'a TaskId,
    /// The environment it works in, if one exists already.
    pub environment_id: Option<&'a EnvironmentId>,
    /// The client's id for the request that made it.
    pub client_id: &'a str,
    /// How its agent is started.
    pub agent_profile_id: &'a AgentProfileId,
    /// The tab's name.
    pub name: &'a str,
    /// It wants an environment of its own, made when it starts.
    pub own_environment: bool,
}

/// Stores a session in state CREATED. The first of its task is its primary session.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert(link: &mut Link, new: &NewSession<'_>, now: Timestamp) -> Result<()> {
    let insert = sql(
        "INSERT INTO task_sessions (id, task_id, task_environment_id, client_id, revision, state,
                agent_profile_id, name, is_primary, started_at, own_environment, settings, commands, active_subagent_count,
                pending_action_revision, last_seq)
         VALUES ($1, $2, $3, $4, 1, 'CREATED', $5, $6,
                 NOT EXISTS (SELECT 1 FROM task_sessions WHERE task_id = $2 AND is_primary), $7, $8, '{}', '[]', 0, 0, 0)",
    );
    link.execute(
        insert
            .bind(new.id)
            .bind(new.task_id)
            .bind(new.environment_id)
            .bind(new.client_id)
            .bind(new.agent_profile_id)
            .bind(new.name)
            .bind(now)
            .bind(new.own_environment),
    )
    .await?;
    Ok(())
}

/// The session that a client's request made, if it did.
///
/// # Errors
/// As [`insert`].
pub async fn by_client_id(
    link: &mut Link,
    task_id: &TaskId,
    client_id: &str,
) -> Result<Option<SessionId>> {
    let query = sql("SELECT id FROM task_sessions WHERE task_id = $1 AND client_id = $2");
    link.maybe(query.bind(task_id).bind(client_id))
        .await?
        .map(|row| row.id("id"))
        .transpose()
}

/// One session.
///
/// # Errors
/// `NotFound` when it does not exist.
pub async fn get(link: &mut Link, id: &SessionId) -> Result<Session> {
    find(link, id)
        .await?
        .ok_or(StoreError::NotFound { what: "session" })
}

/// One session, if it exists.
///
/// # Errors
/// As [`insert`].
pub async fn find(link: &mut Link, id: &SessionId) -> Result<Option<Session>> {
    let query = Statement::joined(&[SELECT, "WHERE s.id = $1"]);
    link.maybe(query.bind(id))
        .await?
        .as_ref()
        .map(read)
        .transpose()
}

/// The task of a session.
///
/// # Errors
/// `NotFound` when the session does not exist.
pub async fn task_of(link: &mut Link, id: &SessionId) -> Result<TaskId> {
    let query = sql("SELECT task_id FROM task_sessions WHERE id = $1");
    link.one(query.bind(id), "session").await?.id("task_id")
}

/// The sessions of a task in the order they were made.
///
/// # Errors
/// As [`insert`].
pub async fn of_task(link: &mut Link, task_id: &TaskId) -> Result<Vec<Session>> {
    let query = Statement::joined(&[SELECT, "WHERE s.task_id = $1 ORDER BY s.started_at, s.id"]);
    link.all(query.bind(task_id))
        .await?
        .iter()
        .map(read)
        .collect()
}

/// What starting the agent of a session needs beyond the session itself.
#[derive(Clone, Debug)]
pub struct SessionRoute {
    /// The agent's own id of the conversation; outlives the process.
    pub acp_session_id: Option<String>,
    /// The model a person chose.
    pub chosen_model: Option<String>,
    /// The mode a person chose.
    pub chosen_mode: Option<String>,
    /// It wants an environment of its own.
    pub own_environment: bool,
}

/// The route of a session.
///
/// # Errors
/// `NotFound` when it does not exist.
pub async fn route(link: &mut Link, id: &SessionId) -> Result<SessionRoute> {
    let query = sql(
        "SELECT acp_session_id, chosen_model, chosen_mode, own_environment FROM task_sessions WHERE id = $1",
    );
    let row = link.one(query.bind(id), "session").await?;
    Ok(SessionRoute {
        acp_session_id: row.maybe_text("acp_session_id")?,
        chosen_model: row.maybe_text("chosen_model")?,
        chosen_mode: row.maybe_text("chosen_mode")?,
        own_environment: row.truth("own_environment")?,
    })
}

/// What the agent of a session last reported.
///
/// # Errors
/// `NotFound` when it does not exist.
pub async fn report(link: &mut Link, id: &SessionId) -> Result<SessionReport> {
    let query = sql("SELECT settings, commands, usage FROM task_sessions WHERE id = $1");
    let row = link.one(query.bind(id), "session").await?;
    Ok(SessionReport {
        settings: row.json("settings").unwrap_or_default(),
        commands: row.json("commands").unwrap_or_default(),
        usage: row
            .maybe_text("usage")?
            .and_then(|text| serde_json::from_str(&text).ok()),
    })
}

async fn change(link: &mut Link, statement: Statement) -> Result<()> {
    link.execute(statement).await?;
    Ok(())
}

/// Sets the lifecycle state. A terminal one stays: a closed session never comes back.
///
/// # Errors
/// As [`insert`].
pub async fn set_state(link: &mut Link, id: &SessionId, state: SessionState) -> Result<()> {
    let update = sql(
        "UPDATE task_sessions SET state = $2, revision = revision + 1
                      WHERE id = $1 AND state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')",
    );
    change(link, update.bind(id).bind(state.as_str())).await
}

/// Sets activity and subagent count together, as they change together.
///
/// # Errors
/// As [`insert`].
pub async fn set_activity(
    link: &mut Link,
    id: &SessionId,
    activity: Option<Activity>,
    subagents: u32,
) -> Result<()> {
    let update = sql(
        "UPDATE task_sessions SET foreground_activity = $2, active_subagent_count = $3,
                      revision = revision + 1 WHERE id = $1",
    );
    change(
        link,
        update
            .bind(id)
            .bind(activity.map(Activity::as_str))
            .bind(i64::from(subagents)),
    )
    .await
}

/// Binds the session to the environment it works in.
///
/// # Errors
/// As [`insert`].
pub async fn set_environment(
    link: &mut Link,
    id: &SessionId,
    environment_id: &EnvironmentId,
) -> Result<()> {
    let update = sql(
        "UPDATE task_sessions SET task_environment_id = $2, revision = revision + 1 WHERE id = $1",
    );
    change(link, update.bind(id).bind(environment_id)).await
}

/// Keeps the agent's own id of the conversation.
///
/// # Errors
/// As [`insert`].
pub async fn set_acp_session(
    link: &mut Link,
    id: &SessionId,
    acp_session_id: Option<&str>,
) -> Result<()> {
    let update = sql("UPDATE task_sessions SET acp_session_id = $2 WHERE id = $1");
    change(link, update.bind(id).bind(acp_session_id)).await
}

/// Keeps what a person chose; absent ones stay.
///
/// # Errors
/// As [`insert`].
pub async fn set_choice(
    link: &mut Link,
    id: &SessionId,
    model: Option<&str>,
    mode: Option<&str>,
) -> Result<()> {
    let update = sql(
        "UPDATE task_sessions SET chosen_model = coalesce($2, chosen_model),
                      chosen_mode = coalesce($3, chosen_mode) WHERE id = $1",
    );
    change(link, update.bind(id).bind(model).bind(mode)).await
}

/// Keeps the reported models, modes and options.
///
/// # Errors
/// As [`insert`].
pub async fn set_settings(link: &mut Link, id: &SessionId, settings: &AgentSettings) -> Result<()> {
    let text = serde_json::to_string(settings).expect("settings are plain data");
    change(
        link,
        sql("UPDATE task_sessions SET settings = $2 WHERE id = $1")
            .bind(id)
            .bind(text),
    )
    .await
}

/// Keeps the reported commands.
///
/// # Errors
/// As [`insert`].
pub async fn set_commands(
    link: &mut Link,
    id: &SessionId,
    commands: &[AgentCommandInfo],
) -> Result<()> {
    let text = serde_json::to_string(commands).expect("commands are plain data");
    change(
        link,
        sql("UPDATE task_sessions SET commands = $2 WHERE id = $1")
            .bind(id)
            .bind(text),
    )
    .await
}

/// Keeps the reported usage.
///
/// # Errors
/// As [`insert`].
pub async fn set_usage(link: &mut Link, id: &SessionId, usage: &AgentUsage) -> Result<()> {
    let text = serde_json::to_string(usage).expect("usage is plain data");
    change(
        link,
        sql("UPDATE task_sessions SET usage = $2 WHERE id = $1")
            .bind(id)
            .bind(text),
    )
    .await
}

/// Renames it.
///
/// # Errors
/// As [`insert`].
pub async fn rename(link: &mut Link, id: &SessionId, name: &str) -> Result<()> {
    let update = sql("UPDATE task_sessions SET name = $2, revision = revision + 1 WHERE id = $1");
    change(link, update.bind(id).bind(name)).await
}

/// Makes it the primary session of its task.
///
/// # Errors
/// As [`insert`].
pub async fn set_primary(link: &mut Link, task_id: &TaskId, id: &SessionId) -> Result<()> {
    let update = sql(
        "UPDATE task_sessions SET is_primary = (id = $2), revision = revision + 1
                      WHERE task_id = $1 AND is_primary <> (id = $2)",
    );
    change(link, update.bind(task_id).bind(id)).await
}

/// Stores its active error.
///
/// # Errors
/// As [`insert`].
pub async fn set_error(link: &mut Link, id: &SessionId, error: &ActiveError) -> Result<()> {
    let actions =
        serde_json::to_string(&error.recovery_actions).expect("a list of words serialises");
    let update = sql(
        "UPDATE task_sessions SET error_stamp = $2, error_occurred_at = $3, error_preview = $4,
                error_category = $5, error_actions = $6, error_task_repository_id = $7,
                error_cleared_at = NULL, error_cleared_by = NULL, revision = revision + 1 WHERE id = $1",
    );
    let update = update
        .bind(id)
        .bind(error.stamp.as_str())
        .bind(error.occurred_at)
        .bind(error.preview.as_str())
        .bind(error.category.as_deref())
        .bind(actions)
        .bind(error.task_repository_id.as_ref());
    change(link, update).await
}

/// Clears its active error if it has one (and, when a stamp is named, that one); says whether it did (ERR-04).
///
/// # Errors
/// As [`insert`].
pub async fn clear_error(
    link: &mut Link,
    id: &SessionId,
    stamp: Option<&str>,
    by: &str,
    now: Timestamp,
) -> Result<bool> {
    let update = sql(
        "UPDATE task_sessions SET error_cleared_at = $3, error_cleared_by = $4, revision = revision + 1
         WHERE id = $1 AND error_stamp IS NOT NULL AND error_cleared_at IS NULL
           AND ($2 IS NULL OR error_stamp = $2)",
    );
    Ok(0 < link
        .execute(update.bind(id).bind(stamp).bind(now).bind(by))
        .await?)
}

/// Raises the revision of what is pending, in the transaction that changes it.
///
/// # Errors
/// As [`insert`].
pub async fn raise_pending_revision(link: &mut Link, id: &SessionId) -> Result<()> {
    let update = sql(
        "UPDATE task_sessions SET pending_action_revision = pending_action_revision + 1,
                      revision = revision + 1 WHERE id = $1",
    );
    change(link, update.bind(id)).await
}

/// Deletes it with its transcript; a deleted primary session is succeeded by the newest non-terminal one, else the
/// newest.
///
/// # Errors
/// As [`insert`].
pub async fn remove(link: &mut Link, task_id: &TaskId, id: &SessionId) -> Result<()> {
    change(
        link,
        sql("DELETE FROM task_sessions WHERE id = $1").bind(id),
    )
    .await?;
    let heir = sql("SELECT id FROM task_sessions WHERE task_id = $1
                    AND NOT EXISTS (SELECT 1 FROM task_sessions WHERE task_id = $1 AND is_primary)
                    ORDER BY state IN ('COMPLETED', 'FAILED', 'CANCELLED'), started_at DESC, id DESC LIMIT 1");
    if let Some(row) = link.maybe(heir.bind(task_id)).await? {
        set_primary(link, task_id, &row.id("id")?).await?;
    }
    Ok(())
}

/// The uncleared error of a row of `task_sessions`.
pub(crate) fn read_error(row: &Row, id: &SessionId) -> Result<Option<ActiveError>> {
    if row.maybe_time("error_cleared_at")?.is_some() {
        return Ok(None);
    }
    Ok(active_errors::read(row, &active_errors::SESSION, Some(id)))
}

fn read(row: &Row) -> Result<Session> {
    let id: SessionId = row.id("id")?;
    let state = row.word("state", SessionState::parse)?;
    let pending_action = if state.is_terminal() {
        None
    } else if row.truth("permission_pending")? {
        Some(PendingAction::Permission)
    } else if row.truth("clarification_pending")? {
        Some(PendingAction::Clarification)
    } else {
        None
    };
    let error = read_error(row, &id)?;
    Ok(Session {
        task_id: row.id("task_id")?,
        workspace_id: row.id("workspace_id")?,
        task_environment_id: row.maybe_id("task_environment_id")?,
        revision: row.int("revision")?,
        state,
        agent_profile_id: row.id("agent_profile_id")?,
        name: row.text("name")?,
        is_primary: row.truth("is_primary")?,
        started_at: row.time("started_at")?,
        foreground_activity: row.maybe_word("foreground_activity", Activity::parse)?,
        active_subagent_count: u32::try_from(row.int("active_subagent_count")?).unwrap_or(0),
        pending_action,
        pending_action_revision: row.int("pending_action_revision")?,
        error,
        id,
    })
}
