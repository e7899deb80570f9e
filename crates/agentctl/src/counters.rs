//! Where an agent's lines went.
//!
//! Invariant: every line read is counted once, as an event, a reply, or a skip with its reason. So "nothing is lost" can
//! be checked from outside.

/// What became of an agent's lines, since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCounters {
    /// Lines read.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Events handed to the runtime, apart from the last one.
    pub events: u64,
    /// Replies to our requests, apart from those that are events.
    pub replies: u64,
    /// Lines that were no message: printed text, batches, broken JSON.
    pub noise: u64,
    /// Updates of a replay, dropped.
    pub replayed: u64,
    /// Updates about another session than the open one: a fork, a child of the agent's own.
    pub foreign: u64,
    /// Updates without content or news.
    pub empty: u64,
    /// Updates of a kind this version does not know; each was also an event.
    pub unknown_updates: u64,
    /// Extension notifications (`_…`), skipped.
    pub extensions: u64,
    /// Requests of the agent for something we do not offer or cannot read, refused.
    pub refused: u64,
    /// Withdrawals of requests that were answered already.
    pub late_withdrawals: u64,
    /// Replies that nobody waited for any more.
    pub late_replies: u64,
}
