//! The gateway over real sockets and a real store: what a browser, a program or a stranger meets.

#[cfg(test)]
mod assets;
#[cfg(test)]
mod attachments;
#[cfg(test)]
mod boot;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod door;
#[cfg(test)]
mod events;
#[cfg(test)]
mod frames;
#[cfg(test)]
mod hydration;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod order;
#[cfg(test)]
mod replica;
#[cfg(test)]
mod server;
#[cfg(test)]
mod sign_in;
#[cfg(test)]
mod start_up;
#[cfg(test)]
mod subscriptions;
#[cfg(test)]
mod uploads;
#[cfg(test)]
mod world;
