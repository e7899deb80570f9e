//! Commands over real databases and their effect on rows: errors, deletions and Git, on every engine the store serves.
//!
//! No agent's process is started here; what needs one is shown through a running server.

#[cfg(test)]
mod deletion;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod git_rows;
#[cfg(test)]
mod lost_answers;
#[cfg(test)]
mod pending;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod returning_errors;
#[cfg(test)]
mod uploads;
#[cfg(test)]
mod world;
