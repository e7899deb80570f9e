//! What an operator does with a server and its data: check-ups, repairs, backups, updates, and watching it start.
//!
//! The real binary throughout: as a server and as the command that is run beside it.

#![expect(
    clippy::indexing_slicing,
    reason = "indexing a JSON value by a missing name gives null"
)]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "how long a large update took is shown with the test's output"
)]

mod backups;
mod check_up;
mod commands;
mod contention;
mod large_update;
mod repairs;
mod starting;
#[path = "../scenarios/support.rs"]
#[expect(dead_code, reason = "the scenarios use the rest of it")]
mod support;
mod updates;
