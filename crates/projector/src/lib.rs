//! The projector: from "this task changed" to a stored and published summary. The only writer of
//! `task_status_summaries`.
//!
//! It takes tasks that lag behind their authority, loads what a batch of them is derived from in one read snapshot,
//! derives, and compares-and-updates. A poke is only a hint; the mark in the database is the truth, so a lost poke is
//! found by the next sweep or start (REC-06). Start-up, repair and live updates run the same code (law 2).
//!
//! Invariant: an unchanged value is neither written nor published (SUM-05).
//! Invariant: what is stored is published, even when the answer to its commit was lost (module `owed`).
//! Invariant: a failure keeps the last stored value and is logged with its task; nothing else waits for it (REC-03).
//!
//! Where to read next: [`schedule`] for when a task is served, [`project`] for one batch.

pub(crate) mod owed;
pub mod project;
pub mod running;
pub mod schedule;
