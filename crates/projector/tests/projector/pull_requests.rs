//! Pull requests on their way into a row: the same projector, nothing lost by a restart or a lost race (PR-03, PR-05).

use anyhow::Result;
use model::ids::{PullRequestId, TaskId};
use model::pull_request::{ChecksState, PullRequestLifecycle};
use model::summary::{AggregateState, PullRequestSummary, TaskStatusSummary};
use projector::project::{Projected, project};
use projector::running::Projector;
use std::sync::Arc;
use std::time::Duration;
use store::faults::FaultPoint;
use store::sql::sql;
use testkit::recorder::Recorder;
use testkit::story::Story;
use testkit::story::pull_request::{checked, ended, identity};

testkit::on_every_engine!(
    pr_03_a_switch_reaches_the_row_by_a_new_revision,
    pr_05_the_aggregate_is_complete_after_a_restart,
    pr_05_the_first_event_without_a_row_brings_every_pull_request,
    pr_05_a_lost_race_is_run_again_over_every_pull_request,
    s_05_a_pull_request_moves_the_summary_and_no_milestone,
);

async fn run(story: &Story, hub: &Recorder, task: &TaskId) -> Projected {
    project(story.store(), hub, std::slice::from_ref(task)).await
}

async fn stored(story: &Story, task: &TaskId) -> Result<TaskStatusSummary> {
    let stored = story.stored(task).await?;
    Ok(stored.expect("a summary is stored"))
}

/// What the row says of pull requests: how many, how many of them open, the state and who gave it, and the switches.
type Says = Option<(u32, u32, AggregateState, u32, bool, bool)>;

fn says(shown: Option<&PullRequestSummary>) -> Says {
    shown.map(|one| {
        (
            one.count,
            one.open_count,
            one.aggregate_state,
            one.number,
            one.auto_fix,
            one.auto_merge,
        )
    })
}

async fn row(story: &Story, task: &TaskId) -> Result<Says> {
    Ok(says(
        stored(story, task).await?.payload.pull_request.as_ref(),
    ))
}

/// A merged one, one whose checks run and that is to be merged by itself, and one that is ready.
async fn three(story: &Story, task: &TaskId) -> Result<[PullRequestId; 3]> {
    let merged = ended(PullRequestLifecycle::Merged);
    let merged = story.pull_request(task, 20, merged).await?;
    let pending = checked(ChecksState::Pending);
    let pending = story.pull_request(task, 21, pending).await?;
    story.switch(&pending, false, true).await?;
    let ready = checked(ChecksState::Green);
    let ready = story.pull_request(task, 22, ready).await?;
    Ok([merged, pending, ready])
}

const THREE: Says = Some((3, 2, AggregateState::Pending, 21, false, true));

/// PR-03, S-04.
async fn pr_03_a_switch_reaches_the_row_by_a_new_revision(story: Story) -> Result<()> {
    let hub = Recorder::default();
    let task = story.task().await?;
    let green = checked(ChecksState::Green);
    let id = story.pull_request(&task, 7, green).await?;
    run(&story, &hub, &task).await;
    let mut last = stored(&story, &task).await?;
    let ready = |fix, merge| Some((1, 1, AggregateState::Ready, 7, fix, merge));
    assert_eq!(row(&story, &task).await?, ready(false, false));
    for (auto_fix, auto_merge) in [(true, false), (true, true), (false, false)] {
        story.switch(&id, auto_fix, auto_merge).await?;
        assert_eq!(run(&story, &hub, &task).await.written, 1);
        assert_eq!(row(&story, &task).await?, ready(auto_fix, auto_merge));
        let now = stored(&story, &task).await?;
        assert_eq!(now.revision, last.revision + 1);
        last = now;
        // Told again, or looked at again with nothing new: no revision, nothing published.
        story.switch(&id, auto_fix, auto_merge).await?;
        story.forge_says(&id, green).await?;
        assert_eq!(run(&story, &hub, &task).await.written, 0);
    }
    story.unlink(&id).await?;
    assert_eq!(run(&story, &hub, &task).await.written, 1);
    assert_eq!(row(&story, &task).await?, None);
    let revisions: Vec<i64> = hub.summaries().into_iter().map(|(_, n)| n).collect();
    assert_eq!(revisions.len(), 5);
    assert!(revisions.is_sorted_by(|a, b| a < b));
    Ok(())
}

/// PR-05, SUM-04.
async fn pr_05_the_aggregate_is_complete_after_a_restart(story: Story) -> Result<()> {
    let hub = Arc::new(Recorder::default());
    let (task, settled) = (story.task().await?, story.task().await?);
    three(&story, &task).await?;
    three(&story, &settled).await?;
    for id in [&task, &settled] {
        run(&story, &hub, id).await;
    }
    let before = stored(&story, &settled).await?;
    let lose = sql("DELETE FROM task_status_summaries WHERE task_id = $1").bind(&task);
    story.tamper(lose).await?;
    story.db.clock.advance(Duration::from_secs(1));
    let again = story.db.open_again().await?;
    let restarted = Projector::new(again, Arc::clone(&hub) as _);
    let converged = restarted.converge().await?;
    assert_eq!((converged.written, converged.failed), (1, 0));
    assert_eq!(row(&story, &task).await?, THREE);
    assert_eq!(
        stored(&story, &settled).await?,
        before,
        "it needs no repair"
    );
    Ok(())
}

/// PR-05, S-13.
async fn pr_05_the_first_event_without_a_row_brings_every_pull_request(story: Story) -> Result<()> {
    let hub = Recorder::default();
    let task = story.task().await?;
    let [_, _, ready] = three(&story, &task).await?;
    assert_eq!(story.stored(&task).await?, None);
    story
        .forge_says(&ready, checked(ChecksState::Failing))
        .await?;
    run(&story, &hub, &task).await;
    let failing = Some((3, 2, AggregateState::Failure, 22, false, true));
    assert_eq!(row(&story, &task).await?, failing);
    Ok(())
}

/// PR-05, PST-03: whoever loaded first writes last; it must not leave out what came in between, nor keep what another
/// writer stored over the row it saw.
async fn pr_05_a_lost_race_is_run_again_over_every_pull_request(story: Story) -> Result<()> {
    let story = Arc::new(story);
    let hub = Arc::new(Recorder::default());
    let task = story.task().await?;
    let [_, pending, ready] = three(&story, &task).await?;
    run(&story, &hub, &task).await;
    assert_eq!(row(&story, &task).await?, THREE);

    let blank = r#"{"last_activity_at":"1970-01-01T00:00:00.000020Z"}"#;
    let over = sql("UPDATE task_status_summaries SET revision = revision + 1, payload = $1");
    for (foreign, state) in [(false, ChecksState::Failing), (true, ChecksState::Green)] {
        story.switch(&ready, foreign, true).await?;
        let hold = story.store().faults().hold(FaultPoint::BeginWrite, 1);
        let slow = tokio::spawn({
            let (story, hub, task) = (Arc::clone(&story), Arc::clone(&hub), task.clone());
            async move { run(&story, &hub, &task).await }
        });
        hold.reached().await;
        story.forge_says(&pending, checked(state)).await?;
        if foreign {
            story.tamper(over.clone().bind(blank)).await?;
        } else {
            run(&story, &hub, &task).await;
        }
        drop(hold);
        assert_eq!(slow.await?.failed, []);
        let shown = stored(&story, &task).await?.payload;
        assert_eq!(shown, story.derived(&task).await?);
        let expected = match state {
            ChecksState::Failing => (3, 2, AggregateState::Failure, 21, false, true),
            _ => (3, 2, AggregateState::Ready, 21, true, true),
        };
        assert_eq!(says(shown.pull_request.as_ref()), Some(expected));
    }
    let mut revisions: Vec<i64> = hub.summaries().into_iter().map(|(_, n)| n).collect();
    let published = revisions.len();
    revisions.dedup();
    assert_eq!(revisions.len(), published, "a revision was published twice");
    assert!(revisions.is_sorted());
    Ok(())
}

/// S-05, SUM-08.
async fn s_05_a_pull_request_moves_the_summary_and_no_milestone(story: Story) -> Result<()> {
    let hub = Recorder::default();
    let task = story.task().await?;
    run(&story, &hub, &task).await;
    let mut last = stored(&story, &task).await?;
    let milestone = last.payload.last_activity_at;
    assert!(milestone.is_some());
    let [merged, pending, ready] = three(&story, &task).await?;
    story.db.clock.advance(Duration::from_secs(60));
    for step in 0..4 {
        match step {
            0 => {} // Three were linked.
            1 => drop(
                story
                    .forge_says(&pending, checked(ChecksState::Failing))
                    .await?,
            ),
            2 => drop(story.switch(&ready, true, false).await?),
            _ => drop(story.unlink(&merged).await?),
        }
        assert_eq!(run(&story, &hub, &task).await.written, 1);
        let now = stored(&story, &task).await?;
        assert_eq!(now.payload.last_activity_at, milestone);
        assert!(last.updated_at < now.updated_at && last.revision < now.revision);
        let url = now.payload.pull_request.as_ref().map(|one| one.url.clone());
        assert_eq!(url, Some(identity(21)?.url));
        last = now;
    }
    Ok(())
}
