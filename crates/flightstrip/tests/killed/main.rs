//! A server at work is killed at random moments and started again (REC-05): nothing that it accepted or showed is
//! missing, no agent is left over, and the check-up finds nothing.
//!
//! The moments, and what people do meanwhile, are drawn from a seed that is printed. `FLIGHTSTRIP_KILL_SEED` repeats
//! them; `FLIGHTSTRIP_KILL_ROUNDS` says how many kills there are of each engine.

#![expect(
    clippy::indexing_slicing,
    reason = "indexing a JSON value by a missing name gives null"
)]
#![expect(
    clippy::print_stdout,
    reason = "the seed that repeats a run, and what it came to, are shown with the test's output"
)]

#[path = "../operations/commands.rs"]
#[expect(dead_code, reason = "the operator's tests use the rest of it")]
mod commands;
mod dice;
mod people;
mod promises;
mod rounds;
#[path = "../scenarios/support.rs"]
#[expect(dead_code, reason = "the scenarios use the rest of it")]
mod support;
