//! The writer of streams: appends of all sessions share transactions.
//!
//! Each session has at most one append under way and waits for it, so its rows stay in order and its agent feels the
//! pressure. Appends that wait at the same moment go in one transaction. When that fails because the database is
//! not reached or locked it is tried again until it succeeds; when it fails otherwise each append is tried alone, so one bad row
//! harms no neighbour.

use futures_util::future::BoxFuture;
use model::bounds;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use store::error::StoreError;
use store::open::Store;
use store::segments::{self, AppendOutcome, Segment};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Where sessions hand their appends in.
pub struct Appender {
    /// Taken by `close`, which ends the writer once what waits is written.
    entrance: Mutex<Option<mpsc::Sender<Entry>>>,
}

struct Entry {
    segment: Segment,
    answer: oneshot::Sender<Result<AppendOutcome, StoreError>>,
}

impl Appender {
    pub(crate) fn start(store: Store, tasks: &TaskTracker, shutdown: CancellationToken) -> Self {
        let (entrance, exit) = mpsc::channel(bounds::STREAM_WRITES);
        tasks.spawn(write(store, exit, shutdown));
        Self {
            entrance: Mutex::new(Some(entrance)),
        }
    }

    /// Appends, and returns once that is committed.
    ///
    /// # Errors
    /// When the row cannot be written; a locked database is waited for.
    pub(crate) async fn append(&self, segment: Segment) -> Result<AppendOutcome, StoreError> {
        let entrance = self
            .entrance
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (answer, answered) = oneshot::channel();
        let Some(entrance) = entrance else {
            return Err(StoreError::Closed);
        };
        entrance
            .send(Entry { segment, answer })
            .await
            .map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) fn close(&self) {
        self.entrance
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}

async fn write(store: Store, mut exit: mpsc::Receiver<Entry>, shutdown: CancellationToken) {
    let mut batch = Vec::new();
    while 0 < exit.recv_many(&mut batch, bounds::STREAM_WRITES).await {
        let entries = std::mem::take(&mut batch);
        if entries.len() != 1
            && let Ok(outcomes) = together(&store, &shutdown, &entries).await
        {
            for (entry, outcome) in entries.into_iter().zip(outcomes) {
                let _ = entry.answer.send(Ok(outcome)); // a runtime that no longer waits needs no answer
            }
            continue;
        }
        for entry in entries {
            let outcome = alone(&store, &shutdown, &entry.segment).await;
            let _ = entry.answer.send(outcome); // as above
        }
    }
}

async fn together(
    store: &Store,
    shutdown: &CancellationToken,
    entries: &[Entry],
) -> Result<Vec<AppendOutcome>, StoreError> {
    patiently(shutdown, &|| {
        Box::pin(async {
            let mut tx = store.write().await?;
            let mut outcomes = Vec::with_capacity(entries.len());
            for entry in entries {
                outcomes.push(segments::append(&mut tx, &entry.segment).await?);
            }
            let committed = tx.commit().await?;
            debug_assert!(
                committed.events.is_empty(),
                "the session publishes its own appends"
            );
            Ok(outcomes)
        })
    })
    .await
}

async fn alone(
    store: &Store,
    shutdown: &CancellationToken,
    segment: &Segment,
) -> Result<AppendOutcome, StoreError> {
    patiently(shutdown, &|| {
        Box::pin(async {
            let mut tx = store.write().await?;
            let outcome = segments::append(&mut tx, segment).await?;
            let committed = tx.commit().await?;
            debug_assert!(
                committed.events.is_empty(),
                "the session publishes its own appends"
            );
            Ok(outcome)
        })
    })
    .await
}

fn report(error: &StoreError, pause: Duration) {
    let cause = error as &dyn std::error::Error;
    tracing::warn!(
        error = cause,
        pause_ms = pause.as_millis(),
        "the database takes no writes; a stream waits"
    );
}

/// Tries until the database takes the write: locked, full or out of reach it is waited for, so that nothing an agent
/// said is lost; SQLite itself waits `bounds::SQLITE_BUSY` for a lock each time. Once the server stops, the number of
/// further attempts is bounded.
pub(crate) async fn patiently<'a, T>(
    shutdown: &CancellationToken,
    attempt: &(dyn Fn() -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync),
) -> Result<T, StoreError> {
    let mut pause = bounds::STREAM_RETRY_MIN;
    let mut attempts_while_stopping = 0;
    loop {
        let error = match attempt().await {
            Err(error) if error.is_passing() => error,
            other => return other,
        };
        if shutdown.is_cancelled() {
            attempts_while_stopping += 1;
            if bounds::STOPPING_WRITE_ATTEMPTS <= attempts_while_stopping {
                return Err(error);
            }
        }
        report(&error, pause);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(bounds::STREAM_RETRY_MAX);
    }
}
