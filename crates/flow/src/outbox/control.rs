//! The control queue of one client: responses and errors, first in, first out, ahead of everything else (API-05).
//!
//! Room is *reserved* before a request is read from the socket, and given back when its answer is queued. So a peer
//! that reads never overflows this queue, however many requests it sends; only one that does not read can.
//!
//! Invariant: a frame is never refused by an empty queue (GWY-07).

use super::keys::Scope;
use super::limits::{Limits, Weigh};
use std::collections::VecDeque;

/// Waiting control frames and room promised to answers that are still being made.
#[derive(Debug)]
pub(super) struct Control<F> {
    frames: VecDeque<(F, Option<Scope>)>,
    bytes: usize,
    reserved_frames: usize,
    reserved_bytes: usize,
}

impl<F: Weigh> Control<F> {
    pub(super) const fn new() -> Self {
        Self {
            frames: VecDeque::new(),
            bytes: 0,
            reserved_frames: 0,
            reserved_bytes: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Answers that are promised and not queued yet.
    pub(super) const fn reserved(&self) -> usize {
        self.reserved_frames
    }

    /// Whether one more answer of up to `bytes` may be promised.
    pub(super) fn has_room_for(&self, bytes: usize, limits: &Limits) -> bool {
        let frames = self.frames.len().saturating_add(self.reserved_frames);
        let taken = self.bytes.saturating_add(self.reserved_bytes);
        frames == 0
            || (frames < limits.control_frames
                && taken.saturating_add(bytes) <= limits.control_bytes)
    }

    pub(super) const fn reserve(&mut self, bytes: usize) {
        self.reserved_frames = self.reserved_frames.saturating_add(1);
        self.reserved_bytes = self.reserved_bytes.saturating_add(bytes);
    }

    pub(super) fn release(&mut self, bytes: usize) {
        debug_assert!(
            0 < self.reserved_frames && bytes <= self.reserved_bytes,
            "released more than was reserved"
        );
        self.reserved_frames = self.reserved_frames.saturating_sub(1);
        self.reserved_bytes = self.reserved_bytes.saturating_sub(bytes);
    }

    /// Queues a frame; `false` when there is no room for it.
    pub(super) fn push(&mut self, frame: F, opens: Option<Scope>, limits: &Limits) -> bool {
        let bytes = self.bytes.saturating_add(frame.weight());
        if !self.frames.is_empty()
            && (limits.control_frames <= self.frames.len() || limits.control_bytes < bytes)
        {
            return false;
        }
        self.bytes = bytes;
        self.frames.push_back((frame, opens));
        true
    }

    /// The oldest frame, and the scope whose queue may be served once it is written.
    pub(super) fn pop(&mut self) -> Option<(F, Option<Scope>)> {
        let (frame, opens) = self.frames.pop_front()?;
        self.bytes = self.bytes.saturating_sub(frame.weight());
        Some((frame, opens))
    }

    pub(super) fn clear(&mut self) {
        self.frames = VecDeque::new();
        self.bytes = 0;
    }
}
