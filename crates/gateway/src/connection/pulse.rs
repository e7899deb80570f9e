//! When a connection speaks although it has nothing to say, and when it counts as dead.
//!
//! Plain data over `now`. A peer is *silent* when nothing came from it for [`bounds::DEAD_AFTER`], pongs included, while
//! this side was listening; it is *stalled* when frames wait and its socket took not one byte for
//! [`bounds::WRITE_STALL`]. A slow peer that keeps taking what waits is neither, however large the frame (GWY-07).

use model::bounds;
use std::time::Duration;
use tokio::time::Instant;

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Fine,
    Ping,
    Silent,
    Stalled,
}

/// What is known of the other side.
#[derive(Debug)]
pub(super) struct Pulse {
    heard: Instant,
    pinged: Instant,
    moved: Instant,
    bytes: u64,
}

/// What the connection does at the moment of a check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    /// Bytes the socket has taken so far.
    pub(super) bytes: u64,
    /// Frames wait for the socket.
    pub(super) writing: bool,
    /// Frames of the peer are read.
    pub(super) listening: bool,
}

impl Pulse {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            heard: now,
            pinged: now,
            moved: now,
            bytes: 0,
        }
    }

    /// Something came from the peer.
    pub(super) const fn heard(&mut self, now: Instant) {
        self.heard = now;
    }

    pub(super) fn check(&mut self, now: Instant, activity: Activity) -> Verdict {
        let took = activity.bytes != self.bytes;
        self.bytes = activity.bytes;
        if took || !activity.writing {
            self.moved = now;
        }
        // A full socket takes more only when the other side has acknowledged some: its pong may be far behind.
        if took && activity.writing || !activity.listening {
            self.heard = now;
        }
        if bounds::WRITE_STALL <= now.duration_since(self.moved) {
            Verdict::Stalled
        } else if bounds::DEAD_AFTER <= now.duration_since(self.heard) {
            Verdict::Silent
        } else if bounds::PING_EVERY <= now.duration_since(self.pinged) {
            self.pinged = now;
            Verdict::Ping
        } else {
            Verdict::Fine
        }
    }

    /// When to check next if nothing happens before.
    pub(super) fn next_check(&self) -> Instant {
        let at = |since: Instant, after: Duration| since + after;
        at(self.heard, bounds::DEAD_AFTER)
            .min(at(self.pinged, bounds::PING_EVERY))
            .min(at(self.moved, bounds::WRITE_STALL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Activity = Activity {
        bytes: 0,
        writing: false,
        listening: true,
    };

    #[test]
    fn it_pings_and_gives_up_on_silence() {
        let start = Instant::now();
        let mut pulse = Pulse::new(start);
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(pulse.check(at(19), QUIET), Verdict::Fine);
        assert_eq!(pulse.check(at(20), QUIET), Verdict::Ping);
        assert_eq!(pulse.check(at(21), QUIET), Verdict::Fine);
        assert_eq!(pulse.check(at(45), QUIET), Verdict::Silent);
        pulse.heard(at(45));
        assert_eq!(pulse.check(at(46), QUIET), Verdict::Ping);
        assert_eq!(
            pulse.check(
                at(89),
                Activity {
                    listening: false,
                    ..QUIET
                }
            ),
            Verdict::Ping
        );
        assert_eq!(
            pulse.check(at(91), QUIET),
            Verdict::Fine,
            "not listening is not silence"
        );
    }

    #[test]
    fn gwy_07_a_slow_peer_is_not_a_stalled_one() {
        let start = Instant::now();
        let mut pulse = Pulse::new(start);
        for second in 1..60 {
            let now = start + Duration::from_secs(second);
            let slow = Activity {
                bytes: second,
                writing: true,
                listening: true,
            };
            assert!(matches!(
                pulse.check(now, slow),
                Verdict::Fine | Verdict::Ping
            ));
        }
        let stuck = Activity {
            bytes: 59,
            writing: true,
            listening: true,
        };
        assert_eq!(
            pulse.check(start + Duration::from_secs(68), stuck),
            Verdict::Ping
        );
        assert_eq!(
            pulse.check(start + Duration::from_secs(69), stuck),
            Verdict::Stalled
        );
    }
}
