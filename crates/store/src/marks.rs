//! How far the summary of each task is behind its authority, and whether it has one at all: what a check-up reads
//! beside [`crate::authority::load`], in the same snapshot.

use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, sql, sql_in};
use crate::tx::WriteTx;
use model::ids::TaskId;

/// The two marks of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    /// The task.
    pub task_id: TaskId,
    /// Rises with every change of what its summary is derived from.
    pub authority_seq: i64,
    /// The `authority_seq` its stored summary was derived from.
    pub derived_seq: i64,
    /// Whether a summary is stored, readable or not.
    pub has_row: bool,
}

impl Marks {
    /// Whether the stored summary was derived from older authority, so that it may differ.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        self.derived_seq < self.authority_seq
    }
}

/// A page of all tasks in the order of their ids.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn page(link: &mut Link, after: Option<&TaskId>, limit: usize) -> Result<Vec<Marks>> {
    let query = sql(
        "SELECT t.id, t.authority_seq, t.derived_seq, y.task_id IS NOT NULL AS has_row FROM tasks t
         LEFT JOIN task_status_summaries y ON y.task_id = t.id AND y.task_id > $1 WHERE t.id > $1 ORDER BY t.id LIMIT $2",
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let query = query.bind(after.map_or("", TaskId::as_str)).bind(limit);
    link.all(query).await?.iter().map(read).collect()
}

/// Those of these tasks; missing ones are left out.
///
/// # Errors
/// As [`page`].
pub async fn of_tasks(link: &mut Link, ids: &[TaskId]) -> Result<Vec<Marks>> {
    let query = sql_in(
        "SELECT t.id, t.authority_seq, t.derived_seq, y.task_id IS NOT NULL AS has_row FROM tasks t
         LEFT JOIN task_status_summaries y ON y.task_id = t.id WHERE t.id IN ({}) ORDER BY t.id",
        ids.iter().map(TaskId::as_str),
    );
    link.all(query).await?.iter().map(read).collect()
}

/// How many tasks there are, and how many of them are stale.
///
/// # Errors
/// As [`page`].
pub async fn count(link: &mut Link) -> Result<(usize, usize)> {
    let query = sql("SELECT count(*) AS tasks,
                            (SELECT count(*) FROM tasks WHERE derived_seq < authority_seq) AS stale FROM tasks");
    let row = link.one(query, "count").await?;
    let number = |count: i64| usize::try_from(count).unwrap_or(0);
    Ok((number(row.int("tasks")?), number(row.int("stale")?)))
}

/// The setting that says by which rules the stored summaries were derived.
pub const RULES: &str = "summary_rules";

/// Whether the stored summaries were derived by the rules of this number, so that what differs is at fault.
///
/// # Errors
/// As [`page`].
pub async fn follow(link: &mut Link, rules: i64) -> Result<bool> {
    let query = sql("SELECT value FROM settings WHERE name = $1");
    let row = link.maybe(query.bind(RULES)).await?;
    let known = row.map(|row| row.text("value")).transpose()?;
    Ok(known.is_some_and(|known| known == rules.to_string()))
}

/// Lets the stored summaries follow the rules of this number: when they were derived by others, all tasks are stale
/// now, archived ones too (REC-02). Gives how many were marked.
///
/// # Errors
/// As [`page`].
pub async fn adopt(tx: &mut WriteTx, rules: i64) -> Result<u64> {
    if follow(tx, rules).await? {
        return Ok(0);
    }
    let note = sql("INSERT INTO settings (name, value) VALUES ($1, $2)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value");
    tx.execute(note.bind(RULES).bind(rules.to_string().as_str()))
        .await?;
    tx.execute(sql("UPDATE tasks SET authority_seq = authority_seq + 1"))
        .await
}

fn read(row: &Row) -> Result<Marks> {
    Ok(Marks {
        task_id: row.id("id")?,
        authority_seq: row.int("authority_seq")?,
        derived_seq: row.int("derived_seq")?,
        has_row: row.truth("has_row")?,
    })
}
