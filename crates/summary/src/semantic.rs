//! When two summaries mean the same (SUM-06).
//!
//! The canonical form is the serialised payload: fields in declaration order, absent and empty ones left out, times
//! as fixed-width text. The store compares this text, tests compare this text, and [`eq`] is defined by it, so there
//! is no second opinion about what a no-op is.

use model::summary::SummaryPayload;

/// The canonical text of a payload; it is what the store keeps.
#[must_use]
pub fn json(payload: &SummaryPayload) -> String {
    serde_json::to_string(payload).expect("a payload is plain data with text keys")
}

/// Whether two payloads mean the same.
#[must_use]
pub fn eq(a: &SummaryPayload, b: &SummaryPayload) -> bool {
    json(a) == json(b)
}
