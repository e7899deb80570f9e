//! The active error: bounded, stamped, with the actions that can really repair it.
//!
//! A failure before a session row exists is a launch error of the task; afterwards it is a session error. Both have
//! the same shape. The same failure again is a new stamp, because the stamp covers the time.

use crate::bounds;
use crate::clock::Timestamp;
use crate::ids::{SessionId, TaskRepositoryId};
use crate::session::SessionState;
use crate::text;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The stored and wire word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Reads the word; nothing for an unknown one.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What went wrong, as far as it decides what can be done.
    ErrorCategory {
        /// The recorded base branch is not in the repository.
        BaseBranchMissing = "base_branch_missing",
        /// The repository has no branch that could be its default.
        DefaultBranchUnresolved = "default_branch_unresolved",
        /// The task's pull request was closed.
        PrAlreadyClosed = "pr_already_closed",
        /// The agent's program cannot be started.
        AgentUnavailable = "agent_unavailable",
        /// The workspace on disk cannot be made or used.
        WorkspaceInvalid = "workspace_invalid",
        /// Too many agents live at once.
        LimitReached = "limit_reached",
        /// Any other failed start.
        GenericLaunchFailure = "generic_launch_failure",
        /// The agent's process ended unasked.
        AgentExited = "agent_exited",
        /// The agent broke the protocol or did not answer in time.
        AgentProtocol = "agent_protocol",
        /// The agent wants its user signed in.
        AgentAuth = "agent_auth",
        /// The workspace on disk is gone.
        WorkspaceMissing = "workspace_missing",
        /// The agent declined to go on.
        AgentRefused = "agent_refused",
        /// The agent's own usage limit is used up.
        UsageLimit = "usage_limit",
        /// One line of the agent's output exceeded `bounds::AGENT_LINE_BYTES`.
        LineTooLong = "line_too_long",
    }
}

words! {
    /// What a person can do about an error; every offered action really acts.
    RecoveryAction {
        /// Launch again on the repository's default branch, or start the existing session again.
        RetryDefault = "retry_default",
        /// Launch again on a chosen base branch.
        PickBaseBranch = "pick_base_branch",
        /// Move the task to its last step.
        MarkReviewDone = "mark_review_done",
    }
}

impl RecoveryAction {
    /// Whether it starts something again, which in a session that is over nothing does.
    #[must_use]
    pub const fn starts_again(self) -> bool {
        match self {
            Self::RetryDefault | Self::PickBaseBranch => true,
            Self::MarkReviewDone => false,
        }
    }
}

impl ErrorCategory {
    /// The actions offered for this category (`domain`: launch and session categories).
    #[must_use]
    pub const fn recovery_actions(self) -> &'static [RecoveryAction] {
        use RecoveryAction::{MarkReviewDone, PickBaseBranch, RetryDefault};
        match self {
            Self::BaseBranchMissing => &[RetryDefault, PickBaseBranch],
            Self::DefaultBranchUnresolved => &[PickBaseBranch],
            Self::PrAlreadyClosed => &[MarkReviewDone],
            Self::AgentUnavailable
            | Self::WorkspaceInvalid
            | Self::LimitReached
            | Self::GenericLaunchFailure
            | Self::AgentExited
            | Self::AgentProtocol
            | Self::AgentAuth
            | Self::WorkspaceMissing => &[RetryDefault],
            Self::AgentRefused | Self::UsageLimit | Self::LineTooLong => &[],
        }
    }
}

/// Keeps the first `bounds::RECOVERY_ACTIONS` known, distinct actions of a stored list (ERR-03).
#[must_use]
pub fn known_actions<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<RecoveryAction> {
    let mut known = Vec::new();
    for action in words.into_iter().filter_map(RecoveryAction::parse) {
        if known.len() < bounds::RECOVERY_ACTIONS && !known.contains(&action) {
            known.push(action);
        }
    }
    known
}

/// The error a row shows (ERR-01 … ERR-03).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct ActiveError {
    /// The session it happened in; absent for a task-owned launch error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The one repository that caused it, when there is one: the exact target of a recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_repository_id: Option<TaskRepositoryId>,
    /// Names this very failure: 32 hex characters over owner, time and preview.
    pub stamp: String,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// One inert line of at most `bounds::ERROR_PREVIEW_BYTES`.
    pub preview: String,
    /// What kind of failure; at most `bounds::ERROR_CATEGORY_BYTES`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What can be done about it, at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "ts", ts(as = "Option<Vec<RecoveryAction>>", optional))]
    pub recovery_actions: Vec<RecoveryAction>,
}

impl ActiveError {
    /// Records a failure: bounds its text, stamps it, and offers the category's actions. `owner` is the id of the
    /// session or task it belongs to.
    #[must_use]
    pub fn record(
        owner: &str,
        occurred_at: Timestamp,
        text: &str,
        category: ErrorCategory,
    ) -> Self {
        let preview = text::preview(text, bounds::ERROR_PREVIEW_BYTES);
        Self {
            session_id: None,
            task_repository_id: None,
            stamp: stamp(owner, occurred_at, &preview),
            occurred_at,
            preview,
            category: Some(category.as_str().to_owned()),
            recovery_actions: category.recovery_actions().to_vec(),
        }
    }

    /// The error as a session in this state has it: what would only be refused is not offered.
    #[must_use]
    pub fn in_session(mut self, state: SessionState) -> Self {
        if state.is_terminal() {
            self.recovery_actions
                .retain(|action| !action.starts_again());
        }
        self
    }

    /// What decides which of several errors is the newest: time, then stamp, session and repository, so that equal
    /// times still give one answer on every engine.
    #[must_use]
    pub fn order(&self) -> (Timestamp, &str, &str, &str) {
        (
            self.occurred_at,
            &self.stamp,
            self.session_id.as_ref().map_or("", SessionId::as_str),
            self.task_repository_id
                .as_ref()
                .map_or("", TaskRepositoryId::as_str),
        )
    }
}

fn stamp(owner: &str, at: Timestamp, preview: &str) -> String {
    let mut hash = Sha256::new();
    for part in [owner, &at.to_string(), preview] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        let _ = write!(hex, "{byte:02x}"); // writing to a String cannot fail
    }
    hex.truncate(bounds::ERROR_STAMP_BYTES);
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_failure_again_is_a_new_stamp() {
        let at = Timestamp::from_micros(1);
        let first = ActiveError::record("s1", at, "boom", ErrorCategory::AgentExited);
        assert_eq!(first.stamp.len(), bounds::ERROR_STAMP_BYTES);
        assert_eq!(
            first.stamp,
            ActiveError::record("s1", at, "boom", ErrorCategory::AgentExited).stamp
        );
        let later = ActiveError::record(
            "s1",
            Timestamp::from_micros(2),
            "boom",
            ErrorCategory::AgentExited,
        );
        assert_ne!(first.stamp, later.stamp);
        assert_ne!(
            first.stamp,
            ActiveError::record("s2", at, "boom", ErrorCategory::AgentExited).stamp
        );
    }

    #[test]
    fn err_03_only_known_distinct_actions_are_kept() {
        let words = [
            "retry_default",
            "format_disk",
            "retry_default",
            "mark_review_done",
            "pick_base_branch",
        ];
        use RecoveryAction::{MarkReviewDone, PickBaseBranch, RetryDefault};
        assert_eq!(
            known_actions(words),
            [RetryDefault, MarkReviewDone, PickBaseBranch]
        );
    }

    /// ERR-03.
    #[test]
    fn an_error_offers_to_start_nothing_in_a_session_that_is_over() {
        let all = ActiveError {
            recovery_actions: RecoveryAction::ALL.to_vec(),
            ..ActiveError::record(
                "s1",
                Timestamp::from_micros(1),
                "boom",
                ErrorCategory::AgentExited,
            )
        };
        for state in SessionState::ALL {
            let offered = all.clone().in_session(*state).recovery_actions;
            if state.is_terminal() {
                assert_eq!(offered, [RecoveryAction::MarkReviewDone], "{state:?}");
            } else {
                assert_eq!(offered, RecoveryAction::ALL, "{state:?}");
            }
        }
    }

    #[test]
    fn err_03_preview_and_category_are_bounded() {
        let error = ActiveError::record(
            "t",
            Timestamp::from_micros(0),
            &"ñ".repeat(600),
            ErrorCategory::AgentAuth,
        );
        assert_eq!(error.preview.len(), 512);
        assert!(
            ErrorCategory::ALL
                .iter()
                .all(|c| c.as_str().len() <= bounds::ERROR_CATEGORY_BYTES)
        );
        assert!(
            ErrorCategory::ALL
                .iter()
                .all(|c| c.recovery_actions().len() <= bounds::RECOVERY_ACTIONS)
        );
    }
}
