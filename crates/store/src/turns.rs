//! Turns.

use crate::error::{Result, StoreError};
use crate::row::Row;
use crate::sql::{Link, sql};
use model::clock::Timestamp;
use model::ids::{SessionId, TurnId};
use model::turn::{Turn, TurnOutcome};

/// What kind of turn is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewTurn {
    /// Reserved for a prompt that has a message: authoritative at once (PEN-03).
    ForMessage,
    /// Reserved for a prompt without one: authoritative once it is attempted.
    Empty,
    /// An agent's start or resume: never conversational (SUM-09).
    Lifecycle,
}

/// Opens a turn.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert(
    link: &mut Link,
    id: &TurnId,
    session_id: &SessionId,
    kind: NewTurn,
    now: Timestamp,
) -> Result<()> {
    let insert = sql(
        "INSERT INTO task_session_turns (id, session_id, revision, started_at, authoritative, lifecycle_only,
                prompt_dispatch_pending, prompt_dispatch_attempted, acknowledged)
         VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $7)",
    );
    link.execute(
        insert
            .bind(id)
            .bind(session_id)
            .bind(now)
            .bind(kind == NewTurn::ForMessage)
            .bind(kind == NewTurn::Lifecycle)
            .bind(kind != NewTurn::Lifecycle)
            .bind(false),
    )
    .await?;
    Ok(())
}

/// One turn.
///
/// # Errors
/// `NotFound` when it does not exist.
pub async fn get(link: &mut Link, id: &TurnId) -> Result<Turn> {
    let query = sql("SELECT * FROM task_session_turns WHERE id = $1");
    read(&link.one(query.bind(id), "turn").await?)
}

/// The open conversational turn of a session, if there is one.
///
/// # Errors
/// As [`insert`].
pub async fn open(link: &mut Link, session_id: &SessionId) -> Result<Option<Turn>> {
    let query = sql(
        "SELECT * FROM task_session_turns WHERE session_id = $1 AND completed_at IS NULL AND NOT lifecycle_only
         ORDER BY started_at DESC, id DESC LIMIT 1",
    );
    link.maybe(query.bind(session_id))
        .await?
        .as_ref()
        .map(read)
        .transpose()
}

/// The prompt of this turn may reach the agent from now on: authoritative for good.
///
/// # Errors
/// As [`insert`].
pub async fn mark_attempted(link: &mut Link, id: &TurnId) -> Result<()> {
    let update = sql(
        "UPDATE task_session_turns SET prompt_dispatch_attempted = $2, prompt_dispatch_pending = $3,
                authoritative = $2, revision = revision + 1 WHERE id = $1",
    );
    link.execute(update.bind(id).bind(true).bind(false)).await?;
    Ok(())
}

/// Something came back for this turn, so its prompt reached the agent.
///
/// # Errors
/// As [`insert`].
pub async fn mark_acknowledged(link: &mut Link, id: &TurnId) -> Result<()> {
    let update = sql("UPDATE task_session_turns SET acknowledged = $2 WHERE id = $1");
    link.execute(update.bind(id).bind(true)).await?;
    Ok(())
}

/// A person asked to stop it.
///
/// # Errors
/// As [`insert`].
pub async fn request_cancel(link: &mut Link, id: &TurnId, now: Timestamp) -> Result<()> {
    let update = sql(
        "UPDATE task_session_turns SET cancel_requested_at = coalesce(cancel_requested_at, $2),
                      revision = revision + 1 WHERE id = $1 AND completed_at IS NULL",
    );
    link.execute(update.bind(id).bind(now)).await?;
    Ok(())
}

/// Settles a turn; a settled one stays as it is. Says whether it did.
///
/// # Errors
/// As [`insert`].
pub async fn complete(
    link: &mut Link,
    id: &TurnId,
    outcome: TurnOutcome,
    now: Timestamp,
) -> Result<bool> {
    let update = sql(
        "UPDATE task_session_turns SET completed_at = $2, outcome = $3, prompt_dispatch_pending = $4,
                acknowledged = acknowledged OR $5, revision = revision + 1
         WHERE id = $1 AND completed_at IS NULL",
    );
    let replied = outcome == TurnOutcome::Completed;
    let update = update
        .bind(id)
        .bind(now)
        .bind(outcome.as_str())
        .bind(false)
        .bind(replied);
    Ok(0 < link.execute(update).await?)
}

/// Deletes an empty reservation that never became authoritative.
///
/// # Errors
/// As [`insert`].
pub async fn remove(link: &mut Link, id: &TurnId) -> Result<()> {
    link.execute(sql("DELETE FROM task_session_turns WHERE id = $1").bind(id))
        .await?;
    Ok(())
}

/// The newest conversational, authoritative turn of a session (PEN-02).
///
/// # Errors
/// As [`insert`].
pub async fn current(link: &mut Link, session_id: &SessionId) -> Result<Option<Turn>> {
    let query = sql(
        "SELECT * FROM task_session_turns WHERE session_id = $1 AND authoritative AND NOT lifecycle_only
         ORDER BY started_at DESC, id DESC LIMIT 1",
    );
    link.maybe(query.bind(session_id))
        .await?
        .as_ref()
        .map(read)
        .transpose()
}

/// The turns that the rules of a session look at: the current one, and whatever is open, lifecycle turns too, oldest
/// first. One statement, whatever the number of turns: both are sought, none is walked past.
///
/// # Errors
/// As [`insert`].
pub async fn open_and_current(link: &mut Link, session_id: &SessionId) -> Result<Vec<Turn>> {
    let query = sql(
        "SELECT * FROM task_session_turns WHERE id IN (
           SELECT id FROM task_session_turns WHERE session_id = $1 AND completed_at IS NULL
           UNION
           SELECT id FROM (SELECT id FROM task_session_turns WHERE session_id = $1 AND authoritative AND NOT lifecycle_only
                           ORDER BY started_at DESC, id DESC LIMIT 1) AS newest)
         ORDER BY started_at, id",
    );
    link.all(query.bind(session_id))
        .await?
        .iter()
        .map(read)
        .collect()
}

pub(crate) fn read(row: &Row) -> std::result::Result<Turn, StoreError> {
    Ok(Turn {
        id: row.id("id")?,
        session_id: row.id("session_id")?,
        revision: row.int("revision")?,
        started_at: row.time("started_at")?,
        completed_at: row.maybe_time("completed_at")?,
        outcome: row.maybe_word("outcome", TurnOutcome::parse)?,
        authoritative: row.truth("authoritative")?,
        lifecycle_only: row.truth("lifecycle_only")?,
        prompt_dispatch_pending: row.truth("prompt_dispatch_pending")?,
        prompt_dispatch_attempted: row.truth("prompt_dispatch_attempted")?,
        cancel_requested_at: row.maybe_time("cancel_requested_at")?,
    })
}
