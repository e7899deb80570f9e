//! Process groups as the kernel sees them: who is in one, whether it is still ours, and how it is ended.
//!
//! A process id says little: ids are used again. A group is named by the id *and start time* of its leader (the shim),
//! and every process of it carries that name in its environment ([`GROUP_VARIABLE`]), so a group left by a crash is
//! found even when its leader is gone or a child has moved to a session of its own.
//!
//! Reads `/proc`. Where there is none nothing is found, and the shim alone is responsible.

use crate::process::ProcessIdentity;
use model::bounds;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The variable by which a process is recognised as part of an agent's group.
pub const GROUP_VARIABLE: &str = "FLIGHTSTRIP_AGENT_GROUP";

/// How often a group that should end is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What became of a leftover group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftoverEnd {
    /// Nothing of it was left.
    Absent,
    /// It ended, at TERM or at KILL.
    Ended,
    /// Something of it still runs.
    Survived,
}

/// Ends what a crash has left of an agent's group: TERM, then KILL after [`bounds::TERM_GRACE`].
///
/// Touches only processes that are the group's leader (same id *and* start time) or carry the group's name.
pub async fn end_leftover_group(identity: ProcessIdentity) -> LeftoverEnd {
    if members(identity).is_empty() {
        return LeftoverEnd::Absent;
    }
    for signal in [Signal::TERM, Signal::KILL] {
        if end_with(identity, signal).await {
            return LeftoverEnd::Ended;
        }
    }
    LeftoverEnd::Survived
}

/// Whether the group is empty within the grace period after `signal`.
async fn end_with(identity: ProcessIdentity, signal: Signal) -> bool {
    let deadline = Instant::now() + bounds::TERM_GRACE;
    let mut signalled = Vec::new();
    loop {
        let members = members(identity);
        if members.is_empty() {
            return true;
        }
        for pid in members {
            // A member that appears later gets the signal too; each gets it once.
            if !signalled.contains(&pid) {
                signal_process(pid, signal);
                signalled.push(pid);
            }
        }
        if deadline <= Instant::now() {
            return false;
        }
        sleep(LOOK_EVERY).await;
    }
}

/// The live processes of a group. A zombie is no longer one: only its parent can take it away.
fn members(identity: ProcessIdentity) -> Vec<u32> {
    let name = identity.group_name();
    processes()
        .filter(|process| process.state != 'Z')
        .filter(|process| {
            (process.pid == identity.pid && process.start_time == identity.start_time)
                || carries_name(process.pid, &name)
        })
        .map(|process| process.pid)
        .collect()
}

fn carries_name(pid: u32, name: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    environment.split(|byte| *byte == 0).any(|entry| {
        entry
            .strip_prefix(GROUP_VARIABLE.as_bytes())
            .and_then(|rest| rest.strip_prefix(b"="))
            == Some(name.as_bytes())
    })
}

/// Sends a signal to one process; one that is already gone is what was wanted.
pub(crate) fn signal_process(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// One line of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessLine {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) state: char,
    pub(crate) start_time: u64,
}

/// All processes this one may see.
pub(crate) fn processes() -> impl Iterator<Item = ProcessLine> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| process(parse_pid(&entry.file_name())?))
}

/// One process; `None` when it is gone.
pub(crate) fn process(pid: u32) -> Option<ProcessLine> {
    parse_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_pid(name: &OsStr) -> Option<u32> {
    std::str::from_utf8(name.as_bytes()).ok()?.parse().ok()
}

/// The program's name is in brackets and may hold anything, so fields are counted from the last bracket.
fn parse_stat(pid: u32, stat: &str) -> Option<ProcessLine> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // state and parent are fields 3 and 4; the start time is field 22.
    let start_time = fields.nth(17)?.parse().ok()?;
    Some(ProcessLine {
        pid,
        parent,
        state,
        start_time,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_cannot_confuse_the_fields() {
        let fields = "S 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let line = parse_stat(3, &format!("3 (a) b (c)) {fields}")).expect("a line");
        assert_eq!(
            line,
            ProcessLine {
                pid: 3,
                parent: 7,
                state: 'S',
                start_time: 4242
            }
        );
        assert_eq!(parse_stat(3, "3 (cut"), None);
    }

    #[test]
    fn this_process_is_found() {
        let own = process(std::process::id()).expect("it runs");
        assert!(processes().any(|line| line.pid == own.pid && line.start_time == own.start_time));
    }

    #[tokio::test]
    async fn a_group_that_never_was_is_absent() {
        let wrong_time = ProcessIdentity {
            pid: std::process::id(),
            start_time: 1,
        };
        assert_eq!(end_leftover_group(wrong_time).await, LeftoverEnd::Absent);
    }
}
