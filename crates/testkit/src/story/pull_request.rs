//! Pull requests of a task, as few words as a test needs for one.

use crate::story::Story;
use anyhow::Result;
use model::ids::{PullRequestId, TaskId};
use model::pull_request::forge_text::{BranchName, ForgeWord, PullRequestUrl};
use model::pull_request::{
    ChecksState, MergeableState, PullRequestFacts, PullRequestIdentity, PullRequestLifecycle,
    PullRequestOptions, ReviewState, Standing,
};
use store::pull_requests::{self, ChangeOutcome, FactsOutcome, NewPullRequest};

/// Which pull request has this number, in the one repository that stories know.
///
/// # Errors
/// Never: every number has an address.
pub fn identity(number: u32) -> Result<PullRequestIdentity> {
    let url = format!("https://forge.example/owner/project/pull/{number}");
    Ok(PullRequestIdentity {
        host: ForgeWord::parse("forge.example")?,
        owner: ForgeWord::parse("owner")?,
        repository: ForgeWord::parse("project")?,
        number,
        url: PullRequestUrl::parse(&url)?,
    })
}

/// Facts of this standing, about one head.
#[must_use]
pub fn facts(standing: Standing) -> PullRequestFacts {
    PullRequestFacts {
        title: "A pull request".to_owned(),
        head_owner: ForgeWord::parse("owner").ok(),
        head_repository: ForgeWord::parse("project").ok(),
        head_branch: BranchName::parse("work").ok(),
        head_commit: ForgeWord::parse("c0ffee").ok(),
        base_branch: BranchName::parse("main").ok(),
        standing,
    }
}

/// An open one with these checks, that waits for no review.
#[must_use]
pub const fn checked(checks_state: ChecksState) -> Standing {
    Standing {
        checks_state,
        review_state: ReviewState::NotRequired,
        mergeable_state: MergeableState::Clean,
        ..Standing::UNSEEN
    }
}

/// One that was merged or closed.
#[must_use]
pub const fn ended(lifecycle: PullRequestLifecycle) -> Standing {
    Standing {
        lifecycle,
        ..checked(ChecksState::Green)
    }
}

impl Story {
    /// A pull request is linked, and looked at for the first time.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn pull_request(
        &self,
        task: &TaskId,
        number: u32,
        standing: Standing,
    ) -> Result<PullRequestId> {
        let (id, identity) = (PullRequestId::generate(), identity(number)?);
        self.change(&[], async |tx| {
            let new = NewPullRequest {
                id: &id,
                task_id: task,
                identity: &identity,
                by_hand: false,
            };
            pull_requests::link(tx, &new).await?;
            let now = tx.now();
            pull_requests::record_facts(tx, &id, &facts(standing), now).await
        })
        .await?;
        Ok(id)
    }

    /// The forge says something about a pull request.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn forge_says(&self, id: &PullRequestId, standing: Standing) -> Result<FactsOutcome> {
        let facts = facts(standing);
        self.change(&[], async |tx| {
            let now = tx.now();
            pull_requests::record_facts(tx, id, &facts, now).await
        })
        .await
    }

    /// A person sets the switches of a pull request.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn switch(
        &self,
        id: &PullRequestId,
        auto_fix: bool,
        auto_merge: bool,
    ) -> Result<ChangeOutcome> {
        let options = PullRequestOptions {
            auto_fix,
            auto_merge,
        };
        self.change(&[], async |tx| {
            pull_requests::set_options(tx, id, options).await
        })
        .await
    }

    /// A pull request is unlinked.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn unlink(&self, id: &PullRequestId) -> Result<ChangeOutcome> {
        self.change(&[], async |tx| pull_requests::unlink(tx, id).await)
            .await
    }
}
