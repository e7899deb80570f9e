//! Throwaway stores on real files, and a clock that a test moves.

use ::store::open::Store;
use anyhow::Result;
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

/// A migrated store in a folder that goes with this value.
pub struct ThrowawayStore {
    /// The store.
    pub store: Store,
    /// Its clock.
    pub clock: ManualClock,
    _dir: TempDir,
}

impl ThrowawayStore {
    /// A new SQLite store.
    ///
    /// # Errors
    /// When it cannot be made.
    pub async fn sqlite() -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("store-").tempdir()?;
        let clock = ManualClock::default();
        let store = Store::open_sqlite(&dir.path().join("test.db"), clock.handle()).await?;
        store.migrate().await?;
        Ok(Self {
            store,
            clock,
            _dir: dir,
        })
    }
}
