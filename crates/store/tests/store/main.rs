//! The store on real databases, told as stories; every test runs on every engine the store serves.

#[cfg(test)]
mod active_errors;
#[cfg(test)]
mod activity;
#[cfg(test)]
mod attachments;
#[cfg(test)]
mod clarifications;
#[cfg(test)]
mod clock;
#[cfg(test)]
mod environments;
#[cfg(test)]
mod git_totals;
#[cfg(test)]
mod hydration;
#[cfg(test)]
mod lost_answers;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod migrations;
#[cfg(test)]
mod pending;
#[cfg(test)]
mod pull_request_facts;
#[cfg(test)]
mod pull_requests;
#[cfg(test)]
mod queue;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod statements;
#[cfg(test)]
mod summaries;
#[cfg(test)]
mod writers;
