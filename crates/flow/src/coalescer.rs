//! The coalescer: many small pieces of streamed text become few appends, losslessly (STR-01, STR-02).
//!
//! The first piece of a row opens it at once. Later pieces wait until the next global tick and leave as one append,
//! so a session writes at most once per tick however fast its agent talks; all sessions share the ticks, so their
//! appends can share a transaction. A barrier (a tool call, a request, an end) takes what waits at once, so that the
//! order of a transcript is the order in which things were said (STR-03).
//!
//! Which row a piece belongs to: the agent's own message id if it has one; else the row of the same kind that was
//! opened last, as long as no *row* came between (a new tool call, a request, the other kind of text). An update that
//! adds no row splits nothing.
//!
//! Plain data: time is a duration since some fixed moment, and the caller does what it is told.
//!
//! Invariant: concatenating a row's opening text and its appends gives exactly the pieces pushed for it, in order.

use model::bounds;
use std::time::Duration;

/// What a row is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// An agent's answer.
    Message,
    /// An agent's reasoning.
    Thought,
}

/// A row of this coalescer: 0 for the first it opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowNumber(pub u64);

/// What is to be written, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Insert a row with this text.
    Open {
        /// Its number.
        row: RowNumber,
        /// Its kind.
        kind: TextKind,
        /// Its first text, never empty.
        text: String,
    },
    /// Append to a row.
    Append {
        /// Its number.
        row: RowNumber,
        /// What follows, never empty.
        text: String,
    },
}

#[derive(Debug)]
struct Row {
    number: RowNumber,
    kind: TextKind,
    protocol_id: Option<String>,
}

/// One session's text on its way to the store.
#[derive(Debug, Default)]
pub struct Coalescer {
    /// Rows with an id of the agent's, and the last row without one; newest last, at most `COALESCER_ROWS`.
    rows: Vec<Row>,
    /// Whether a piece without an id may join the last row without one.
    joinable: bool,
    opened: u64,
    pending: Option<(RowNumber, String)>,
    /// When the pending text is due.
    due: Option<Duration>,
}

impl Coalescer {
    /// Takes a piece of text. Gives what must be written now.
    #[must_use]
    pub fn push(
        &mut self,
        kind: TextKind,
        protocol_id: Option<&str>,
        text: &str,
        now: Duration,
    ) -> Vec<Output> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut outputs = Vec::new();
        let Some(row) = self.find(kind, protocol_id) else {
            outputs.extend(self.flush());
            outputs.push(self.open(kind, protocol_id, text));
            return outputs;
        };
        match &mut self.pending {
            Some((pending, waiting)) if *pending == row => waiting.push_str(text),
            _ => {
                outputs.extend(self.flush());
                self.pending = Some((row, text.to_owned()));
                self.due = Some(next_tick(now));
            }
        }
        outputs
    }

    fn find(&self, kind: TextKind, protocol_id: Option<&str>) -> Option<RowNumber> {
        let same = |row: &&Row| row.kind == kind && row.protocol_id.as_deref() == protocol_id;
        let row = self.rows.iter().rev().find(same)?;
        let is_last = self
            .rows
            .last()
            .is_some_and(|last| last.number == row.number);
        (protocol_id.is_some() || (self.joinable && is_last)).then_some(row.number)
    }

    fn open(&mut self, kind: TextKind, protocol_id: Option<&str>, text: &str) -> Output {
        let number = RowNumber(self.opened);
        self.opened += 1;
        if protocol_id.is_none() {
            // Only the newest row without an id can be joined.
            self.rows.retain(|row| row.protocol_id.is_some());
        }
        if bounds::COALESCER_ROWS <= self.rows.len() {
            self.rows.remove(0);
        }
        self.rows.push(Row {
            number,
            kind,
            protocol_id: protocol_id.map(str::to_owned),
        });
        self.joinable = true;
        Output::Open {
            row: number,
            kind,
            text: text.to_owned(),
        }
    }

    /// Another row joined the transcript: what waits must be written first, and text without an id starts anew.
    #[must_use]
    pub fn row_barrier(&mut self) -> Option<Output> {
        self.joinable = false;
        self.flush()
    }

    /// Takes what waits: at a barrier that adds no row (a tool's end, a stop), or when it is due.
    #[must_use]
    pub fn flush(&mut self) -> Option<Output> {
        self.due = None;
        self.pending
            .take()
            .map(|(row, text)| Output::Append { row, text })
    }

    /// When waiting text is due; nothing waits otherwise.
    #[must_use]
    pub const fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Whether more text may be pushed. If not, stop reading: the gate closes and the agent's pipe fills (STR-04).
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.pending
            .as_ref()
            .is_none_or(|(_, text)| text.len() < bounds::COALESCE_PENDING_BYTES)
    }

    /// Forgets all rows: the turn is over and its rows are settled. What waits must have been taken.
    pub fn reset(&mut self) {
        debug_assert!(
            self.pending.is_none(),
            "text is flushed before its rows are forgotten"
        );
        *self = Self {
            opened: self.opened,
            pending: self.pending.take(),
            due: self.due,
            ..Self::default()
        };
    }
}

/// The first tick after `now`; ticks are the same for all sessions.
fn next_tick(now: Duration) -> Duration {
    let tick = bounds::COALESCE_TICK.as_nanos();
    let next = (now.as_nanos() / tick + 1) * tick;
    Duration::from_nanos(u64::try_from(next).unwrap_or(u64::MAX))
}

#[cfg(test)]
#[path = "coalescer_tests.rs"]
mod tests;
