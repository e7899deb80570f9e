//! Git, through its command line: observing repositories safely, worktrees, diffs, taking a result.
//!
//! Two kinds of calls, kept apart by type. *Observing* ([`Git::observe`], [`Git::inspect`], [`Git::changes_page`],
//! [`Git::diff_file`], …) never writes to the repository and never runs what the repository configures: no hook, no
//! file-system monitor, no external diff, no textconv, no filter; no prompt, no network, no lock. *Writing*
//! ([`Git::add_worktree`], [`Git::remove_worktree`], [`Git::merge_into_base`]) is asked for by a person and behaves
//! like the same command in their terminal, hooks included.
//!
//! Invariant: every process runs under a permit of one shared, first-come-first-served admission, with a deadline
//! and a bounded answer, in a process group of its own; a call that is given up ends the whole group.
//! Invariant: "could not measure" is an error, never an empty answer (C16).
//!
//! Not here: who is allowed to ask, when to poll (`flow::poll`), and where observations are stored.
//! Read next: [`observe`] for what is counted, `read` for how observing is made safe.

pub mod base;
pub mod config;
pub mod diff;
pub mod error;
pub mod facts;
pub mod merge;
pub mod observe;
pub mod worktree;

mod attributes;
mod branch;
mod checkouts;
mod compare;
mod confined;
mod listing;
mod name;
mod new_file;
mod process;
mod raw;
mod read;
mod refs;
mod status;
mod untracked;
mod version;
mod write;
mod writers;

use crate::config::GitConfig;
use crate::error::GitError;
use crate::writers::Writers;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OnceCell, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The Git of this machine. Cheap to clone; all clones share one admission.
#[derive(Clone, Debug)]
pub struct Git {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: GitConfig,
    // Tokio's semaphore is fair: a repository that asks often cannot overtake one that asks rarely.
    admission: Arc<Semaphore>,
    writers: Writers,
    /// Set once Git was found to be new enough.
    checked: OnceCell<()>,
}

/// A place among the concurrent Git work, with the moment at which its work must be over.
///
/// One operation takes one place for all its processes, so operations cannot deadlock on each other. The clock
/// starts when the place is had: waiting for other repositories is not this one's failure.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) config: GitConfig,
    pub(crate) deadline: Instant,
    _place: Arc<OwnedSemaphorePermit>,
    /// The turn among those who write to the same repository.
    _turn: Option<Arc<OwnedMutexGuard<()>>>,
}

impl Work {
    /// The same place with a new deadline, for cleaning up after work that ran out of time.
    pub(crate) fn again(&self, limit: Duration) -> Self {
        Self {
            deadline: Instant::now() + limit,
            ..self.clone()
        }
    }
}

impl Git {
    /// Prepares Git; starts nothing and looks at nothing.
    #[must_use]
    pub fn new(config: GitConfig) -> Self {
        let admission = Arc::new(Semaphore::new(config.concurrency));
        Self {
            inner: Arc::new(Inner {
                config,
                admission,
                writers: Writers::default(),
                checked: OnceCell::new(),
            }),
        }
    }

    /// Waits for a place, first come first served, for work that may take `limit`. The first work checks Git itself.
    pub(crate) async fn admit(&self, limit: Duration) -> Result<Work, GitError> {
        let place = Arc::clone(&self.inner.admission)
            .acquire_owned()
            .await
            // The semaphore is never closed; should that change, "not measured" is the honest answer.
            .map_err(|_| GitError::TimedOut { command: "admission" })?;
        let work = Work {
            config: self.inner.config.clone(),
            deadline: Instant::now() + limit,
            _place: Arc::new(place),
            _turn: None,
        };
        self.inner
            .checked
            .get_or_try_init(|| version::check(&work))
            .await?;
        Ok(work)
    }

    /// As [`Git::admit`], for work that writes to this repository: it is the only one of its kind there. The turn comes
    /// first, so waiting for it takes no place from others.
    pub(crate) async fn admit_writer(
        &self,
        repository: &Path,
        limit: Duration,
    ) -> Result<Work, GitError> {
        let turn = self.inner.writers.turn(repository).await;
        let mut work = self.admit(limit).await?;
        work._turn = Some(Arc::new(turn));
        Ok(work)
    }
}
