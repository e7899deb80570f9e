//! What an outbox entry belongs to ([`Scope`]) and which entries replace each other ([`StateKey`]).
//!
//! Invariant: a key names its subject in full. Git status is keyed by environment and repository, never by the
//! session it happens to travel with (law 7).

use model::ids::{
    AgentProfileId, EnvironmentId, MessageId, RepositoryId, SessionId, TaskId, WorkflowId,
    WorkspaceId,
};

/// What a client subscribed to. Each scope has its own queue in the client's outbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The feed of one workspace.
    Workspace(WorkspaceId),
    /// Notices to the person; open as long as the connection.
    User,
    /// The detail of one open session.
    Session(SessionId),
}

/// The identity of a semantic state within its scope: of two entries with the same key only the newer is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StateKey {
    /// `task.updated`, `task.moved` and `task.archived`: each carries the whole task.
    Task(TaskId),
    /// `task.status_summary.updated`
    Summary(TaskId),
    /// `session.state_changed`
    Session(SessionId),
    /// `repository.updated`
    Repository(RepositoryId),
    /// `workflow.updated`
    Workflow(WorkflowId),
    /// `agent_profile.updated`
    AgentProfile(AgentProfileId),
    /// `session.git.event` of type `status_update`; the root repository has no name.
    GitStatus(EnvironmentId, Option<String>),
    /// `session.git.measure_failed`
    GitMeasureFailed(EnvironmentId, Option<String>),
    /// `session.models_updated` of the scope's session
    Models,
    /// `session.mode_changed` of the scope's session
    Mode,
    /// `session.available_commands` of the scope's session
    Commands,
    /// `session.usage_updated` of the scope's session
    Usage,
    /// `session.questions_awaited` of the scope's session
    Questions,
    /// `message.queue.status_changed` of the scope's session
    Queue,
}

/// What this client holds of a message that may still grow, as far as the server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The text up to this offset, in UTF-16 code units.
    Units(u64),
    /// A content that was cut to the wire's bound and says so: appends would not fit behind it.
    Cut,
}

/// Something to write next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<F> {
    /// A finished frame.
    Frame(F),
    /// The present state of a message: its frame is built now. `held` is absent when the client needs the whole
    /// message: it is not known to hold any of it, or it changed otherwise than by an append.
    Message {
        /// The session it belongs to.
        session_id: SessionId,
        /// Which message.
        message_id: MessageId,
        /// What the client holds of it.
        held: Option<Held>,
    },
    /// States of this session were evicted: the client has to list once.
    Resync(SessionId),
}
