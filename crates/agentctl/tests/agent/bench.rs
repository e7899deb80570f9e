//! A worktree, a state folder, and the program that is shim and demo agent.

use agentctl::process::{AgentCommand, LaunchContext, ProcessIdentity};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything one test needs; the folders go with it.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("worktree")).expect("a worktree");
        Self { folder }
    }

    /// `examples/agent_bench`, which cargo builds with the tests.
    pub(crate) fn program() -> PathBuf {
        let test = std::env::current_exe().expect("its own path");
        let target = test
            .parent()
            .and_then(Path::parent)
            .expect("target/debug/deps/TEST");
        let program = target.join("examples/agent_bench");
        assert!(
            program.is_file(),
            "run all tests of the crate: `cargo test -p agentctl` builds its example"
        );
        program
    }

    pub(crate) fn worktree(&self) -> PathBuf {
        self.folder.path().join("worktree")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.worktree().join(path), text).expect("written");
    }

    pub(crate) fn environment(&self) -> BTreeMap<String, String> {
        let state = self
            .folder
            .path()
            .join("state")
            .to_string_lossy()
            .into_owned();
        let own = [
            ("FLIGHTSTRIP_DEMO_STATE", state.as_str()),
            ("FLIGHTSTRIP_DEMO_PACE", "0"),
        ];
        own.into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// The demo agent with these flags.
    pub(crate) fn demo(&self, flags: &[&str]) -> AgentCommand {
        let args = std::iter::once("demo-agent")
            .chain(flags.iter().copied())
            .map(str::to_owned)
            .collect();
        let program = Self::program().to_string_lossy().into_owned();
        AgentCommand {
            program,
            args,
            env: self.environment(),
            cwd: self.worktree(),
        }
    }

    /// A shell script as the agent.
    pub(crate) fn shell(&self, script: &str) -> AgentCommand {
        let args = vec!["-c".to_owned(), script.to_owned()];
        AgentCommand {
            program: "sh".to_owned(),
            args,
            env: self.environment(),
            cwd: self.worktree(),
        }
    }

    pub(crate) fn context(&self) -> LaunchContext {
        LaunchContext {
            shim_program: Self::program(),
            shim_args: vec!["agent-shim".into()],
            server_env: std::env::vars().collect(),
        }
    }

    /// The id of the one session the demo agent keeps.
    pub(crate) fn only_session(&self) -> String {
        let mut entries =
            std::fs::read_dir(self.folder.path().join("state")).expect("a state folder");
        let entry = entries.next().expect("a session").expect("readable");
        entry
            .path()
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    }

    /// Whether nothing of the group runs any more, soon.
    pub(crate) async fn group_is_gone(&self, group: ProcessIdentity) -> bool {
        for _ in 0..600 {
            if members(&group.group_name()).is_empty() {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        false
    }
}

/// Processes that carry the group's name, zombies left out (they have no environment any more).
pub(crate) fn members(group_name: &str) -> Vec<String> {
    let wanted = format!("FLIGHTSTRIP_AGENT_GROUP={group_name}");
    let entries = std::fs::read_dir("/proc").expect("a proc").flatten();
    let carries = |path: &Path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == wanted.as_bytes())
    };
    entries
        .map(|entry| entry.path())
        .filter(|path| carries(path))
        .map(|path| path.display().to_string())
        .collect()
}
