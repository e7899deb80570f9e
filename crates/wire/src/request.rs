//! Payloads of requests, in the order of [`crate::action::request`].
//!
//! Requests that create something carry an id of the client's choosing and are safe to repeat.

use model::error::RecoveryAction;
use model::ids::{
    AgentProfileId, AttachmentId, EnvironmentId, PendingId, RepositoryId, SessionId, StepId,
    TaskId, WorkflowId, WorkspaceId,
};
use model::task::TaskState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

macro_rules! payloads {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident : $ty:ty),* $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),* }
    )+};
}

payloads! {
    /// `client.hello`
    ClientHello {
        /// Known: `message_append`.
        #[serde(default)] capabilities: Vec<String>,
    }
    /// `workspace.subscribe`, `workspace.unsubscribe`
    WorkspaceRef {
        /// Which.
        workspace_id: WorkspaceId,
    }
    /// `task.list`
    TaskList {
        /// Which workspace.
        workspace_id: WorkspaceId,
        /// Only this board.
        #[serde(default)] workflow_id: Option<WorkflowId>,
        /// Archived ones instead of the living.
        #[serde(default)] archived: Option<bool>,
        /// Where the last page ended.
        #[serde(default)] cursor: Option<String>,
    }
    /// `task.get`, `task.archive`, `task.unarchive`, `task.pending`, `session.list`
    TaskRef {
        /// Which.
        task_id: TaskId,
    }
    /// `task.create`
    TaskCreate {
        /// Which workspace.
        workspace_id: WorkspaceId,
        /// Chosen by the client; a repeated request with it returns the same task.
        client_id: String,
        /// One line.
        title: String,
        /// What is to be done.
        #[serde(default)] description: Option<String>,
        /// Which board; absent: the first.
        #[serde(default)] workflow_id: Option<WorkflowId>,
        /// Which step; absent: the first.
        #[serde(default)] step_id: Option<StepId>,
        /// Repositories it works on; the first is the root.
        #[serde(default)] repositories: Vec<RepositoryChoice>,
        /// A worktree of its own, or its parent's.
        #[serde(default)] environment: EnvironmentChoice,
        /// The task it is a part of.
        #[serde(default)] parent_id: Option<TaskId>,
        /// Starts an agent at once.
        #[serde(default)] start_agent: bool,
        /// Which agent; absent: the workspace's first.
        #[serde(default)] agent_profile_id: Option<AgentProfileId>,
        /// The first prompt; absent: title and description.
        #[serde(default)] prompt: Option<String>,
    }
    /// A repository of a new task.
    RepositoryChoice {
        /// Which.
        repository_id: RepositoryId,
        /// What its worktree starts from; absent: the repository's default branch.
        #[serde(default)] base_branch: Option<String>,
    }
    /// `task.update`: absent fields stay.
    TaskUpdate {
        /// Which.
        task_id: TaskId,
        /// New title.
        #[serde(default)] title: Option<String>,
        /// New description.
        #[serde(default)] description: Option<String>,
        /// New coarse state.
        #[serde(default)] state: Option<TaskState>,
        /// New priority.
        #[serde(default)] priority: Option<i64>,
    }
    /// `task.move`
    TaskMove {
        /// Which.
        task_id: TaskId,
        /// Where to.
        step_id: StepId,
        /// The place in that step; absent: at its end.
        #[serde(default)] position: Option<i64>,
    }
    /// `task.delete`
    TaskDelete {
        /// Which.
        task_id: TaskId,
        /// Also when uncommitted work would go.
        #[serde(default)] discard_changes: bool,
    }
    /// `task.dismiss_error`
    TaskDismissError {
        /// Which.
        task_id: TaskId,
        /// Which failure.
        stamp: String,
    }
    /// `task.recover`
    TaskRecover {
        /// Which.
        task_id: TaskId,
        /// Which failure.
        stamp: String,
        /// One of the offered actions.
        action: RecoveryAction,
        /// For `pick_base_branch`.
        #[serde(default)] base_branch: Option<String>,
    }
    /// `session.launch`
    SessionLaunch {
        /// Which task.
        task_id: TaskId,
        /// Chosen by the client; a repeated request with it returns the same session.
        client_id: String,
        /// Which agent; absent: the workspace's first.
        #[serde(default)] agent_profile_id: Option<AgentProfileId>,
        /// The first prompt.
        #[serde(default)] prompt: Option<String>,
        /// The id of the first prompt's row.
        #[serde(default)] client_message_id: Option<String>,
        /// The task's environment, or a new one.
        #[serde(default)] environment: LaunchEnvironment,
    }
    /// `session.subscribe`, `unsubscribe`, `focus`, `unfocus`, `git.refresh`, `set_primary`, `close`, `stop`,
    /// `agent.cancel`, `message.queue.list`
    SessionRef {
        /// Which.
        session_id: SessionId,
    }
    /// `session.rename`
    SessionRename {
        /// Which.
        session_id: SessionId,
        /// New name.
        name: String,
    }
    /// `session.delete`
    SessionDelete {
        /// Which.
        session_id: SessionId,
        /// Taken and without effect: the worktree stays with the task, so nothing uncommitted goes.
        #[serde(default)] discard_changes: bool,
    }
    /// `session.set_model`
    SessionSetModel {
        /// Which.
        session_id: SessionId,
        /// The agent's id of the model.
        model: String,
    }
    /// `session.set_mode`
    SessionSetMode {
        /// Which.
        session_id: SessionId,
        /// The agent's id of the mode.
        mode: String,
    }
    /// `session.set_option`
    SessionSetOption {
        /// Which.
        session_id: SessionId,
        /// The agent's id of the option.
        option: String,
        /// The agent's id of the choice.
        value: String,
    }
    /// `message.add`
    MessageAdd {
        /// Which task.
        task_id: TaskId,
        /// Which of its sessions.
        session_id: SessionId,
        /// The row's id (API-06).
        #[serde(default)] client_message_id: Option<String>,
        /// Another name of the same field.
        #[serde(default)] message_id: Option<String>,
        /// The prompt; may be empty when files are attached.
        content: String,
        /// Uploaded files of the same task that no message has, in order; at most 10.
        #[serde(default)]
        #[cfg_attr(feature = "ts", ts(as = "Option<Vec<AttachmentId>>", optional))]
        attachments: Vec<AttachmentId>,
    }
    /// `message.queue.update`
    QueueUpdate {
        /// Which session.
        session_id: SessionId,
        /// Which queued prompt.
        message_id: String,
        /// Its new text; its files stay.
        content: String,
    }
    /// `message.queue.reorder`
    QueueReorder {
        /// Which session.
        session_id: SessionId,
        /// All queued prompts in their new order; refused when these are not the queued ones.
        message_ids: Vec<String>,
    }
    /// `message.resend`, `message.delete`, `message.get`, `message.queue.remove`, `message.queue.send_now`
    MessageRef {
        /// Which session.
        session_id: SessionId,
        /// Which row.
        message_id: String,
    }
    /// `message.list`: newest page without a cursor; at most one of `before` and `after`.
    MessageList {
        /// Which.
        session_id: SessionId,
        /// Rows with a lower `seq`.
        #[serde(default)] before: Option<i64>,
        /// Rows with a higher `seq`.
        #[serde(default)] after: Option<i64>,
        /// How many; 50 by default, at most 200.
        #[serde(default)] limit: Option<u32>,
    }
    /// `permission.respond`: an option, or `cancelled`.
    PermissionRespond {
        /// Which session.
        session_id: SessionId,
        /// The request row.
        message_id: String,
        /// The request's identity.
        pending_id: PendingId,
        /// The chosen option.
        #[serde(default)] option_id: Option<String>,
        /// No option: the request is cancelled.
        #[serde(default)] cancelled: bool,
    }
    /// `clarification.respond`: an answer to every open question of the bundle, or `rejected`.
    ClarificationRespond {
        /// Which session.
        session_id: SessionId,
        /// A row of the bundle.
        message_id: String,
        /// The bundle's identity.
        pending_id: PendingId,
        /// One for each question that is still open; an optional one may be left out.
        #[serde(default)] answers: Vec<ClarificationAnswer>,
        /// No answer: the person declines.
        #[serde(default)] rejected: bool,
    }
    /// The answer to one question: chosen options, words of the person's own, or both where several are taken.
    ClarificationAnswer {
        /// The question's row.
        message_id: String,
        /// Ids of chosen options.
        #[serde(default)] selected: Vec<String>,
        /// Words of their own.
        #[serde(default)] text: Option<String>,
    }
    /// `git.changes`
    GitChanges {
        /// Which environment.
        task_environment_id: EnvironmentId,
        /// Which repository; absent: the root.
        #[serde(default)] repository: Option<String>,
        /// Where the last page ended.
        #[serde(default)] cursor: Option<String>,
    }
    /// `git.diff`
    GitDiff {
        /// Which environment.
        task_environment_id: EnvironmentId,
        /// Which repository; absent: the root.
        #[serde(default)] repository: Option<String>,
        /// Which file.
        path: String,
    }
    /// `git.merge_into_base`
    GitMergeIntoBase {
        /// Which environment.
        task_environment_id: EnvironmentId,
        /// Which repository; absent: the root.
        #[serde(default)] repository: Option<String>,
    }
    /// `repository.inspect`
    RepositoryInspect {
        /// Which workspace would register it.
        workspace_id: WorkspaceId,
        /// A folder on the server; `~` is the server's home.
        path: String,
    }
    /// `repository.branches`
    RepositoryRef {
        /// Which.
        repository_id: RepositoryId,
    }
    /// `repository.add`
    RepositoryAdd {
        /// Which workspace.
        workspace_id: WorkspaceId,
        /// A folder on the server; its top level is registered.
        path: String,
        /// Short name; absent: the folder's.
        #[serde(default)] name: Option<String>,
        /// Absent: asked of Git.
        #[serde(default)] default_branch: Option<String>,
    }
    /// `repository.update`: absent fields stay.
    RepositoryUpdate {
        /// Which.
        repository_id: RepositoryId,
        /// New name.
        #[serde(default)] name: Option<String>,
        /// New default branch.
        #[serde(default)] default_branch: Option<String>,
    }
    /// `repository.remove`
    RepositoryRemove {
        /// Which; refused while a task uses it.
        repository_id: RepositoryId,
    }
    /// `agent_profile.create`
    AgentProfileCreate {
        /// Which workspace.
        workspace_id: WorkspaceId,
        /// How it is started.
        #[serde(flatten)] fields: AgentProfileFields,
    }
    /// `agent_profile.update`: the complete replacement.
    AgentProfileUpdate {
        /// Which.
        agent_profile_id: AgentProfileId,
        /// How it is started.
        #[serde(flatten)] fields: AgentProfileFields,
    }
    /// `agent_profile.delete`
    AgentProfileRef {
        /// Which; refused while a session uses it.
        agent_profile_id: AgentProfileId,
    }
    /// How an agent is started.
    AgentProfileFields {
        /// What people call it.
        name: String,
        /// The program: a name on `PATH` or a path.
        command: String,
        /// Its arguments.
        #[serde(default)] args: Vec<String>,
        /// Variables added to its environment.
        #[serde(default)] env: BTreeMap<String, String>,
        /// The mode set after start; absent: the one that asks, in agents known to have one.
        #[serde(default)] default_mode: Option<String>,
        /// The model set after start; absent: the agent's.
        #[serde(default)] default_model: Option<String>,
    }
}

/// Where a new task's agents work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub enum EnvironmentChoice {
    /// In worktrees made for it.
    #[default]
    Own,
    /// In its parent's environment.
    Inherit,
}

/// Where a launched session works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub enum LaunchEnvironment {
    /// In the task's environment; made when there is none yet.
    #[default]
    Task,
    /// In an environment of its own.
    New,
}
