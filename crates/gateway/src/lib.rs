//! The gateway: HTTP and WebSocket, and the only place where authorization happens (law 8).
//!
//! - [`gateway`] listens, opens the API when start-up is over, and shuts down.
//! - [`hub`] takes committed events and pushes them into the outbox of whoever subscribed; `connection` writes an
//!   outbox to its socket and reads requests; `requests` carries them out, one file per area.
//! - [`codes`] and `http::sign_in` are how a person gets in; `door` is who may knock at all.
//!
//! Invariants: this crate writes through the orchestrator and reads through typed queries of the store, it contains no
//! SQL and starts no process; nothing it logs holds content, secrets or paths.
//!
//! Where to read next: `flow::outbox` for the rules of delivery.

pub mod api;
mod client;
pub mod codes;
mod connection;
mod door;
pub mod error;
mod focus;
mod frame;
pub mod gateway;
mod http;
pub mod hub;
mod listener;
mod mcp;
mod pages;
pub mod readiness;
mod refusal;
mod requests;
mod secret;
pub mod uploads;
