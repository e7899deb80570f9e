//! One Git process: started, bounded, ended.
//!
//! Invariant: a call that does not end by itself leaves no process behind. The process leads a group of its own; on a
//! timeout, an oversized answer or a dropped future the whole group is ended, hooks and helpers included. A command
//! that writes is first asked to end (TERM), because Git then removes its lock files; one that observes holds none.
//! What a person's hook left running in the background of a command that did end is theirs and stays.
//! Invariant: nothing here knows what a command means; see `read` and `write`.

use crate::Work;
use crate::error::GitError;
use model::bounds;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A command about to be run.
pub(crate) struct Call<'a> {
    /// Names the command in errors.
    pub(crate) name: &'static str,
    pub(crate) folder: &'a Path,
    pub(crate) args: &'a [&'a OsStr],
    pub(crate) environment: &'a [(OsString, OsString)],
    pub(crate) stdin: Option<Vec<u8>>,
    /// The exit codes that are answers; any other is a failure.
    pub(crate) answers: &'a [i32],
    /// Whether the command may hold locks, and so is asked to end before it is ended.
    pub(crate) writes: bool,
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
}

impl Answer {
    /// The answer as one line of text, without its line end.
    pub(crate) fn line(&self) -> String {
        let text = String::from_utf8_lossy(&self.stdout);
        text.strip_suffix('\n').unwrap_or(&text).to_owned()
    }
}

/// Ends the process group when dropped, unless its leader was waited for.
///
/// While the leader is not waited for its id cannot be given to anyone else, so the signal reaches only this group.
struct Group {
    leader: Child,
}

impl Group {
    fn signal(&self, signal: Signal) {
        let leader = self.leader.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = leader.and_then(Pid::from_raw) {
            // Failing means that the group is already gone, which is what was wanted.
            let _ = kill_process_group(group, signal);
        }
    }

    async fn end(&mut self, ask_first: bool) {
        if ask_first {
            self.signal(Signal::TERM);
            if timeout(bounds::TERM_GRACE, self.leader.wait())
                .await
                .is_ok()
            {
                return;
            }
        }
        self.signal(Signal::KILL);
        // A process in an uninterruptible wait may outlive KILL for a while; tokio reaps it later.
        let _ = timeout(bounds::TERM_GRACE, self.leader.wait()).await;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

impl Work {
    /// Runs one command until it ends, or ends it.
    ///
    /// # Errors
    /// Not started, not in time, answer too large, or an exit code that is not among [`Call::answers`].
    pub(crate) async fn run(&self, call: Call<'_>) -> Result<Answer, GitError> {
        let mut group = self.start(&call)?;
        let streams = Streams::take(&mut group.leader, call.stdin);
        let talk = streams.talk(&mut group.leader, call.name);
        match tokio::time::timeout_at(self.deadline, talk).await {
            Ok(Ok((Some(code), stdout, _))) if call.answers.contains(&code) => {
                Ok(Answer { code, stdout })
            }
            Ok(Ok((code, _, stderr))) => Err(failure(call.name, code, &stderr)),
            Ok(Err(problem)) => {
                group.end(call.writes).await;
                Err(problem)
            }
            Err(_) => {
                group.end(call.writes).await;
                Err(GitError::TimedOut { command: call.name })
            }
        }
    }

    fn start(&self, call: &Call<'_>) -> Result<Group, GitError> {
        let stdin = if call.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let leader = Command::new(&self.config.program)
            .args(call.args)
            .current_dir(call.folder)
            .env_clear()
            .envs(
                self.config
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .envs(call.environment.iter().map(|(name, value)| (name, value)))
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|problem| not_started(problem, call.folder))?;
        Ok(Group { leader })
    }
}

/// "Not found" may mean the program or the folder to run it in.
fn not_started(problem: io::Error, folder: &Path) -> GitError {
    match (problem.kind(), folder.is_dir()) {
        (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, false) => GitError::NotFound,
        (io::ErrorKind::PermissionDenied, _) => GitError::Unreadable,
        _ => GitError::NoProgram(problem),
    }
}

/// The refusals that Git tells only in words; observing runs under `LC_ALL=C`, so the words are known.
fn failure(command: &'static str, code: Option<i32>, stderr: &[u8]) -> GitError {
    let stderr = String::from_utf8_lossy(stderr).trim().to_owned();
    if stderr.contains("detected dubious ownership") {
        return GitError::NotOwned;
    }
    if code == Some(128) && stderr.contains("not a git repository") {
        return GitError::NotARepository;
    }
    GitError::Failed {
        command,
        code,
        stderr,
    }
}

struct Streams<I, O, E> {
    stdin: Option<(I, Vec<u8>)>,
    stdout: Option<O>,
    stderr: Option<E>,
}

type ChildStreams =
    Streams<tokio::process::ChildStdin, tokio::process::ChildStdout, tokio::process::ChildStderr>;

impl ChildStreams {
    fn take(leader: &mut Child, input: Option<Vec<u8>>) -> Self {
        Self {
            stdin: leader.stdin.take().zip(input),
            stdout: leader.stdout.take(),
            stderr: leader.stderr.take(),
        }
    }

    /// Feeds the input, reads both outputs, waits for the end.
    async fn talk(
        self,
        leader: &mut Child,
        command: &'static str,
    ) -> Result<(Option<i32>, Vec<u8>, Vec<u8>), GitError> {
        let failed = |source| GitError::Io { command, source };
        let mut stdout = Vec::new();
        let mut stderr = Vec::new();
        let feed = async {
            if let Some((mut pipe, input)) = self.stdin {
                // A command that ends early closes its input; its exit code says more than the broken pipe.
                let _ = pipe.write_all(&input).await;
            }
            Ok::<_, GitError>(())
        };
        let outputs = async {
            let (answer, complaints) = tokio::join!(
                read_bounded(self.stdout, bounds::GIT_OUTPUT_BYTES, &mut stdout),
                read_cut(self.stderr, bounds::GIT_STDERR_BYTES, &mut stderr),
            );
            complaints.map_err(failed)?;
            if answer.map_err(failed)? {
                Ok(())
            } else {
                Err(GitError::OutputTooLarge { command })
            }
        };
        let status = {
            let mut talking = std::pin::pin!(async { tokio::try_join!(feed, outputs).map(drop) });
            tokio::select! {
                read = &mut talking => {
                    read?;
                    leader.wait().await.map_err(failed)?
                }
                status = leader.wait() => {
                    // The command is over. What is left in the pipes is read; a background process of a hook may
                    // hold them open for ever and is not waited for.
                    if let Ok(read) = timeout(bounds::GIT_PIPE_GRACE, talking).await {
                        read?;
                    }
                    status.map_err(failed)?
                }
            }
        };
        Ok((status.code(), stdout, stderr))
    }
}

/// Reads all of it; false when it exceeds `limit`.
async fn read_bounded(
    from: Option<impl AsyncRead + Unpin>,
    limit: usize,
    into: &mut Vec<u8>,
) -> io::Result<bool> {
    let Some(from) = from else {
        return Ok(true);
    };
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    from.take(most).read_to_end(into).await?;
    Ok(into.len() <= limit)
}

/// Reads all of it and keeps the first `limit` bytes, so that a chatty command does not block on its pipe.
async fn read_cut(
    from: Option<impl AsyncRead + Unpin>,
    limit: usize,
    into: &mut Vec<u8>,
) -> io::Result<()> {
    let Some(mut from) = from else {
        return Ok(());
    };
    let most = u64::try_from(limit).unwrap_or(u64::MAX);
    (&mut from).take(most).read_to_end(into).await?;
    tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    Ok(())
}
