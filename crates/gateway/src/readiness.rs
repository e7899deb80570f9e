//! What start-up has finished, as named gates: a value that anyone can read at any time.
//!
//! Invariant: the server is ready exactly when every gate is open. Summaries that could not be converged are counted
//! and shown; they do not hold readiness.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// One step of start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No other server works on this data.
    InstanceLock,
    /// The schema is this version's.
    DatabaseMigrated,
    /// What the last run left open is repaired.
    RecoveryDone,
    /// Every stale summary was derived, or given up and counted.
    SummariesConverged,
    /// Requests are accepted.
    ApiOpen,
}

impl Gate {
    /// Every gate in the order of start-up.
    pub const ALL: [Self; 5] = [
        Self::InstanceLock,
        Self::DatabaseMigrated,
        Self::RecoveryDone,
        Self::SummariesConverged,
        Self::ApiOpen,
    ];

    /// Its name in `/readyz`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InstanceLock => "instance_lock",
            Self::DatabaseMigrated => "database_migrated",
            Self::RecoveryDone => "recovery_done",
            Self::SummariesConverged => "summaries_converged",
            Self::ApiOpen => "api_open",
        }
    }
}

/// The gates of one run of the server.
#[derive(Debug, Default)]
pub struct Readiness {
    open: [AtomicBool; Gate::ALL.len()],
    summaries_failed: AtomicU64,
    progress: Mutex<String>,
}

impl Readiness {
    /// Opens a gate; it stays open.
    pub fn open(&self, gate: Gate) {
        if let Some(flag) = self.open.get(gate as usize) {
            flag.store(true, Ordering::SeqCst);
        }
    }

    /// Whether a gate is open.
    #[must_use]
    pub fn is_open(&self, gate: Gate) -> bool {
        self.open
            .get(gate as usize)
            .is_some_and(|flag| flag.load(Ordering::SeqCst))
    }

    /// Whether every gate is open.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        Gate::ALL.into_iter().all(|gate| self.is_open(gate))
    }

    /// Says, in a few words for a person, what start-up is doing now.
    pub fn set_progress(&self, words: &str) {
        words.clone_into(&mut self.progress.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Says how many summaries could not be converged.
    pub fn set_summaries_failed(&self, count: u64) {
        self.summaries_failed.store(count, Ordering::SeqCst);
    }

    /// What `/readyz` answers.
    #[must_use]
    pub fn report(&self) -> wire::http::Readiness {
        let gates: BTreeMap<String, bool> = Gate::ALL
            .into_iter()
            .map(|gate| (gate.as_str().to_owned(), self.is_open(gate)))
            .collect();
        wire::http::Readiness {
            gates,
            summaries_failed: self.summaries_failed.load(Ordering::SeqCst),
            progress: self
                .progress
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_ready_when_every_gate_is_open() {
        let readiness = Readiness::default();
        for gate in Gate::ALL {
            assert!(!readiness.is_ready());
            readiness.open(gate);
        }
        readiness.set_summaries_failed(2);
        assert!(readiness.is_ready());
        let report = readiness.report();
        assert!(report.gates.values().all(|open| *open));
        assert_eq!((report.gates.len(), report.summaries_failed), (5, 2));
    }
}
