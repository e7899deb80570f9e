//! The scripted agent as a real process under the real shim.
//!
//! The program of both is `examples/agent_bench`, which `cargo test -p agentctl` builds beside the tests.

mod backpressure;
mod bench;
mod conversation;
mod deadlines;
mod ends;
mod forms;
mod shim;
mod talk;
