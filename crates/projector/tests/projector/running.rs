//! The running projector: pokes, the sweep behind them, and the end (REC-06, SUM-05).

use anyhow::Result;
use model::ids::TaskId;
use model::session::{Activity, SessionState};
use projector::running::Projector;
use std::sync::Arc;
use store::sql::sql;
use store::{marks, sessions};
use testkit::recorder::Recorder;
use testkit::story::Story;
use testkit::waiting::until;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

testkit::on_every_engine!(
    a_poke_is_served_and_shutting_down_ends_it,
    rec_06_a_commit_that_poked_nobody_is_found_by_the_sweep,
    rec_06_what_a_crash_left_is_found_at_start_up,
    rec_02_a_version_with_other_rules_derives_everything_again,
);

/// A projector at work, and how to end it.
struct Running {
    projector: Projector,
    hub: Arc<Recorder>,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    fn start(story: &Story) -> Self {
        let hub = Arc::new(Recorder::default());
        let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(projector.clone().run(shutdown.clone()));
        Self {
            projector,
            hub,
            shutdown,
            task,
        }
    }

    async fn end(self) -> Result<()> {
        self.shutdown.cancel();
        Ok(self.task.await?)
    }
}

/// Waits until the stored summary says what authority says.
async fn is_true(story: &Story, task: &TaskId) -> Result<()> {
    until("a true summary", async || {
        let stored = story.stored(task).await?.map(|stored| stored.payload);
        let derived = story.derived(task).await?;
        Ok((stored == Some(derived)).then_some(()))
    })
    .await
}

async fn a_poke_is_served_and_shutting_down_ends_it(story: Story) -> Result<()> {
    let running = Running::start(&story);
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    running.projector.poke(std::slice::from_ref(&task));
    is_true(&story, &task).await?;
    for state in [SessionState::Running, SessionState::WaitingForInput] {
        story
            .change(&[&task], async |tx| {
                sessions::set_state(tx, &session, state).await
            })
            .await?;
        running.projector.poke(std::slice::from_ref(&task));
        is_true(&story, &task).await?;
    }
    assert!(running.hub.summaries().is_sorted());
    running.end().await
}

async fn rec_06_a_commit_that_poked_nobody_is_found_by_the_sweep(story: Story) -> Result<()> {
    let running = Running::start(&story);
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    running.projector.poke(std::slice::from_ref(&task));
    is_true(&story, &task).await?;
    story
        .change(&[&task], async |tx| {
            sessions::set_activity(tx, &session, Some(Activity::Generating), 0).await
        })
        .await?;
    is_true(&story, &task).await?;
    running.end().await
}

async fn rec_06_what_a_crash_left_is_found_at_start_up(story: Story) -> Result<()> {
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(story.task().await?);
    }
    let hub = Arc::new(Recorder::default());
    let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
    let first = projector.converge().await?;
    assert_eq!((first.tasks, first.written, first.failed), (5, 5, 0));
    let again = projector.converge().await?;
    assert_eq!((again.tasks, again.written, again.failed), (0, 0, 0));
    for id in &ids {
        is_true(&story, id).await?;
    }
    assert_eq!(hub.summaries().len(), 5);
    Ok(())
}

async fn rec_02_a_version_with_other_rules_derives_everything_again(story: Story) -> Result<()> {
    let ids = [story.task().await?, story.task().await?];
    let hub = Arc::new(Recorder::default());
    let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
    projector.converge().await?;
    // A row as an earlier version derived it: well made, not stale, and not what this version says.
    let old = sql("UPDATE task_status_summaries SET payload = $2 WHERE task_id = $1");
    let payload = r#"{"last_activity_at":"1970-01-01T00:00:00.000020Z","queued_prompt_count":7}"#;
    story.tamper(old.bind(&ids[0]).bind(payload)).await?;
    assert_eq!(projector.converge().await?.tasks, 0, "nothing says so");
    let before = story.stored(&ids[1]).await?;

    let rules = sql("UPDATE settings SET value = '0' WHERE name = $1");
    assert_eq!(story.tamper(rules.bind(marks::RULES)).await?, 1);
    let converged = projector.converge().await?;
    assert_eq!((converged.tasks, converged.written), (2, 1));
    is_true(&story, &ids[0]).await?;
    let same = story.stored(&ids[1]).await?;
    assert_eq!(same, before, "what the new rules leave is not told anew");
    assert_eq!(projector.converge().await?.tasks, 0, "once is enough");
    Ok(())
}
