//! When a poked task is served: the first poke at once, later ones at most every `bounds::PROJECTOR_REPEAT`.
//!
//! Plain data; time is a duration since some fixed moment.

use model::bounds;
use model::ids::TaskId;
use std::collections::BTreeMap;
use std::time::Duration;

/// Tasks that wait, and when each was served last.
#[derive(Debug, Default)]
pub struct Schedule {
    waiting: BTreeMap<TaskId, Duration>,
    served: BTreeMap<TaskId, Duration>,
}

impl Schedule {
    /// Notes that a task changed; repeats merge.
    pub fn poke(&mut self, id: &TaskId, now: Duration) {
        let earliest = self
            .served
            .get(id)
            .map_or(now, |&served| now.max(served + bounds::PROJECTOR_REPEAT));
        self.waiting.entry(id.clone()).or_insert(earliest);
    }

    /// Takes tasks that are due, in id order, at most `bounds::PROJECTOR_BATCH`.
    pub fn take_due(&mut self, now: Duration) -> Vec<TaskId> {
        // Who was served long ago may be served at once again: nothing to remember.
        self.served
            .retain(|_, &mut served| now < served + bounds::PROJECTOR_REPEAT);
        let due: Vec<TaskId> = self
            .waiting
            .iter()
            .filter(|&(_, &at)| at <= now)
            .map(|(id, _)| id.clone())
            .take(bounds::PROJECTOR_BATCH)
            .collect();
        for id in &due {
            self.waiting.remove(id);
            self.served.insert(id.clone(), now);
        }
        due
    }

    /// When the next task is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        self.waiting.values().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TaskId {
        TaskId::parse(text).expect("a test id")
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_first_poke_is_served_at_once_and_repeats_wait() {
        let mut schedule = Schedule::default();
        schedule.poke(&id("a"), ms(10));
        assert_eq!(schedule.take_due(ms(10)), [id("a")]);
        schedule.poke(&id("a"), ms(20));
        schedule.poke(&id("a"), ms(30));
        schedule.poke(&id("b"), ms(30));
        assert_eq!(schedule.take_due(ms(30)), [id("b")]);
        assert_eq!(schedule.next_due(), Some(ms(60)));
        assert_eq!(schedule.take_due(ms(60)), [id("a")]);
        assert_eq!(schedule.next_due(), None);
    }

    #[test]
    fn a_batch_is_bounded_and_the_rest_stays() {
        let mut schedule = Schedule::default();
        for n in 0..bounds::PROJECTOR_BATCH + 5 {
            schedule.poke(&id(&format!("t{n:04}")), ms(0));
        }
        assert_eq!(schedule.take_due(ms(0)).len(), bounds::PROJECTOR_BATCH);
        assert_eq!(schedule.take_due(ms(0)).len(), 5);
    }
}
