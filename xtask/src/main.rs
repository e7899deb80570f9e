//! `cargo xtask`: everything that a person or a build machine does to this repository.
//!
//! Two commands matter to most people: `run` starts the product, `test` checks everything. The others are
//! parts of these two, for use while working.
//!
//! It owns how the pieces are built and checked, and nothing of what they do. It uses none of the product's
//! crates, so it builds in seconds and can never be broken by the code that it checks.
//!
//! Invariant: what it starts it also ends, on success, on failure and on Ctrl-C (`processes`).
//! Read next: `arguments` for the commands, `test` for the order of the checks, `tidy` for our own rules.

mod agents;
mod arguments;
mod bench;
mod browser;
mod fingerprint;
mod packages;
mod places;
mod postgres;
mod processes;
mod run;
mod screen;
mod steps;
mod stopwatch;
mod test;
mod tidy;
mod tools;
mod types;
mod web;

use std::process::ExitCode;

use arguments::Request;
use places::Places;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = arguments::parse(&words).and_then(|request| carry_out(&request));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            screen::complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// `Ok(false)` means that the work was done and found something wrong, which has been printed.
fn carry_out(request: &Request) -> anyhow::Result<bool> {
    let places = Places::find()?;
    match request {
        Request::Help => screen::line(arguments::HELP),
        Request::Run(options) => run::start(&places, options)?,
        Request::Test(options) => return test::run(&places, options),
        Request::Web => web::build(&places)?,
        Request::Types { check: false } => types::write(&places)?,
        Request::Types { check: true } => types::check(&places)?,
        Request::Bench(words) => bench::run(&places, words)?,
        Request::Postgres(command) => postgres::run(&places, command)?,
        Request::Tidy => return tidy::run(&places),
    }
    Ok(true)
}
