//! One environment's runtime: agent processes, spoken to over the Agent Client Protocol, and the Git monitor.
//!
//! A connection is a pipeline of small parts, each of which can be read alone:
//! [`line`] cuts stdout into lines, [`text`] makes their strings clean, [`message`] tells requests, notifications,
//! replies and noise apart, [`update`] turns updates into [`event::AgentEvent`]s, [`handoff`] carries those to the
//! session runtime and, by its flow gate, stops reading when the runtime does not keep up. `reader` joins them, `life` runs
//! them, and [`connection`] is the handle the runtime holds. [`process`] and [`shim`] start the agent and make sure that it ends.
//!
//! Invariants: events of one agent arrive in the order of its lines; whatever is not delivered is counted; every
//! request to an agent but the prompt has a deadline; an agent process ends with the server, however the server ends.
//!
//! Must not: know tasks, sessions, the database or the browser.

mod answer;
pub mod connection;
pub mod counters;
pub mod elicitation;
pub mod environment;
pub mod error;
pub mod event;
pub mod git_monitor;
pub mod handoff;
pub mod info;
pub mod known;
pub mod leftover;
mod life;
pub mod line;
pub mod message;
pub mod outgoing;
pub mod permissions;
pub mod process;
pub mod program;
mod reader;
pub mod replies;
pub mod request;
pub mod settings;
pub mod shim;
mod state;
pub mod stderr;
pub mod surrogates;
pub mod text;
pub mod tool_call;
pub mod update;
