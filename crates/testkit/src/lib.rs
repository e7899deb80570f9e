//! What tests need: a running server as a real process, a WebSocket client, Git repositories, throwaway stores, and a
//! language model for real agents.
//!
//! Everything is real: real processes, sockets, files and Git. A test waits for the state that it needs, with a
//! deadline that only a broken build reaches; it never sleeps.
//!
//! A dev-dependency only; the product never uses it.

#![expect(
    clippy::indexing_slicing,
    reason = "indexing a JSON value by a missing name gives null"
)]

pub mod client;
pub mod cut_line;
pub mod http;
pub mod in_process;
pub mod postgres;
pub mod recorder;
pub mod repository;
pub mod server;
pub mod store;
pub mod story;
pub mod stub_model;
pub mod waiting;
