//! What an agent does, in one vocabulary for all agents.
//!
//! The session runtime sees only these values. They arrive in the order of the agent's lines, the end of a prompt
//! included, and [`AgentEvent::Exited`] is always the last one. Texts are clean by the text policy (see
//! [`crate::text`]); `raw` values keep what this version does not understand, so nothing an agent says is lost.
//!
//! Must not: decide anything. Merging tool updates, naming rows and counting subagents belong to the runtime.

use crate::elicitation::Form;
use crate::error::AgentError;
use model::agent::{AgentCommandInfo, AgentSettings, AgentUsage};
use model::ids::TurnId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Names one prompt: the turn it opened. A connection carries at most one open prompt.
pub type PromptId = TurnId;

/// Names one permission request, or one elicitation, on one connection. JSON-RPC ids repeat; tickets never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PermissionTicket(pub u64);

/// One thing an agent did.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// A piece of streamed text. Pieces of one message share `kind` and `protocol_id`.
    Text {
        /// Answer or thought.
        kind: TextKind,
        /// The agent's own message id, for agents that have one.
        protocol_id: Option<String>,
        /// The piece; never empty.
        text: String,
    },
    /// The agent repeats the person's words: counted, never stored.
    UserEcho,
    /// A tool call began, moved on or ended. The first sight of an id creates it, whatever the agent called it.
    ToolCall(ToolCallUpdate),
    /// The whole current plan; replaces the earlier one.
    Plan(Vec<PlanEntry>),
    /// The agent asks a person. Answer with `AgentConnection::answer_permission`, exactly once.
    Permission {
        /// Names this request.
        ticket: PermissionTicket,
        /// The tool call it is about; it may never have been seen before.
        tool_call: ToolCallUpdate,
        /// What may be chosen. Choose by `kind`, never by position or id.
        options: Vec<PermissionOption>,
    },
    /// The agent took a permission request back. It has been answered; nothing more may be sent for it.
    PermissionWithdrawn {
        /// The request.
        ticket: PermissionTicket,
    },
    /// The agent asks a person by a form. Answer with `AgentConnection::answer_elicitation`, exactly once.
    Elicitation {
        /// Names this request.
        ticket: PermissionTicket,
        /// What is asked.
        form: Form,
    },
    /// The agent took an elicitation back. It has been answered; nothing more may be sent for it.
    ElicitationWithdrawn {
        /// The request.
        ticket: PermissionTicket,
    },
    /// Models, modes or options changed; the whole current value.
    Settings(AgentSettings),
    /// The slash commands changed; the whole current list.
    Commands(Vec<AgentCommandInfo>),
    /// Context and cost so far.
    Usage(AgentUsage),
    /// The agent named the conversation.
    Title(String),
    /// An update this version does not know, kept whole.
    Unknown {
        /// The `sessionUpdate` word, or the method of the notification.
        kind: String,
        /// The update as the agent wrote it.
        raw: Value,
    },
    /// The agent answered a prompt. Late updates may still follow; they belong to that turn.
    PromptEnded {
        /// The prompt.
        prompt: PromptId,
        /// How it ended.
        result: Result<PromptEnd, AgentError>,
    },
    /// The connection has ended; always the last event.
    Exited(AgentExit),
}

/// Whether streamed text is the agent's answer or its reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// Part of the answer.
    Message,
    /// Part of the reasoning.
    Thought,
}

/// The agent's reply to a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptEnd {
    /// Why the agent stopped.
    pub stop_reason: StopReason,
    /// Text that came inside the reply itself. Some agents repeat here what they streamed.
    pub text: Option<String>,
    /// Tokens the turn took, when the agent says; `Some(0)` after an empty turn.
    pub total_tokens: Option<u64>,
}

/// Why an agent ended a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    EndTurn,
    /// Out of tokens.
    MaxTokens,
    /// Too many model requests in one turn.
    MaxTurnRequests,
    /// It declined.
    Refusal,
    /// It was cancelled.
    Cancelled,
    /// A reason this version does not know.
    Other(String),
}

impl StopReason {
    /// Reads the protocol's word.
    #[must_use]
    pub fn from_wire(word: &str) -> Self {
        match word {
            "end_turn" => Self::EndTurn,
            "max_tokens" => Self::MaxTokens,
            "max_turn_requests" => Self::MaxTurnRequests,
            "refusal" => Self::Refusal,
            "cancelled" => Self::Cancelled,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// What one message said about a tool call. Absent fields keep their earlier value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCallUpdate {
    /// The agent's id of the call, unique in its session.
    pub id: String,
    /// What it does, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The protocol's word for its kind: `read edit delete move search execute think fetch switch_mode other`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// Files it touches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<ToolLocation>>,
    /// What it shows; replaces the earlier content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolContent>>,
    /// Its input, as the agent gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// Its output, as the agent gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<Value>,
    /// Whether this call is a subagent, by the table of known agents. Once true it stays true for the call.
    #[serde(default)]
    pub subagent: bool,
}

/// Where a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Announced, waiting for input or permission.
    Pending,
    /// Running.
    InProgress,
    /// Ended well.
    Completed,
    /// Ended badly, or was refused.
    Failed,
}

impl ToolStatus {
    /// Whether nothing more happens to the call.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// A file a tool call touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolLocation {
    /// The path as the agent names it.
    pub path: String,
    /// A line, counted as the agent counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// One piece of what a tool call shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolContent {
    /// Text, often Markdown.
    Text {
        /// The text.
        text: String,
    },
    /// A change of one file.
    Diff {
        /// The file.
        path: String,
        /// Its text before; absent for a new file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_text: Option<String>,
        /// Its text after.
        new_text: String,
    },
    /// Anything else, kept whole.
    Other {
        /// The content as the agent wrote it.
        raw: Value,
    },
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
    /// `high`, `medium` or `low`, when the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
}

/// One answer a permission request offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionOption {
    /// The agent's id, to be sent back.
    pub id: String,
    /// How it is shown.
    pub name: String,
    /// What it means.
    pub kind: PermissionKind,
}

/// What an answer to a permission request means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionKind {
    /// Allow this once.
    AllowOnce,
    /// Allow this and its like from now on.
    AllowAlways,
    /// Refuse this once.
    RejectOnce,
    /// Refuse this and its like from now on.
    RejectAlways,
}

/// What a person, or the runtime for them, decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// The option with this id.
    Selected(String),
    /// Nothing was chosen: the turn is being cancelled, or the request expired.
    Cancelled,
}

/// Whether an answer reached the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionDelivery {
    /// Handed to the agent's input.
    Delivered,
    /// Somebody answered first, or the agent withdrew the request: nothing was sent.
    AlreadyAnswered,
    /// The connection has ended, or does not take input any more: nothing was sent.
    Gone,
}

/// How an agent process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentStatus {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// The end of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentExit {
    /// The process's status; absent when there was no process or it could not be learned.
    pub status: Option<AgentStatus>,
    /// The last lines of stderr, at most `bounds::STDERR_TAIL_LINES`.
    pub stderr_tail: String,
    /// What brought it about.
    pub how: ExitHow,
    /// The fault of the agent for which the connection was ended, if there was one.
    pub fault: Option<AgentError>,
}

/// What brought the end of a connection about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitHow {
    /// The agent ended, or closed its output, without being asked.
    Unasked,
    /// It was asked (by `stop`, or because of its fault) and ended by itself.
    Asked,
    /// It was asked and ended at TERM.
    Terminated,
    /// It was asked and had to be killed.
    Killed,
}
