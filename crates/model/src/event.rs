//! Events: what a committed change publishes.
//!
//! A transaction returns its events in commit order; only then are they published (law 5). An event says *which*
//! entity changed and to which revision; the entity as committed travels beside it, so that the gateway need not
//! read it again. Nothing derives state from an event: the summary is rebuilt from the database, and clients compare
//! revisions.

use crate::agent::{AgentCommandInfo, AgentProfile, AgentSettings, AgentUsage};
use crate::clock::Timestamp;
use crate::git::{GitStatus, MeasureFailure};
use crate::ids::{
    AgentProfileId, EnvironmentId, MessageId, PendingId, RepositoryId, SessionId, TaskId,
    WorkspaceId,
};
use crate::message::{Message, RequestStatus};
use crate::session::Session;
use crate::summary::{PendingAction, TaskStatusSummary};
use crate::task::Task;
use crate::turn::Turn;
use crate::workspace::{Repository, Workflow};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskChange {
    /// It was made.
    Created,
    /// Its facts, repositories or environments changed.
    Updated,
    /// It is on another step or place.
    Moved,
    /// It was archived or taken out of the archive.
    Archived,
}

/// A request that got its answer or lost its chance of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct ResolvedRequest {
    /// Its row.
    pub message_id: MessageId,
    /// Its identity.
    pub pending_id: PendingId,
    /// How it ended.
    pub status: RequestStatus,
}

/// One committed fact.
#[derive(Clone, Debug)]
pub enum Event {
    /// A task was made, changed, moved or archived. Workspace scope.
    Task {
        /// What happened.
        change: TaskChange,
        /// The task as committed; its summary is what was stored then.
        task: Arc<Task>,
    },
    /// A task is gone. Workspace scope.
    TaskDeleted {
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// Its id.
        task_id: TaskId,
    },
    /// A task's summary changed (API-01). Workspace scope.
    Summary {
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// Its task.
        task_id: TaskId,
        /// The complete replacement.
        summary: Arc<TaskStatusSummary>,
    },
    /// A session was made or changed. Workspace scope.
    Session(Arc<Session>),
    /// A session is gone. Workspace scope.
    SessionDeleted {
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// Its task.
        task_id: TaskId,
        /// Its id.
        session_id: SessionId,
    },
    /// A row joined a transcript. Session scope.
    MessageAdded(Arc<Message>),
    /// A row changed otherwise than by an append. Session scope.
    MessageUpdated(Arc<Message>),
    /// Text was appended to a row. Session scope.
    MessageAppended {
        /// The session.
        session_id: SessionId,
        /// The row.
        message_id: MessageId,
        /// UTF-16 length of the row's text before this append.
        offset: u64,
        /// What was appended: a local hint, the store has it too.
        text: Arc<str>,
        /// The row's revision after it.
        revision: i64,
    },
    /// A row is gone. Session scope.
    MessageDeleted {
        /// The session.
        session_id: SessionId,
        /// The row.
        message_id: MessageId,
    },
    /// A turn opened. Session scope.
    TurnStarted(Arc<Turn>),
    /// A turn settled. Session scope.
    TurnCompleted(Arc<Turn>),
    /// A request was armed or resolved. Session scope.
    PendingChanged {
        /// The session.
        session_id: SessionId,
        /// What it waits for now.
        pending_action: Option<PendingAction>,
        /// Rises with every such change.
        pending_action_revision: i64,
        /// The request that was resolved, if that is what happened.
        resolved: Option<ResolvedRequest>,
    },
    /// Other questions of a session are waited for. Session scope.
    QuestionsAwaited {
        /// The session.
        session_id: SessionId,
        /// The bundles that its agent waits for now; every other open one is detached.
        pending_ids: Vec<PendingId>,
    },
    /// The queue of a session changed. Session scope.
    Queue {
        /// The session.
        session_id: SessionId,
        /// Queued prompts now.
        count: u32,
    },
    /// Models, modes or options changed. Session scope.
    Settings {
        /// The session.
        session_id: SessionId,
        /// The complete report.
        settings: Arc<AgentSettings>,
    },
    /// Slash commands changed. Session scope.
    Commands {
        /// The session.
        session_id: SessionId,
        /// All of them.
        commands: Arc<Vec<AgentCommandInfo>>,
    },
    /// Usage changed. Session scope.
    Usage {
        /// The session.
        session_id: SessionId,
        /// The newest figures.
        usage: AgentUsage,
    },
    /// A repository of an environment was observed. To open sessions of that environment.
    GitStatus {
        /// The environment: the only key of Git status.
        environment_id: EnvironmentId,
        /// What was seen.
        status: Arc<GitStatus>,
    },
    /// A repository of an environment could not be measured. To open sessions of that environment.
    GitMeasureFailed {
        /// The environment.
        environment_id: EnvironmentId,
        /// The repository; absent for the root.
        repository_name: Option<String>,
        /// When the observation began to look.
        at: Timestamp,
        /// Why.
        reason: MeasureFailure,
    },
    /// A repository was registered or changed. Workspace scope.
    Repository(Arc<Repository>),
    /// A repository was unregistered. Workspace scope.
    RepositoryRemoved {
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// Its id.
        repository_id: RepositoryId,
    },
    /// A workflow changed. Workspace scope.
    Workflow(Arc<Workflow>),
    /// An agent profile was made or changed. Workspace scope.
    AgentProfile(Arc<AgentProfile>),
    /// An agent profile is gone. Workspace scope.
    AgentProfileRemoved {
        /// Its workspace.
        workspace_id: WorkspaceId,
        /// Its id.
        agent_profile_id: AgentProfileId,
    },
}

/// Where committed events go. The implementation has no queue of its own: it hands each event to every subscriber's
/// bounded structure and returns.
pub trait EventHub: Send + Sync {
    /// Publishes one committed event.
    fn publish(&self, event: &Event);
}
