//! The gateway over real sockets and a real store: what a browser, a program or a stranger meets.

mod assets;
mod boot;
mod commands;
mod delivery;
mod door;
mod frames;
mod lists;
mod server;
mod sign_in;
mod start_up;
mod subscriptions;
mod world;
