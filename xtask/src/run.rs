//! `cargo xtask run`: from a fresh clone to a running server.
//!
//! The last act replaces this process with the server, so Ctrl-C and every other signal reach the server
//! itself and its graceful shutdown, with nothing in between.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::Context as _;

use crate::arguments::RunOptions;
use crate::places::Places;
use crate::stopwatch::Stopwatch;
use crate::{processes, screen, tools, web};

/// Builds what is out of date, then becomes the server. Returns only when that failed.
pub(crate) fn start(places: &Places, options: &RunOptions) -> anyhow::Result<()> {
    tools::check_for_building()?;
    web::build(places)?;
    build_server(places)?;
    let server = places.target.join("quick").join("flightstrip");
    let mut command = Command::new(&server);
    command.arg("serve");
    if options.demo {
        command.arg("--demo");
    }
    command.args(&options.passed_on);
    Err(command.exec()).with_context(|| format!("starting {}", server.display()))
}

fn build_server(places: &Places) -> anyhow::Result<()> {
    let watch = Stopwatch::start();
    // Cargo shows its own progress: the first build takes minutes and must not look stuck.
    processes::run(tools::cargo().current_dir(&places.root).args([
        "build",
        "--profile",
        "quick",
        "--package",
        "flightstrip",
    ]))?;
    screen::done("server built", watch.elapsed());
    Ok(())
}
