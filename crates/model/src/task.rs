//! Tasks: a unit of work on a step of a board.

use crate::clock::Timestamp;
use crate::environment::Environment;
use crate::error::words;
use crate::ids::{RepositoryId, StepId, TaskId, TaskRepositoryId, WorkflowId, WorkspaceId};
use crate::summary::TaskStatusSummary;
use serde::{Deserialize, Serialize};

words! {
    /// The coarse state of a task.
    TaskState {
        /// Nothing started.
        Todo = "TODO",
        /// Made by a workflow or a person, nothing started.
        Created = "CREATED",
        /// A launch was asked for.
        Scheduling = "SCHEDULING",
        /// A conversational turn is or was open.
        InProgress = "IN_PROGRESS",
        /// The last open conversational turn settled.
        Review = "REVIEW",
        /// Set by a person or workflow.
        WaitingForInput = "WAITING_FOR_INPUT",
        /// Set by a person or workflow.
        Blocked = "BLOCKED",
        /// Done.
        Completed = "COMPLETED",
        /// Given up.
        Cancelled = "CANCELLED",
        /// Failed for good.
        Failed = "FAILED",
    }
}

impl TaskState {
    /// Whether the task is over; moving here clears its launch error (ERR-04).
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Failed)
    }
}

/// A task as clients see it. What its row shows beyond this comes from `status_summary` alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The board it is on.
    pub workflow_id: WorkflowId,
    /// Rises with every change of this row or its repositories and environments.
    pub revision: i64,
    /// One line, at most `bounds::TITLE_CHARS` characters.
    pub title: String,
    /// What is to be done, at most `bounds::USER_CONTENT_BYTES`.
    pub description: String,
    /// Its coarse state.
    pub state: TaskState,
    /// The column it is in.
    pub step_id: StepId,
    /// Order in its column; higher is later.
    pub position: i64,
    /// Higher is more urgent; 0 when nobody said.
    pub priority: i64,
    /// The task it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<TaskId>,
    /// The repositories attached to it.
    pub repositories: Vec<TaskRepository>,
    /// The environments it binds.
    pub environments: Vec<Environment>,
    /// When it was archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
    /// When the server stopped under its open turn; the next conversational turn clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed by a person, agent or workflow.
    pub updated_at: Timestamp,
    /// What it needs now (SUM-01).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_summary: Option<TaskStatusSummary>,
}

/// A repository attached to a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct TaskRepository {
    /// Its id: the exact target of a recovery.
    pub id: TaskRepositoryId,
    /// The registered repository.
    pub repository_id: RepositoryId,
    /// The branch its worktree starts from; absent: the repository's default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// The branch its worktree is on, once it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout_branch: Option<String>,
}
