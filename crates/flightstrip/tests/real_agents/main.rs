//! The main job with agents that nobody here wrote: real programs from npm, each with a home of its own, against the
//! stub model of `testkit`.
//!
//! `cargo xtask test --real-agents` installs them and says by two variables where they are and which were asked for.
//! Without these the tests fail rather than pass without having tested anything.
//!
//! What an agent is told stands in the words that `testkit::stub_model::script` understands.

#![expect(
    clippy::indexing_slicing,
    reason = "indexing a JSON value by a missing name gives null"
)]

mod agents;
mod asking;
mod main_job;
#[expect(dead_code, reason = "the scenarios use all of it")]
#[path = "../scenarios/questions.rs"]
mod questions;
mod refusal;
#[expect(dead_code, reason = "the scenarios use all of it")]
#[path = "../scenarios/support.rs"]
mod support;
mod workplace;
