//! Time as the rest of flightstrip sees it.
//!
//! A [`Timestamp`] is whole microseconds since the Unix epoch, in UTC. On the wire it is RFC 3339 with exactly six
//! fractional digits and a `Z`, so the order of the texts is the order of the times. All stored times come from one
//! process-wide [`Clock`] that never steps back (see [`NeverBack`]).
//!
//! Invariant: no rule reads a clock; it is handed `now`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::FormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

const WIRE: &[FormatItem<'static>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// Microseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, type = "string"))]
pub struct Timestamp(i64);

/// The text is not an RFC 3339 time in the years 1 to 9999.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time")]
pub struct InvalidTimestamp;

impl Timestamp {
    /// The time `micros` microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch, as stored.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since the epoch; the first revision of a rebuilt summary row.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// How long after `earlier` this is; zero when it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// This time moved forward, saturating at the end of time.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)),
        )
    }

    /// Reads any RFC 3339 text; fractions finer than a microsecond are cut.
    ///
    /// # Errors
    /// [`InvalidTimestamp`] when it is not such a text.
    pub fn parse(text: &str) -> Result<Self, InvalidTimestamp> {
        let at = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| InvalidTimestamp)?;
        i64::try_from(at.unix_timestamp_nanos().div_euclid(1_000))
            .map(Self)
            .map_err(|_| InvalidTimestamp)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000)
            .ok()
            .and_then(|at| at.format(WIRE).ok());
        // Beyond the year 9999 there is no RFC 3339 text; the raw number is still exact.
        match text {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}us", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Timestamp> for String {
    fn from(at: Timestamp) -> Self {
        at.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;
    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        Self::parse(&text)
    }
}

/// Where `now` comes from.
pub trait Clock: Send + Sync {
    /// The present; strictly later than every earlier answer of the same clock.
    fn now(&self) -> Timestamp;
}

/// A clock that never steps back: `max(wall, last + 1 µs)`.
///
/// `wall` is any reading of the machine's clock. Start-up seeds it with the latest stored time, so a machine whose
/// clock was set back still writes times in order.
pub struct NeverBack<W> {
    wall: W,
    last: AtomicI64,
}

impl<W: Fn() -> Timestamp + Send + Sync> NeverBack<W> {
    /// A clock over `wall` that has answered nothing yet.
    pub const fn new(wall: W) -> Self {
        Self {
            wall,
            last: AtomicI64::new(i64::MIN),
        }
    }

    /// Makes every later answer later than `at` too.
    pub fn seed(&self, at: Timestamp) {
        self.last.fetch_max(at.0, Ordering::SeqCst);
    }
}

impl<W: Fn() -> Timestamp + Send + Sync> Clock for NeverBack<W> {
    fn now(&self) -> Timestamp {
        let wall = (self.wall)().0;
        let next = |last: i64| wall.max(last.saturating_add(1));
        let before = self
            .last
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(next(last)))
            .expect("the update closure always gives a value");
        Timestamp(next(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_text_has_six_digits_and_sorts_like_the_time() {
        let early = Timestamp::from_micros(1_000_000);
        let late = Timestamp::from_micros(1_000_001);
        assert_eq!(early.to_string(), "1970-01-01T00:00:01.000000Z");
        assert!(early.to_string() < late.to_string());
        assert_eq!(
            Timestamp::parse("1970-01-01T01:00:01.5+01:00"),
            Ok(Timestamp::from_micros(1_500_000))
        );
        assert_eq!(Timestamp::parse("yesterday"), Err(InvalidTimestamp));
    }

    #[test]
    fn the_clock_never_steps_back() {
        let clock = NeverBack::new(|| Timestamp::from_micros(10));
        assert_eq!(clock.now().as_micros(), 10);
        assert_eq!(clock.now().as_micros(), 11);
        clock.seed(Timestamp::from_micros(100));
        assert_eq!(clock.now().as_micros(), 101);
    }
}
