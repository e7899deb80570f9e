//! Files attached to messages: their rows. The bytes are the orchestrator's concern.
//!
//! Invariant: a row belongs to one task for good and to one message at most; which one is decided once, in the
//! transaction that accepts that message (API-06).

use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, Statement, sql, sql_in};
use model::attachment::Attachment;
use model::clock::Timestamp;
use model::ids::{AttachmentId, MessageId, SessionId, TaskId};
use std::collections::HashMap;

/// A stored file with what clients are not told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAttachment {
    /// What clients see.
    pub attachment: Attachment,
    /// The task it was uploaded for.
    pub task_id: TaskId,
    /// The message it belongs to; an upload that waits has none.
    pub message_id: Option<MessageId>,
    /// SHA-256 of its bytes in hex.
    pub sha256: String,
}

/// Stores the row of an uploaded file.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert(
    link: &mut Link,
    attachment: &Attachment,
    task_id: &TaskId,
    sha256: &str,
    now: Timestamp,
) -> Result<()> {
    let insert = sql(
        "INSERT INTO message_attachments (id, task_id, name, media_type, size, sha256, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    );
    link.execute(
        insert
            .bind(&attachment.id)
            .bind(task_id)
            .bind(&*model::text::storable(&attachment.name))
            .bind(&*attachment.media_type)
            .bind(i64::try_from(attachment.size).unwrap_or(i64::MAX))
            .bind(sha256)
            .bind(now),
    )
    .await?;
    let used =
        sql("INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING");
    link.execute(used.bind(USED).bind("yes")).await?;
    Ok(())
}

/// The setting that says that files were ever stored for this database.
const USED: &str = "attachments_used";

/// Whether a file was ever stored for this database. Without that a folder of files belongs to another one, and
/// nothing in it may be taken for an orphan.
///
/// # Errors
/// As [`insert`].
pub async fn ever_used(link: &mut Link) -> Result<bool> {
    let query = sql("SELECT value FROM settings WHERE name = $1");
    Ok(link.maybe(query.bind(USED)).await?.is_some())
}

/// One file.
///
/// # Errors
/// As [`insert`].
pub async fn get(link: &mut Link, id: &AttachmentId) -> Result<Option<StoredAttachment>> {
    let query = sql("SELECT * FROM message_attachments WHERE id = $1");
    let row = link.maybe(query.bind(id)).await?;
    row.as_ref().map(stored).transpose()
}

/// Gives a waiting file of this task to a message. Says whether there was one: a file of another task, a claimed one
/// and a made-up one are alike.
///
/// # Errors
/// As [`insert`].
pub async fn claim(
    link: &mut Link,
    id: &AttachmentId,
    task_id: &TaskId,
    message_id: &MessageId,
    position: i64,
) -> Result<bool> {
    let update = sql(
        "UPDATE message_attachments SET message_id = $3, position = $4
         WHERE id = $1 AND task_id = $2 AND message_id IS NULL",
    );
    let update = update
        .bind(id)
        .bind(task_id)
        .bind(message_id)
        .bind(position);
    Ok(0 < link.execute(update).await?)
}

/// The files of a message in their order.
///
/// # Errors
/// As [`insert`].
pub async fn of_message(link: &mut Link, message_id: &MessageId) -> Result<Vec<StoredAttachment>> {
    let query = sql("SELECT * FROM message_attachments WHERE message_id = $1 ORDER BY position");
    let rows = link.all(query.bind(message_id)).await?;
    rows.iter().map(stored).collect()
}

/// The files of these messages, each message's in their order.
pub(crate) async fn of_messages(
    link: &mut Link,
    messages: impl IntoIterator<Item = &MessageId>,
) -> Result<HashMap<MessageId, Vec<Attachment>>> {
    let query = sql_in(
        "SELECT * FROM message_attachments WHERE message_id IN ({}) ORDER BY message_id, position",
        messages.into_iter().map(MessageId::as_str),
    );
    let mut files: HashMap<MessageId, Vec<Attachment>> = HashMap::new();
    for row in link.all(query).await? {
        files
            .entry(row.id("message_id")?)
            .or_default()
            .push(read(&row)?);
    }
    Ok(files)
}

/// How many files wait for a message: of this task, and of all.
///
/// # Errors
/// As [`insert`].
pub async fn unclaimed(link: &mut Link, task_id: &TaskId) -> Result<(usize, usize)> {
    let query = sql(
        "SELECT count(*) AS everywhere, count(CASE WHEN task_id = $1 THEN 1 END) AS here
         FROM message_attachments WHERE message_id IS NULL",
    );
    let row = link.one(query.bind(task_id), "count").await?;
    let count = |column| {
        Ok::<_, crate::error::StoreError>(usize::try_from(row.int(column)?).unwrap_or(usize::MAX))
    };
    Ok((count("here")?, count("everywhere")?))
}

/// Forgets files that have waited since before `limit`; gives them.
///
/// # Errors
/// As [`insert`].
pub async fn remove_waiting_since(link: &mut Link, limit: Timestamp) -> Result<Vec<AttachmentId>> {
    let delete = sql(
        "DELETE FROM message_attachments WHERE message_id IS NULL AND created_at < $1
         RETURNING id",
    );
    ids(link, delete.bind(limit)).await
}

/// Forgets a file that waits; says whether it did.
///
/// # Errors
/// As [`insert`].
pub async fn remove_waiting(link: &mut Link, id: &AttachmentId) -> Result<bool> {
    let delete = sql("DELETE FROM message_attachments WHERE id = $1 AND message_id IS NULL");
    Ok(0 < link.execute(delete.bind(id)).await?)
}

/// Forgets the files of a message that is taken back; gives them.
///
/// # Errors
/// As [`insert`].
pub async fn remove_of_message(
    link: &mut Link,
    message_id: &MessageId,
) -> Result<Vec<AttachmentId>> {
    let delete = sql("DELETE FROM message_attachments WHERE message_id = $1 RETURNING id");
    ids(link, delete.bind(message_id)).await
}

/// The files that go when this session is deleted.
///
/// # Errors
/// As [`insert`].
pub async fn of_session(link: &mut Link, session_id: &SessionId) -> Result<Vec<AttachmentId>> {
    let query = sql("SELECT a.id FROM message_attachments a
         JOIN task_session_messages m ON m.id = a.message_id WHERE m.session_id = $1");
    ids(link, query.bind(session_id)).await
}

/// The files that go when this task is deleted.
///
/// # Errors
/// As [`insert`].
pub async fn of_task(link: &mut Link, task_id: &TaskId) -> Result<Vec<AttachmentId>> {
    let query = sql("SELECT id FROM message_attachments WHERE task_id = $1");
    ids(link, query.bind(task_id)).await
}

/// All files there should be.
///
/// # Errors
/// As [`insert`].
pub async fn all(link: &mut Link) -> Result<Vec<AttachmentId>> {
    ids(link, sql("SELECT id FROM message_attachments")).await
}

async fn ids(link: &mut Link, query: Statement) -> Result<Vec<AttachmentId>> {
    let rows = link.all(query).await?;
    rows.iter().map(|row| row.id("id")).collect()
}

fn stored(row: &Row) -> Result<StoredAttachment> {
    Ok(StoredAttachment {
        attachment: read(row)?,
        task_id: row.id("task_id")?,
        message_id: row.maybe_id("message_id")?,
        sha256: row.text("sha256")?,
    })
}

fn read(row: &Row) -> Result<Attachment> {
    Ok(Attachment {
        id: row.id("id")?,
        name: row.text("name")?,
        media_type: row.text("media_type")?,
        size: u64::try_from(row.int("size")?).unwrap_or(0),
    })
}
