//! How much may wait for one client, and what becomes of a pushed entry.
//!
//! The numbers and their reasons stand in `model::bounds`; here they are a value, so that a test can choose small ones.

use model::bounds;
use model::ids::MessageId;

/// A finished frame, as far as a queue needs to know it.
pub trait Weigh {
    /// Its size on the wire in bytes.
    fn weight(&self) -> usize;
}

impl Weigh for std::sync::Arc<str> {
    fn weight(&self) -> usize {
        self.len()
    }
}

/// The bounds of one outbox; see `model::bounds` for the reason of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Control frames.
    pub control_frames: usize,
    /// Their bytes.
    pub control_bytes: usize,
    /// Occurrences of all scopes.
    pub occurrence_frames: usize,
    /// Their bytes.
    pub occurrence_bytes: usize,
    /// Message states of one session.
    pub message_states: usize,
    /// Other states of all scopes.
    pub states: usize,
    /// Their bytes.
    pub state_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            control_frames: bounds::CONTROL_FRAMES,
            control_bytes: bounds::CONTROL_BYTES,
            occurrence_frames: bounds::OCCURRENCE_FRAMES,
            occurrence_bytes: bounds::OCCURRENCE_BYTES,
            message_states: bounds::MESSAGE_STATE_KEYS,
            states: bounds::STATE_KEYS,
            state_bytes: bounds::STATE_BYTES,
        }
    }
}

/// Why the client has to be disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// A response could not be queued: the peer does not read.
    Control,
    /// Too many occurrences or states wait: the peer is too slow for what it subscribed to.
    Behind,
}

/// What became of a pushed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Pushed {
    /// It waits.
    Queued,
    /// It took the place of an older state, or was merged with the waiting key of its message.
    Replaced,
    /// A newer state of its key already waits.
    Older,
    /// It waits, and the session evicted its own oldest message state for it.
    Evicted(MessageId),
    /// The client is not subscribed to that scope, or is being disconnected: dropped on purpose.
    NotSubscribed,
    /// No room: everything was dropped and the client has to be disconnected.
    Overflowed(Overflow),
}
