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
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
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
    /// What stands for [`LIST`] in the text.
    list: Option<Vec<String>>,
    values: Vec<Value>,
}

/// Where a statement names its list. The parentheses are part of the mark, because `'{}'` is also how an empty JSON
/// object is written.
const LIST: &str = "IN ({})";

/// A statement whose text is fixed.
pub const fn sql(text: &'static str) -> Statement {
    Statement {
        text: Cow::Borrowed(text),
        list: None,
        values: Vec::new(),
    }
}

/// A statement over a list of ids, which stands as `IN ({})` in `text`, once. Nothing else is bound to it.
///
/// SQLite is given `IN ($1, $2, …)`, as it has no arrays. PostgreSQL is given one array: one text whatever the length
/// of the list, so after a few times on a connection it is planned no more, and by then as a seek per id. A list that is
/// spelled out is planned each time, and on a table of middling size as a walk through all of it.
pub fn sql_in<'a>(text: &'static str, ids: impl IntoIterator<Item = &'a str>) -> Statement {
    debug_assert_eq!(text.matches(LIST).count(), 1, "one list: {text}");
    Statement {
        text: Cow::Borrowed(text),
        list: Some(
            ids.into_iter()
                .map(|id| storable(id).into_owned())
                .collect(),
        ),
        values: Vec::new(),
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
        list: None,
        values,
    }
}

impl Statement {
    /// A statement put together from fixed parts.
    pub fn joined(parts: &[&'static str]) -> Self {
        Self {
            text: Cow::Owned(parts.concat()),
            list: None,
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
        debug_assert!(self.list.is_none(), "nothing is bound beside a list");
        self.values.push(value.into());
        self
    }

    /// As SQLite takes it.
    fn for_sqlite(self) -> (String, Vec<Value>) {
        let Some(ids) = self.list else {
            return (self.text.into_owned(), self.values);
        };
        let mut list = String::from("IN (");
        for number in 1..=ids.len() {
            let _ = write!(list, "{}${number}", if number == 1 { "" } else { ", " }); // a String takes every write
        }
        list.push_str(if ids.is_empty() { "NULL)" } else { ")" });
        let values = ids.into_iter().map(|id| Value::Text(Some(id)));
        (self.text.replace(LIST, &list), values.collect())
    }

    /// As PostgreSQL takes it.
    fn for_postgres(self) -> (String, Option<Vec<String>>, Vec<Value>) {
        let text = match self.list {
            Some(_) => self.text.replace(LIST, "= ANY ($1)"),
            None => self.text.into_owned(),
        };
        (text, self.list, self.values)
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
    ($query:expr, $values:expr) => {{
        let mut query = $query;
        for value in $values {
            query = match value {
                Value::Text(text) => query.bind(text),
                Value::Int(int) => query.bind(int),
                Value::Bool(bool) => query.bind(bool),
            };
        }
        query
    }};
}

fn sqlite(statement: Statement) -> Query<'static, Sqlite, SqliteArguments> {
    let (text, values) = statement.for_sqlite();
    bound!(sqlx::query(AssertSqlSafe(text)), values)
}

fn postgres(statement: Statement) -> Query<'static, Postgres, PgArguments> {
    let (text, list, values) = statement.for_postgres();
    let query = sqlx::query(AssertSqlSafe(text));
    let query = match list {
        Some(list) => query.bind(list),
        None => query,
    };
    bound!(query, values)
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
        Ok(match &mut self.engine {
            Engine::Sqlite(tx) => sqlite(statement).execute(&mut **tx).await?.rows_affected(),
            Engine::Postgres(tx) => postgres(statement)
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
        Ok(match &mut self.engine {
            Engine::Sqlite(tx) => {
                let rows = sqlite(statement).fetch_all(&mut **tx).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Engine::Postgres(tx) => {
                let rows = postgres(statement).fetch_all(&mut **tx).await?;
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
        Ok(match &mut self.engine {
            Engine::Sqlite(tx) => sqlite(statement)
                .fetch_optional(&mut **tx)
                .await?
                .map(Row::Sqlite),
            Engine::Postgres(tx) => postgres(statement)
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
