//! Opening a store: pools, pragmas, migrations.

use crate::dialect;
use crate::error::{Result, StoreError};
use crate::outcome::Witness;
use crate::sql::{Engine, Link};
use model::bounds;
use model::clock::{Clock, Timestamp};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Database, Pool, Postgres, Row as _, Sqlite};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// A handle to the database; cloning it is cheap.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    pools: Pools,
    clock: Arc<dyn Clock>,
    statements: Arc<AtomicU64>,
    #[cfg(feature = "faults")]
    faults: crate::faults::Faults,
}

pub(crate) enum Pools {
    Sqlite(Lane<Sqlite>),
    Postgres(Lane<Postgres>),
}

/// One writer, whose turn is the mutex's first-come order, and several readers.
pub(crate) struct Lane<DB: Database> {
    pub(crate) writer: Pool<DB>,
    pub(crate) turn: Arc<Mutex<()>>,
    pub(crate) readers: Pool<DB>,
}

impl Store {
    /// Opens, or makes, the SQLite database in `file`. Migrating is a step of its own ([`Store::migrate`]).
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub async fn open_sqlite(file: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .busy_timeout(bounds::SQLITE_BUSY);
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options.clone())
            .await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(bounds::SQLITE_READERS)
            .connect_with(options)
            .await?;
        Ok(Self::over(
            Pools::Sqlite(Lane {
                writer,
                turn: Arc::default(),
                readers,
            }),
            clock,
        ))
    }

    /// Opens the PostgreSQL database at `url`, over connections of its own: a pooler in between must keep one
    /// connection per client, because locks belong to connections.
    ///
    /// # Errors
    /// `Address` when the URL is not understood, or whatever the engine says.
    pub async fn open_postgres(url: &str, clock: Arc<dyn Clock>) -> Result<Self> {
        let options = postgres_options(url, "flightstrip", bounds::POSTGRES_LOCK_WAIT)?;
        let writer = PgPoolOptions::new()
            .max_connections(1)
            .connect_with(options.clone())
            .await?;
        let readers = PgPoolOptions::new()
            .max_connections(bounds::POSTGRES_READERS)
            .connect_with(options)
            .await?;
        Ok(Self::over(
            Pools::Postgres(Lane {
                writer,
                turn: Arc::default(),
                readers,
            }),
            clock,
        ))
    }

    fn over(pools: Pools, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner: Arc::new(Inner {
                pools,
                clock,
                statements: Arc::default(),
                #[cfg(feature = "faults")]
                faults: crate::faults::Faults::default(),
            }),
        }
    }

    /// Brings the schema to this program's version, in one go.
    ///
    /// # Errors
    /// `NewerSchema` when a newer program wrote the database, else `Migration`.
    pub async fn migrate(&self) -> Result<()> {
        crate::migrations::run(&self.inner.pools).await
    }

    /// The latest time stored anywhere: the clock is seeded with it, so no later time is earlier.
    ///
    /// # Errors
    /// Whatever the engine says.
    pub async fn latest_time(&self) -> Result<Option<Timestamp>> {
        let mut tx = self.read().await?;
        crate::latest::time(&mut tx).await
    }

    /// The present, from the process's one clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// The clock itself.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.inner.clock)
    }

    /// Statements run so far: a test that counts them proves that a loader does not ask once per row (PST-04).
    #[must_use]
    pub fn statements(&self) -> u64 {
        self.inner.statements.load(Ordering::Relaxed)
    }

    /// Closes the pools; later calls fail.
    pub async fn close(&self) {
        match &self.inner.pools {
            Pools::Sqlite(lane) => lane.close().await,
            Pools::Postgres(lane) => lane.close().await,
        }
    }

    pub(crate) fn pools(&self) -> &Pools {
        &self.inner.pools
    }

    pub(crate) fn link(&self, engine: Engine) -> Link {
        Link {
            engine,
            statements: Arc::clone(&self.inner.statements),
            #[cfg(feature = "faults")]
            faults: self.inner.faults.clone(),
            #[cfg(feature = "faults")]
            point: crate::faults::FaultPoint::ReadStatement,
            #[cfg(feature = "faults")]
            halting: false,
        }
    }

    /// Where tests make this store fail or wait.
    #[cfg(feature = "faults")]
    #[must_use]
    pub fn faults(&self) -> &crate::faults::Faults {
        &self.inner.faults
    }

    pub(crate) async fn begin_write(
        &self,
    ) -> Result<(Engine, OwnedMutexGuard<()>, Option<Witness>)> {
        Ok(match &self.inner.pools {
            Pools::Sqlite(lane) => {
                let turn = Arc::clone(&lane.turn).lock_owned().await;
                let begin = dialect::SQLITE_BEGIN_WRITE;
                (
                    Engine::Sqlite(lane.writer.begin_with(begin).await?),
                    turn,
                    None,
                )
            }
            Pools::Postgres(lane) => {
                let turn = Arc::clone(&lane.turn).lock_owned().await;
                let mut tx = lane.writer.begin().await?;
                let row = sqlx::raw_sql(dialect::postgres_become_writer())
                    .fetch_one(&mut *tx)
                    .await?;
                let witness = Witness {
                    readers: lane.readers.clone(),
                    id: row.try_get("id")?,
                };
                (Engine::Postgres(tx), turn, Some(witness))
            }
        })
    }

    pub(crate) async fn begin_read(&self) -> Result<Engine> {
        Ok(match &self.inner.pools {
            Pools::Sqlite(lane) => Engine::Sqlite(lane.readers.begin().await?),
            Pools::Postgres(lane) => {
                let begin = dialect::POSTGRES_BEGIN_READ;
                Engine::Postgres(lane.readers.begin_with(begin).await?)
            }
        })
    }
}

impl<DB: Database> Lane<DB> {
    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// How every connection to the PostgreSQL database at `url` is opened.
pub(crate) fn postgres_options(
    url: &str,
    name: &str,
    lock_wait: Duration,
) -> Result<PgConnectOptions> {
    let options = PgConnectOptions::from_str(url).map_err(|_| StoreError::Address {
        reason: "not a PostgreSQL URL",
    })?;
    Ok(options
        .application_name(name)
        .options(dialect::postgres_settings(lock_wait)))
}
