//! A scripted coding agent that speaks the Agent Client Protocol on stdin and stdout.
//!
//! Two uses, one program. In tests a prompt holds *directives* (`/stream 1000 200`, `/permission Run it`, see
//! [`directive`]) and the agent does exactly that, misbehaviour included. Without directives it is the *demo agent*
//! (see [`demo`]): it thinks, plans, reads, asks, edits a file of its worktree and sums up, so that a newcomer sees the
//! product alive without any account.
//!
//! Plain blocking code and no protocol library on purpose: it must be able to break every rule. One thread reads
//! stdin; each prompt runs in a thread of its own; [`peer::Peer`] is the only writer of stdout.
//!
//! Environment: `FLIGHTSTRIP_DEMO_STATE` names the folder that keeps sessions (without it they cannot be loaded);
//! `FLIGHTSTRIP_DEMO_PACE` multiplies the demo's delays (`0`: none); `FLIGHTSTRIP_DEMO_SCRIPT` holds directives that
//! are played whatever the prompt says.

pub mod agent;
pub mod demo;
pub mod directive;
pub mod introduction;
pub mod mailbox;
pub mod mcp;
pub mod options;
pub mod peer;
pub mod script;
pub mod session;
pub mod turn;
pub mod worktree;

use crate::agent::Agent;
use crate::options::Options;
use std::io::{BufReader, Write};
use std::process::ExitCode;

/// Runs the agent until its input ends. `args` are flags, see [`Options::parse`].
pub fn run(args: impl IntoIterator<Item = String>) -> ExitCode {
    let options = match Options::parse(args, |name| std::env::var(name).ok()) {
        Ok(options) => options,
        Err(flag) => {
            // Nobody is left to tell when stderr is closed.
            let _ = writeln!(std::io::stderr(), "mock-agent: unknown argument `{flag}`");
            return ExitCode::from(64);
        }
    };
    if let Some(code) = options.exit_at_once {
        let _ = writeln!(std::io::stderr(), "mock-agent: told to exit at once");
        return ExitCode::from(code);
    }
    Agent::new(options, std::io::stdout()).serve(BufReader::new(std::io::stdin()));
    ExitCode::SUCCESS
}
