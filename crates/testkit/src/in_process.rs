//! An orchestrator in the test's own process, for tests of what stands in front of it. It does everything but start
//! agents: there is no program that could be their shim.

use agentctl::process::LaunchContext;
use git::Git;
use git::config::GitConfig;
use model::event::EventHub;
use model::ids::InstanceId;
use orchestrator::config::OrchestratorConfig;
use orchestrator::orchestrator::Orchestrator;
use projector::running::Projector;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use store::open::Store;

/// An orchestrator over `store` that publishes to `hub`, with its projector. Worktrees go below `data_dir`; no agent is
/// found on this machine.
#[must_use]
pub fn orchestrator(
    store: &Store,
    hub: &Arc<dyn EventHub>,
    data_dir: &Path,
) -> (Orchestrator, Projector) {
    let projector = Projector::new(store.clone(), Arc::clone(hub));
    let config = OrchestratorConfig {
        data_dir: data_dir.to_path_buf(),
        instance_id: InstanceId::generate(),
        launch: LaunchContext {
            shim_program: data_dir.join("no-shim"),
            shim_args: Vec::new(),
            server_env: BTreeMap::new(),
        },
        demo_args: Vec::new(),
        demo_env: Vec::new(),
        live_agents: 1,
        question_wait: model::bounds::QUESTION_WAIT,
        search_path: OsString::new(),
        home: None,
    };
    let git = Git::new(GitConfig::new(std::env::vars_os()));
    let orchestrator = Orchestrator::new(
        config,
        store.clone(),
        Arc::clone(hub),
        projector.clone(),
        git,
    );
    (orchestrator, projector)
}
