//! Requests a person answers. Each is a row of the transcript with its own identity; a decision is a compare-and-set
//! on *pending*, so the first answer wins and a late one changes nothing.

use crate::error::Result;
use crate::row::Row;
use crate::sessions::{current_turn, open};
use crate::sql::{Link, Statement, sql};
use model::bounds;
use model::clarification::Clarification;
use model::clock::Timestamp;
use model::ids::{MessageId, PendingId, SessionId, TaskId};
use model::message::{MessageType, PendingRequest, PermissionRequest, RequestStatus};
use serde::Deserialize as _;
use serde_json::Value as Json;

/// What a decision found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecideOutcome {
    /// It was pending and is decided now.
    Decided,
    /// It is over already, or was never this request: nobody hears of this answer.
    NotPending,
}

/// Decides a pending request (matched by row and `pending_id`, PEN-05).
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn decide(
    link: &mut Link,
    message_id: &MessageId,
    pending_id: &PendingId,
    status: RequestStatus,
    metadata: &Json,
    delivered: Option<bool>,
    now: Timestamp,
) -> Result<DecideOutcome> {
    let update = Statement::joined(&[
        "UPDATE task_session_messages AS m SET status = $3, metadata = $4, delivered = $5, updated_at = $6,
                revision = revision + 1
         WHERE m.id = $1 AND m.pending_id = $2 AND ",
        open!(),
    ]);
    let update = update
        .bind(message_id)
        .bind(pending_id)
        .bind(status.as_str())
        .bind(metadata.to_string())
        .bind(delivered)
        .bind(now);
    Ok(if link.execute(update).await? == 0 {
        DecideOutcome::NotPending
    } else {
        DecideOutcome::Decided
    })
}

/// Notes whether a decision reached the agent.
///
/// # Errors
/// As [`decide`].
pub async fn set_delivered(
    link: &mut Link,
    message_id: &MessageId,
    delivered: bool,
    now: Timestamp,
) -> Result<()> {
    let update = sql(
        "UPDATE task_session_messages SET delivered = $2, updated_at = $3, revision = revision + 1
                      WHERE id = $1",
    );
    link.execute(update.bind(message_id).bind(delivered).bind(now))
        .await?;
    Ok(())
}

/// Ends every open permission of a session with `status`; gives their rows. Cancelled ones count as delivered: whoever
/// cancels has answered the agent, so [`undelivered`] must not offer them again.
///
/// # Errors
/// As [`decide`].
pub async fn end_permissions(
    link: &mut Link,
    session_id: &SessionId,
    status: RequestStatus,
    now: Timestamp,
) -> Result<Vec<(MessageId, PendingId)>> {
    let update = Statement::joined(&[
        "UPDATE task_session_messages AS m SET status = $2, updated_at = $3, revision = revision + 1,
             delivered = CASE WHEN $2 = 'cancelled' THEN TRUE ELSE delivered END
         WHERE m.session_id = $1 AND m.type = 'permission_request' AND ",
        open!(),
        " RETURNING id, pending_id",
    ]);
    let rows = link
        .all(update.bind(session_id).bind(status.as_str()).bind(now))
        .await?;
    rows.iter()
        .map(|row| Ok((row.id("id")?, row.id("pending_id")?)))
        .collect()
}

/// Decisions that were committed and not yet carried out: what the session's owner delivers. (That a request has an
/// identity is said for the partial index `task_session_messages_requests`.)
///
/// # Errors
/// As [`decide`].
pub async fn undelivered(
    link: &mut Link,
    session_id: &SessionId,
) -> Result<Vec<(MessageId, RequestStatus, Json)>> {
    let query = sql(
        "SELECT id, status, metadata FROM task_session_messages
         WHERE session_id = $1 AND type = 'permission_request' AND status IN ('approved', 'rejected', 'cancelled')
           AND delivered IS NULL AND pending_id IS NOT NULL ORDER BY seq",
    );
    let rows = link.all(query.bind(session_id)).await?;
    rows.iter()
        .map(|row| {
            Ok((
                row.id("id")?,
                row.word("status", RequestStatus::parse)?,
                row.raw_json("metadata")?,
            ))
        })
        .collect()
}

/// The open requests of a task, newest first, at most `bounds::PENDING_LISTED`: what its row's menu answers from.
///
/// # Errors
/// As [`decide`].
pub async fn of_task(link: &mut Link, task_id: &TaskId) -> Result<Vec<PendingRequest>> {
    let query = Statement::joined(&[
        "SELECT m.id, m.session_id, m.pending_id, m.type, m.content, m.metadata, m.created_at
         FROM task_session_messages m JOIN task_sessions s ON s.id = m.session_id
         WHERE s.task_id = $1 AND s.state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')
           AND m.pending_id IS NOT NULL AND ",
        open!(),
        " AND (m.type = 'permission_request' OR (m.type = 'clarification_request' AND m.turn_id = ",
        current_turn!(),
        ")) ORDER BY m.created_at DESC, m.id DESC LIMIT $2",
    ]);
    let limit = i64::try_from(bounds::PENDING_LISTED).unwrap_or(i64::MAX);
    link.all(query.bind(task_id).bind(limit))
        .await?
        .iter()
        .map(pending)
        .collect()
}

fn pending(row: &Row) -> Result<PendingRequest> {
    let metadata = row.raw_json("metadata")?;
    let clarification = Clarification::deserialize(&metadata).ok();
    let request: Option<PermissionRequest> = serde_json::from_value(metadata).ok();
    Ok(PendingRequest {
        session_id: row.id("session_id")?,
        message_id: row.id("id")?,
        pending_id: row.id("pending_id")?,
        kind: row.word("type", MessageType::parse)?,
        title: row.text("content")?,
        detail: request
            .as_ref()
            .and_then(|request| request.tool_call.input.clone()),
        options: request.map(|request| request.options).unwrap_or_default(),
        clarification,
        since: row.time("created_at")?,
    })
}
