//! Environments: one workspace on disk with a worktree per repository. The environment owns Git status; tasks and
//! sessions bind it.

use crate::error::words;
use crate::ids::{EnvironmentId, EnvironmentRepositoryId, RepositoryId};
use serde::{Deserialize, Serialize};

words! {
    /// The life of an environment.
    EnvironmentState {
        /// Its worktrees are being made.
        Preparing = "preparing",
        /// Agents can work in it.
        Ready = "ready",
        /// Its last binding is gone; its worktrees are being removed, by a sweep after a crash.
        Removing = "removing",
    }
}

/// An environment as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct Environment {
    /// Its id.
    pub id: EnvironmentId,
    /// Where it is in its life.
    pub state: EnvironmentState,
    /// The folder agents start in.
    pub path: String,
    /// Its worktrees; the first is the root repository.
    pub repositories: Vec<EnvironmentRepository>,
}

/// One repository's worktree in an environment: where its result is to be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct EnvironmentRepository {
    /// Its id.
    pub id: EnvironmentRepositoryId,
    /// The registered repository it is a worktree of.
    pub repository_id: RepositoryId,
    /// Its name in the environment; absent for the root repository. Set when it joins, never changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository_name: Option<String>,
    /// What people call it.
    pub display_name: String,
    /// The worktree's folder.
    pub worktree_path: String,
    /// The branch made for it.
    pub branch: String,
    /// What its changes are counted against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
}
