//! Measures: fills databases, drives the product, and prints tables.
//!
//! Machines differ and are noisy, so what counts is the ratio of two figures of one run: a measure stands beside what
//! the same work costs at least (the bare SQL, a plain SELECT with its JSON) or beside itself at another size. Nothing
//! here passes or fails.
//!
//! Started by `cargo xtask bench`, which builds it optimised and provides PostgreSQL.

#![expect(clippy::disallowed_methods, reason = "a measure reads the clock")]

mod page;
mod place;
mod summary;
mod table;
mod world;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures what the product costs.
#[derive(Debug, Parser)]
#[command(name = "loadgen")]
struct Cli {
    #[command(subcommand)]
    measure: Measure,
}

#[derive(Debug, Subcommand)]
enum Measure {
    /// The status summary: deriving, loading, publishing, listing, converging.
    Summary(summary::Options),
}

/// What every measure that starts a server needs.
#[derive(Clone, Debug, clap::Args)]
struct ServerOptions {
    /// The server's program.
    #[arg(long, value_name = "PROGRAM")]
    server: PathBuf,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return table::fail(&error.into()),
    };
    let done = match cli.measure {
        Measure::Summary(options) => runtime.block_on(summary::run(&options)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => table::fail(&error),
    }
}
