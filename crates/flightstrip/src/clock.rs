//! Where time enters: the one process clock.

use model::clock::{NeverBack, Timestamp};
use std::time::{SystemTime, UNIX_EPOCH};

/// The process clock; it never steps back.
pub(crate) type ProcessClock = NeverBack<fn() -> Timestamp>;

/// A clock over the machine's wall clock.
pub(crate) fn process_clock() -> ProcessClock {
    NeverBack::new(wall)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the process clock is born here; everything else is passed it"
)]
fn wall() -> Timestamp {
    // A machine set before 1970 counts from 1970; the clock is seeded with what is stored anyway.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
