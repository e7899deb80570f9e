//! How long something took. The one place of xtask that reads a clock.

use std::time::{Duration, Instant};

/// Started once, read as often as needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(
        clippy::disallowed_methods,
        reason = "times are printed, nothing is decided by them"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Since the start.
    #[expect(
        clippy::disallowed_methods,
        reason = "times are printed, nothing is decided by them"
    )]
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
