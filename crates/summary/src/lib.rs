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

/// The number of the rules that summaries follow. It rises with every change that gives the same records another
/// payload, in [`derive`] or in what a loader reads for it. A start that finds another number beside the stored
/// summaries derives all of them again before it is ready (REC-01, REC-02).
pub const RULES: i64 = 1;

#[cfg(test)]
mod rules_tests;
