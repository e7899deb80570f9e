//! One-time sign-in codes: what the printed address carries in its fragment.
//!
//! A code is exchanged once, within [`bounds::SIGN_IN_CODE_LIFE`], for a session secret. Only hashes are kept, in
//! memory: a restart voids every unused code. A right code is always taken; wrong ones are counted, so that guessing
//! stops being answered, while nobody can lock the owner out by guessing.
//!
//! Invariant: plain data behind a lock that is never held across an `await`; `now` is passed in.

use crate::secret;
use model::bounds;
use model::clock::Timestamp;
use model::ids::UserId;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Random bytes of a code: short enough to type, far too many to guess.
const CODE_BYTES: usize = 16;

/// What became of a code that somebody sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Redeemed {
    /// It was right, and is used up now.
    Accepted(UserId),
    /// No such code, any more.
    Wrong,
    /// Too many wrong ones lately.
    TooMany,
}

/// The unused codes of this run.
#[derive(Debug, Default)]
pub struct Codes {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    unused: VecDeque<Code>,
    failures: VecDeque<Timestamp>,
}

#[derive(Debug)]
struct Code {
    hash: String,
    user_id: UserId,
    until: Timestamp,
}

impl Codes {
    /// Makes a code for a person. Beyond [`bounds::SIGN_IN_CODES`] unused ones the oldest is forgotten.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn issue(&self, user_id: &UserId, now: Timestamp) -> Result<String, getrandom::Error> {
        let code = secret::random(CODE_BYTES)?;
        let mut inner = self.lock();
        if bounds::SIGN_IN_CODES <= inner.unused.len() {
            inner.unused.pop_front();
        }
        let until = now.plus(bounds::SIGN_IN_CODE_LIFE);
        inner.unused.push_back(Code {
            hash: secret::hash(&code),
            user_id: user_id.clone(),
            until,
        });
        Ok(code)
    }

    /// Takes a code, once.
    pub(crate) fn redeem(&self, code: &str, now: Timestamp) -> Redeemed {
        let hash = secret::hash(code.trim());
        let mut inner = self.lock();
        inner.unused.retain(|code| now < code.until);
        if let Some(at) = inner.unused.iter().position(|code| code.hash == hash)
            && let Some(code) = inner.unused.remove(at)
        {
            return Redeemed::Accepted(code.user_id);
        }
        inner
            .failures
            .retain(|at| now.since(*at) < bounds::SIGN_IN_WINDOW);
        if bounds::SIGN_IN_FAILURES <= inner.failures.len() {
            return Redeemed::TooMany;
        }
        inner.failures.push_back(now);
        Redeemed::Wrong
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn user() -> UserId {
        UserId::parse("u").expect("a test id")
    }

    const START: Timestamp = Timestamp::from_micros(1_000_000);

    #[test]
    fn a_code_works_once() {
        let codes = Codes::default();
        let code = codes.issue(&user(), START).unwrap();
        assert_eq!(codes.redeem("nonsense", START), Redeemed::Wrong);
        assert_eq!(codes.redeem(&code, START), Redeemed::Accepted(user()));
        assert_eq!(codes.redeem(&code, START), Redeemed::Wrong);
    }

    #[test]
    fn a_code_expires() {
        let codes = Codes::default();
        let code = codes.issue(&user(), START).unwrap();
        assert_eq!(
            codes.redeem(&code, START.plus(bounds::SIGN_IN_CODE_LIFE)),
            Redeemed::Wrong
        );
    }

    #[test]
    fn the_oldest_of_too_many_codes_is_forgotten() {
        let codes = Codes::default();
        let all: Vec<String> = (0..=bounds::SIGN_IN_CODES)
            .map(|_| codes.issue(&user(), START).unwrap())
            .collect();
        assert_eq!(codes.redeem(&all[0], START), Redeemed::Wrong);
        assert_eq!(codes.redeem(&all[1], START), Redeemed::Accepted(user()));
    }

    #[test]
    fn guessing_stops_being_answered_but_locks_nobody_out() {
        let codes = Codes::default();
        let code = codes.issue(&user(), START).unwrap();
        for _ in 0..bounds::SIGN_IN_FAILURES {
            assert_eq!(codes.redeem("guess", START), Redeemed::Wrong);
        }
        assert_eq!(codes.redeem("guess", START), Redeemed::TooMany);
        let later = START.plus(bounds::SIGN_IN_WINDOW + Duration::from_secs(1));
        assert_eq!(codes.redeem("guess", later), Redeemed::Wrong);
        assert_eq!(codes.redeem(&code, later), Redeemed::Accepted(user()));
    }
}
