//! The words of flightstrip: ids, entities, events, bounds, and the rules that concern one entity.
//!
//! This crate is plain data and pure functions. It knows no runtime, no SQL, no socket and no clock of its own:
//! whatever depends on time takes `now`. Types that cross the wire derive their TypeScript under the `ts` feature,
//! so the browser and the server cannot disagree about a shape.
//!
//! Invariant: nothing here performs I/O, and nothing here depends on another crate of this workspace.
//!
//! Where to read next: [`task`] and [`session`] for the entities, [`row_state`] for what a row shows,
//! [`summary`] for the read model's shape, [`event`] for what a change publishes.

pub mod agent;
pub mod attachment;
pub mod bounds;
pub mod clarification;
pub mod clock;
pub mod environment;
pub mod error;
pub mod event;
pub mod git;
pub mod ids;
pub mod message;
pub mod pull_request;
pub mod row_state;
pub mod session;
pub mod summary;
pub mod task;
pub mod text;
pub mod turn;
pub mod turn_machine;
pub mod workspace;
