//! The ordered queue of one scope of one client.
//!
//! Entries leave in the order of their first arrival. A newer state takes the place of the queued one of its key, so
//! it is never later than the older one would have been, and at most one entry per key waits (GWY-01). Message states
//! are keys without frames, a bounded number per session: beyond it the session evicts its own oldest and is marked
//! (GWY-03). When everything that was queued at that moment has been written, the mark yields one
//! [`Popped::Resync`]. (Waiting for an *empty* queue would starve a client that is always a little behind.)
//!
//! Invariants: `states` and `messages` index exactly the entries that exist; `tally` counts them.

use super::keys::{Held, StateKey};
use super::limits::Weigh;
use model::bounds;
use model::ids::MessageId;
use std::collections::{BTreeMap, HashMap};

/// What one entry is.
#[derive(Debug)]
enum Entry<F> {
    Occurrence(F),
    State {
        key: StateKey,
        version: i64,
        frame: F,
    },
    Message {
        id: MessageId,
        whole: bool,
    },
}

/// What a pop gave.
#[derive(Debug)]
pub(super) enum Popped<F> {
    Frame(F),
    Message { id: MessageId, held: Option<Held> },
    Resync,
}

/// How much waits, by class; summed over a client's scopes it is held against the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) occurrences: usize,
    pub(super) occurrence_bytes: usize,
    pub(super) states: usize,
    pub(super) state_bytes: usize,
}

impl Tally {
    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            occurrences: self.occurrences.saturating_add(other.occurrences),
            occurrence_bytes: self.occurrence_bytes.saturating_add(other.occurrence_bytes),
            states: self.states.saturating_add(other.states),
            state_bytes: self.state_bytes.saturating_add(other.state_bytes),
        }
    }

    pub(super) const fn minus(self, other: Self) -> Self {
        Self {
            occurrences: self.occurrences.saturating_sub(other.occurrences),
            occurrence_bytes: self.occurrence_bytes.saturating_sub(other.occurrence_bytes),
            states: self.states.saturating_sub(other.states),
            state_bytes: self.state_bytes.saturating_sub(other.state_bytes),
        }
    }
}

#[derive(Debug)]
pub(super) struct ScopeQueue<F> {
    entries: BTreeMap<u64, Entry<F>>,
    next_place: u64,
    states: HashMap<StateKey, u64>,
    messages: HashMap<MessageId, u64>,
    held: HashMap<MessageId, Held>,
    tally: Tally,
    /// Set by an eviction: the last place that was taken then.
    resync_after: Option<u64>,
    /// Bytes it may still write before the next scope's turn; negative: it wrote ahead.
    pub(super) credit: i64,
    /// Collects, but is not served until the acknowledgement of its subscription is written.
    pub(super) waits_for_ack: bool,
    /// Whether it stands in the ring of scopes with something to write.
    pub(super) in_ring: bool,
}

impl<F: Weigh> ScopeQueue<F> {
    pub(super) fn new(waits_for_ack: bool) -> Self {
        Self {
            entries: BTreeMap::new(),
            next_place: 0,
            states: HashMap::new(),
            messages: HashMap::new(),
            held: HashMap::new(),
            tally: Tally::default(),
            resync_after: None,
            credit: 0,
            waits_for_ack,
            in_ring: false,
        }
    }

    pub(super) const fn tally(&self) -> Tally {
        self.tally
    }

    pub(super) fn has_something(&self) -> bool {
        !self.entries.is_empty() || self.resync_after.is_some()
    }

    pub(super) fn push_occurrence(&mut self, frame: F) {
        self.tally.occurrences += 1;
        self.tally.occurrence_bytes += frame.weight();
        self.append(Entry::Occurrence(frame));
    }

    /// Whether a state of this key waits, and its version.
    pub(super) fn waiting_version(&self, key: &StateKey) -> Option<i64> {
        match self.entries.get(self.states.get(key)?)? {
            Entry::State { version, .. } => Some(*version),
            Entry::Occurrence(_) | Entry::Message { .. } => None,
        }
    }

    /// Queues a state, in the place of the waiting one of its key if there is one. The caller has compared versions.
    pub(super) fn push_state(&mut self, key: StateKey, version: i64, frame: F) {
        self.tally.state_bytes += frame.weight();
        let waiting = self.states.get(&key).copied();
        let entry = Entry::State {
            key: key.clone(),
            version,
            frame,
        };
        if let Some(place) = waiting {
            if let Some(Entry::State { frame, .. }) = self.entries.insert(place, entry) {
                self.tally.state_bytes = self.tally.state_bytes.saturating_sub(frame.weight());
            }
        } else {
            self.tally.states += 1;
            let place = self.append(entry);
            self.states.insert(key, place);
        }
    }

    /// Queues the key of a message. `whole`: it changed otherwise than by an append. Returns the evicted message.
    pub(super) fn push_message(
        &mut self,
        id: &MessageId,
        whole: bool,
        limit: usize,
    ) -> Option<MessageId> {
        if let Some(place) = self.messages.get(id) {
            if whole {
                self.entries.insert(
                    *place,
                    Entry::Message {
                        id: id.clone(),
                        whole,
                    },
                );
            }
            return None;
        }
        let evicted = if limit <= self.messages.len() {
            self.evict_oldest_message()
        } else {
            None
        };
        let place = self.append(Entry::Message {
            id: id.clone(),
            whole,
        });
        self.messages.insert(id.clone(), place);
        evicted
    }

    fn evict_oldest_message(&mut self) -> Option<MessageId> {
        let (id, place) = self.messages.iter().min_by_key(|(_, place)| **place)?;
        let (id, place) = (id.clone(), *place);
        self.messages.remove(&id);
        self.entries.remove(&place);
        // The client misses a change of this message, so nothing may be appended to what it has.
        self.held.remove(&id);
        let last = self.next_place.saturating_sub(1);
        self.resync_after.get_or_insert(last);
        Some(id)
    }

    /// Takes back a waiting state: its subject is gone.
    pub(super) fn withdraw(&mut self, key: &StateKey) {
        let Some(place) = self.states.remove(key) else {
            return;
        };
        if let Some(Entry::State { frame, .. }) = self.entries.remove(&place) {
            self.tally.states = self.tally.states.saturating_sub(1);
            self.tally.state_bytes = self.tally.state_bytes.saturating_sub(frame.weight());
        }
    }

    /// Takes back the waiting key of a deleted message.
    pub(super) fn withdraw_message(&mut self, id: &MessageId) {
        if let Some(place) = self.messages.remove(id) {
            self.entries.remove(&place);
        }
        self.held.remove(id);
    }

    /// Records what the client holds of a message; nothing: it is not known, or the message will not grow.
    pub(super) fn set_held(&mut self, id: &MessageId, held: Option<Held>) {
        let Some(held) = held else {
            self.held.remove(id);
            return;
        };
        if bounds::HELD_MESSAGES <= self.held.len() && !self.held.contains_key(id) {
            // Which one goes does not matter: not knowing costs one whole message, never a wrong one.
            if let Some(other) = self.held.keys().next().cloned() {
                self.held.remove(&other);
            }
        }
        self.held.insert(id.clone(), held);
    }

    pub(super) fn pop(&mut self) -> Option<Popped<F>> {
        let first = self.entries.first_key_value().map(|(place, _)| *place);
        if let Some(mark) = self.resync_after
            && first.is_none_or(|place| mark < place)
        {
            self.resync_after = None;
            self.held.clear();
            return Some(Popped::Resync);
        }
        let (_, entry) = self.entries.pop_first()?;
        Some(match entry {
            Entry::Occurrence(frame) => {
                self.tally.occurrences = self.tally.occurrences.saturating_sub(1);
                self.tally.occurrence_bytes =
                    self.tally.occurrence_bytes.saturating_sub(frame.weight());
                Popped::Frame(frame)
            }
            Entry::State { key, frame, .. } => {
                self.states.remove(&key);
                self.tally.states = self.tally.states.saturating_sub(1);
                self.tally.state_bytes = self.tally.state_bytes.saturating_sub(frame.weight());
                Popped::Frame(frame)
            }
            Entry::Message { id, whole } => {
                self.messages.remove(&id);
                let held = if whole {
                    None
                } else {
                    self.held.get(&id).copied()
                };
                Popped::Message { id, held }
            }
        })
    }

    fn append(&mut self, entry: Entry<F>) -> u64 {
        let place = self.next_place;
        self.next_place += 1;
        self.entries.insert(place, entry);
        place
    }
}
