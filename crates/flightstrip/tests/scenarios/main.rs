//! Scenarios through a running server: the real binary as a process, real agents' processes, real Git, real sockets.
//!
//! One test binary, so that the server's helpers are compiled once. Each module is one theme.

#![expect(
    clippy::indexing_slicing,
    reason = "indexing a JSON value by a missing name gives null"
)]

mod agent_secrets;
mod asking;
mod attachments;
mod awaited;
mod bad_input;
mod clearing;
mod crash;
mod detached;
mod exact;
mod flood;
mod heard;
mod lost_lines;
mod main_job;
mod question_time;
mod questions;
mod queue;
mod recovering;
mod remains;
mod restart;
mod scripted;
mod sends;
mod stops;
mod support;
mod transport;
mod unrelated_tools;
mod windows;
