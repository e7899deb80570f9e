//! `flightstrip agent-shim`: stands between the server and one agent, and ends the agent when the server is gone.
//!
//! The shim leads a process group of its own and starts the agent in it. Its stdin is the pipe from the server, which it
//! copies to the agent; stdout and stderr are inherited, so the agent's output costs no copy. When the server closes its
//! end of the pipe (because it stops the agent, or because it was killed) the shim closes the agent's input, waits
//! [`bounds::STDIN_CLOSE_GRACE`], sends TERM to the group, waits [`bounds::TERM_GRACE`], and kills what is left. When the
//! agent ends by itself, what it left behind is ended the same way. On Linux the shim adopts orphaned descendants, so
//! even those that moved to a session of their own are found.
//!
//! Invariant: the hang-up of the pipe is seen even while a write to an agent that does not read is stuck, because it
//! is watched apart from the copying.
//!
//! Invariant: every wait after the first ends at a fixed time. The agent can send signals to the shim as often as it
//! likes; none of them lets it live longer.
//!
//! Blocking code on purpose: it runs in a process of its own, before any runtime is started.

use crate::leftover::{GROUP_VARIABLE, process, processes, signal_process};
use crate::process::ProcessIdentity;
use model::bounds;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_current_process_group, setpgid, wait,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Exit code when the arguments are wrong.
const USAGE: u8 = 64;
/// Exit code when the agent cannot be started, as shells have it.
const CANNOT_START: u8 = 126;
/// How often descendants are killed while the last ones appear as their parents die.
const KILL_EVERY: Duration = Duration::from_millis(20);

/// What the shim waits for.
enum Event {
    /// The server closed the pipe, or somebody sent a signal.
    Asked,
    /// The agent ended.
    AgentEnded(WaitStatus),
    /// No descendant is left.
    NobodyLeft,
}

/// Runs the shim: `args` are the agent's program and its arguments. Returns the agent's exit code, or 128 plus the
/// signal that ended it.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let Some(program) = args.next() else {
        complain("no program given");
        return ExitCode::from(USAGE);
    };
    match start(program, args) {
        Ok((agent, events)) => ExitCode::from(supervise(agent, &events)),
        Err(error) => {
            complain(&format!("cannot start the agent: {error}"));
            ExitCode::from(CANNOT_START)
        }
    }
}

/// The shim's stderr is the agent's: the tail of it is shown when the session fails.
fn complain(text: &str) {
    // Nobody is left to tell when stderr is closed.
    let _ = writeln!(io::stderr(), "flightstrip agent-shim: {text}");
}

fn start(
    program: OsString,
    args: impl Iterator<Item = OsString>,
) -> io::Result<(Pid, Receiver<Event>)> {
    // The server starts us as the leader of a group already; started otherwise, TERM must not hit a stranger's group.
    let _ = setpgid(None, None);
    adopt_orphans()?;
    // A few events of four kinds; a full channel makes its thread wait, which harms nobody.
    let (sender, events) = sync_channel(8);
    let signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let mut child = Command::new(program)
        .args(args)
        .env(GROUP_VARIABLE, own_identity().group_name())
        .stdin(Stdio::piped())
        .spawn()?;
    let input = child.stdin.take();
    let agent = Pid::from_child(&child);
    watch_signals(signals, sender.clone());
    watch_hang_up(sender.clone());
    watch_descendants(agent, sender);
    thread::spawn(move || copy_input(input));
    Ok((agent, events))
}

fn own_identity() -> ProcessIdentity {
    let pid = std::process::id();
    ProcessIdentity {
        pid,
        start_time: process(pid).map_or(0, |line| line.start_time),
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// A signal to the shim asks it to end; its own TERM to the group arrives here too and changes nothing.
fn watch_signals(mut signals: Signals, sender: SyncSender<Event>) {
    thread::spawn(move || {
        for _ in signals.forever() {
            if sender.send(Event::Asked).is_err() {
                return;
            }
        }
    });
}

/// The other end of stdin is gone: seen without reading, so a stuck copy does not hide it.
fn watch_hang_up(sender: SyncSender<Event>) {
    thread::spawn(move || {
        let stdin = io::stdin();
        loop {
            let mut fds = [PollFd::new(&stdin, PollFlags::empty())];
            match poll(&mut fds, None) {
                Err(rustix::io::Errno::INTR) => {}
                // An end that cannot be watched counts as gone: better no agent than an orphan.
                _ => break,
            }
        }
        // The receiver goes only when the shim ends.
        let _ = sender.send(Event::Asked);
    });
}

/// Reaps every descendant; reports the agent's end and the last one's.
fn watch_descendants(agent: Pid, sender: SyncSender<Event>) {
    thread::spawn(move || {
        loop {
            let event = match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == agent => Event::AgentEnded(status),
                Ok(_) | Err(rustix::io::Errno::INTR) => continue,
                Err(_) => Event::NobodyLeft,
            };
            let last = matches!(event, Event::NobodyLeft);
            if sender.send(event).is_err() || last {
                return;
            }
        }
    });
}

/// Copies our stdin to the agent's. After the agent closed its end, the rest is read and thrown away.
fn copy_input(mut input: Option<ChildStdin>) {
    let mut stdin = io::stdin().lock();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match stdin.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let bytes = buffer.get(..count).unwrap_or_default();
                if input
                    .as_mut()
                    .is_some_and(|pipe| pipe.write_all(bytes).is_err())
                {
                    input = None;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The shim's whole life after the start; the exit code.
fn supervise(agent: Pid, events: &Receiver<Event>) -> u8 {
    let mut watch = Watch {
        agent: None,
        nobody_left: false,
    };
    // Neither end can be missed: both threads report before they leave.
    watch.until(events, None, |watch, asked| asked || watch.agent.is_some());
    if watch.agent.is_none() {
        watch.until(events, Some(bounds::STDIN_CLOSE_GRACE), |watch, _| {
            watch.agent.is_some()
        });
    } else {
        watch.until(events, Some(bounds::SHIM_SETTLE), |watch, _| {
            watch.nobody_left
        });
    }
    if !watch.nobody_left {
        signal_group(agent, Signal::TERM);
        watch.until(events, Some(bounds::TERM_GRACE), |watch, _| {
            watch.nobody_left
        });
    }
    let mut waited = Duration::ZERO;
    while !watch.nobody_left && waited < bounds::TERM_GRACE {
        kill_children();
        watch.until(events, Some(KILL_EVERY), |watch, _| watch.nobody_left);
        waited += KILL_EVERY;
    }
    exit_code(watch.agent)
}

struct Watch {
    agent: Option<WaitStatus>,
    nobody_left: bool,
}

impl Watch {
    /// Takes in events until `done`, for `limit` at most, however many come.
    fn until(
        &mut self,
        events: &Receiver<Event>,
        limit: Option<Duration>,
        done: impl Fn(&Self, bool) -> bool,
    ) {
        let deadline = limit.map(|limit| now() + limit);
        let mut asked = false;
        while !done(self, asked) {
            let event = match deadline.map(|deadline| deadline.saturating_duration_since(now())) {
                // Asked first: a queue that is never empty would give an event even now.
                Some(Duration::ZERO) => return,
                Some(left) => events.recv_timeout(left),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Asked) => asked = true,
                Ok(Event::AgentEnded(status)) => self.agent = Some(status),
                Ok(Event::NobodyLeft) => self.nobody_left = true,
                Err(_) => return,
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a deadline in blocking code: the shim is a process of its own, without a runtime"
)]
fn now() -> Instant {
    Instant::now()
}

/// TERM goes to the whole group (ourselves included: we live on) and to adopted descendants outside of it.
fn signal_group(agent: Pid, signal: Signal) {
    // Errors mean that nobody is there to receive it.
    let _ = kill_current_process_group(signal);
    let agent = u32::try_from(agent.as_raw_nonzero().get()).unwrap_or(0);
    for child in children().filter(|child| *child != agent) {
        signal_process(child, signal);
    }
}

/// Kills our children; theirs become ours and are next.
fn kill_children() {
    for child in children() {
        signal_process(child, Signal::KILL);
    }
    if cfg!(not(target_os = "linux")) {
        let _ = kill_current_process_group(Signal::KILL);
    }
}

fn children() -> impl Iterator<Item = u32> {
    let own = std::process::id();
    processes()
        .filter(move |line| line.parent == own && line.state != 'Z')
        .map(|line| line.pid)
}

fn exit_code(status: Option<WaitStatus>) -> u8 {
    let code = status.map_or(128 + 9, |status| {
        status
            .exit_status()
            .or_else(|| status.terminating_signal().map(|signal| 128 + signal))
            .unwrap_or(1)
    });
    u8::try_from(code & 0xFF).unwrap_or(1)
}
