//! What the orchestrator is told at start-up.

use agentctl::process::LaunchContext;
use model::ids::InstanceId;
use std::path::PathBuf;
use std::time::Duration;

/// Fixed for the life of the process.
#[derive(Clone, Debug)]
pub struct OrchestratorConfig {
    /// Where worktrees, attached files and the demo agent's memory are kept; mode 0700.
    pub data_dir: PathBuf,
    /// This run of the server.
    pub instance_id: InstanceId,
    /// How agents are started.
    pub launch: LaunchContext,
    /// Arguments of this very program that make it the demo agent.
    pub demo_args: Vec<String>,
    /// Variables the demo agent gets (its pace, in demos and tests).
    pub demo_env: Vec<(String, String)>,
    /// Agents that may live at once. Overflow: `limit_reached`.
    pub live_agents: usize,
    /// How long an agent's call waits for an answer; see `model::bounds::QUESTION_WAIT`.
    pub question_wait: Duration,
    /// The search path on which agents' programs are looked for.
    pub search_path: std::ffi::OsString,
    /// The home folder of the server's user, if it has one.
    pub home: Option<PathBuf>,
}

impl OrchestratorConfig {
    /// The folder of attached files.
    #[must_use]
    pub fn attachments_dir(&self) -> PathBuf {
        self.data_dir.join("attachments")
    }

    /// The folder of an environment's worktrees.
    #[must_use]
    pub fn environment_dir(&self, id: &model::ids::EnvironmentId) -> PathBuf {
        self.data_dir.join("worktrees").join(id.as_str())
    }
}
