//! What arrives while a turn runs: cancels and answers to our own requests.
//!
//! Turns wait here instead of sleeping, so a cancel ends every wait at once.

use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Shared by the reading thread and all turns.
#[derive(Debug, Default)]
pub struct Mailbox {
    mail: Mutex<Mail>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Mail {
    cancelled: HashSet<String>,
    answers: HashMap<u64, Value>,
}

/// How a wait ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Woken {
    /// The answer came: the whole JSON-RPC message.
    Answer(Value),
    /// The session's turn is being cancelled.
    Cancelled,
    /// The time is over.
    TimedOut,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client cancels the session's turn.
    pub fn cancel(&self, session: &str) {
        self.lock().cancelled.insert(session.to_owned());
        self.arrived.notify_all();
    }

    /// A new turn begins: an earlier cancel is not for it.
    pub fn begin_turn(&self, session: &str) {
        self.lock().cancelled.remove(session);
    }

    /// Whether the session's turn is being cancelled.
    #[must_use]
    pub fn is_cancelled(&self, session: &str) -> bool {
        self.lock().cancelled.contains(session)
    }

    /// An answer to our request `id` arrived.
    pub fn answer(&self, id: u64, message: Value) {
        self.lock().answers.insert(id, message);
        self.arrived.notify_all();
    }

    /// Waits for a while, or for a cancel.
    pub fn pause(&self, session: &str, duration: Duration) -> Woken {
        let mail = self.lock();
        let (mail, _) = self
            .arrived
            .wait_timeout_while(mail, duration, |mail| !mail.cancelled.contains(session))
            .unwrap_or_else(PoisonError::into_inner);
        if mail.cancelled.contains(session) {
            Woken::Cancelled
        } else {
            Woken::TimedOut
        }
    }

    /// Waits for the answer to request `id`, or for a cancel.
    pub fn wait_for(&self, session: &str, id: u64) -> Woken {
        let mail = self.lock();
        let mut mail = self
            .arrived
            .wait_while(mail, |mail| {
                !mail.answers.contains_key(&id) && !mail.cancelled.contains(session)
            })
            .unwrap_or_else(PoisonError::into_inner);
        mail.answers
            .remove(&id)
            .map_or(Woken::Cancelled, Woken::Answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_end_with_the_answer_or_the_cancel() {
        let mailbox = Mailbox::default();
        assert_eq!(mailbox.pause("s", Duration::ZERO), Woken::TimedOut);
        mailbox.answer(1, Value::Null);
        assert_eq!(mailbox.wait_for("s", 1), Woken::Answer(Value::Null));
        mailbox.cancel("s");
        assert_eq!(mailbox.wait_for("s", 2), Woken::Cancelled);
        assert_eq!(
            mailbox.pause("s", Duration::from_secs(60)),
            Woken::Cancelled
        );
        mailbox.begin_turn("s");
        assert!(!mailbox.is_cancelled("s"));
    }
}
