//! The status summary: what it is derived from, how, and when two of them mean the same.
//!
//! A summary is `derive(&TaskAuthority) -> SummaryPayload`, a pure function (SUM-04, law 2). Restart, repair,
//! hydration and live updates all run this one function over what one loader read; an event only says which task.
//!
//! Invariant: nothing here knows where its input came from or what time it is.
//!
//! Where to read next: [`authority`] for the input, [`derive`] for the rules, [`semantic`] for equality.

pub mod authority;
pub mod derive;
pub mod semantic;
