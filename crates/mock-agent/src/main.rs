//! The scripted agent as a program of its own; `flightstrip demo-agent` is the same code.

use std::process::ExitCode;

fn main() -> ExitCode {
    mock_agent::run(std::env::args().skip(1))
}
