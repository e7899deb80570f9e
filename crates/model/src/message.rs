//! Messages: the rows of a transcript, and the requests a person answers among them.

use crate::attachment::Attachment;
use crate::clarification::Clarification;
use crate::clock::Timestamp;
use crate::error::words;
use crate::ids::{MessageId, PendingId, SessionId, TaskId, TurnId};
use serde::{Deserialize, Serialize};

words! {
    /// Who wrote a row.
    Author {
        /// A person.
        User = "user",
        /// The agent.
        Agent = "agent",
        /// flightstrip itself: notes and errors in the transcript.
        System = "system",
    }
}

words! {
    /// What a row is.
    MessageType {
        /// Text of a person or of an agent.
        Message = "message",
        /// An agent's reasoning.
        Thought = "thought",
        /// A tool call and its result; its metadata is a [`ToolCall`].
        ToolCall = "tool_call",
        /// The agent's plan, newest version; its metadata is a [`Plan`].
        Plan = "plan",
        /// The agent asks whether it may; its metadata is a [`PermissionRequest`].
        PermissionRequest = "permission_request",
        /// The agent asks a question; its metadata is a [`Clarification`].
        ClarificationRequest = "clarification_request",
        /// A note of the system about the conversation.
        Status = "status",
        /// A failure, where it happened.
        Error = "error",
        /// An update of a kind this version does not know, kept raw.
        Unknown = "unknown_update",
    }
}

words! {
    /// The state of a request row. Missing or unknown counts as pending (law: an unanswered request is never lost).
    RequestStatus {
        /// Waits for a person.
        Pending = "pending",
        /// An allowing option was chosen.
        Approved = "approved",
        /// A rejecting option was chosen.
        Rejected = "rejected",
        /// A question was answered.
        Answered = "answered",
        /// Withdrawn by the agent or cancelled by a person.
        Cancelled = "cancelled",
        /// Its turn or process ended first.
        Expired = "expired",
    }
}

impl RequestStatus {
    /// Whether nothing can answer it any more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Pending)
    }
}

words! {
    /// What became of a user's prompt; derived from stored facts, never stored itself.
    Disposition {
        /// Waits in the queue.
        Queued = "queued",
        /// Its turn is reserved, it is not written yet.
        Sending = "sending",
        /// It reached the agent.
        Dispatched = "dispatched",
        /// It may have reached the agent; nothing came back. Offered "send again", never re-sent by itself.
        Uncertain = "uncertain",
        /// It surely did not reach an agent. Offered "send".
        Undelivered = "undelivered",
    }
}

/// A row of a transcript as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Message {
    /// Its id; for a person's message the one their client chose.
    pub id: MessageId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The turn it belongs to; a queued prompt has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Its place in the transcript; a queued prompt has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// Rises with every change, appends included; never falls.
    pub revision: i64,
    /// Who wrote it.
    pub author: Author,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// Its text.
    pub content: String,
    /// What its type adds: [`ToolCall`], [`Plan`], [`PermissionRequest`], [`Clarification`], or nothing.
    pub metadata: serde_json::Value,
    /// The state of a request row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<RequestStatus>,
    /// The identity of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_id: Option<PendingId>,
    /// Whether a decision reached the agent; absent while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<bool>,
    /// What became of a user's prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disposition: Option<Disposition>,
    /// Order in the queue: lower is sent earlier. Says nothing else; a prompt put back first may have 0 or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<i64>,
    /// Files that a person attached to it, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "ts", ts(as = "Option<Vec<Attachment>>", optional))]
    pub attachments: Vec<Attachment>,
    /// Whether more text of this row may come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<bool>", optional))]
    pub streaming: bool,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it changed last, appends excepted.
    pub updated_at: Timestamp,
    /// The content was cut to `bounds::WIRE_CONTENT_BYTES`; the rest is to be had by HTTP.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<bool>", optional))]
    pub content_truncated: bool,
}

/// A tool call: what the agent does, as it reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct ToolCall {
    /// The agent's id for it.
    pub tool_call_id: String,
    /// A line about it.
    pub title: String,
    /// `read edit delete move search execute think fetch other …`, the agent's word.
    pub kind: String,
    /// `pending in_progress completed failed`, the agent's word.
    pub status: String,
    /// Files it touches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "ts", ts(as = "Option<Vec<String>>", optional))]
    pub locations: Vec<String>,
    /// The command or input in one text, when the agent gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Text the tool gave back, at most `bounds::TOOL_OUTPUT_BYTES`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Whether the output was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<bool>", optional))]
    pub output_truncated: bool,
    /// Changes to files it made or wants to make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "ts", ts(as = "Option<Vec<FileEdit>>", optional))]
    pub edits: Vec<FileEdit>,
    /// Whether it is a subagent at work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<bool>", optional))]
    pub subagent: bool,
}

impl ToolCall {
    /// Whether the agent says it is over.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed" | "cancelled")
    }
}

/// One file's change as an agent announces it: old and new text, cut to `bounds::TOOL_EDIT_BYTES` each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct FileEdit {
    /// The file, as the agent names it.
    pub path: String,
    /// Its text before; absent for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_text: Option<String>,
    /// Its text after.
    pub new_text: String,
}

/// A permission an agent asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct PermissionRequest {
    /// What it is about.
    pub tool_call: ToolCall,
    /// The agent's own options.
    pub options: Vec<PermissionOption>,
    /// The option a person chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_option_id: Option<String>,
}

/// One option of a permission; chosen by kind, never by place (agents order them differently).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct PermissionOption {
    /// The agent's id for it.
    pub id: String,
    /// The agent's words for it.
    pub name: String,
    /// What it means.
    pub kind: PermissionKind,
}

words! {
    /// What choosing an option means.
    PermissionKind {
        /// Yes, this time.
        AllowOnce = "allow_once",
        /// Yes, from now on.
        AllowAlways = "allow_always",
        /// No, this time.
        RejectOnce = "reject_once",
        /// No, from now on.
        RejectAlways = "reject_always",
    }
}

impl PermissionKind {
    /// The status a request gets when an option of this kind is chosen.
    #[must_use]
    pub const fn decides(self) -> RequestStatus {
        match self {
            Self::AllowOnce | Self::AllowAlways => RequestStatus::Approved,
            Self::RejectOnce | Self::RejectAlways => RequestStatus::Rejected,
        }
    }
}

/// An agent's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct Plan {
    /// Its entries in order.
    pub entries: Vec<PlanEntry>,
}

/// One entry of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// `high medium low`, the agent's word.
    pub priority: String,
    /// `pending in_progress completed`, the agent's word.
    pub status: String,
}

/// A request waiting for a person, as a row's menu lists it (`task.pending`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct PendingRequest {
    /// The session that asks.
    pub session_id: SessionId,
    /// The request row.
    pub message_id: MessageId,
    /// The identity of the request; an answer names it.
    pub pending_id: PendingId,
    /// What kind of request.
    #[serde(rename = "type")]
    pub kind: MessageType,
    /// What it is about, in one line.
    pub title: String,
    /// The command or input it is about, when there is one.
    pub detail: Option<String>,
    /// What can be chosen.
    pub options: Vec<PermissionOption>,
    /// The question, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub clarification: Option<Clarification>,
    /// Since when it waits.
    pub since: Timestamp,
}

/// Where a prompt stands, from which its disposition follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptFacts {
    /// It has a place in the queue.
    pub queued: bool,
    /// It has a turn.
    pub has_turn: bool,
    /// That turn was attempted.
    pub attempted: bool,
    /// Anything came back: an agent row of the turn, a normal end, or its process still lives.
    pub acknowledged: bool,
    /// That turn is closed.
    pub turn_closed: bool,
}

/// The disposition of a user's prompt; nothing for a row that is no prompt.
#[must_use]
pub const fn disposition(facts: PromptFacts) -> Disposition {
    if facts.queued {
        Disposition::Queued
    } else if !facts.has_turn {
        Disposition::Undelivered
    } else if facts.attempted && facts.acknowledged {
        Disposition::Dispatched
    } else if facts.attempted {
        Disposition::Uncertain
    } else if facts.turn_closed {
        Disposition::Undelivered
    } else {
        Disposition::Sending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_has_one_disposition() {
        let check = |queued, has_turn, attempted, acknowledged, turn_closed, expected| {
            let facts = PromptFacts {
                queued,
                has_turn,
                attempted,
                acknowledged,
                turn_closed,
            };
            assert_eq!(disposition(facts), expected, "{facts:?}");
        };
        check(true, false, false, false, false, Disposition::Queued);
        check(false, true, false, false, false, Disposition::Sending);
        check(false, true, true, true, false, Disposition::Dispatched);
        check(false, true, true, false, true, Disposition::Uncertain);
        check(false, true, false, false, true, Disposition::Undelivered);
        check(false, false, false, false, false, Disposition::Undelivered);
    }

    #[test]
    fn options_decide_by_kind() {
        assert_eq!(
            PermissionKind::AllowAlways.decides(),
            RequestStatus::Approved
        );
        assert_eq!(
            PermissionKind::RejectOnce.decides(),
            RequestStatus::Rejected
        );
    }
}
