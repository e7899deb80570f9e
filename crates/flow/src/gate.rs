//! The flow gate of one agent: how many events and bytes lie between its pipe and its session runtime.
//!
//! The connection asks [`FlowGate::has_room_for`] before it hands a line over, and stops reading the pipe while the
//! answer is no. The agent then blocks in its own `write`: backpressure reaches the source instead of becoming
//! memory here (STR-04). A place is held from the hand-over until the runtime has *finished* with the event, not until
//! it has merely picked it up, so a runtime that stalls with an event in its hands still counts as stalled.
//!
//! Invariants:
//! - with nothing outstanding every line has room, however long it is, so one large line cannot block for ever;
//! - whoever does not wait (the reply that ends a prompt) is still counted by [`FlowGate::admit`];
//! - counts never fall below zero: a release without its admission is a bug and is refused by `debug_assert`.

use model::bounds;

/// Counts of what has been admitted and not yet released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowGate {
    max_events: usize,
    max_bytes: usize,
    events: usize,
    bytes: usize,
}

impl FlowGate {
    /// An empty gate with the given limits.
    #[must_use]
    pub const fn new(max_events: usize, max_bytes: usize) -> Self {
        Self {
            max_events,
            max_bytes,
            events: 0,
            bytes: 0,
        }
    }

    /// The gate of one agent, with the bounds [`bounds::HANDOFF_EVENTS`] and [`bounds::HANDOFF_BYTES`].
    #[must_use]
    pub const fn for_agent() -> Self {
        Self::new(bounds::HANDOFF_EVENTS, bounds::HANDOFF_BYTES)
    }

    /// Whether an event of `bytes` bytes may be handed over now.
    #[must_use]
    pub const fn has_room_for(&self, bytes: usize) -> bool {
        self.events == 0
            || (self.events < self.max_events && self.bytes.saturating_add(bytes) <= self.max_bytes)
    }

    /// Takes a place of `bytes` bytes, whether or not there is room: waiting is the caller's decision.
    pub const fn admit(&mut self, bytes: usize) {
        self.events = self.events.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Gives back a place of `bytes` bytes.
    pub fn release(&mut self, bytes: usize) {
        debug_assert!(
            self.events > 0 && bytes <= self.bytes,
            "released more than was admitted"
        );
        self.events = self.events.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Events admitted and not yet released.
    #[must_use]
    pub const fn events(&self) -> usize {
        self.events
    }

    /// Bytes admitted and not yet released.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn str_04_an_empty_gate_admits_one_line_of_any_size() {
        let mut gate = FlowGate::new(2, 10);
        assert!(gate.has_room_for(1_000));
        gate.admit(1_000);
        assert!(!gate.has_room_for(1));
        gate.release(1_000);
        assert!(gate.has_room_for(1_000));
    }

    #[test]
    fn str_04_events_and_bytes_each_close_the_gate() {
        let mut by_events = FlowGate::new(2, 10);
        by_events.admit(1);
        assert!(by_events.has_room_for(1));
        by_events.admit(1);
        assert!(!by_events.has_room_for(0));

        let mut by_bytes = FlowGate::new(100, 10);
        by_bytes.admit(6);
        assert!(by_bytes.has_room_for(4));
        assert!(!by_bytes.has_room_for(5));
    }

    proptest! {
        #[test]
        fn str_04_waiting_for_room_keeps_both_bounds(sizes in proptest::collection::vec(0_usize..40, 0..200)) {
            let mut gate = FlowGate::new(8, 64);
            let mut held = std::collections::VecDeque::new();
            for size in sizes {
                while !gate.has_room_for(size) {
                    gate.release(held.pop_front().expect("a closed gate holds something"));
                }
                gate.admit(size);
                held.push_back(size);
                prop_assert!(gate.events() <= 8 && (gate.bytes() <= 64 || gate.events() == 1));
            }
            for size in held {
                gate.release(size);
            }
            prop_assert_eq!(gate, FlowGate::new(8, 64));
        }
    }
}
