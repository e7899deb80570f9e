//! The bounded hand-off from one agent's reader to its session runtime.
//!
//! Its free places are the permits of the flow gate (`flow::gate`): the reader waits in [`Handoff::room_for`] before it
//! hands a line's events over, and a place is free again when the runtime *drops* the [`Delivered`] event, not when it
//! takes it. Whoever may not wait (the end of a prompt, the end of the connection) is counted all the same.
//!
//! Invariants: one writer, one reader; nothing is reordered; after [`AgentEvents`] is dropped the writer learns it and
//! stops. Overflow: wait.

use crate::event::AgentEvent;
use flow::gate::FlowGate;
use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The writing side, held by the reader task of a connection.
#[derive(Debug)]
pub struct Handoff {
    shared: Arc<Shared>,
}

/// The only reader of an agent's events. Dropping it ends the agent.
#[derive(Debug)]
pub struct AgentEvents {
    shared: Arc<Shared>,
}

/// An event in the runtime's hands. Its place in the hand-off is free again when this is dropped, so keep it until
/// the event has been dealt with.
#[derive(Debug)]
pub struct Delivered {
    /// The event.
    pub event: AgentEvent,
    _place: Place,
}

/// The runtime is gone; nobody reads any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NobodyReads;

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Rung when something was pushed or the writer left.
    filled: Notify,
    /// Rung when a place came free or the reader left.
    freed: Notify,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<(AgentEvent, usize)>,
    gate: FlowGate,
    writer_left: bool,
    reader_left: bool,
}

#[derive(Debug)]
struct Place {
    shared: Arc<Shared>,
    bytes: usize,
}

/// A new hand-off behind `gate`.
#[must_use]
pub fn handoff(gate: FlowGate) -> (Handoff, AgentEvents) {
    let state = State {
        queue: VecDeque::new(),
        gate,
        writer_left: false,
        reader_left: false,
    };
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        filled: Notify::new(),
        freed: Notify::new(),
    });
    (
        Handoff {
            shared: Arc::clone(&shared),
        },
        AgentEvents { shared },
    )
}

impl Shared {
    /// No code panics while holding the lock; should one, the state is still whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Handoff {
    /// Waits until an event of `bytes` bytes has room.
    ///
    /// # Errors
    /// [`NobodyReads`] when the reading side is gone.
    pub async fn room_for(&self, bytes: usize) -> Result<(), NobodyReads> {
        loop {
            {
                let state = self.shared.lock();
                if state.reader_left {
                    return Err(NobodyReads);
                }
                if state.gate.has_room_for(bytes) {
                    return Ok(());
                }
            }
            // `notify_one` keeps one permit, so a place freed since the look above is not missed.
            self.shared.freed.notified().await;
        }
    }

    /// Hands an event over at once, counting `bytes` for it.
    ///
    /// # Errors
    /// [`NobodyReads`] when the reading side is gone.
    pub fn push(&self, event: AgentEvent, bytes: usize) -> Result<(), NobodyReads> {
        let mut state = self.shared.lock();
        if state.reader_left {
            return Err(NobodyReads);
        }
        state.gate.admit(bytes);
        state.queue.push_back((event, bytes));
        drop(state);
        self.shared.filled.notify_one();
        Ok(())
    }
}

impl Drop for Handoff {
    fn drop(&mut self) {
        self.shared.lock().writer_left = true;
        self.shared.filled.notify_one();
    }
}

impl AgentEvents {
    /// The next event; `None` after [`AgentEvent::Exited`]. Cancel safe.
    pub async fn next(&mut self) -> Option<Delivered> {
        loop {
            {
                let mut state = self.shared.lock();
                if let Some((event, bytes)) = state.queue.pop_front() {
                    let place = Place {
                        shared: Arc::clone(&self.shared),
                        bytes,
                    };
                    return Some(Delivered {
                        event,
                        _place: place,
                    });
                }
                if state.writer_left {
                    return None;
                }
            }
            self.shared.filled.notified().await;
        }
    }

    /// Events and bytes that wait or are in the runtime's hands.
    #[must_use]
    pub fn outstanding(&self) -> (usize, usize) {
        let state = self.shared.lock();
        (state.gate.events(), state.gate.bytes())
    }
}

impl Drop for AgentEvents {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.reader_left = true;
        state.queue.clear();
        drop(state);
        self.shared.freed.notify_one();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.lock().gate.release(self.bytes);
        self.shared.freed.notify_one();
    }
}

impl Deref for Delivered {
    type Target = AgentEvent;
    fn deref(&self) -> &AgentEvent {
        &self.event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    fn title(text: &str) -> AgentEvent {
        AgentEvent::Title(text.to_owned())
    }

    /// STR-04.
    #[tokio::test]
    async fn str_04_a_place_is_free_when_the_event_is_dropped_not_when_it_is_taken() {
        let (writer, mut events) = handoff(FlowGate::new(1, 100));
        writer.room_for(5).await.expect("empty");
        writer.push(title("a"), 5).expect("read");
        let taken = events.next().await.expect("an event");
        assert!(writer.room_for(1).now_or_never().is_none());
        drop(taken);
        assert_eq!(writer.room_for(1).now_or_never(), Some(Ok(())));
        assert_eq!(events.outstanding(), (0, 0));
    }

    #[tokio::test]
    async fn both_sides_learn_that_the_other_is_gone() {
        let (writer, mut events) = handoff(FlowGate::new(1, 100));
        writer.push(title("last"), 1).expect("read");
        drop(writer);
        assert_eq!(
            events.next().await.map(|delivered| delivered.event.clone()),
            Some(title("last"))
        );
        assert!(events.next().await.is_none());

        let (writer, events) = handoff(FlowGate::new(1, 100));
        writer.push(title("a"), 1).expect("read");
        drop(events);
        assert_eq!(writer.room_for(1).await, Err(NobodyReads));
        assert_eq!(writer.push(title("b"), 1), Err(NobodyReads));
    }
}
