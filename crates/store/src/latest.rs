//! The latest time that is stored anywhere, in whatever column.
//!
//! Each table is read once, whatever the number of its times. Transcripts are not: they grow with all that agents ever
//! did, so their latest times are looked up by index.

use crate::error::Result;
use crate::sql::{Link, sql};
use model::clock::Timestamp;

/// What is asked, and the columns of the answer.
const TIMES: &[(&str, &[&str])] = &[
    (
        "SELECT max(created_at) AS created, max(updated_at) AS updated, max(last_activity_at) AS active,
                max(interrupted_at) AS interrupted, max(launch_error_occurred_at) AS failed FROM tasks",
        &["created", "updated", "active", "interrupted", "failed"],
    ),
    (
        "SELECT max(updated_at) AS updated FROM task_session_messages",
        &["updated"],
    ),
    // None, as far as one clock made both: word for word the condition of an index that holds nothing else.
    (
        "SELECT max(created_at) AS created FROM task_session_messages WHERE updated_at < created_at",
        &["created"],
    ),
    (
        "SELECT max(started_at) AS started, max(completed_at) AS completed FROM task_session_turns",
        &["started", "completed"],
    ),
    (
        "SELECT max(started_at) AS started, max(error_occurred_at) AS failed FROM task_sessions",
        &["started", "failed"],
    ),
    (
        "SELECT max(created_at) AS created FROM task_session_git_snapshots",
        &["created"],
    ),
    (
        "SELECT max(updated_at) AS updated, max(observed_at) AS observed FROM task_pull_requests",
        &["updated", "observed"],
    ),
    (
        "SELECT max(updated_at) AS updated FROM task_status_summaries",
        &["updated"],
    ),
    (
        "SELECT max(last_used_at) AS used FROM auth_sessions",
        &["used"],
    ),
];

/// The latest time; none in an empty database.
///
/// # Errors
/// Whatever the engine says.
pub async fn time(link: &mut Link) -> Result<Option<Timestamp>> {
    let mut latest = None;
    for &(text, columns) in TIMES {
        let row = link.one(sql(text), "time").await?;
        for &column in columns {
            latest = latest.max(row.maybe_time(column)?);
        }
    }
    Ok(latest)
}
