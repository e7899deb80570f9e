//! The wire: envelopes, requests, responses and notifications, as Rust types from which the browser's TypeScript is
//! generated.
//!
//! Names are part of the contract. A shape may gain fields; it never loses or retypes one. `docs/protocol.md`
//! describes every action.
//!
//! Invariant: these types carry data and validate nothing beyond their shape; rules live in `model` and in the
//! commands of `orchestrator`.

pub mod action;
pub mod envelope;
pub mod http;
pub mod notification;
pub mod request;
pub mod response;
