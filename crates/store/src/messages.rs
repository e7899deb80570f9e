//! Transcript rows.
//!
//! A row is ordered by `seq`, which it gets from its session when it is stored (a queued prompt: when its turn is
//! reserved). Streamed text waits in segments beside its row until the row settles; reading joins them, and the
//! wire's `revision` counts them, so it rises with every append and never falls (see [`crate::segments`]).

use crate::attachments;
use crate::error::{Result, StoreError};
use crate::row::Row;
use crate::sql::{Link, Statement, sql, sql_in};
use model::clock::Timestamp;
use model::ids::{MessageId, PendingId, SessionId, TaskId, TurnId};
use model::message::{Author, Message, MessageType, PromptFacts, RequestStatus, disposition};
use serde_json::Value as Json;
use std::collections::HashMap;

const SELECT: &str = "SELECT m.*, u.prompt_dispatch_attempted AS turn_attempted, u.acknowledged AS turn_acknowledged,
     u.completed_at AS turn_completed_at,
     EXISTS (SELECT 1 FROM executors_running x WHERE x.session_id = m.session_id) AS process_lives
     FROM task_session_messages m LEFT JOIN task_session_turns u ON u.id = m.turn_id ";

/// What a new row holds.
#[derive(Clone, Debug)]
pub struct NewMessage<'a> {
    /// Its id.
    pub id: &'a MessageId,
    /// Its session.
    pub session_id: &'a SessionId,
    /// Its task.
    pub task_id: &'a TaskId,
    /// Its turn.
    pub turn_id: Option<&'a TurnId>,
    /// Who wrote it.
    pub author: Author,
    /// What it is.
    pub kind: MessageType,
    /// Its text.
    pub content: &'a str,
    /// What its type adds.
    pub metadata: &'a Json,
    /// For a request row: pending, with this identity.
    pub pending_id: Option<&'a PendingId>,
    /// Whether text may be appended.
    pub streaming: bool,
}

/// Where a new row goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the end of the transcript.
    Transcript,
    /// At the end of the queue.
    QueueEnd,
}

/// Stores a row.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert(
    link: &mut Link,
    new: &NewMessage<'_>,
    place: Place,
    now: Timestamp,
) -> Result<()> {
    let (seq, queue_position) = match place {
        Place::Transcript => (Some(next_seq(link, new.session_id).await?), None),
        Place::QueueEnd => (
            None,
            Some(last_queue_position(link, new.session_id).await? + 1),
        ),
    };
    let status = new.pending_id.map(|_| RequestStatus::Pending.as_str());
    let insert = sql(
        "INSERT INTO task_session_messages (id, session_id, task_id, turn_id, seq, revision, author, type, content,
                metadata, status, pending_id, queue_position, streaming, removed, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)",
    );
    link.execute(
        insert
            .bind(new.id)
            .bind(new.session_id)
            .bind(new.task_id)
            .bind(new.turn_id)
            .bind(seq)
            .bind(new.author.as_str())
            .bind(new.kind.as_str())
            .bind(&*model::text::storable(new.content))
            .bind(new.metadata.to_string())
            .bind(status)
            .bind(new.pending_id)
            .bind(queue_position)
            .bind(new.streaming)
            .bind(false)
            .bind(now),
    )
    .await?;
    Ok(())
}

async fn next_seq(link: &mut Link, session_id: &SessionId) -> Result<i64> {
    let update =
        sql("UPDATE task_sessions SET last_seq = last_seq + 1 WHERE id = $1 RETURNING last_seq");
    link.one(update.bind(session_id), "session")
        .await?
        .int("last_seq")
}

async fn last_queue_position(link: &mut Link, session_id: &SessionId) -> Result<i64> {
    let query = sql(
        "SELECT coalesce(max(queue_position), 0) AS last FROM task_session_messages
                     WHERE session_id = $1 AND queue_position IS NOT NULL",
    );
    link.one(query.bind(session_id), "session")
        .await?
        .int("last")
}

/// One row, if it exists and was not removed from the queue.
///
/// # Errors
/// As [`insert`].
pub async fn get(link: &mut Link, id: &MessageId) -> Result<Option<Message>> {
    let query = Statement::joined(&[SELECT, "WHERE m.id = $1 AND NOT m.removed"]);
    let rows = link.all(query.bind(id)).await?;
    Ok(complete(link, &rows).await?.pop())
}

/// Who owns an id, tombstones included: what a repeated `message.add` compares with (API-06).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageOwner {
    /// Its session.
    pub session_id: SessionId,
    /// Its task.
    pub task_id: TaskId,
    /// Who wrote it.
    pub author: Author,
    /// It was taken out of the queue.
    pub removed: bool,
}

/// The owner of an id.
///
/// # Errors
/// As [`insert`].
pub async fn owner(link: &mut Link, id: &MessageId) -> Result<Option<MessageOwner>> {
    let query =
        sql("SELECT session_id, task_id, author, removed FROM task_session_messages WHERE id = $1");
    let row = link.maybe(query.bind(id)).await?;
    row.map(|row| {
        Ok(MessageOwner {
            session_id: row.id("session_id")?,
            task_id: row.id("task_id")?,
            author: row.word("author", Author::parse)?,
            removed: row.truth("removed")?,
        })
    })
    .transpose()
}

/// Which rows of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The newest.
    Newest,
    /// Those before this `seq`.
    Before(i64),
    /// Those after this `seq`.
    After(i64),
}

/// A window of a transcript in `seq` order, and whether there are more beyond it.
///
/// # Errors
/// As [`insert`].
pub async fn list(
    link: &mut Link,
    session_id: &SessionId,
    window: Window,
    limit: usize,
) -> Result<(Vec<Message>, bool)> {
    let (condition, order, bound) = match window {
        Window::Newest => ("m.seq < $2", " ORDER BY m.seq DESC LIMIT $3", i64::MAX),
        Window::Before(seq) => ("m.seq < $2", " ORDER BY m.seq DESC LIMIT $3", seq),
        Window::After(seq) => ("m.seq > $2", " ORDER BY m.seq LIMIT $3", seq),
    };
    let query = Statement::joined(&[
        SELECT,
        "WHERE m.session_id = $1 AND m.seq IS NOT NULL AND NOT m.removed AND ",
        condition,
        order,
    ]);
    let wanted = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut rows = link
        .all(query.bind(session_id).bind(bound).bind(wanted))
        .await?;
    let more = limit < rows.len();
    rows.truncate(limit);
    if !matches!(window, Window::After(_)) {
        rows.reverse();
    }
    Ok((complete(link, &rows).await?, more))
}

/// The queued prompts of a session in order.
///
/// # Errors
/// As [`insert`].
pub async fn queue(link: &mut Link, session_id: &SessionId) -> Result<Vec<Message>> {
    let query = Statement::joined(&[
        SELECT,
        "WHERE m.session_id = $1 AND m.queue_position IS NOT NULL AND NOT m.removed ORDER BY m.queue_position",
    ]);
    let rows = link.all(query.bind(session_id)).await?;
    complete(link, &rows).await
}

/// Their ids alone.
///
/// # Errors
/// As [`insert`].
pub async fn queued_ids(link: &mut Link, session_id: &SessionId) -> Result<Vec<MessageId>> {
    let query = sql("SELECT id FROM task_session_messages
                     WHERE session_id = $1 AND queue_position IS NOT NULL AND NOT removed ORDER BY queue_position");
    let rows = link.all(query.bind(session_id)).await?;
    rows.iter().map(|row| row.id("id")).collect()
}

/// How many prompts a session has queued.
///
/// # Errors
/// As [`insert`].
pub async fn queued(link: &mut Link, session_id: &SessionId) -> Result<u32> {
    let query = sql("SELECT count(*) AS n FROM task_session_messages
                     WHERE session_id = $1 AND queue_position IS NOT NULL AND NOT removed");
    Ok(u32::try_from(
        link.one(query.bind(session_id), "session")
            .await?
            .int("n")?,
    )
    .unwrap_or(u32::MAX))
}

/// Gives a queued prompt its turn and its place in the transcript.
///
/// # Errors
/// As [`insert`].
pub async fn dequeue(
    link: &mut Link,
    message: &Message,
    turn_id: &TurnId,
    now: Timestamp,
) -> Result<()> {
    let seq = next_seq(link, &message.session_id).await?;
    let update = sql(
        "UPDATE task_session_messages SET queue_position = NULL, turn_id = $2, seq = $3, updated_at = $4,
                revision = revision + 1 WHERE id = $1",
    );
    link.execute(update.bind(&message.id).bind(turn_id).bind(seq).bind(now))
        .await?;
    Ok(())
}

/// Puts a prompt (back) at the head of the queue: it loses its turn and its place in the transcript.
///
/// # Errors
/// As [`insert`].
pub async fn requeue_first(
    link: &mut Link,
    session_id: &SessionId,
    id: &MessageId,
    now: Timestamp,
) -> Result<()> {
    let update = sql(
        "UPDATE task_session_messages SET turn_id = NULL, seq = NULL, updated_at = $3, revision = revision + 1,
                queue_position = (SELECT coalesce(min(queue_position), 1) - 1 FROM task_session_messages
                                  WHERE session_id = $2 AND queue_position IS NOT NULL AND NOT removed)
         WHERE id = $1",
    );
    link.execute(update.bind(id).bind(session_id).bind(now))
        .await?;
    Ok(())
}

/// Takes a prompt out of the queue and leaves a tombstone; says whether it was queued.
///
/// # Errors
/// As [`insert`].
pub async fn remove_queued(link: &mut Link, id: &MessageId, now: Timestamp) -> Result<bool> {
    let update = sql(
        "UPDATE task_session_messages SET removed = $2, queue_position = NULL, updated_at = $3,
                revision = revision + 1
         WHERE id = $1 AND queue_position IS NOT NULL",
    );
    Ok(0 < link.execute(update.bind(id).bind(true).bind(now)).await?)
}

/// Changes the text of a queued prompt; says whether it was queued.
///
/// # Errors
/// As [`insert`].
pub async fn rewrite_queued(
    link: &mut Link,
    id: &MessageId,
    content: &str,
    now: Timestamp,
) -> Result<bool> {
    let update = sql(
        "UPDATE task_session_messages SET content = $2, updated_at = $3, revision = revision + 1
         WHERE id = $1 AND queue_position IS NOT NULL AND NOT removed",
    );
    let content = model::text::storable(content);
    Ok(0 < link
        .execute(update.bind(id).bind(&*content).bind(now))
        .await?)
}

/// Gives a queued prompt another place in its queue.
///
/// # Errors
/// As [`insert`].
pub async fn place_queued(
    link: &mut Link,
    id: &MessageId,
    position: i64,
    now: Timestamp,
) -> Result<()> {
    let update = sql(
        "UPDATE task_session_messages SET queue_position = $2, updated_at = $3, revision = revision + 1
         WHERE id = $1 AND queue_position IS NOT NULL AND NOT removed",
    );
    link.execute(update.bind(id).bind(position).bind(now))
        .await?;
    Ok(())
}

/// Replaces text and metadata of a row (a tool call's progress, a plan).
///
/// # Errors
/// As [`insert`].
pub async fn replace(
    link: &mut Link,
    id: &MessageId,
    content: &str,
    metadata: &Json,
    now: Timestamp,
) -> Result<()> {
    let update = sql(
        "UPDATE task_session_messages SET content = $2, metadata = $3, updated_at = $4,
                      revision = revision + 1 WHERE id = $1",
    );
    let content = model::text::storable(content);
    link.execute(
        update
            .bind(id)
            .bind(&*content)
            .bind(metadata.to_string())
            .bind(now),
    )
    .await?;
    Ok(())
}

/// Appends to a settled row: late text of an agent.
///
/// # Errors
/// As [`insert`].
pub async fn append_settled(
    link: &mut Link,
    id: &MessageId,
    text: &str,
    now: Timestamp,
) -> Result<()> {
    let update = sql(
        "UPDATE task_session_messages SET content = content || $2, updated_at = $3,
                      revision = revision + 1 WHERE id = $1",
    );
    link.execute(
        update
            .bind(id)
            .bind(&*model::text::storable(text))
            .bind(now),
    )
    .await?;
    Ok(())
}

/// Raises the revisions of a turn's prompts, because their disposition changed with it.
///
/// # Errors
/// As [`insert`].
pub async fn raise_prompts_of_turn(link: &mut Link, turn_id: &TurnId) -> Result<()> {
    let update = sql("UPDATE task_session_messages SET revision = revision + 1
                      WHERE turn_id = $1 AND author = 'user' AND NOT removed");
    link.execute(update.bind(turn_id)).await?;
    Ok(())
}

/// The user's prompts of a turn.
///
/// # Errors
/// As [`insert`].
pub async fn prompts_of_turn(link: &mut Link, turn_id: &TurnId) -> Result<Vec<Message>> {
    let query = Statement::joined(&[
        SELECT,
        "WHERE m.turn_id = $1 AND m.author = 'user' AND NOT m.removed ORDER BY m.seq",
    ]);
    let rows = link.all(query.bind(turn_id)).await?;
    complete(link, &rows).await
}

/// Deletes a row. A person's message leaves a tombstone without text, so that its id stays owned and a late retry
/// sends nothing twice (API-06).
///
/// # Errors
/// As [`insert`].
pub async fn remove(link: &mut Link, id: &MessageId, now: Timestamp) -> Result<()> {
    let bury = sql("UPDATE task_session_messages SET removed = $2, content = '', metadata = '{}', updated_at = $3,
                    revision = revision + 1 WHERE id = $1 AND author = 'user'");
    if link.execute(bury.bind(id).bind(true).bind(now)).await? == 0 {
        link.execute(sql("DELETE FROM task_session_messages WHERE id = $1").bind(id))
            .await?;
    }
    Ok(())
}

/// Rows with their unfolded text joined, and the files of those that people wrote.
async fn complete(link: &mut Link, rows: &[Row]) -> Result<Vec<Message>> {
    let mut messages: Vec<Message> = rows.iter().map(read).collect::<Result<_>>()?;
    join_attachments(link, &mut messages).await?;
    let streaming: Vec<MessageId> = messages
        .iter()
        .filter(|message| message.streaming)
        .map(|message| message.id.clone())
        .collect();
    if streaming.is_empty() {
        return Ok(messages);
    }
    let query = sql_in(
        "SELECT message_id, number, text FROM task_session_message_segments
         WHERE message_id IN ({}) ORDER BY message_id, number",
        streaming.iter().map(MessageId::as_str),
    );
    let mut tails: HashMap<MessageId, (String, i64)> = HashMap::new();
    for row in link.all(query).await? {
        let tail = tails.entry(row.id("message_id")?).or_default();
        tail.0.push_str(&row.text("text")?);
        tail.1 = row.int("number")?;
    }
    for message in &mut messages {
        if let Some((text, number)) = tails.remove(&message.id) {
            message.content.push_str(&text);
            message.revision += number;
        }
    }
    Ok(messages)
}

/// Only people attach files, so what agents say costs no statement.
async fn join_attachments(link: &mut Link, messages: &mut [Message]) -> Result<()> {
    let people = |message: &&Message| message.author == Author::User;
    let theirs: Vec<MessageId> = messages
        .iter()
        .filter(people)
        .map(|message| message.id.clone())
        .collect();
    if theirs.is_empty() {
        return Ok(());
    }
    let mut files = attachments::of_messages(link, &theirs).await?;
    for message in messages {
        message.attachments = files.remove(&message.id).unwrap_or_default();
    }
    Ok(())
}

fn read(row: &Row) -> std::result::Result<Message, StoreError> {
    let author = row.word("author", Author::parse)?;
    let kind = row.word("type", MessageType::parse)?;
    let queue_position = row.maybe_int("queue_position")?;
    let turn_id: Option<TurnId> = row.maybe_id("turn_id")?;
    let turn_closed = row.maybe_int("turn_completed_at")?.is_some();
    let prompt = author == Author::User && kind == MessageType::Message;
    let facts = PromptFacts {
        queued: queue_position.is_some(),
        has_turn: turn_id.is_some(),
        attempted: row.maybe_truth("turn_attempted")?.unwrap_or(false),
        acknowledged: row.maybe_truth("turn_acknowledged")?.unwrap_or(false)
            || (!turn_closed && row.truth("process_lives")?),
        turn_closed,
    };
    let request = matches!(
        kind,
        MessageType::PermissionRequest | MessageType::ClarificationRequest
    );
    Ok(Message {
        id: row.id("id")?,
        session_id: row.id("session_id")?,
        task_id: row.id("task_id")?,
        turn_id,
        seq: row.maybe_int("seq")?,
        revision: row.int("revision")?,
        author,
        kind,
        content: row.text("content")?,
        metadata: row.raw_json("metadata")?,
        status: request.then_some(
            row.maybe_word("status", RequestStatus::parse)?
                .unwrap_or(RequestStatus::Pending),
        ),
        pending_id: row.maybe_id("pending_id")?,
        delivered: row.maybe_truth("delivered")?,
        disposition: prompt.then(|| disposition(facts)),
        queue_position,
        streaming: row.truth("streaming")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        attachments: Vec::new(),
        content_truncated: false,
    })
}
