//! Pokes: one flag per kind, so repeats merge and there is no queue to bound.

use crate::runtime::questions::Questions;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What there may be to do; the truth stands in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Poke {
    /// A prompt waits.
    Work = 1,
    /// A decision waits to be delivered.
    Answers = 2,
    /// The open turn is to be cancelled.
    Cancel = 4,
    /// A model, mode or option was chosen.
    Settings = 8,
    /// The process is to be stopped.
    Stop = 16,
    /// A person opened the session: an agent that could go on is resumed.
    Open = 32,
    /// The agent is to be started without a prompt.
    Launch = 64,
    /// The agent asks a person something.
    Ask = 128,
}

/// The pokes taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pokes(u8);

impl Pokes {
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn has(self, poke: Poke) -> bool {
        self.0 & poke as u8 != 0
    }
}

/// How others reach a session's owner.
#[derive(Debug, Default)]
pub(crate) struct Handle {
    flags: AtomicU8,
    poked: Notify,
    /// Whether a process lives: a prompt's turn opens at once then.
    pub(crate) has_process: AtomicBool,
    /// What its agent asks, and who waits for answers.
    pub(crate) questions: Questions,
    /// Options a person chose, by option; repeats merge.
    wishes: Mutex<BTreeMap<String, String>>,
    /// Cancelled when the owner has ended.
    pub(crate) ended: CancellationToken,
}

impl Handle {
    pub(crate) fn poke(&self, poke: Poke) {
        self.flags.fetch_or(poke as u8, Ordering::SeqCst);
        self.poked.notify_one();
    }

    pub(crate) fn take(&self) -> Pokes {
        Pokes(self.flags.swap(0, Ordering::SeqCst))
    }

    pub(crate) fn peek(&self) -> Pokes {
        Pokes(self.flags.load(Ordering::SeqCst))
    }

    /// Takes back one kind; the others stay.
    pub(crate) fn forget(&self, poke: Poke) {
        self.flags.fetch_and(!(poke as u8), Ordering::SeqCst);
    }

    /// Waits for a poke.
    pub(crate) async fn poked(&self) {
        if self.peek().is_empty() {
            self.poked.notified().await;
        }
    }

    /// Waits for a poke that ends a start: stop, or cancel.
    pub(crate) async fn interrupted(&self) {
        loop {
            let pokes = self.peek();
            if pokes.has(Poke::Stop) || pokes.has(Poke::Cancel) {
                return;
            }
            self.poked.notified().await;
        }
    }

    pub(crate) fn wish(&self, option: &str, value: &str) {
        let mut wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        wishes.insert(option.to_owned(), value.to_owned());
    }

    pub(crate) fn take_wishes(&self) -> BTreeMap<String, String> {
        std::mem::take(&mut *self.wishes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
