//! Which observations are worth storing (GIT-05), as plain data.
//!
//! A change is written at once; what was already written is written again only after a while, so that its time stays
//! young without a write per poll. The key is the (environment, repository) pair: a sibling session that reports the
//! same workspace shares its throttle (ENV-07).
//!
//! Invariant: nothing is remembered as written before the caller says so; a failed write is tried again with the
//! next observation.

use model::bounds;
use std::collections::BTreeMap;
use std::time::Duration;

/// Whether to write an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThrottleDecision {
    /// It says something new, or the written one is old.
    Write,
    /// The written one says the same and is young.
    Skip,
}

/// What was last written for each key. It holds one value per key; the owner forgets keys that end.
#[derive(Clone, Debug)]
pub struct WriteThrottle<K, V> {
    written: BTreeMap<K, (V, Duration)>,
}

impl<K: Ord, V: PartialEq> Default for WriteThrottle<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord, V: PartialEq> WriteThrottle<K, V> {
    /// Nothing written yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            written: BTreeMap::new(),
        }
    }

    /// Whether to write `value`, observed at `now` (since any fixed moment).
    #[must_use]
    pub fn decide(&self, key: &K, value: &V, now: Duration) -> ThrottleDecision {
        let is_fresh = self.written.get(key).is_some_and(|(written, at)| {
            written == value && now.saturating_sub(*at) < bounds::LIVE_SNAPSHOT_THROTTLE
        });
        if is_fresh {
            ThrottleDecision::Skip
        } else {
            ThrottleDecision::Write
        }
    }

    /// `value` is now stored.
    pub fn written(&mut self, key: K, value: V, now: Duration) {
        self.written.insert(key, (value, now));
    }

    /// The stored value of `key` is no longer what was written, or the key is gone.
    pub fn forget(&mut self, key: &K) {
        self.written.remove(key);
    }

    /// Forgets the keys for which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.written.retain(|key, _| keep(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = bounds::LIVE_SNAPSHOT_THROTTLE;

    #[test]
    fn git_05_a_change_is_written_at_once_and_a_repetition_after_a_while() {
        let mut throttle = WriteThrottle::new();
        let at = Duration::from_secs(100);
        assert_eq!(throttle.decide(&"e", &1, at), ThrottleDecision::Write);
        throttle.written("e", 1, at);
        let just_before = at + LIMIT - Duration::from_micros(1);
        assert_eq!(
            throttle.decide(&"e", &1, just_before),
            ThrottleDecision::Skip
        );
        assert_eq!(throttle.decide(&"e", &2, at), ThrottleDecision::Write);
        assert_eq!(
            throttle.decide(&"e", &1, at + LIMIT),
            ThrottleDecision::Write
        );
    }

    #[test]
    fn env_07_keys_do_not_share_and_forgetting_writes_again() {
        let mut throttle = WriteThrottle::new();
        throttle.written(("e", "api"), 1, Duration::ZERO);
        assert_eq!(
            throttle.decide(&("e", "web"), &1, Duration::ZERO),
            ThrottleDecision::Write
        );
        throttle.forget(&("e", "api"));
        assert_eq!(
            throttle.decide(&("e", "api"), &1, Duration::ZERO),
            ThrottleDecision::Write
        );
    }
}
