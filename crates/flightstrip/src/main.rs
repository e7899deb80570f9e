//! The `flightstrip` binary: command line, configuration, composition. It holds no logic of its own.
//!
//! `agent-shim` and `demo-agent` are plain blocking programs and run before any runtime exists; everything else runs
//! on one tokio runtime.
//!
//! Where to read next: [`serve`] for the order of start-up.

mod backup;
mod cli;
mod clock;
mod control;
mod data_dir;
mod database;
mod demo;
mod doctor;
mod instance_lock;
mod logging;
mod mcp_bridge;
mod progress;
mod serve;
mod upgrade;

use clap::Parser;
use cli::{Cli, Command};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::AgentShim { command } => agentctl::shim::run(command),
        Command::DemoAgent { args } => mock_agent::run(args),
        Command::McpBridge => on_runtime(mcp_bridge::bridge()),
        Command::Serve(options) => on_runtime(serve::serve(options)),
        Command::SignIn { data_dir } => on_runtime(control::ask(data_dir, control::SIGN_IN)),
        Command::Doctor(options) => on_runtime(doctor::doctor(options)),
        Command::Backup(options) => on_runtime(backup::backup(options)),
        Command::Status { data_dir } => on_runtime(control::ask(data_dir, control::STATUS)),
    }
}

fn on_runtime(work: impl Future<Output = anyhow::Result<ExitCode>>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            return fail(&anyhow::anyhow!(error).context("the runtime could not be started"));
        }
    };
    let outcome = runtime.block_on(work);
    // What was told to end has ended; what a second signal left behind is not waited for.
    runtime.shutdown_background();
    outcome.unwrap_or_else(|error| fail(&error))
}

/// Says what went wrong, in one paragraph, where a person looks.
fn fail(error: &anyhow::Error) -> ExitCode {
    // Nobody is left to tell when stderr is closed.
    let _ = writeln!(std::io::stderr(), "flightstrip: {error:#}");
    ExitCode::FAILURE
}
