//! Throwaway stores on real databases, and a clock that a test moves.

use crate::cut_line::CutLine;
use crate::postgres::Database;
use ::store::open::Store;
use anyhow::{Result, bail};
use model::clock::{Clock, NeverBack, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// A clock that stands still until it is moved; it still never answers the same time twice.
#[derive(Clone)]
pub struct ManualClock {
    wall: Arc<AtomicI64>,
    clock: Arc<dyn Clock>,
}

impl Default for ManualClock {
    fn default() -> Self {
        let wall = Arc::new(AtomicI64::new(1_700_000_000_000_000));
        let read = Arc::clone(&wall);
        let clock = NeverBack::new(move || Timestamp::from_micros(read.load(Ordering::SeqCst)));
        Self {
            wall,
            clock: Arc::new(clock),
        }
    }
}

impl ManualClock {
    /// Moves the wall clock forward.
    pub fn advance(&self, by: Duration) {
        self.wall.fetch_add(
            i64::try_from(by.as_micros()).unwrap_or(i64::MAX),
            Ordering::SeqCst,
        );
    }

    /// The clock to hand to a store.
    #[must_use]
    pub fn handle(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }
}

/// An engine that the store speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file.
    Sqlite,
    /// A database of the server that tests are given.
    Postgres,
}

impl Engine {
    /// Itself: for [`crate::on_every_engine`], when a test makes its own world.
    ///
    /// # Errors
    /// Never.
    pub async fn on(engine: Self) -> Result<Self> {
        Ok(engine)
    }
}

/// Where a store keeps its rows; it goes with this value.
enum Place {
    Folder(TempDir),
    Database(Database),
}

impl Place {
    async fn open(&self, clock: Arc<dyn Clock>) -> Result<Store> {
        Ok(match self {
            Self::Folder(dir) => Store::open_sqlite(&dir.path().join("test.db"), clock).await?,
            Self::Database(database) => Store::open_postgres(database.url(), clock).await?,
        })
    }
}

/// A migrated store on a database that goes with this value.
pub struct ThrowawayStore {
    /// The store.
    pub store: Store,
    /// Its clock.
    pub clock: ManualClock,
    place: Place,
}

impl ThrowawayStore {
    /// A new store on this engine.
    ///
    /// # Errors
    /// When it cannot be made.
    pub async fn on(engine: Engine) -> Result<Self> {
        let place = match engine {
            Engine::Sqlite => Place::Folder(tempfile::Builder::new().prefix("store-").tempdir()?),
            Engine::Postgres => Place::Database(Database::create().await?),
        };
        let clock = ManualClock::default();
        let store = place.open(clock.handle()).await?;
        store.migrate().await?;
        Ok(Self {
            store,
            clock,
            place,
        })
    }

    /// A new SQLite store.
    ///
    /// # Errors
    /// As [`ThrowawayStore::on`].
    pub async fn sqlite() -> Result<Self> {
        Self::on(Engine::Sqlite).await
    }

    /// A new PostgreSQL store.
    ///
    /// # Errors
    /// As [`ThrowawayStore::on`].
    pub async fn postgres() -> Result<Self> {
        Self::on(Engine::Postgres).await
    }

    /// Which engine it is on.
    #[must_use]
    pub const fn engine(&self) -> Engine {
        match self.place {
            Place::Folder(_) => Engine::Sqlite,
            Place::Database(_) => Engine::Postgres,
        }
    }

    /// A second store on the same database and clock, over a line that can be broken.
    ///
    /// # Errors
    /// When it is not PostgreSQL, which alone has a line, or cannot be opened.
    pub async fn open_over_line(&self) -> Result<(Store, CutLine)> {
        let Place::Database(database) = &self.place else {
            bail!("a file has no line to it");
        };
        let line = CutLine::to(database.url())?;
        let store = Store::open_postgres(line.url(), self.clock.handle()).await?;
        Ok((store, line))
    }

    /// A second store on the same database and clock, with connections of its own: what another process has.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn open_again(&self) -> Result<Store> {
        self.open_with(self.clock.handle()).await
    }

    /// As [`ThrowawayStore::open_again`], on another clock: what a server that starts again has.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn open_with(&self, clock: Arc<dyn Clock>) -> Result<Store> {
        self.place.open(clock).await
    }
}
