//! Payloads of notifications, where they are more than an entity of `model`.

use model::agent::{AgentChoice, AgentCommandInfo, AgentOption, AgentUsage};
use model::clock::Timestamp;
use model::event::ResolvedRequest;
use model::git::{GitStatus, MeasureFailure};
use model::ids::{
    AgentProfileId, EnvironmentId, MessageId, PendingId, RepositoryId, SessionId, TaskId,
    WorkspaceId,
};
use model::message::Message;
use model::session::Session;
use model::summary::{PendingAction, TaskStatusSummary};
use model::task::Task;
use model::turn::Turn;
use serde::{Deserialize, Serialize};

macro_rules! payloads {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident : $ty:ty),* $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),* }
    )+};
}

payloads! {
    /// `hello`
    Hello {
        /// Changes with every start of the server: held revisions are then void.
        server_generation: String,
        /// The contract's version.
        protocol: u32,
        /// What this server can do beyond it.
        features: Vec<String>,
    }
    /// `task.created`, `task.updated`, `task.moved`, `task.archived`
    TaskPayload {
        /// The task.
        task: Task,
    }
    /// `task.deleted`
    TaskDeleted {
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// Which.
        task_id: TaskId,
    }
    /// `task.status_summary.updated` (API-01)
    StatusSummaryUpdated {
        /// Which task.
        task_id: TaskId,
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// The complete replacement.
        status_summary: TaskStatusSummary,
    }
    /// `session.state_changed`
    SessionPayload {
        /// The session.
        session: Session,
    }
    /// `session.deleted`
    SessionDeleted {
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// Its task.
        task_id: TaskId,
        /// Which.
        session_id: SessionId,
    }
    /// `session.message.added`, `session.message.updated`
    MessagePayload {
        /// The row.
        message: Message,
    }
    /// `session.message.appended`
    MessageAppended {
        /// Which session.
        session_id: SessionId,
        /// Which row.
        message_id: MessageId,
        /// UTF-16 length of the text before `text`.
        offset: u64,
        /// What follows it.
        text: String,
        /// The row's revision with it.
        revision: i64,
    }
    /// `session.message.deleted`
    MessageDeleted {
        /// Which session.
        session_id: SessionId,
        /// Which row.
        message_id: MessageId,
    }
    /// `session.turn.started`, `session.turn.completed`
    TurnPayload {
        /// The turn.
        turn: Turn,
    }
    /// `session.pending_changed`
    PendingChanged {
        /// Which session.
        session_id: SessionId,
        /// What it waits for now.
        #[serde(skip_serializing_if = "Option::is_none")] pending_action: Option<PendingAction>,
        /// Rises with every such change.
        pending_action_revision: i64,
        /// The request that was resolved, if that is what happened.
        #[serde(skip_serializing_if = "Option::is_none")] resolved: Option<ResolvedRequest>,
    }
    /// `session.questions_awaited`
    QuestionsAwaited {
        /// Which session.
        session_id: SessionId,
        /// The bundles whose answers its agent waits for. The answer to any other open one is sent as a prompt.
        pending_ids: Vec<PendingId>,
    }
    /// `session.git.event`. This version sends `status_update` only.
    GitEvent {
        /// `status_update`, or a commit or branch event.
        #[serde(rename = "type")] kind: GitEventType,
        /// The route.
        session_id: SessionId,
        /// The route's task.
        task_id: TaskId,
        /// The only key of Git status.
        task_environment_id: EnvironmentId,
        /// What was seen.
        status: GitStatus,
    }
    /// `session.git.measure_failed`
    GitMeasureFailed {
        /// Which environment.
        task_environment_id: EnvironmentId,
        /// Which repository; absent: the root.
        #[serde(skip_serializing_if = "Option::is_none")] repository_name: Option<String>,
        /// When the observation began to look.
        at: Timestamp,
        /// Why.
        reason_code: MeasureFailure,
    }
    /// `session.models_updated`
    ModelsUpdated {
        /// Which session.
        session_id: SessionId,
        /// Models to choose from.
        models: Vec<AgentChoice>,
        /// The current one.
        #[serde(skip_serializing_if = "Option::is_none")] current_model: Option<String>,
        /// Everything else that can be set.
        options: Vec<AgentOption>,
    }
    /// `session.mode_changed`
    ModeChanged {
        /// Which session.
        session_id: SessionId,
        /// Modes to choose from.
        modes: Vec<AgentChoice>,
        /// The current one.
        #[serde(skip_serializing_if = "Option::is_none")] current_mode: Option<String>,
    }
    /// `session.available_commands`
    AvailableCommands {
        /// Which session.
        session_id: SessionId,
        /// All of them.
        commands: Vec<AgentCommandInfo>,
    }
    /// `session.usage_updated`
    UsageUpdated {
        /// Which session.
        session_id: SessionId,
        /// The newest figures.
        usage: AgentUsage,
    }
    /// `message.queue.status_changed`
    QueueStatusChanged {
        /// Which session.
        session_id: SessionId,
        /// Queued prompts now.
        queued_prompt_count: u32,
    }
    /// `session.resync`
    SessionResync {
        /// Which session.
        session_id: SessionId,
    }
    /// `repository.removed`
    RepositoryRemoved {
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// Which.
        repository_id: RepositoryId,
    }
    /// `agent_profile.removed`
    AgentProfileRemoved {
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// Which.
        agent_profile_id: AgentProfileId,
    }
}

/// What a Git event says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub enum GitEventType {
    /// The status of one repository.
    StatusUpdate,
    /// A commit was made.
    CommitCreated,
    /// Commits went away.
    CommitsReset,
    /// Another branch is checked out.
    BranchSwitched,
}
