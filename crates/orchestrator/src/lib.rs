//! Every command of flightstrip, and the runtimes of live sessions.
//!
//! A command checks its input, changes the database in one transaction, publishes what the transaction returned, and
//! answers. Whatever has to happen in the world (start an agent, write a prompt, deliver an answer) is committed as
//! intent first and then poked: the session's owner carries it out (law 6). So a crash between the two leaves the
//! intent visible, never lost and never done twice.
//!
//! Invariant: this crate is the only writer of session state.
//! Invariant: nothing here knows who is asking; the gateway has authorized before it calls (law 8).
//!
//! Where to read next: [`orchestrator`] for the handle, [`sends`] for the path of a prompt, [`runtime`] for the
//! owner of a live session, [`recovery`] for start-up.

pub(crate) mod admission;
pub mod appender;
pub mod attachments;
mod awaited;
pub mod clarifications;
pub mod config;
pub(crate) mod emit;
pub mod environments;
pub mod error;
pub mod git;
pub(crate) mod keyed;
pub mod keys;
pub mod launch;
pub mod orchestrator;
pub mod permissions;
pub mod profiles;
pub(crate) mod publish;
pub mod queue;
pub mod recover;
pub mod recovery;
pub mod repositories;
pub mod runtime;
pub mod sends;
pub mod sessions;
pub mod suggestions;
pub mod tasks;
pub(crate) mod turn_plan;
pub(crate) mod turns;
pub(crate) mod unread;
pub mod workspaces;
