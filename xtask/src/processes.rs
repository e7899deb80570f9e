//! Starting other programs, and making sure that none of them outlives us.
//!
//! On Linux xtask asks the kernel to become the parent of every orphan among its descendants. Whatever a step
//! leaves running is therefore found below us, even when it moved to a process group of its own (agents,
//! servers and browsers do). It gets a moment to end by itself, then it is ended, and the step has failed.
//! On Ctrl-C or TERM everything below us is ended first.
//!
//! Elsewhere the terminal's own Ctrl-C is all there is: the check of leftovers finds nothing.
//!
//! It must not decide what a failed program means; callers do.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, WaitOptions};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How long what a step started may take to end after the step. Browsers and agents need a moment to see that
/// their pipe has closed; longer would hide a real leak behind the next step.
const LEFTOVER_GRACE: Duration = Duration::from_secs(8);

/// Between TERM and KILL, when we end something.
const TERM_GRACE: Duration = Duration::from_secs(3);

/// How often we look whether processes have gone.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A compiler cache starts its server on first use and shares it with everything else on the machine: ending
/// it is not ours to do.
const SHARED_SERVERS: [&str; 1] = ["sccache"];

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Folders of ours that go when we are interrupted, after the processes that use them.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A process below us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leftover {
    pub(crate) pid: i32,
    pub(crate) name: String,
}

/// Runs a program with its output passed through. Failure to start and an unsuccessful end are errors.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("starting `{}`", words(command)));
    wait_if_interrupted();
    let status = status?;
    if !status.success() {
        bail!("`{}` failed ({status})", words(command));
    }
    Ok(())
}

/// Runs a program whose output matters only when it fails; the error then carries it.
pub(crate) fn run_quietly(command: &mut Command) -> anyhow::Result<()> {
    output(command).map(drop)
}

/// What the program wrote to its standard output.
pub(crate) fn read(command: &mut Command) -> anyhow::Result<String> {
    let output = output(command)?;
    String::from_utf8(output.stdout).with_context(|| format!("`{}` wrote no UTF-8", words(command)))
}

/// Whether the program can be started and ends well; its output is thrown away.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    output(command).is_ok()
}

fn output(command: &mut Command) -> anyhow::Result<Output> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting `{}`", words(command)));
    wait_if_interrupted();
    let output = output?;
    if !output.status.success() {
        bail!(
            "`{}` failed ({})\n{}{}",
            words(command),
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output)
}

/// The command as a person would type it, for messages.
fn words(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

/// Takes responsibility for everything started from here on, and for ending it when we are told to stop.
pub(crate) fn guard() -> anyhow::Result<()> {
    adopt_orphans()?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("listening for signals")?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                INTERRUPTED.store(true, Ordering::SeqCst);
                end(&below_us(), TERM_GRACE);
                for folder in FOLDERS
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .iter()
                {
                    // What cannot be removed is left to whoever cleans temporary folders.
                    let _ = std::fs::remove_dir_all(folder);
                }
                // Ends this process as the signal would have, so that a calling shell sees why.
                if let Err(error) = signal_hook::low_level::emulate_default_handler(signal) {
                    crate::screen::complain(&anyhow::Error::from(error));
                }
            }
        })
        .context("starting the signal thread")?;
    Ok(())
}

/// From here on this folder goes when we are interrupted. Its owner removes it otherwise.
pub(crate) fn remove_when_interrupted(folder: PathBuf) {
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    folders.insert(folder);
}

/// After an interruption the signal thread ends the process; until it has, no further step may start.
pub(crate) fn wait_if_interrupted() {
    while INTERRUPTED.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Ends what is still running below us once its grace is over, and returns what had to be ended.
pub(crate) fn end_leftovers() -> Vec<Leftover> {
    let mut waited = Duration::ZERO;
    while waited < LEFTOVER_GRACE {
        if below_us().is_empty() {
            return Vec::new();
        }
        pause(LOOK_AGAIN);
        waited += LOOK_AGAIN;
    }
    let leftovers = below_us();
    end(&leftovers, TERM_GRACE);
    leftovers
}

/// TERM, then KILL for those that are still there after `grace`. Ending a parent can bring up children that it
/// would have ended itself, so the last look takes everything below us.
fn end(processes: &[Leftover], grace: Duration) {
    for process in processes {
        signal(process.pid, Signal::TERM);
    }
    let mut waited = Duration::ZERO;
    while waited < grace && !below_us().is_empty() {
        pause(LOOK_AGAIN);
        waited += LOOK_AGAIN;
    }
    for process in below_us() {
        signal(process.pid, Signal::KILL);
    }
}

pub(crate) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // A process that has gone in the meantime is what we want.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the kernel tells nobody when a grandchild ends; looking again is the only way"
)]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> anyhow::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .context("asking the kernel for the orphans of our children")
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> anyhow::Result<()> {
    Ok(())
}

/// Every live descendant, except servers that are shared with the rest of the machine.
fn below_us() -> Vec<Leftover> {
    let table = process_table();
    let mut parents = vec![rustix::process::getpid().as_raw_nonzero().get()];
    let mut found = Vec::new();
    while let Some(parent) = parents.pop() {
        for row in table.iter().filter(|row| row.parent == parent) {
            if row.ended {
                reap(row.process.pid);
            } else if !SHARED_SERVERS.contains(&row.process.name.as_str()) {
                found.push(row.process.clone());
                parents.push(row.process.pid);
            }
        }
    }
    found
}

/// Adopted children leave the process table only when somebody asks how they ended.
fn reap(pid: i32) {
    // Not our child (any more): nothing to do.
    let _ = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::NOHANG);
}

struct Row {
    process: Leftover,
    parent: i32,
    ended: bool,
}

/// All processes of the machine, from `/proc`; empty where there is none.
fn process_table() -> Vec<Row> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .bytes()
                .all(|byte| byte.is_ascii_digit())
        })
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter_map(|stat| parse_stat(&stat))
        .collect()
}

/// Reads `pid (name) state parent …`. The name may itself contain spaces and parentheses.
fn parse_stat(stat: &str) -> Option<Row> {
    let (pid, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    Some(Row {
        process: Leftover {
            pid: pid.parse().ok()?,
            name: name.to_owned(),
        },
        parent: fields.next()?.parse().ok()?,
        ended: matches!(state, "Z" | "X"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let row = parse_stat("4711 (node (worker) 1) S 12 4711 4711 0 -1").unwrap();
        assert_eq!(row.process.pid, 4711);
        assert_eq!(row.process.name, "node (worker) 1");
        assert_eq!(row.parent, 12);
        assert!(!row.ended);
    }

    // The only test of this crate that starts processes: it looks at all descendants of the test process.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_step_leaves_behind_in_its_own_group_is_found_and_ended() {
        adopt_orphans().unwrap();
        let pid = read(Command::new("sh").args([
            "-c",
            "setsid sh -c 'trap \"\" TERM; echo $$; exec >&- 2>&-; exec sleep 600' & :",
        ]))
        .unwrap();
        let pid: i32 = pid.trim().parse().unwrap();
        assert!(below_us().iter().any(|process| process.pid == pid));

        end(&below_us(), Duration::from_millis(200));

        while below_us().iter().any(|process| process.pid == pid) {
            pause(LOOK_AGAIN);
        }
    }
}
