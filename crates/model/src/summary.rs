//! The shape of the status summary: everything a row needs, in constant size (SUM-02).
//!
//! Absent means none, zero or unknown; for `git` it means unknown, because "not measured" is not "clean". How a
//! value is derived stands in the `summary` crate; this module only says what it looks like.

use crate::clock::Timestamp;
use crate::error::{ActiveError, words};
use crate::git::GitTotals;
use crate::ids::SessionId;
use crate::pull_request::forge_text::PullRequestUrl;
use crate::session::{Activity, SessionState};
use serde::{Deserialize, Serialize};

/// What the read model says about one task, without revision and projection time: the canonical semantic payload.
/// Two payloads that serialise to the same text are the same value (SUM-06).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct SummaryPayload {
    /// The latest durable milestone of the task (SUM-08); only a malformed or older row lacks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_activity_at: Option<Timestamp>,
    /// The session whose state the row shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_session: Option<PrimarySession>,
    /// Whether any agent of the task works now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreground_activity: Option<Activity>,
    /// Live subagents of all non-terminal sessions, at most `bounds::ACTIVE_SUBAGENTS`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_subagent_count: Option<u32>,
    /// What the task waits on a person for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_action: Option<PendingAction>,
    /// Since when: the earliest pending request of the kind shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_since: Option<Timestamp>,
    /// Prompts waiting for an agent to be free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_prompt_count: Option<u32>,
    /// The newest relevant error, independent of everything above (ERR-01).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_error: Option<ActiveError>,
    /// Totals over every repository of every bound environment; absent until all are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitTotals>,
    /// The linked pull requests, as one bounded aggregate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequestSummary>,
}

/// A payload with its task-local version and projection time: what is stored, listed and published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct TaskStatusSummary {
    /// Rises with every semantic change; clients ignore one that is not newer (SUM-07).
    pub revision: i64,
    /// When this value was projected.
    pub updated_at: Timestamp,
    /// The facts.
    #[serde(flatten)]
    pub payload: SummaryPayload,
}

/// The primary session's id and state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct PrimarySession {
    /// Its id.
    pub id: SessionId,
    /// Its lifecycle state.
    pub state: SessionState,
}

words! {
    /// What a person is asked for. Permission outranks clarification (PEN-01).
    PendingAction {
        /// The agent wants to do something and asks whether it may.
        Permission = "permission",
        /// The agent asks a question.
        Clarification = "clarification",
    }
}

words! {
    /// The most attention-worthy state of the linked pull requests (PR-02), most urgent first.
    AggregateState {
        /// A check failed, changes were requested, or a thread is unresolved.
        Failure = "failure",
        /// It cannot be merged as it is.
        Blocked = "blocked",
        /// Checks are running or not reported yet.
        Pending = "pending",
        /// A review is asked for.
        AwaitingReview = "awaiting_review",
        /// It can be merged.
        Ready = "ready",
        /// Checks are green, approval is missing.
        Passing = "passing",
        /// A draft.
        Draft = "draft",
        /// Merged.
        Merged = "merged",
        /// Closed unmerged.
        Closed = "closed",
        /// Nothing is known to be right or wrong.
        Neutral = "neutral",
    }
}

/// The linked pull requests in constant size (PR-01, PR-03).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct PullRequestSummary {
    /// All linked ones, merged and closed ones too.
    pub count: u32,
    /// Open ones, drafts included: the active ones.
    pub open_count: u32,
    /// The state of the representative: the first of them by urgency, then by number.
    pub aggregate_state: AggregateState,
    /// Number of the representative.
    pub number: u32,
    /// Its address: http or https, percent-encoded, at most `bounds::PULL_REQUEST_URL_BYTES`.
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub url: PullRequestUrl,
    /// Whether auto-fix is on for any active linked pull request.
    pub auto_fix: bool,
    /// Whether auto-merge is on for any active linked pull request.
    pub auto_merge: bool,
}
