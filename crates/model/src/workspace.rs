//! Workspaces, their workflows and their registered repositories.

use crate::clock::Timestamp;
use crate::ids::{RepositoryId, StepId, UserId, WorkflowId, WorkspaceId};
use serde::{Deserialize, Serialize};

/// The authorization boundary: whoever is a member sees everything in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Rises with every change of this row.
    pub revision: i64,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What a member of a workspace may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub enum Role {
    /// Everything, members and removal included.
    Owner,
    /// Everything but members and removal.
    Member,
    /// Reading only; every other request is `FORBIDDEN`.
    Viewer,
}

impl Role {
    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Member => "member",
            Self::Viewer => "viewer",
        }
    }

    /// Reads the stored word; an unknown one gives the least right.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "owner" => Self::Owner,
            "member" => Self::Member,
            _ => Self::Viewer,
        }
    }

    /// Whether this role may change anything.
    #[must_use]
    pub const fn may_write(self) -> bool {
        matches!(self, Self::Owner | Self::Member)
    }
}

/// Who asks: a signed-in person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// How they are shown.
    pub name: String,
}

/// A board: an ordered list of steps. The last step means done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct Workflow {
    /// Its id.
    pub id: WorkflowId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Rises with every change of the workflow or its steps.
    pub revision: i64,
    /// What people call it.
    pub name: String,
    /// Its columns in order; never empty.
    pub steps: Vec<Step>,
}

impl Workflow {
    /// The step that means done.
    #[must_use]
    pub fn last_step(&self) -> Option<&Step> {
        self.steps.last()
    }

    /// The step with this id.
    #[must_use]
    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == *id)
    }
}

/// A column of a board, with what it does when a conversational turn starts or completes in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Step {
    /// Its id.
    pub id: StepId,
    /// What people call it.
    pub name: String,
    /// Place in its workflow, from 0.
    pub position: i64,
    /// A task in this step moves there when a conversational turn opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_turn_start: Option<StepId>,
    /// A task in this step moves there when its last open conversational turn settles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_turn_complete: Option<StepId>,
}

/// A registered local Git repository: paths outside these are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Repository {
    /// Its id.
    pub id: RepositoryId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Rises with every change of this row.
    pub revision: i64,
    /// Short name, at first the folder's.
    pub name: String,
    /// The top level of the working tree on the server's disk.
    pub path: String,
    /// The branch new tasks start from; absent: asked of Git when needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
    /// When it was registered.
    pub created_at: Timestamp,
}
