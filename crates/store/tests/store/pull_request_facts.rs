//! What a forge says about linked pull requests: a change marks the task, a repetition or a late look does not.

use crate::pull_requests::{marks, one};
use anyhow::Result;
use model::bounds;
use model::clock::Timestamp;
use model::ids::PullRequestId;
use model::pull_request::forge_text::{BranchName, ForgeWord};
use model::pull_request::{
    ChecksState, MergeableState, PullRequest, PullRequestFacts, PullRequestLifecycle, ReviewState,
    Standing,
};
use std::collections::BTreeSet;
use store::pull_requests::{self, FactsOutcome};
use testkit::story::Story;
use testkit::story::pull_request::{checked, facts};

testkit::on_every_engine!(
    every_fact_is_stored_and_marks_the_task_once,
    facts_that_say_the_same_touch_nothing,
    facts_of_an_older_look_never_replace_newer_ones,
    what_could_not_be_read_keeps_what_is_stored,
    a_hostile_title_is_stored_as_one_inert_line,
);

async fn record(
    story: &Story,
    id: &PullRequestId,
    facts: &PullRequestFacts,
    at: Timestamp,
) -> Result<FactsOutcome> {
    story
        .change(&[], async |tx| {
            pull_requests::record_facts(tx, id, facts, at).await
        })
        .await
}

async fn every_fact_is_stored_and_marks_the_task_once(story: Story) -> Result<()> {
    let task = story.task().await?;
    let base = facts(checked(ChecksState::Green));
    let id = story.pull_request(&task, 7, base.standing).await?;
    let word = |text: &str| ForgeWord::parse(text).ok();
    let branch = |text: &str| BranchName::parse(text).ok();
    let standing = |standing| PullRequestFacts {
        standing,
        ..base.clone()
    };
    let green = base.standing;
    let changes = [
        PullRequestFacts {
            title: "Another".to_owned(),
            ..base.clone()
        },
        PullRequestFacts {
            head_owner: None,
            ..base.clone()
        },
        PullRequestFacts {
            head_owner: word("fork"),
            ..base.clone()
        },
        PullRequestFacts {
            head_repository: word("copy"),
            ..base.clone()
        },
        PullRequestFacts {
            head_branch: branch("wörk/2"),
            ..base.clone()
        },
        PullRequestFacts {
            head_commit: word("deadbeef"),
            ..base.clone()
        },
        PullRequestFacts {
            base_branch: branch("release"),
            ..base.clone()
        },
        standing(Standing {
            lifecycle: PullRequestLifecycle::Merged,
            ..green
        }),
        standing(Standing {
            draft: true,
            ..green
        }),
        standing(Standing {
            checks_state: ChecksState::NotConfigured,
            ..green
        }),
        standing(Standing {
            review_state: ReviewState::Incomplete,
            ..green
        }),
        standing(Standing {
            mergeable_state: MergeableState::Unstable,
            ..green
        }),
        standing(Standing {
            in_merge_queue: true,
            ..green
        }),
        standing(Standing {
            unresolved_threads: u32::MAX,
            ..green
        }),
    ];
    let (mut seq, mut revision) = marks(&story, &task, &id).await?;
    let mut texts = BTreeSet::new();
    for change in &changes {
        let at = story.now();
        assert_eq!(
            record(&story, &id, change, at).await?,
            FactsOutcome::Changed
        );
        (seq, revision) = (seq + 1, revision + 1);
        assert_eq!(marks(&story, &task, &id).await?, (seq, revision));
        let stored = one(&story, &id).await?;
        assert_eq!((&stored.facts, stored.observed_at), (change, Some(at)));
        assert!(at < stored.updated_at && stored.created_at < stored.updated_at);
        texts.insert(format!("{:?}", stored.facts));
    }
    assert_eq!(texts.len(), changes.len());
    Ok(())
}

/// SUM-05.
async fn facts_that_say_the_same_touch_nothing(story: Story) -> Result<()> {
    let task = story.task().await?;
    let green = checked(ChecksState::Green);
    let id = story.pull_request(&task, 7, green).await?;
    let (before, stored) = (marks(&story, &task, &id).await?, one(&story, &id).await?);
    for _ in 0..3 {
        assert_eq!(story.forge_says(&id, green).await?, FactsOutcome::Unchanged);
    }
    assert_eq!(marks(&story, &task, &id).await?, before);
    let now = one(&story, &id).await?;
    assert!(
        stored.observed_at < now.observed_at,
        "the newest look is remembered"
    );
    let observed_at = now.observed_at;
    assert_eq!(
        now,
        PullRequest {
            observed_at,
            ..stored
        }
    );
    Ok(())
}

async fn facts_of_an_older_look_never_replace_newer_ones(story: Story) -> Result<()> {
    let task = story.task().await?;
    let green = checked(ChecksState::Green);
    let id = story.pull_request(&task, 7, green).await?;
    let slow = story.now();
    // A look that began later found nothing new: that is news to the slow one.
    assert_eq!(story.forge_says(&id, green).await?, FactsOutcome::Unchanged);
    let before = (marks(&story, &task, &id).await?, one(&story, &id).await?);
    let failing = facts(checked(ChecksState::Failing));
    let late = record(&story, &id, &failing, slow).await?;
    assert_eq!(late, FactsOutcome::NotNewer);
    let after = (marks(&story, &task, &id).await?, one(&story, &id).await?);
    assert_eq!(after, before);
    // The newest look may be told again, and may say more.
    let newest = before.1.observed_at.expect("it was looked at");
    let told = record(&story, &id, &failing, newest).await?;
    assert_eq!(told, FactsOutcome::Changed);
    Ok(())
}

async fn what_could_not_be_read_keeps_what_is_stored(story: Story) -> Result<()> {
    let task = story.task().await?;
    let pending = Standing {
        review_state: ReviewState::Approved,
        ..checked(ChecksState::Pending)
    };
    let id = story.pull_request(&task, 7, pending).await?;
    let before = marks(&story, &task, &id).await?;
    // The second page of checks could not be loaded, nor anything else.
    let unread = Standing::UNSEEN;
    assert_eq!(
        story.forge_says(&id, unread).await?,
        FactsOutcome::Unchanged
    );
    assert_eq!(marks(&story, &task, &id).await?, before);
    assert_eq!(one(&story, &id).await?.facts, facts(pending));
    Ok(())
}

async fn a_hostile_title_is_stored_as_one_inert_line(story: Story) -> Result<()> {
    let task = story.task().await?;
    let id = story
        .pull_request(&task, 7, checked(ChecksState::Green))
        .await?;
    let long = "é".repeat(bounds::PULL_REQUEST_TITLE_BYTES);
    for title in [
        "\u{1b}[31mred\u{1b}[0m\n\0<script>",
        "password=hunter2hunter2",
        long.as_str(),
    ] {
        let hostile = PullRequestFacts {
            title: title.to_owned(),
            ..facts(checked(ChecksState::Green))
        };
        let now = story.now();
        assert_eq!(
            record(&story, &id, &hostile, now).await?,
            FactsOutcome::Changed
        );
        let stored = one(&story, &id).await?.facts.title;
        assert!(stored.len() <= bounds::PULL_REQUEST_TITLE_BYTES);
        assert!(!stored.chars().any(char::is_control));
        assert!(!stored.contains("hunter2"));
        let now = story.now();
        let again = record(&story, &id, &hostile, now).await?;
        assert_eq!(
            again,
            FactsOutcome::Unchanged,
            "the same title is no change"
        );
    }
    Ok(())
}
