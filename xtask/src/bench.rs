//! `cargo xtask bench`: builds the product and `loadgen` optimised, gives them a PostgreSQL, and measures.
//!
//! It measures and judges nothing: the figures of one run are compared with each other, by a person.

use crate::places::Places;
use crate::{postgres, processes, screen, tools};

/// The Cargo profile of what is measured.
const PROFILE: &str = "measure";

/// Runs `loadgen WORDS`.
pub(crate) fn run(places: &Places, words: &[String]) -> anyhow::Result<()> {
    processes::guard()?;
    screen::line(&format!("postgres: {}", postgres::available()?));
    // One command, hence one set of features and no crate compiled twice.
    processes::run(tools::cargo().current_dir(&places.root).args([
        "build",
        "--profile",
        PROFILE,
        "--package",
        "flightstrip",
        "--package",
        "loadgen",
    ]))?;
    let postgres = postgres::for_tests()?;
    let programs = places.target.join(PROFILE);
    let mut command = std::process::Command::new(programs.join("loadgen"));
    command
        .args(words)
        .arg("--server")
        .arg(programs.join("flightstrip"))
        .env(postgres::VARIABLE, &postgres.url);
    processes::run(&mut command)
}
