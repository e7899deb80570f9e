//! Bodies of the HTTP endpoints.

use crate::response::TaskPage;
use model::agent::{AgentProfile, KnownAgent};
use model::attachment::Attachment;
use model::workspace::{Repository, Role, User, Workflow, Workspace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `POST /api/v1/sign-in`, in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct SignIn {
    /// The one-time code of the printed address.
    pub code: String,
}

/// `POST /api/v1/sign-in`, out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct SignedIn {
    /// What the page keeps for its origin and sends as `Authorization: Bearer`.
    pub secret: String,
}

/// `GET /api/v1/boot`: everything the first screen needs, in one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct Boot {
    /// Changes with every start of the server.
    pub server_generation: String,
    /// The contract's version.
    pub protocol: u32,
    /// The server's version.
    pub version: String,
    /// Who is signed in.
    pub user: User,
    /// Their workspaces, each with what its screens need.
    pub workspaces: Vec<WorkspaceBoot>,
    /// Agents that this version knows, found on this machine first.
    pub known_agents: Vec<KnownAgent>,
}

/// One workspace of the boot answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct WorkspaceBoot {
    /// The workspace.
    pub workspace: Workspace,
    /// What this person may do in it.
    pub role: Role,
    /// Its boards.
    pub workflows: Vec<Workflow>,
    /// Its repositories.
    pub repositories: Vec<Repository>,
    /// Its agent profiles.
    pub agent_profiles: Vec<AgentProfile>,
    /// The first page of its tasks with their summaries (SUM-01).
    pub tasks: TaskPage,
}

/// `POST /api/v1/attachments`, out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct Uploaded {
    /// The file, to be named in a `message.add` of the same task.
    pub attachment: Attachment,
}

/// Which gates of readiness are open (`GET /readyz`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct Readiness {
    /// Each gate by name: `instance_lock database_migrated recovery_done summaries_converged api_open`.
    pub gates: BTreeMap<String, bool>,
    /// Summaries that could not be converged; they do not hold readiness.
    pub summaries_failed: u64,
    /// What start-up is doing now.
    pub progress: String,
}
