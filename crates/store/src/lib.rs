//! The store: SQL for SQLite and PostgreSQL behind one query helper, and nothing but SQL.
//!
//! - [`sql`] is that helper: one statement text for both engines, typed binds, typed columns.
//! - [`tx`] gives transactions. A write transaction collects the events of its change and the tasks whose summary
//!   inputs it touched; committing raises their `authority_seq` and hands the events back, in order, to be published
//!   (laws 5 and 2).
//! - One module per group of tables holds the statements; every function takes the transaction it runs in.
//!
//! Invariant: this crate publishes nothing, decides nothing about agents or people, and reads no clock but the one
//! it was given.
//!
//! Where to read next: [`authority`] for what a summary is derived from, [`messages`] for how a transcript is kept.

pub(crate) mod active_errors;
pub mod activity;
pub mod attachments;
pub mod auth;
pub mod authority;
pub mod backup;
pub mod clarifications;
pub mod cures;
pub(crate) mod dialect;
pub mod environments;
pub mod error;
pub mod executions;
#[cfg(feature = "faults")]
pub mod faults;
pub mod hydration;
pub mod instance;
pub mod latest;
pub mod marks;
pub mod messages;
pub(crate) mod migrations;
pub mod open;
pub(crate) mod outcome;
pub mod profiles;
pub mod pull_requests;
pub mod recovery;
pub mod repositories;
pub mod requests;
pub mod row;
pub mod schema;
pub mod scope;
pub mod segments;
pub mod sessions;
pub mod snapshots;
pub mod sql;
pub mod standing;
pub mod summaries;
pub mod tasks;
pub mod truths;
pub mod turns;
pub mod tx;
pub mod workspaces;
