//! Linked pull requests and their switches: every change of what a summary reads marks the task, and nothing else
//! does (PR-01, PR-03). What a forge says about them is told in [`crate::pull_request_facts`].

use anyhow::Result;
use model::ids::{PullRequestId, TaskId};
use model::pull_request::{
    ChecksState, PullRequest, PullRequestFacts, PullRequestLifecycle, PullRequestOptions, Standing,
};
use model::summary::{AggregateState, PullRequestSummary};
use store::pull_requests::{self, ChangeOutcome, FactsOutcome, LinkOutcome, NewPullRequest};
use store::sql::sql;
use store::{authority, tasks};
use testkit::story::Story;
use testkit::story::pull_request::{checked, ended, identity};

testkit::on_every_engine!(
    pr_01_the_aggregate_covers_all_linked_ones_of_the_task_alone,
    pr_03_switches_count_while_their_pull_request_is_open,
    linking_again_changes_nothing_but_who_linked_it,
    an_unlinked_pull_request_takes_its_switches_along,
    a_deleted_task_takes_its_pull_requests_along,
    pst_04_thousands_of_pull_requests_are_one_statement,
);

/// A linked pull request in full.
pub(crate) async fn one(story: &Story, id: &PullRequestId) -> Result<PullRequest> {
    let mut tx = story.store().read().await?;
    let found = pull_requests::get(&mut tx, id).await?;
    Ok(found.expect("it is linked"))
}

async fn shown(story: &Story, task: &TaskId) -> Result<Option<PullRequestSummary>> {
    Ok(story.derived(task).await?.pull_request)
}

/// The mark of the task and the revision of the pull request: what a change must raise.
pub(crate) async fn marks(story: &Story, task: &TaskId, id: &PullRequestId) -> Result<(i64, i64)> {
    let seq = story.authority(task).await?.authority_seq;
    Ok((seq, one(story, id).await?.revision))
}

async fn link(story: &Story, task: &TaskId, number: u32, by_hand: bool) -> Result<LinkOutcome> {
    let (id, identity) = (PullRequestId::generate(), identity(number)?);
    story
        .change(&[], async |tx| {
            let new = NewPullRequest {
                id: &id,
                task_id: task,
                identity: &identity,
                by_hand,
            };
            pull_requests::link(tx, &new).await
        })
        .await
}

/// PR-01, PR-02.
async fn pr_01_the_aggregate_covers_all_linked_ones_of_the_task_alone(story: Story) -> Result<()> {
    let (task, other, bare) = (
        story.task().await?,
        story.task().await?,
        story.task().await?,
    );
    story
        .pull_request(&task, 20, ended(PullRequestLifecycle::Merged))
        .await?;
    story
        .pull_request(&task, 21, checked(ChecksState::Failing))
        .await?;
    let pending = story
        .pull_request(&task, 22, checked(ChecksState::Pending))
        .await?;
    // Another task's is that task's, also when it is the same one.
    story
        .pull_request(&other, 22, ended(PullRequestLifecycle::Closed))
        .await?;
    let expected = |count, open_count, aggregate_state, number| -> Result<_> {
        Ok(Some(PullRequestSummary {
            count,
            open_count,
            aggregate_state,
            number,
            url: identity(number)?.url,
            auto_fix: false,
            auto_merge: false,
        }))
    };
    let failing = expected(3, 2, AggregateState::Failure, 21)?;
    assert_eq!(shown(&story, &task).await?, failing);
    let closed = expected(1, 0, AggregateState::Closed, 22)?;
    assert_eq!(shown(&story, &other).await?, closed);
    assert_eq!(shown(&story, &bare).await?, None);
    story.unlink(&pending).await?;
    let fewer = expected(2, 1, AggregateState::Failure, 21)?;
    assert_eq!(shown(&story, &task).await?, fewer);
    assert_eq!(shown(&story, &other).await?, closed);
    Ok(())
}

/// PR-03.
async fn pr_03_switches_count_while_their_pull_request_is_open(story: Story) -> Result<()> {
    let task = story.task().await?;
    let draft = Standing {
        draft: true,
        ..checked(ChecksState::Pending)
    };
    let id = story.pull_request(&task, 7, draft).await?;
    let flags = async || -> Result<_> {
        let shown = shown(&story, &task).await?.expect("one is linked");
        Ok((shown.auto_fix, shown.auto_merge))
    };
    assert_eq!(flags().await?, (false, false));
    let (mut seq, mut revision) = marks(&story, &task, &id).await?;
    for (auto_fix, auto_merge) in [(true, false), (true, true), (false, true), (false, false)] {
        let outcome = story.switch(&id, auto_fix, auto_merge).await?;
        assert_eq!(outcome, ChangeOutcome::Changed);
        assert_eq!(flags().await?, (auto_fix, auto_merge));
        let options = PullRequestOptions {
            auto_fix,
            auto_merge,
        };
        assert_eq!(one(&story, &id).await?.options, options);
        (seq, revision) = (seq + 1, revision + 1);
        assert_eq!(marks(&story, &task, &id).await?, (seq, revision));
        let again = story.switch(&id, auto_fix, auto_merge).await?;
        assert_eq!(again, ChangeOutcome::Unchanged);
        assert_eq!(marks(&story, &task, &id).await?, (seq, revision));
    }
    story.switch(&id, true, true).await?;
    for lifecycle in [PullRequestLifecycle::Merged, PullRequestLifecycle::Closed] {
        story.forge_says(&id, ended(lifecycle)).await?;
        assert_eq!(flags().await?, (false, false));
    }
    story.forge_says(&id, checked(ChecksState::Green)).await?;
    assert_eq!(flags().await?, (true, true), "it was opened again");
    Ok(())
}

async fn linking_again_changes_nothing_but_who_linked_it(story: Story) -> Result<()> {
    let task = story.task().await?;
    let unlinked = story.authority(&task).await?.authority_seq;
    assert_eq!(link(&story, &task, 7, false).await?, LinkOutcome::Linked);
    let mut tx = story.store().read().await?;
    let all = pull_requests::of_task(&mut tx, &task).await?;
    drop(tx);
    let [linked] = &all[..] else {
        anyhow::bail!("expected one pull request, got {all:?}");
    };
    assert_eq!(linked.facts, PullRequestFacts::unseen());
    assert_eq!(
        (&linked.identity, linked.linked_by_hand),
        (&identity(7)?, false)
    );
    assert_eq!(linked.observed_at, None);
    let state = shown(&story, &task).await?.map(|one| one.aggregate_state);
    assert_eq!(
        state,
        Some(AggregateState::Neutral),
        "nothing is known of it"
    );
    let (seq, revision) = marks(&story, &task, &linked.id).await?;
    assert_eq!((seq, revision), (unlinked + 1, 1));

    let already = LinkOutcome::AlreadyLinked(linked.id.clone());
    for (by_hand, held_by_hand, risen) in [
        (false, false, 0),
        (true, true, 1),
        (true, true, 1),
        (false, true, 1),
    ] {
        assert_eq!(link(&story, &task, 7, by_hand).await?, already);
        assert_eq!(one(&story, &linked.id).await?.linked_by_hand, held_by_hand);
        let now = marks(&story, &task, &linked.id).await?;
        assert_eq!(
            now,
            (seq, revision + risen),
            "no summary reads who linked it"
        );
    }
    assert_eq!(shown(&story, &task).await?.map(|one| one.count), Some(1));
    Ok(())
}

/// PR-03.
async fn an_unlinked_pull_request_takes_its_switches_along(story: Story) -> Result<()> {
    let task = story.task().await?;
    let green = checked(ChecksState::Green);
    let id = story.pull_request(&task, 7, green).await?;
    story.switch(&id, true, true).await?;
    let seq = story.authority(&task).await?.authority_seq;
    assert_eq!(story.unlink(&id).await?, ChangeOutcome::Changed);
    assert_eq!(story.authority(&task).await?.authority_seq, seq + 1);
    assert_eq!(shown(&story, &task).await?, None);
    for outcome in [
        story.unlink(&id).await?,
        story.switch(&id, true, true).await?,
    ] {
        assert_eq!(outcome, ChangeOutcome::Gone);
    }
    assert_eq!(story.forge_says(&id, green).await?, FactsOutcome::Gone);
    assert_eq!(story.authority(&task).await?.authority_seq, seq + 1);

    story.pull_request(&task, 7, green).await?;
    let shown = shown(&story, &task).await?.expect("it is linked again");
    assert!(
        !shown.auto_fix && !shown.auto_merge,
        "its old switches are gone"
    );
    Ok(())
}

async fn a_deleted_task_takes_its_pull_requests_along(story: Story) -> Result<()> {
    let (task, kept) = (story.task().await?, story.task().await?);
    let green = checked(ChecksState::Green);
    let id = story.pull_request(&task, 7, green).await?;
    let other = story.pull_request(&kept, 7, green).await?;
    story.switch(&id, true, true).await?;
    story.switch(&other, false, true).await?;
    story
        .change(&[], async |tx| tasks::remove(tx, &task).await)
        .await?;
    let mut tx = story.store().read().await?;
    assert_eq!(pull_requests::get(&mut tx, &id).await?, None);
    assert!(pull_requests::get(&mut tx, &other).await?.is_some());
    let left = sql("SELECT count(*) AS n FROM task_pull_request_options");
    assert_eq!(tx.one(left, "count").await?.int("n")?, 1);
    Ok(())
}

/// PST-04, SUM-03, PR-01.
async fn pst_04_thousands_of_pull_requests_are_one_statement(story: Story) -> Result<()> {
    let load = async |ids: &[TaskId]| -> Result<(u64, usize)> {
        let mut tx = story.store().read().await?;
        let before = story.store().statements();
        let loaded = authority::load(&mut tx, ids).await?;
        let statements = story.store().statements() - before;
        let most = loaded
            .iter()
            .map(|task| task.authority.pull_requests.len())
            .max();
        Ok((statements, most.unwrap_or(0)))
    };
    let (few, many) = (story.task().await?, story.task().await?);
    let (none, _) = load(std::slice::from_ref(&few)).await?;
    assert_eq!(link(&story, &few, 1, false).await?, LinkOutcome::Linked);
    story
        .change(&[&many], async |tx| {
            for number in 1..=2_000 {
                let identity = identity(number).expect("a number has an address");
                let id = PullRequestId::generate();
                let new = NewPullRequest {
                    id: &id,
                    task_id: &many,
                    identity: &identity,
                    by_hand: false,
                };
                pull_requests::link(tx, &new).await?;
            }
            Ok(())
        })
        .await?;
    assert_eq!(load(&[few.clone(), many.clone()]).await?, (none, 2_000));
    let size = async |task: &TaskId| -> Result<usize> {
        Ok(summary::semantic::json(&story.derived(task).await?).len())
    };
    // Three more digits in each of two counts, and none in the number: the lowest of equals.
    assert!(size(&many).await? <= size(&few).await? + 2 * 3);
    Ok(())
}
