//! The projector over real databases: summaries are what authority says, whatever happens on the way.

#[cfg(test)]
mod concurrency;
#[cfg(test)]
mod contention;
#[cfg(test)]
mod hydrating;
#[cfg(test)]
mod milestones;
#[cfg(test)]
mod pending;
#[cfg(test)]
mod projecting;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod pull_requests;
#[cfg(test)]
mod running;
