//! Why the store failed.

use crate::dialect;

/// A failure of the store. Outcomes that are not failures are enums of the functions that have them.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the write lock for longer than `bounds::SQLITE_BUSY` or `bounds::POSTGRES_LOCK_WAIT`.
    /// Trying again is safe.
    #[error("the database is locked by another process")]
    Busy,
    /// The row that was asked for does not exist.
    #[error("no such {what}")]
    NotFound {
        /// What kind of row.
        what: &'static str,
    },
    /// A stored value cannot be read as what it must be.
    #[error("column {column} holds a value that cannot be read")]
    Corrupt {
        /// Which column.
        column: &'static str,
    },
    /// The server is shutting down and writes no more.
    #[error("the database is closed")]
    Closed,
    /// The database's schema is newer than this program.
    #[error("the database was written by a newer version of flightstrip; start that version")]
    NewerSchema,
    /// The database's migrations failed.
    #[error("the database could not be migrated")]
    Migration(#[source] sqlx::migrate::MigrateError),
    /// The database address cannot be used.
    #[error("the database address is not understood: {reason}")]
    Address {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Anything else the engine says.
    #[error("the database failed")]
    Engine(#[source] sqlx::Error),
}

impl StoreError {
    /// Whether the same write may succeed later: the database is locked, full, or out of reach. A write that breaks a
    /// rule of the schema, or a row that cannot be read, fails again however long one waits.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Busy => true,
            Self::Engine(sqlx::Error::Database(error)) => {
                match error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>() {
                    Some(error) => dialect::postgres_passing(error.code()),
                    None => error.kind() == sqlx::error::ErrorKind::Other,
                }
            }
            Self::Engine(sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut) => true,
            _ => false,
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let locked = error.as_database_error().is_some_and(|error| {
            let code = error.code();
            let code = code.as_deref().unwrap_or_default();
            if error
                .try_downcast_ref::<sqlx::sqlite::SqliteError>()
                .is_some()
            {
                dialect::SQLITE_LOCKED.contains(&code)
            } else {
                dialect::POSTGRES_LOCKED.contains(&code)
            }
        });
        if locked {
            Self::Busy
        } else {
            Self::Engine(error)
        }
    }
}

/// What store functions return.
pub type Result<T> = std::result::Result<T, StoreError>;
