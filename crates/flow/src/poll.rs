//! When one repository of one environment is looked at, as plain data.
//!
//! Three causes: a cadence while the environment is live (slow, fast while somebody watches it and a little longer),
//! and requests. Rules, in the words of the requirements:
//!
//! Invariant: at most one run, and at most one waiting behind it (GIT-05). A request made during a run shares the
//! waiting one, never the running one, because the running one may have looked before the change it is asked about.
//! Invariant: a settled environment is not polled; only a request makes it run (GIT-06).
//!
//! The cadence counts from the beginning of a run, but leaves at least as long a rest as the run took, so a slow
//! repository delays only itself and never keeps the machine busy (C19).
//!
//! Time is a [`Duration`] since any fixed moment of the caller's choice; nothing here reads a clock.

use model::bounds;
use std::time::Duration;

/// Names a run. Later runs have greater numbers; a request is served by its run and by every later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunNumber(u64);

impl RunNumber {
    /// Before the first run.
    pub const NONE: Self = Self(0);

    fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The bookkeeping of one (environment, repository).
#[derive(Clone, Debug)]
pub struct Poll {
    live: bool,
    /// Fast until then; the end of time while somebody watches.
    fast_until: Option<Duration>,
    /// The newest run that began.
    begun: RunNumber,
    running_since: Option<Duration>,
    /// A request waits for the next run.
    requested: bool,
    /// When the newest run began and ended; none before the first, or after a rest that ended a previous life.
    last: Option<(Duration, Duration)>,
}

impl Default for Poll {
    fn default() -> Self {
        Self::new()
    }
}

impl Poll {
    /// Settled and watched by nobody.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            live: false,
            fast_until: None,
            begun: RunNumber::NONE,
            running_since: None,
            requested: false,
            last: None,
        }
    }

    /// The environment has a live execution now, or no longer. Becoming live makes a run due at once.
    pub fn set_live(&mut self, live: bool) {
        if live && !self.live {
            self.last = None;
        }
        self.live = live;
    }

    /// Somebody watches the environment from `now` on, or nobody does. Repeating what is so changes nothing.
    pub fn set_focused(&mut self, focused: bool, now: Duration) {
        if focused {
            self.fast_until = Some(Duration::MAX);
        } else if self.fast_until == Some(Duration::MAX) {
            self.fast_until = Some(now.saturating_add(bounds::GIT_FOCUS_LINGER));
        }
    }

    /// Asks for a run that begins from now on; the run whose end serves the request.
    pub fn request(&mut self) -> RunNumber {
        self.requested = true;
        self.begun.next()
    }

    /// When the next run is to begin: in the past or present means now, none means that nothing is scheduled. While
    /// a run is going on there is no next one to wait for.
    #[must_use]
    pub fn due(&self, now: Duration) -> Option<Duration> {
        if self.running_since.is_some() {
            return None;
        }
        if self.requested {
            return Some(now);
        }
        if !self.live {
            return None;
        }
        let Some((began, ended)) = self.last else {
            return Some(now);
        };
        let at = |interval: Duration| {
            let rest = ended.saturating_sub(began).min(interval);
            began
                .saturating_add(interval)
                .max(ended.saturating_add(rest))
        };
        let fast = at(bounds::GIT_POLL_FAST);
        // A fast run counts only if it comes while polling is fast; later it would be one run too many.
        let is_fast = self.fast_until.is_some_and(|until| fast.max(now) < until);
        Some(if is_fast {
            fast
        } else {
            at(bounds::GIT_POLL_SLOW)
        })
    }

    /// Begins a run if one is due.
    pub fn begin(&mut self, now: Duration) -> Option<RunNumber> {
        self.due(now).filter(|due| *due <= now)?;
        self.requested = false;
        self.running_since = Some(now);
        self.begun = self.begun.next();
        Some(self.begun)
    }

    /// The run that was going on is over, whether or not it could measure anything.
    pub fn finish(&mut self, now: Duration) {
        if let Some(began) = self.running_since.take() {
            self.last = Some((began, now.max(began)));
        }
    }
}

#[cfg(test)]
mod tests;
