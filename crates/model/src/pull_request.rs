//! Pull requests: what is known of a linked one, and the one word a row says about it.
//!
//! Whoever polls a forge stores facts; the rules here turn them into a state without a clock, so what depends on time
//! ("no check was reported yet") is decided when the facts are stored. `Unknown` always means "could not be read",
//! and never counts for or against a pull request: not measured is not green.
//!
//! - [`Standing::state`] is the state of one pull request, first match (PR-02).
//! - [`Standing::rank`] orders several of them: open before merged and closed, then the most urgent state. The
//!   representative of a task is the first by (rank, number, address).
//! - [`PullRequestFacts::after`] says what newer facts leave standing of older ones.
//!
//! Texts that come from a forge are checked where they come in ([`forge_text`]).

pub mod forge_text;

use crate::clock::Timestamp;
use crate::error::words;
use crate::ids::{PullRequestId, TaskId};
use crate::pull_request::forge_text::{BranchName, ForgeWord, PullRequestUrl};
use crate::summary::AggregateState;

words! {
    /// Whether a pull request is still to be decided.
    PullRequestLifecycle {
        /// It is open; a draft is too.
        Open = "open",
        /// Its commits were taken.
        Merged = "merged",
        /// It was closed without being merged.
        Closed = "closed",
    }
}

words! {
    /// What the newest run of each check says about the current head, all checks together.
    ChecksState {
        /// It could not be read.
        Unknown = "unknown",
        /// No check is configured: the head has been there long enough for one to be reported.
        NotConfigured = "not_configured",
        /// One runs, is expected, wants a person, ended in a way that is not known, was reported for an older head
        /// only, or may still be reported.
        Pending = "pending",
        /// One failed, was cancelled, ran out of time or could not start.
        Failing = "failing",
        /// All are green: succeeded, skipped or neutral.
        Green = "green",
    }
}

words! {
    /// What reviewers said.
    ReviewState {
        /// It could not be read.
        Unknown = "unknown",
        /// No rule wants a review, and none that was asked for is missing.
        NotRequired = "not_required",
        /// A review is required or was asked for, and there is none.
        Awaiting = "awaiting",
        /// There are reviews, and the rule wants more.
        Incomplete = "incomplete",
        /// It is approved.
        Approved = "approved",
        /// Somebody wants changes.
        ChangesRequested = "changes_requested",
    }
}

words! {
    /// Whether the forge would merge it.
    MergeableState {
        /// It could not be read, or the forge has not worked it out yet.
        Unknown = "unknown",
        /// Nothing stands against it.
        Clean = "clean",
        /// It could be merged, and something that is no condition is not in order.
        Unstable = "unstable",
        /// A rule of the forge forbids it.
        Blocked = "blocked",
        /// It conflicts with its base.
        Conflicting = "conflicting",
    }
}

/// Every fact that a rule asks for: what the summary loads of a pull request, beside number, address and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// Open, merged or closed.
    pub lifecycle: PullRequestLifecycle,
    /// Not ready for review.
    pub draft: bool,
    /// Its checks.
    pub checks_state: ChecksState,
    /// Its reviews.
    pub review_state: ReviewState,
    /// Whether it can be merged.
    pub mergeable_state: MergeableState,
    /// The forge will merge it once its turn comes.
    pub in_merge_queue: bool,
    /// Threads of the review that nobody resolved.
    pub unresolved_threads: u32,
}

impl Standing {
    /// An open pull request of which nothing else is known: one that was linked and not looked at yet.
    pub const UNSEEN: Self = Self {
        lifecycle: PullRequestLifecycle::Open,
        draft: false,
        checks_state: ChecksState::Unknown,
        review_state: ReviewState::Unknown,
        mergeable_state: MergeableState::Unknown,
        in_merge_queue: false,
        unresolved_threads: 0,
    };

    /// Whether it is open, drafts included. A linked pull request that is open is *active* (PR-03).
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.lifecycle, PullRequestLifecycle::Open)
    }

    /// Its state: the first of these that holds (PR-02).
    #[must_use]
    pub const fn state(&self) -> AggregateState {
        use AggregateState as State;
        match self.lifecycle {
            PullRequestLifecycle::Merged => return State::Merged,
            PullRequestLifecycle::Closed => return State::Closed,
            PullRequestLifecycle::Open => {}
        }
        if self.draft {
            return State::Draft;
        }
        if matches!(self.mergeable_state, MergeableState::Conflicting) {
            return State::Blocked;
        }
        if matches!(self.review_state, ReviewState::ChangesRequested)
            || matches!(self.checks_state, ChecksState::Failing)
            || 0 < self.unresolved_threads
        {
            return State::Failure;
        }
        if matches!(self.checks_state, ChecksState::Pending) || self.in_merge_queue {
            return State::Pending;
        }
        if matches!(self.review_state, ReviewState::Awaiting) {
            return State::AwaitingReview;
        }
        if matches!(self.mergeable_state, MergeableState::Blocked) {
            return State::Blocked;
        }
        if self.may_be_merged() {
            return State::Ready;
        }
        if matches!(self.checks_state, ChecksState::Green) {
            return State::Passing;
        }
        State::Neutral
    }

    /// Checks are green or there are none, reviewers are content, and the forge is known to have nothing against it.
    /// An approval outweighs what is only untidy; without a review rule everything must be clean.
    const fn may_be_merged(&self) -> bool {
        matches!(
            self.checks_state,
            ChecksState::Green | ChecksState::NotConfigured
        ) && matches!(
            (self.review_state, self.mergeable_state),
            (
                ReviewState::Approved,
                MergeableState::Clean | MergeableState::Unstable
            ) | (ReviewState::NotRequired, MergeableState::Clean)
        )
    }

    /// Smaller is more urgent: open before merged and closed, then the order of [`AggregateState`] (PR-02).
    #[must_use]
    pub const fn rank(&self) -> (bool, AggregateState) {
        (!self.is_open(), self.state())
    }
}

/// What a forge said about a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestFacts {
    /// Its title; stored as one inert line of at most [`crate::bounds::PULL_REQUEST_TITLE_BYTES`].
    pub title: String,
    /// Who owns the repository that the head lies in; absent when that is gone.
    pub head_owner: Option<ForgeWord>,
    /// The repository that the head lies in: the task's own, or a fork.
    pub head_repository: Option<ForgeWord>,
    /// The branch that is to be merged.
    pub head_branch: Option<BranchName>,
    /// Its newest commit: what checks and mergeability are about.
    pub head_commit: Option<ForgeWord>,
    /// The branch it is to be merged into.
    pub base_branch: Option<BranchName>,
    /// What its state is derived from.
    pub standing: Standing,
}

impl PullRequestFacts {
    /// The facts of a pull request that was linked and not looked at yet.
    #[must_use]
    pub const fn unseen() -> Self {
        Self {
            title: String::new(),
            head_owner: None,
            head_repository: None,
            head_branch: None,
            head_commit: None,
            base_branch: None,
            standing: Standing::UNSEEN,
        }
    }

    /// These newer facts where they say something, and the `stored` ones where they could not be read.
    ///
    /// Mergeability is kept for the same head only. Checks that were known for another head are checks of an older
    /// head: pending. What reviewers said does not depend on the head.
    #[must_use]
    pub fn after(mut self, stored: &Self) -> Self {
        let (old, new) = (&stored.standing, &mut self.standing);
        let both_heads = stored.head_commit.as_ref().zip(self.head_commit.as_ref());
        let same_head = both_heads.is_some_and(|(old, new)| old == new);
        let other_head = both_heads.is_some_and(|(old, new)| old != new);
        if new.mergeable_state == MergeableState::Unknown && same_head {
            new.mergeable_state = old.mergeable_state;
        }
        if new.checks_state == ChecksState::Unknown {
            new.checks_state = if other_head && old.checks_state != ChecksState::Unknown {
                ChecksState::Pending
            } else {
                old.checks_state
            };
        }
        if new.review_state == ReviewState::Unknown {
            new.review_state = old.review_state;
        }
        self
    }
}

/// What does something about a pull request by itself, while it is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PullRequestOptions {
    /// An agent is told of failures and asked to repair them.
    pub auto_fix: bool,
    /// It is merged once it is ready.
    pub auto_merge: bool,
}

/// Which pull request: unique among those of a task by host, owner, repository and number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestIdentity {
    /// The forge's host.
    pub host: ForgeWord,
    /// Who owns the repository that it was opened in.
    pub owner: ForgeWord,
    /// That repository.
    pub repository: ForgeWord,
    /// Its number there.
    pub number: u32,
    /// Its address.
    pub url: PullRequestUrl,
}

/// A pull request that is linked to a task. A pull request of two tasks is two of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// Its id.
    pub id: PullRequestId,
    /// The task.
    pub task_id: TaskId,
    /// Rises with every change of facts or options.
    pub revision: i64,
    /// Which one.
    pub identity: PullRequestIdentity,
    /// A person linked it; only so can it have a default branch as its head.
    pub linked_by_hand: bool,
    /// What the forge said last.
    pub facts: PullRequestFacts,
    /// Its switches.
    pub options: PullRequestOptions,
    /// When the look that gave the facts began; absent until it was looked at.
    pub observed_at: Option<Timestamp>,
    /// When it was linked.
    pub created_at: Timestamp,
    /// When facts or options changed last.
    pub updated_at: Timestamp,
}

#[cfg(test)]
#[path = "pull_request_tests.rs"]
mod tests;
