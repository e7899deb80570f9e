//! Starts an agent under the shim, and sees it to its end.
//!
//! The server never signals an agent in the ordinary course: it closes the pipe, and the shim does the rest within
//! known bounds (see [`crate::shim`]). Only when the shim itself is stuck or was killed does [`AgentProcess::end`] fall
//! back to ending the group from here.
//!
//! Invariants: an agent gets the environment of [`crate::environment`] and nothing else; its process is always reaped.

use crate::environment::agent_environment;
use crate::error::AgentError;
use crate::event::{AgentExit, AgentStatus, ExitHow};
use crate::leftover::{end_leftover_group, process, signal_process};
use crate::program::find_program;
use crate::stderr::StderrTail;
use model::bounds;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// What to start, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCommand {
    /// A program found on the agent's `PATH`, or a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The profile's variables, on top of what is passed on of the server's.
    pub env: BTreeMap<String, String>,
    /// The folder it works in.
    pub cwd: PathBuf,
}

/// What starting an agent needs to know about the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchContext {
    /// The program that has the shim, `flightstrip` itself; an absolute path.
    pub shim_program: PathBuf,
    /// The arguments that select the shim in it, e.g. `agent-shim`.
    pub shim_args: Vec<OsString>,
    /// The server's environment; only an allow-listed part reaches the agent.
    pub server_env: BTreeMap<String, String>,
}

/// A process group that can be recognised after a crash: its leader's id, and when that started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The leader's process id, which is the group's.
    pub pid: u32,
    /// Its start time in clock ticks since boot; 0 where it cannot be learned.
    pub start_time: u64,
}

impl ProcessIdentity {
    /// The name the group's processes carry in their environment.
    #[must_use]
    pub fn group_name(&self) -> String {
        format!("{}:{}", self.pid, self.start_time)
    }
}

/// A running agent under its shim.
#[derive(Debug)]
pub struct AgentProcess {
    child: Child,
    identity: ProcessIdentity,
    stderr: StderrTail,
    stderr_keeper: Option<JoinHandle<()>>,
}

/// The ends of an agent's pipes.
#[derive(Debug)]
pub struct AgentPipes {
    /// What the agent reads.
    pub stdin: ChildStdin,
    /// What the agent writes.
    pub stdout: ChildStdout,
}

/// Starts the agent. Nothing has been said to it yet.
///
/// # Errors
/// [`AgentError::WorkspaceMissing`], [`AgentError::CommandNotFound`] or [`AgentError::Spawn`].
pub fn launch(
    command: &AgentCommand,
    context: &LaunchContext,
) -> Result<(AgentProcess, AgentPipes), AgentError> {
    if !command.cwd.is_dir() {
        return Err(AgentError::WorkspaceMissing);
    }
    let environment = agent_environment(&context.server_env, &command.env);
    let path = environment
        .get("PATH")
        .map(String::as_str)
        .unwrap_or_default();
    let program = match command.program.contains('/') {
        // A relative path is meant from the workspace, where the agent will be.
        true => find_program(
            &command.cwd.join(&command.program).to_string_lossy(),
            OsStr::new(path),
        ),
        false => find_program(&command.program, OsStr::new(path)),
    };
    let program = program.ok_or_else(|| AgentError::CommandNotFound {
        program: command.program.clone(),
    })?;
    let mut child = Command::new(&context.shim_program)
        .args(&context.shim_args)
        .arg(program)
        .args(&command.args)
        .env_clear()
        .envs(&environment)
        .current_dir(&command.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| AgentError::Spawn { kind: error.kind() })?;
    let missing = || AgentError::Spawn {
        kind: std::io::ErrorKind::BrokenPipe,
    };
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let pid = child.id().ok_or_else(missing)?;
    let stderr = StderrTail::default();
    let stderr_keeper = child
        .stderr
        .take()
        .map(|pipe| tokio::spawn(stderr.clone().collect(pipe)));
    let identity = ProcessIdentity {
        pid,
        start_time: process(pid).map_or(0, |line| line.start_time),
    };
    Ok((
        AgentProcess {
            child,
            identity,
            stderr,
            stderr_keeper,
        },
        AgentPipes { stdin, stdout },
    ))
}

impl AgentProcess {
    /// Names the group, to be stored while the agent runs.
    #[must_use]
    pub const fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// Sees the process to its end: until it ends by itself or, once `ending` is cancelled (which closes its input),
    /// within the shim's bounds.
    pub async fn see_to_its_end(mut self, ending: CancellationToken) -> AgentExit {
        let unasked = tokio::select! {
            status = self.child.wait() => Some(status.ok()),
            () = ending.cancelled() => None,
        };
        let asked = unasked.is_none();
        let status = match unasked {
            Some(status) => status,
            None => self.end().await,
        };
        // A shim that was itself killed could not end the others.
        if status.is_none_or(|status| status.signal().is_some()) {
            end_leftover_group(self.identity).await;
        }
        if let Some(mut keeper) = self.stderr_keeper.take() {
            // The pipe closes with the last process of the group; a stray one must not hold up the news.
            if timeout(bounds::STDERR_REST, &mut keeper).await.is_err() {
                keeper.abort();
            }
        }
        let status = status.and_then(read_status);
        let how = match status {
            _ if !asked => ExitHow::Unasked,
            Some(AgentStatus::Signal(KILL)) => ExitHow::Killed,
            Some(AgentStatus::Signal(TERM)) => ExitHow::Terminated,
            _ => ExitHow::Asked,
        };
        AgentExit {
            status,
            stderr_tail: self.stderr.last_lines(),
            how,
            fault: None,
        }
    }

    /// The input is closed: the shim has its bounds to end the group, then it is ended from here.
    async fn end(&mut self) -> Option<ExitStatus> {
        let patience = bounds::STDIN_CLOSE_GRACE + 2 * bounds::TERM_GRACE + bounds::SHIM_SLACK;
        if let Ok(status) = timeout(patience, self.child.wait()).await {
            return status.ok();
        }
        tracing::warn!(
            pid = self.identity.pid,
            "the shim did not end in time and is killed"
        );
        signal_process(self.identity.pid, Signal::KILL);
        self.child.wait().await.ok()
    }
}

const TERM: i32 = Signal::TERM.as_raw();
const KILL: i32 = Signal::KILL.as_raw();

/// The shim exits with the agent's code, or with 128 plus the signal that ended the agent.
fn read_status(status: ExitStatus) -> Option<AgentStatus> {
    match status.code() {
        Some(code) if 128 < code => Some(AgentStatus::Signal(code - 128)),
        Some(code) => Some(AgentStatus::Code(code)),
        None => status.signal().map(AgentStatus::Signal),
    }
}
