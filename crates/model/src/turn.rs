//! Turns: from a prompt to the agent's stop, and which of them is the current one.
//!
//! Authority is sticky: once a turn has a message or was attempted, it stays the boundary whatever is deleted later
//! (PEN-03, PEN-04). A lifecycle turn (an agent's start or resume) supersedes nothing.

use crate::clock::Timestamp;
use crate::error::words;
use crate::ids::{SessionId, TurnId};
use serde::{Deserialize, Serialize};

words! {
    /// How a turn ended.
    TurnOutcome {
        /// The agent finished.
        Completed = "completed",
        /// A person stopped it, or the agent says it was cancelled.
        Cancelled = "cancelled",
        /// The agent failed or its process ended.
        Failed = "failed",
        /// Its prompt never reached an agent and went back to the queue.
        NotDispatched = "not_dispatched",
        /// The server stopped while it was open.
        Interrupted = "interrupted",
    }
}

/// One turn of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// Rises with every change of this row.
    pub revision: i64,
    /// Later than every earlier turn of the session.
    pub started_at: Timestamp,
    /// When it settled; absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TurnOutcome>,
    /// Set with the turn's first message or its dispatch, never unset.
    pub authoritative: bool,
    /// An agent's start or resume: not conversational (SUM-09).
    pub lifecycle_only: bool,
    /// Reserved for a prompt that is not written yet.
    pub prompt_dispatch_pending: bool,
    /// The prompt may have reached the agent.
    pub prompt_dispatch_attempted: bool,
    /// When a person asked to stop it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_requested_at: Option<Timestamp>,
}

/// The current turn of a session (PEN-02): the newest authoritative one that is not lifecycle-only.
#[must_use]
pub fn current_turn<'a>(turns: impl IntoIterator<Item = &'a Turn>) -> Option<&'a Turn> {
    turns
        .into_iter()
        .filter(|turn| turn.authoritative && !turn.lifecycle_only)
        .max_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(id: &str, at: i64, authoritative: bool, lifecycle_only: bool) -> Turn {
        Turn {
            id: TurnId::parse(id).expect("a test id"),
            session_id: SessionId::parse("s").expect("a test id"),
            revision: 1,
            started_at: Timestamp::from_micros(at),
            completed_at: None,
            outcome: None,
            authoritative,
            lifecycle_only,
            prompt_dispatch_pending: false,
            prompt_dispatch_attempted: false,
            cancel_requested_at: None,
        }
    }

    #[test]
    fn pen_02_the_current_turn_is_the_newest_authoritative_conversational_one() {
        let check = |turns: &[Turn], expected: Option<&str>| {
            assert_eq!(current_turn(turns).map(|t| t.id.as_str()), expected);
        };
        check(&[], None);
        check(
            &[turn("a", 1, true, false), turn("b", 2, true, false)],
            Some("b"),
        );
        check(
            &[
                turn("a", 1, true, false),
                turn("empty-reservation", 2, false, false),
            ],
            Some("a"),
        );
        check(
            &[turn("a", 1, true, false), turn("resume", 2, true, true)],
            Some("a"),
        );
        check(
            &[turn("a", 1, true, false), turn("b", 1, true, false)],
            Some("b"),
        );
    }
}
