//! Bundles of questions: the rows that one call of an agent asked, under one `pending_id`.
//!
//! A decision is committed with `delivered` unset and carried out by the session's owner. So *answered and not
//! delivered* means: somebody still waits for it, or it is claimed for a prompt that is not attempted yet. There is at
//! most one such prompt per session, because there is at most one open turn; hence no row needs to name its claimer.

use crate::error::Result;
use crate::row::Row;
use crate::sessions::open;
use crate::sql::{Link, Statement, sql};
use model::clarification::Clarification;
use model::clock::Timestamp;
use model::ids::{MessageId, PendingId, SessionId, TurnId};
use model::message::RequestStatus;
use serde::Deserialize as _;
use serde_json::Value as Json;

/// One question of a bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Its row.
    pub message_id: MessageId,
    /// Its bundle.
    pub pending_id: PendingId,
    /// The turn in which it was asked.
    pub turn_id: Option<TurnId>,
    /// Where it stands; missing or unknown counts as pending.
    pub status: RequestStatus,
    /// The row's metadata.
    pub metadata: Json,
}

impl Asked {
    /// The question and its answer; nothing when the metadata is not what it should be.
    #[must_use]
    pub fn clarification(&self) -> Option<Clarification> {
        Clarification::deserialize(&self.metadata).ok()
    }
}

/// The rows of a bundle, in the order in which they were asked.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn bundle(
    link: &mut Link,
    session_id: &SessionId,
    pending_id: &PendingId,
) -> Result<Vec<Asked>> {
    let query = sql(
        "SELECT id, pending_id, turn_id, status, metadata FROM task_session_messages
         WHERE session_id = $1 AND pending_id = $2 AND type = 'clarification_request' ORDER BY seq",
    );
    read(&link.all(query.bind(session_id).bind(pending_id)).await?)
}

/// Decisions of a session that were committed and not delivered, in the order in which they were asked.
///
/// # Errors
/// As [`bundle`].
pub async fn undelivered(link: &mut Link, session_id: &SessionId) -> Result<Vec<Asked>> {
    let query = sql(
        "SELECT id, pending_id, turn_id, status, metadata FROM task_session_messages
         WHERE session_id = $1 AND type = 'clarification_request' AND status IN ('answered', 'rejected')
           AND delivered IS NULL AND pending_id IS NOT NULL ORDER BY seq",
    );
    read(&link.all(query.bind(session_id)).await?)
}

/// Whether a question of this turn is open: it ends when a newer turn becomes the boundary (PEN-02).
///
/// # Errors
/// As [`bundle`].
pub async fn any_open_in(
    link: &mut Link,
    session_id: &SessionId,
    turn_id: &TurnId,
) -> Result<bool> {
    let query = Statement::joined(&[
        "SELECT EXISTS (SELECT 1 FROM task_session_messages m WHERE m.session_id = $1
                        AND m.type = 'clarification_request' AND m.turn_id = $2 AND ",
        open!(),
        ") AS any_open",
    ]);
    link.one(query.bind(session_id).bind(turn_id), "session")
        .await?
        .truth("any_open")
}

/// Takes an answer that was not delivered back: its question is pending again.
///
/// # Errors
/// As [`bundle`].
pub async fn restore(link: &mut Link, asked: &Asked, now: Timestamp) -> Result<()> {
    let metadata = asked.clarification().map_or_else(
        || asked.metadata.clone(),
        |clarification| {
            let open = Clarification {
                answer: None,
                ..clarification
            };
            serde_json::to_value(open).unwrap_or_default()
        },
    );
    let update = sql(
        "UPDATE task_session_messages SET status = 'pending', metadata = $2, updated_at = $3,
                revision = revision + 1
         WHERE id = $1 AND status = 'answered' AND delivered IS NULL",
    );
    let update = update.bind(&asked.message_id);
    link.execute(update.bind(metadata.to_string()).bind(now))
        .await?;
    Ok(())
}

fn read(rows: &[Row]) -> Result<Vec<Asked>> {
    rows.iter()
        .map(|row| {
            Ok(Asked {
                message_id: row.id("id")?,
                pending_id: row.id("pending_id")?,
                turn_id: row.maybe_id("turn_id")?,
                status: row
                    .maybe_word("status", RequestStatus::parse)?
                    .unwrap_or(RequestStatus::Pending),
                metadata: row.raw_json("metadata")?,
            })
        })
        .collect()
}
