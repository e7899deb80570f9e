//! How far start-up has come: on the starting page and in `/readyz` at every step, in the log now and then.

use gateway::readiness::Readiness;
use model::bounds;
use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// Tells people what start-up is doing.
pub(crate) struct Progress<'a> {
    readiness: &'a Readiness,
    logged: Mutex<Instant>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(readiness: &'a Readiness) -> Self {
        Self {
            readiness,
            logged: Mutex::new(Instant::now()),
        }
    }

    /// A step begins.
    pub(crate) fn step(&self, words: &str) {
        self.readiness.set_progress(words);
    }

    /// A long step has come this far. A step that is over within the interval logs nothing.
    pub(crate) fn count(&self, words: &str, done: usize, of: usize) {
        self.readiness
            .set_progress(&format!("{words}: {done} of {of}"));
        let now = Instant::now();
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if bounds::PROGRESS_LOG_EVERY <= now.duration_since(*logged) {
            *logged = now;
            tracing::info!(done, of, "starting: {words}");
        }
    }
}
