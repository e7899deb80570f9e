//! Streamed text on its way into a row.
//!
//! An append writes one small row beside its message instead of rewriting the message, so a long answer costs what
//! it says and not its square. Segments of a message are numbered 1, 2, …; when the message settles they are folded
//! into it and the folded count is added to its revision, so that the wire's revision never falls.

use crate::error::Result;
use crate::sql::{Link, sql, sql_in};
use model::clock::Timestamp;
use model::ids::{MessageId, SessionId};

/// One append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The row.
    pub message_id: MessageId,
    /// Its number: 1 for the first.
    pub number: i64,
    /// What is appended.
    pub text: String,
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// Stored.
    Appended,
    /// The row is gone: a person deleted it while it was written.
    Gone,
}

/// Appends to a row, if the row still exists.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn append(link: &mut Link, segment: &Segment) -> Result<AppendOutcome> {
    let insert = sql(
        "INSERT INTO task_session_message_segments (message_id, number, text)
         SELECT $1, $2, $3 WHERE EXISTS (SELECT 1 FROM task_session_messages WHERE id = $1)",
    );
    let insert = insert
        .bind(&segment.message_id)
        .bind(segment.number)
        .bind(&*model::text::storable(&segment.text));
    Ok(if link.execute(insert).await? == 0 {
        AppendOutcome::Gone
    } else {
        AppendOutcome::Appended
    })
}

/// Folds the segments of a row into it; the row is settled then.
///
/// # Errors
/// As [`append`].
pub async fn fold(link: &mut Link, message_id: &MessageId, now: Timestamp) -> Result<()> {
    let query = sql(
        "SELECT number, text FROM task_session_message_segments WHERE message_id = $1 ORDER BY number",
    );
    let rows = link.all(query.bind(message_id)).await?;
    let mut tail = String::new();
    // What reading adds for unfolded text is the highest number, so folding adds the same.
    let mut folded = 0;
    for row in &rows {
        tail.push_str(&row.text("text")?);
        folded = row.int("number")?;
    }
    let update = sql(
        "UPDATE task_session_messages SET content = content || $2, revision = revision + $3 + 1, streaming = $4,
                updated_at = $5 WHERE id = $1 AND streaming",
    );
    let update = update
        .bind(message_id)
        .bind(tail.as_str())
        .bind(folded)
        .bind(false)
        .bind(now);
    if 0 < link.execute(update).await? {
        let delete = sql("DELETE FROM task_session_message_segments WHERE message_id = $1");
        link.execute(delete.bind(message_id)).await?;
    }
    Ok(())
}

/// Rows of these sessions that are not settled, in the order of each session: one statement.
///
/// # Errors
/// As [`append`].
pub async fn unsettled(link: &mut Link, sessions: &[SessionId]) -> Result<Vec<MessageId>> {
    if sessions.is_empty() {
        return Ok(Vec::new());
    }
    let query = sql_in(
        "SELECT id FROM task_session_messages WHERE session_id IN ({}) AND streaming ORDER BY session_id, seq",
        sessions.iter().map(SessionId::as_str),
    );
    link.all(query)
        .await?
        .iter()
        .map(|row| row.id("id"))
        .collect()
}
