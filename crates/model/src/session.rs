//! Sessions: one conversation with one agent. A session is the provenance of what it caused and a route for what is
//! sent; it never scopes Git status.

use crate::agent::{AgentCommandInfo, AgentSettings, AgentUsage};
use crate::clock::Timestamp;
use crate::error::{ActiveError, words};
use crate::ids::{AgentProfileId, EnvironmentId, SessionId, TaskId, WorkspaceId};
use crate::summary::PendingAction;
use serde::{Deserialize, Serialize};

words! {
    /// The lifecycle of a session. A failure that can be tried again is `WAITING_FOR_INPUT` plus an error.
    SessionState {
        /// No process yet.
        Created = "CREATED",
        /// Launching or resuming.
        Starting = "STARTING",
        /// A conversational turn is open; a pending request does not change that.
        Running = "RUNNING",
        /// The turn is settled.
        WaitingForInput = "WAITING_FOR_INPUT",
        /// Settled, its process stopped on purpose, resumable.
        Idle = "IDLE",
        /// Closed by a person or workflow.
        Completed = "COMPLETED",
        /// Can never be resumed.
        Failed = "FAILED",
        /// Closed while a turn was open.
        Cancelled = "CANCELLED",
    }
}

impl SessionState {
    /// Whether nothing can happen in it any more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

words! {
    /// Whether an agent works now. Generating beats background.
    Activity {
        /// A conversational turn is open.
        Generating = "generating",
        /// The turn is settled and subagents are still at work.
        Background = "background",
    }
}

/// A session as people and clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The task it works on.
    pub task_id: TaskId,
    /// That task's workspace.
    pub workspace_id: WorkspaceId,
    /// The environment it works in; absent until one is bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_environment_id: Option<EnvironmentId>,
    /// Rises with every change of this row.
    pub revision: i64,
    /// Its lifecycle state.
    pub state: SessionState,
    /// How its agent is started.
    pub agent_profile_id: AgentProfileId,
    /// The tab's name.
    pub name: String,
    /// Whether the task's row shows this session's state.
    pub is_primary: bool,
    /// When it was created; orders the sessions of a task.
    pub started_at: Timestamp,
    /// Whether its agent works now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreground_activity: Option<Activity>,
    /// Its live subagents.
    pub active_subagent_count: u32,
    /// What it waits on a person for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_action: Option<PendingAction>,
    /// Rises in the transaction that changes what is pending; a client ignores an older one.
    pub pending_action_revision: i64,
    /// Its active error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ActiveError>,
}

/// What an agent last reported, kept on the session row: it outlives the process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct SessionReport {
    /// Models, modes and options.
    pub settings: AgentSettings,
    /// Slash commands.
    pub commands: Vec<AgentCommandInfo>,
    /// Context and cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<AgentUsage>,
}
