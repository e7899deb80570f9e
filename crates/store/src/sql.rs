//! The query helper: one statement text, typed binds, both engines.
//!
//! The two typed pools of `sqlx` stay apart underneath (its `Any` driver cannot read SQLite's booleans), yet every
//! statement is written once: placeholders are `$1 …`, and the dialect both engines share covers what is needed.
//! What one of them lacks belongs into [`crate::dialect`], never into a second copy of a query.
//!
//! Invariant: a statement's text never holds a value that came from outside; values are bound.

use crate::error::Result;
use crate::row::Row;
use model::text::storable;
use sqlx::{AssertSqlSafe, Postgres, Sqlite, Transaction};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bound value. `None` is a typed NULL, which PostgreSQL needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text, ids, words, JSON.
    Text(Option<String>),
    /// Integers and times in microseconds.
    Int(Option<i64>),
    /// Truth values.
    Bool(Option<bool>),
}

// Text becomes storable here and nowhere else, so that it reads the same from either engine: PostgreSQL cannot hold
// U+0000.
impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Some(storable(value).into_owned()))
    }
}
impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(Some(match storable(&value) {
            Cow::Borrowed(_) => value,
            Cow::Owned(changed) => changed,
        }))
    }
}
impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Self {
        value.map_or(Self::Text(None), Self::from)
    }
}
impl From<Option<String>> for Value {
    fn from(value: Option<String>) -> Self {
        value.map_or(Self::Text(None), Self::from)
    }
}
impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}
impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}
impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(Some(value))
    }
}
impl From<Option<bool>> for Value {
    fn from(value: Option<bool>) -> Self {
        Self::Bool(value)
    }
}
impl From<model::clock::Timestamp> for Value {
    fn from(value: model::clock::Timestamp) -> Self {
        Self::Int(Some(value.as_micros()))
    }
}
impl From<Option<model::clock::Timestamp>> for Value {
    fn from(value: Option<model::clock::Timestamp>) -> Self {
        Self::Int(value.map(model::clock::Timestamp::as_micros))
    }
}

macro_rules! bind_ids {
    ($($id:ident),+) => {$(
        impl From<&model::ids::$id> for Value {
            fn from(id: &model::ids::$id) -> Self {
                Self::Text(Some(id.as_str().to_owned()))
            }
        }
        impl From<Option<&model::ids::$id>> for Value {
            fn from(id: Option<&model::ids::$id>) -> Self {
                Self::Text(id.map(|id| id.as_str().to_owned()))
            }
        }
    )+};
}
bind_ids!(
    WorkspaceId,
    UserId,
    WorkflowId,
    StepId,
    RepositoryId,
    TaskId,
    TaskRepositoryId,
    EnvironmentId,
    EnvironmentRepositoryId,
    SessionId,
    TurnId,
    MessageId,
    PendingId,
    ExecutionId,
    InstanceId,
    AgentProfileId,
    SnapshotId,
    PullRequestId,
    AttachmentId
);

/// A statement with its bound values.
#[derive(Clone, Debug)]
#[must_use]
pub struct Statement {
    text: Cow<'static, str>,
    values: Vec<Value>,
}

/// A statement whose text is fixed.
pub const fn sql(text: &'static str) -> Statement {
    Statement {
        text: Cow::Borrowed(text),
        values: Vec::new(),
    }
}

/// A statement over a list of ids: `({})` in `text` becomes `($1, $2, …)`, bound to `ids`. Further binds follow from
/// `$n+1`. The parentheses are part of the mark, because `'{}'` is also how an empty JSON object is written.
pub fn sql_in<'a>(text: &'static str, ids: impl IntoIterator<Item = &'a str>) -> Statement {
    let values: Vec<Value> = ids.into_iter().map(Value::from).collect();
    let mut list = String::new();
    for number in 1..=values.len() {
        let _ = write!(list, "{}${number}", if number == 1 { "" } else { ", " }); // a String takes every write
    }
    if values.is_empty() {
        list.push_str("NULL");
    }
    Statement {
        text: Cow::Owned(text.replace("({})", &format!("({list})"))),
        values,
    }
}

/// A statement over rows of values: `VALUES ({})` in `text` becomes `VALUES ($1, $2), ($3, $4), …`, bound to `rows`.
/// There must be a row: no engine has a list of values without one.
pub fn sql_rows<const COLUMNS: usize>(
    text: &'static str,
    rows: impl IntoIterator<Item = [Value; COLUMNS]>,
) -> Statement {
    let mut values = Vec::new();
    let mut list = String::new();
    for row in rows {
        list.push_str(if values.is_empty() { "(" } else { ", (" });
        for (column, value) in row.into_iter().enumerate() {
            values.push(value);
            let comma = if column == 0 { "" } else { ", " };
            let _ = write!(list, "{comma}${}", values.len()); // a String takes every write
        }
        list.push(')');
    }
    debug_assert!(!values.is_empty(), "a list of rows has a row");
    Statement {
        text: Cow::Owned(text.replace("({})", &list)),
        values,
    }
}

impl Statement {
    /// A statement put together from fixed parts.
    pub fn joined(parts: &[&'static str]) -> Self {
        Self {
            text: Cow::Owned(parts.concat()),
            values: Vec::new(),
        }
    }

    /// The statement with a fixed part behind it.
    pub fn and(mut self, part: &'static str) -> Self {
        if !part.is_empty() {
            self.text.to_mut().push_str(part);
        }
        self
    }

    /// Binds the next value.
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }
}

pub(crate) enum Engine {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// An open transaction of either engine: what every query function takes.
pub struct Link {
    pub(crate) engine: Engine,
    pub(crate) statements: Arc<AtomicU64>,
    #[cfg(feature = "faults")]
    pub(crate) faults: crate::faults::Faults,
    #[cfg(feature = "faults")]
    pub(crate) point: crate::faults::FaultPoint,
    /// This transaction ran the statement that the process is to stop at.
    #[cfg(feature = "faults")]
    pub(crate) halting: bool,
}

macro_rules! bound {
    ($statement:expr, $text:expr) => {{
        let mut query = sqlx::query(AssertSqlSafe($text));
        for value in $statement {
            query = match value {
                Value::Text(text) => query.bind(text),
                Value::Int(int) => query.bind(int),
                Value::Bool(bool) => query.bind(bool),
            };
        }
        query
    }};
}

impl Link {
    /// Every statement passes here before it reaches the engine.
    async fn count(&mut self, statement: &Statement) -> Result<()> {
        self.statements.fetch_add(1, Ordering::Relaxed);
        #[cfg(feature = "faults")]
        {
            self.faults.pass(self.point).await?;
            self.halting |= crate::faults::halt::at_statement(&statement.text).await;
        }
        #[cfg(not(feature = "faults"))]
        let _ = statement; // only tests look at it
        Ok(())
    }

    /// Runs a statement and says how many rows it changed.
    ///
    /// # Errors
    /// Whatever the engine says, as [`crate::error::StoreError`].
    pub async fn execute(&mut self, statement: Statement) -> Result<u64> {
        self.count(&statement).await?;
        let text = statement.text.into_owned();
        Ok(match &mut self.engine {
            Engine::Sqlite(tx) => bound!(statement.values, text)
                .execute(&mut **tx)
                .await?
                .rows_affected(),
            Engine::Postgres(tx) => bound!(statement.values, text)
                .execute(&mut **tx)
                .await?
                .rows_affected(),
        })
    }

    /// All rows of a query.
    ///
    /// # Errors
    /// Whatever the engine says.
    pub async fn all(&mut self, statement: Statement) -> Result<Vec<Row>> {
        self.count(&statement).await?;
        let text = statement.text.into_owned();
        Ok(match &mut self.engine {
            Engine::Sqlite(tx) => {
                let rows = bound!(statement.values, text).fetch_all(&mut **tx).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Engine::Postgres(tx) => {
                let rows = bound!(statement.values, text).fetch_all(&mut **tx).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// The first row of a query, if there is one.
    ///
    /// # Errors
    /// Whatever the engine says.
    pub async fn maybe(&mut self, statement: Statement) -> Result<Option<Row>> {
        self.count(&statement).await?;
        let text = statement.text.into_owned();
        Ok(match &mut self.engine {
            Engine::Sqlite(tx) => bound!(statement.values, text)
                .fetch_optional(&mut **tx)
                .await?
                .map(Row::Sqlite),
            Engine::Postgres(tx) => bound!(statement.values, text)
                .fetch_optional(&mut **tx)
                .await?
                .map(Row::Postgres),
        })
    }

    /// The one row of a query that always has one.
    ///
    /// # Errors
    /// `NotFound` naming `what` when it has none.
    pub async fn one(&mut self, statement: Statement, what: &'static str) -> Result<Row> {
        self.maybe(statement)
            .await?
            .ok_or(crate::error::StoreError::NotFound { what })
    }
}
