//! Transactions.
//!
//! There is one writer: [`Store::write`] waits its turn in order of arrival and begins by taking the database's write
//! lock, so a transaction that began can commit and what it read stays true (see [`crate::dialect`] for PostgreSQL).
//! Reads run beside it on their own connections, each in one snapshot.
//!
//! Invariant: a summary input cannot change without its task being marked: functions that change one call
//! [`WriteTx::touch`], and committing raises `authority_seq` in the same transaction (REC-06). Events leave a
//! transaction only by committing it.

use crate::error::{Result, StoreError};
#[cfg(feature = "faults")]
use crate::faults::FaultPoint;
#[cfg(feature = "faults")]
use crate::faults::halt::{self, Moment};
use crate::open::Store;
use crate::outcome::{Outcome, Witness, is_answer};
use crate::sql::{Engine, Link, sql_in};
use model::clock::Timestamp;
use model::event::Event;
use model::ids::TaskId;
use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

/// A read transaction: one snapshot, never written through, ended by dropping it.
pub struct ReadTx {
    link: Link,
}

impl ReadTx {
    pub(crate) const fn new(link: Link) -> Self {
        Self { link }
    }
}

impl Deref for ReadTx {
    type Target = Link;
    fn deref(&self) -> &Link {
        &self.link
    }
}

impl DerefMut for ReadTx {
    fn deref_mut(&mut self) -> &mut Link {
        &mut self.link
    }
}

/// A write transaction with the events of its change. Dropping it without committing undoes everything.
pub struct WriteTx {
    link: Link,
    turn: tokio::sync::OwnedMutexGuard<()>,
    now: Timestamp,
    events: Vec<Event>,
    touched: BTreeSet<TaskId>,
    heard: bool,
    witness: Option<Witness>,
}

/// What a committed transaction leaves to be done: publish these events in order, and poke the projector for these
/// tasks. The poke is a hint; the marks in the database are the truth.
#[derive(Debug, Default)]
#[must_use = "committed events must be published"]
pub struct Committed {
    /// In the order of the change.
    pub events: Vec<Event>,
    /// Tasks whose summary is stale now.
    pub touched: Vec<TaskId>,
}

impl WriteTx {
    pub(crate) const fn new(
        link: Link,
        turn: tokio::sync::OwnedMutexGuard<()>,
        now: Timestamp,
        witness: Option<Witness>,
    ) -> Self {
        Self {
            link,
            turn,
            now,
            events: Vec::new(),
            touched: BTreeSet::new(),
            heard: true,
            witness,
        }
    }

    /// The time of this transaction.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Says that nobody can hear of this change: it is made before anything is served, and everything that is read later
    /// is read as it left it. Then its events need not be put together.
    #[must_use]
    pub const fn unheard(mut self) -> Self {
        self.heard = false;
        self
    }

    /// Whether events of this change have anybody to hear them.
    #[must_use]
    pub const fn is_heard(&self) -> bool {
        self.heard
    }

    /// Adds an event, to be published once this is committed.
    pub fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Says that an input of this task's summary changed.
    pub fn touch(&mut self, task_id: &TaskId) {
        self.touched.insert(task_id.clone());
    }

    /// Commits. An answer that got lost is asked for again ([`crate::outcome`]).
    ///
    /// # Errors
    /// When the engine refuses; then nothing happened and no event exists. And when nobody can say what became of it,
    /// because the database cannot be reached for `bounds::COMMIT_ASKED` either: whoever tries again must look first.
    pub async fn commit(mut self) -> Result<Committed> {
        if !self.touched.is_empty() {
            let mark = sql_in(
                "UPDATE tasks SET authority_seq = authority_seq + 1 WHERE id IN ({})",
                self.touched.iter().map(TaskId::as_str),
            );
            self.link.execute(mark).await?;
        }
        #[cfg(feature = "faults")]
        {
            self.link.faults.pass(FaultPoint::BeforeCommit).await?;
            halt::at_commit(self.link.halting, Moment::BeforeCommit).await;
        }
        let answer = match self.link.engine {
            Engine::Sqlite(tx) => tx.commit().await.map_err(StoreError::from),
            Engine::Postgres(tx) => tx.commit().await.map_err(StoreError::from),
        };
        #[cfg(feature = "faults")]
        let answer = match &self.witness {
            Some(_) => answer.and(self.link.faults.pass(FaultPoint::CommitAnswer).await),
            None => answer,
        };
        if let Err(error) = answer {
            match &self.witness {
                Some(witness) if !is_answer(&error) => match witness.ask().await {
                    Outcome::Committed => {
                        tracing::info!("the answer of a commit was lost; it happened");
                    }
                    Outcome::Aborted | Outcome::Unknown => return Err(error),
                },
                _ => return Err(error),
            }
        }
        drop(self.turn);
        #[cfg(feature = "faults")]
        {
            self.link.faults.pass(FaultPoint::AfterCommit).await?;
            halt::at_commit(self.link.halting, Moment::AfterCommit).await;
        }
        Ok(Committed {
            events: self.events,
            touched: self.touched.into_iter().collect(),
        })
    }
}

impl Deref for WriteTx {
    type Target = Link;
    fn deref(&self) -> &Link {
        &self.link
    }
}

impl DerefMut for WriteTx {
    fn deref_mut(&mut self) -> &mut Link {
        &mut self.link
    }
}

impl Store {
    /// Begins a write transaction, waiting for earlier writers.
    ///
    /// # Errors
    /// `Busy` when another process holds the lock too long, or whatever the engine says.
    pub async fn write(&self) -> Result<WriteTx> {
        #[cfg(feature = "faults")]
        self.faults().pass(FaultPoint::BeginWrite).await?;
        let (engine, turn, witness) = self.begin_write().await?;
        let link = self.link(engine);
        #[cfg(feature = "faults")]
        let link = link.at(FaultPoint::WriteStatement);
        Ok(WriteTx::new(link, turn, self.now(), witness))
    }

    /// Begins a read transaction over one snapshot.
    ///
    /// # Errors
    /// Whatever the engine says.
    pub async fn read(&self) -> Result<ReadTx> {
        #[cfg(feature = "faults")]
        self.faults().pass(FaultPoint::BeginRead).await?;
        let engine = self.begin_read().await?;
        Ok(ReadTx::new(self.link(engine)))
    }
}
