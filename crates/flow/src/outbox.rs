//! Everything that waits to be written to one client, as plain data.
//!
//! *Control* (responses, errors) goes first, in order. Besides it every subscribed [`Scope`] has one ordered queue of
//! *occurrences*, which happened once, and *states*, of which only the newest matters. Scopes take turns by bytes, and
//! after a burst of control one other frame goes: a response is never behind notifications, notifications are never
//! starved by responses (GWY-04), and a noisy session competes only with itself (GWY-02, GWY-03).
//!
//! Overflow, by class: control → [`Overflow::Control`]; occurrences and semantic states → [`Overflow::Behind`];
//! message states → the session evicts its own oldest and later gets one [`Next::Resync`]. After an overflow everything
//! queued is dropped: the connection is closed with a code that tells the client to list again, so nothing is lost
//! silently.
//!
//! Invariants:
//! - an occurrence or control frame is never refused by an empty queue of its class (GWY-07);
//! - at most one entry waits per state key or message, and an older version never replaces a newer one (GWY-01);
//! - nothing of a scope is written before the acknowledgement of its subscription, nothing after it was left.

mod control;
pub mod keys;
pub mod limits;
mod scope_queue;

#[cfg(test)]
mod tests;

use control::Control;
use keys::{Held, Next, Scope, StateKey};
use limits::{Limits, Overflow, Pushed, Weigh};
use model::bounds;
use model::ids::{MessageId, SessionId};
use scope_queue::{Popped, ScopeQueue, Tally};
use std::collections::{HashMap, VecDeque};

/// What waits for one client.
#[derive(Debug)]
pub struct Outbox<F> {
    limits: Limits,
    control: Control<F>,
    scopes: HashMap<Scope, ScopeQueue<F>>,
    ring: VecDeque<Scope>,
    total: Tally,
    burst: usize,
    overflow: Option<Overflow>,
}

impl<F: Weigh> Outbox<F> {
    /// An empty outbox, subscribed to nothing.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            control: Control::new(),
            scopes: HashMap::new(),
            ring: VecDeque::new(),
            total: Tally::default(),
            burst: 0,
            overflow: None,
        }
    }

    /// Why the client has to be disconnected, if it has to.
    #[must_use]
    pub const fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }

    /// Requests whose answers have room reserved and are not queued yet.
    #[must_use]
    pub const fn in_flight(&self) -> usize {
        self.control.reserved()
    }

    /// Whether the answer to one more request may be promised `bytes` bytes. While not, no request is read.
    #[must_use]
    pub fn has_control_room(&self, bytes: usize) -> bool {
        self.control.has_room_for(bytes, &self.limits)
    }

    /// Promises room for an answer.
    pub const fn reserve_control(&mut self, bytes: usize) {
        self.control.reserve(bytes);
    }

    /// Gives back a promise of `bytes` bytes, right before the answer is pushed or when there will be none.
    pub fn release_control(&mut self, bytes: usize) {
        self.control.release(bytes);
    }

    /// Queues a response or an error.
    pub fn push_control(&mut self, frame: F) -> Pushed {
        self.push_acknowledgement(frame, None)
    }

    /// Queues a response; once it is written, the queue of `opens` is served.
    pub fn push_acknowledgement(&mut self, frame: F, opens: Option<Scope>) -> Pushed {
        if self.overflow.is_some() {
            return Pushed::NotSubscribed;
        }
        if self.control.push(frame, opens, &self.limits) {
            Pushed::Queued
        } else {
            self.give_up(Overflow::Control)
        }
    }

    /// Opens the queue of a scope. It collects from now on, and is served once the acknowledgement that names it is
    /// written. Returns whether the scope is newly joined; a duplicate changes nothing (API-02).
    pub fn join(&mut self, scope: &Scope) -> bool {
        self.open(scope, true)
    }

    /// Opens the queue of a scope that nobody asked for and nobody waits to hear acknowledged.
    pub fn join_at_once(&mut self, scope: &Scope) -> bool {
        self.open(scope, false)
    }

    fn open(&mut self, scope: &Scope, waits_for_ack: bool) -> bool {
        if self.scopes.contains_key(scope) {
            return false;
        }
        self.scopes
            .insert(scope.clone(), ScopeQueue::new(waits_for_ack));
        true
    }

    /// Drops the queue of a scope with all that waits in it.
    pub fn leave(&mut self, scope: &Scope) {
        if let Some(queue) = self.scopes.remove(scope) {
            self.total = self.total.minus(queue.tally());
            self.ring.retain(|other| other != scope);
        }
    }

    /// Whether the client is subscribed to that scope.
    #[must_use]
    pub fn is_joined(&self, scope: &Scope) -> bool {
        self.scopes.contains_key(scope)
    }

    /// Whether the client is subscribed to that scope and the acknowledgement of it is written.
    #[must_use]
    pub fn is_served(&self, scope: &Scope) -> bool {
        self.scopes
            .get(scope)
            .is_some_and(|queue| !queue.waits_for_ack)
    }

    /// Queues something that happened once.
    pub fn push_occurrence(&mut self, scope: &Scope, frame: F) -> Pushed {
        if !self.accepts(scope) {
            return Pushed::NotSubscribed;
        }
        let bytes = self.total.occurrence_bytes.saturating_add(frame.weight());
        let full = self.limits.occurrence_frames <= self.total.occurrences
            || self.limits.occurrence_bytes < bytes;
        if 0 < self.total.occurrences && full {
            return self.give_up(Overflow::Behind);
        }
        self.change(scope, |queue| queue.push_occurrence(frame));
        Pushed::Queued
    }

    /// Queues the present value of something. `version` orders values of one key; an equal one replaces.
    pub fn push_state(&mut self, scope: &Scope, key: StateKey, version: i64, frame: F) -> Pushed {
        if !self.accepts(scope) {
            return Pushed::NotSubscribed;
        }
        let waiting = self
            .scopes
            .get(scope)
            .and_then(|queue| queue.waiting_version(&key));
        if waiting.is_some_and(|waiting| version < waiting) {
            return Pushed::Older;
        }
        let bytes = self.total.state_bytes.saturating_add(frame.weight());
        let full = self.limits.states <= self.total.states || self.limits.state_bytes < bytes;
        if waiting.is_none() && 0 < self.total.states && full {
            return self.give_up(Overflow::Behind);
        }
        self.change(scope, |queue| queue.push_state(key, version, frame));
        if waiting.is_some() {
            Pushed::Replaced
        } else {
            Pushed::Queued
        }
    }

    /// Queues the key of a message that changed. `whole`: otherwise than by an append.
    pub fn push_message(
        &mut self,
        session_id: &SessionId,
        message_id: &MessageId,
        whole: bool,
    ) -> Pushed {
        let scope = Scope::Session(session_id.clone());
        if !self.accepts(&scope) {
            return Pushed::NotSubscribed;
        }
        let limit = self.limits.message_states;
        match self
            .change(&scope, |queue| queue.push_message(message_id, whole, limit))
            .flatten()
        {
            Some(evicted) => Pushed::Evicted(evicted),
            None => Pushed::Queued,
        }
    }

    /// Takes back a waiting state because its subject is gone.
    pub fn withdraw(&mut self, scope: &Scope, key: &StateKey) {
        self.change(scope, |queue| queue.withdraw(key));
    }

    /// Takes back the waiting key of a deleted message.
    pub fn withdraw_message(&mut self, session_id: &SessionId, message_id: &MessageId) {
        self.change(&Scope::Session(session_id.clone()), |queue| {
            queue.withdraw_message(message_id)
        });
    }

    /// Records what the client holds of a message after a frame that carried it.
    pub fn set_held(&mut self, session_id: &SessionId, message_id: &MessageId, held: Option<Held>) {
        self.change(&Scope::Session(session_id.clone()), |queue| {
            queue.set_held(message_id, held)
        });
    }

    /// Counts the bytes of a frame that was built for [`Next::Message`] against its session's turn.
    pub fn charge(&mut self, session_id: &SessionId, bytes: usize) {
        if let Some(queue) = self.scopes.get_mut(&Scope::Session(session_id.clone())) {
            queue.credit = queue.credit.saturating_sub_unsigned(bytes as u64);
        }
    }

    /// Takes out what is to be written next.
    pub fn take_next(&mut self) -> Option<Next<F>> {
        if (self.burst < bounds::CONTROL_BURST || self.ring.is_empty())
            && let Some(next) = self.next_control()
        {
            return Some(next);
        }
        self.burst = 0;
        self.next_of_scopes().or_else(|| self.next_control())
    }

    fn next_control(&mut self) -> Option<Next<F>> {
        let (frame, opens) = self.control.pop()?;
        self.burst = self.burst.saturating_add(1);
        if let Some(scope) = opens {
            self.change(&scope, |queue| queue.waits_for_ack = false);
        }
        Some(Next::Frame(frame))
    }

    /// One entry of the scope whose turn it is. A scope goes on until it has written its quantum; what it writes beyond
    /// is owed, so over time scopes with something to say get equal bytes.
    fn next_of_scopes(&mut self) -> Option<Next<F>> {
        const QUANTUM: i64 = bounds::SCOPE_QUANTUM_BYTES;
        while let Some(scope) = self.ring.pop_front() {
            let alone = self.ring.is_empty();
            let Some(queue) = self.scopes.get_mut(&scope) else {
                continue;
            };
            if queue.credit <= 0 {
                queue.credit = if alone {
                    QUANTUM
                } else {
                    queue.credit.saturating_add(QUANTUM)
                };
                if !alone {
                    self.ring.push_back(scope);
                    continue;
                }
            }
            let before = queue.tally();
            let popped = queue.pop();
            if let Some(Popped::Frame(frame)) = &popped {
                queue.credit = queue.credit.saturating_sub_unsigned(frame.weight() as u64);
            }
            self.total = self.total.minus(before).plus(queue.tally());
            queue.in_ring = queue.has_something();
            if queue.in_ring {
                self.ring.push_front(scope.clone());
            } else {
                queue.credit = 0;
            }
            match (popped, scope) {
                (Some(Popped::Frame(frame)), _) => return Some(Next::Frame(frame)),
                (Some(Popped::Message { id, held }), Scope::Session(session_id)) => {
                    return Some(Next::Message {
                        session_id,
                        message_id: id,
                        held,
                    });
                }
                (Some(Popped::Resync), Scope::Session(session_id)) => {
                    return Some(Next::Resync(session_id));
                }
                (
                    Some(Popped::Message { .. } | Popped::Resync),
                    Scope::Workspace(_) | Scope::User,
                ) => {
                    debug_assert!(false, "only sessions have message states");
                }
                (None, _) => {}
            }
        }
        None
    }

    fn accepts(&self, scope: &Scope) -> bool {
        self.overflow.is_none() && self.scopes.contains_key(scope)
    }

    /// Changes one queue and keeps the total and the ring in step with it.
    fn change<R>(
        &mut self,
        scope: &Scope,
        change: impl FnOnce(&mut ScopeQueue<F>) -> R,
    ) -> Option<R> {
        let queue = self.scopes.get_mut(scope)?;
        let before = queue.tally();
        let result = change(queue);
        self.total = self.total.minus(before).plus(queue.tally());
        if !queue.in_ring && !queue.waits_for_ack && queue.has_something() {
            queue.in_ring = true;
            self.ring.push_back(scope.clone());
        }
        Some(result)
    }

    fn give_up(&mut self, overflow: Overflow) -> Pushed {
        self.overflow = Some(overflow);
        self.control.clear();
        self.scopes.clear();
        self.ring.clear();
        self.total = Tally::default();
        Pushed::Overflowed(overflow)
    }

    /// Control frames that wait; for measures.
    #[must_use]
    pub fn control_len(&self) -> usize {
        self.control.len()
    }
}
