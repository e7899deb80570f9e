//! Bounded movement as plain data: what may wait, how much of it, and what happens beyond that.
//!
//! Nothing here is async and nothing reads a clock: state goes in, decisions come out, and the crates that own sockets,
//! pipes and tasks carry them out. Every limit comes from `model::bounds`.
//!
//! Invariant: nothing accepted is lost silently; each structure says in its header what its overflow is.

pub mod coalescer;
pub mod gate;
pub mod live_text;
pub mod outbox;
pub mod poll;
pub mod throttle;
