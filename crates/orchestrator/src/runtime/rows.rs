//! The rows of the transcript that this session's agent may still change.

use flow::coalescer::{Coalescer, RowNumber};
use model::bounds;
use model::ids::{MessageId, TurnId};
use model::message::ToolCall;
use std::collections::HashMap;
use std::time::Duration;

/// A row of streamed text.
#[derive(Clone, Debug)]
pub(crate) struct TextRow {
    pub(crate) message_id: MessageId,
    /// The number of its last segment.
    pub(crate) segments: i64,
    /// Its revision without segments.
    pub(crate) revision: i64,
    /// Its length in UTF-16 code units.
    pub(crate) utf16: u64,
    /// Its turn is over: what still comes is appended to the row itself.
    pub(crate) settled: bool,
}

/// A row of a tool call.
#[derive(Clone, Debug)]
pub(crate) struct ToolRow {
    pub(crate) message_id: MessageId,
    pub(crate) call: ToolCall,
    /// It changed since it was stored.
    pub(crate) dirty: bool,
}

impl ToolRow {
    /// An ended call is remembered by its state alone: nothing of it changes any more, and what it gave back may be
    /// large.
    pub(crate) fn lighten(&mut self) {
        if self.call.is_terminal() {
            self.call.input = None;
            self.call.output = None;
            self.call.edits = Vec::new();
        }
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) coalescer: Coalescer,
    pub(crate) texts: HashMap<RowNumber, TextRow>,
    pub(crate) tools: HashMap<String, ToolRow>,
    pub(crate) plan: Option<MessageId>,
    /// When changed tool rows are due: tool progress is a state, its newest value leaves once per tick.
    pub(crate) tools_due: Option<Duration>,
    /// The turn that rows belong to: the open one, or the last one for what comes late.
    pub(crate) turn_id: Option<TurnId>,
}

impl Rows {
    /// When something is due to be written.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        [self.coalescer.due(), self.tools_due]
            .into_iter()
            .flatten()
            .min()
    }

    /// Remembers a new tool row; beyond `bounds::TOOL_ROWS` ended ones are forgotten.
    pub(crate) fn add_tool(&mut self, id: &str, row: ToolRow) {
        if bounds::TOOL_ROWS <= self.tools.len() {
            self.tools.retain(|_, row| !row.call.is_terminal());
        }
        self.tools.insert(id.to_owned(), row);
    }

    /// Notes a changed tool row, to be written at the next tick.
    pub(crate) fn tool_changed(&mut self, now: Duration) {
        self.tools_due.get_or_insert(now + bounds::COALESCE_TICK);
    }

    /// A new turn begins: earlier texts are closed, and only tool calls at work are kept.
    pub(crate) fn begin_turn(&mut self, turn_id: TurnId) {
        self.coalescer.reset();
        self.texts.clear();
        self.plan = None;
        self.tools.retain(|_, row| !row.call.is_terminal());
        self.turn_id = Some(turn_id);
    }

    /// Tool calls that nobody will end any more: their agent asked for a permission, was stopped, or forgot them.
    /// Subagents go on after the turn.
    pub(crate) fn close_tools(&mut self) {
        for row in self
            .tools
            .values_mut()
            .filter(|row| !row.call.is_terminal() && !row.call.subagent)
        {
            "cancelled".clone_into(&mut row.call.status);
            row.dirty = true;
        }
    }

    /// The turn is over: its texts are settled.
    pub(crate) fn settle(&mut self) {
        for row in self.texts.values_mut() {
            row.revision += row.segments + i64::from(!row.settled);
            row.segments = 0;
            row.settled = true;
        }
    }
}
