//! What moves a task's last activity, and what must not (SUM-08, SUM-09, SUM-10).

use anyhow::{Context, Result};
use model::clock::Timestamp;
use model::git::SnapshotTrigger;
use model::ids::{MessageId, SessionId, TaskId, TurnId};
use model::message::{Author, MessageType};
use model::pull_request::ChecksState;
use model::turn::TurnOutcome;
use projector::running::Projector;
use projector::running::hydrating::patience;
use std::sync::Arc;
use store::hydration::Doubts;
use store::messages::{self, NewMessage, Place};
use store::segments::{self, Segment};
use store::sql::sql;
use store::turns::{self, NewTurn};
use store::{activity, tasks};
use testkit::recorder::Recorder;
use testkit::story::Story;
use testkit::story::look::Look;
use testkit::story::pull_request::checked;

testkit::on_every_engine!(
    c06_background_work_does_not_shuffle_the_list,
    sum_10_summaries_that_lack_a_milestone_get_it_from_the_records_in_one_batch,
    sum_10_a_lost_column_is_found_by_lists_and_at_start_up,
);

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// Five tasks whose times a test chooses.
struct Five {
    story: Story,
    projector: Projector,
    hub: Arc<Recorder>,
    tasks: Vec<TaskId>,
    sessions: Vec<SessionId>,
}

impl Five {
    /// Five tasks, made 900 to 904, with a session each, last active 1000 to 1004.
    async fn begin(story: Story) -> Result<Self> {
        let hub = Arc::new(Recorder::default());
        let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
        let (mut all, mut sessions) = (Vec::new(), Vec::new());
        for n in 0..5 {
            let task = story.task().await?;
            let born = sql("UPDATE tasks SET created_at = $2, last_activity_at = $2 WHERE id = $1");
            story.tamper(born.bind(&task).bind(900 + n)).await?;
            let session = story.session(&task, None).await?;
            sessions.push(session.clone());
            all.push(task.clone());
            // What made it active then: a prompt, accepted by the rules of sending.
            let five = (&story, &task, &session);
            prompt(five, 1000 + n).await?;
        }
        Ok(Self {
            story,
            projector,
            hub,
            tasks: all,
            sessions,
        })
    }

    /// What the list shows: each task's last activity.
    async fn shown(&self) -> Result<Vec<i64>> {
        self.projector.project(&self.tasks).await;
        let mut shown = Vec::new();
        for task in &self.tasks {
            let stored = self.story.stored(task).await?.context("a summary")?;
            let last = stored.payload.last_activity_at.context("a milestone")?;
            shown.push(last.as_micros());
        }
        Ok(shown)
    }

    /// Does something to the session of one task, which touches that task.
    async fn change<T>(
        &self,
        n: usize,
        work: impl AsyncFnOnce(&mut store::tx::WriteTx) -> store::error::Result<T>,
    ) -> Result<T> {
        self.story.change(&[&self.tasks[n]], work).await
    }

    /// A turn starts, as the session's owner has it.
    async fn start_turn(&self, n: usize, kind: NewTurn, micros: i64) -> Result<TurnId> {
        let turn = TurnId::generate();
        self.change(n, async |tx| {
            turns::insert(tx, &turn, &self.sessions[n], kind, at(micros)).await?;
            turns::mark_attempted(tx, &turn).await?;
            if kind != NewTurn::Lifecycle {
                tasks::raise_activity(tx, &self.tasks[n], at(micros)).await?;
            }
            Ok(())
        })
        .await?;
        Ok(turn)
    }

    async fn revision(&self, n: usize) -> Result<i64> {
        let stored = self.story.stored(&self.tasks[n]).await?;
        Ok(stored.context("a summary")?.revision)
    }
}

/// A person's prompt, accepted at `micros`.
async fn prompt(
    (story, task, session): (&Story, &TaskId, &SessionId),
    micros: i64,
) -> Result<MessageId> {
    let id = MessageId::generate();
    story
        .change(&[task], async |tx| {
            let row = NewMessage {
                id: &id,
                session_id: session,
                task_id: task,
                turn_id: None,
                author: Author::User,
                kind: MessageType::Message,
                content: "go",
                metadata: &serde_json::json!({}),
                pending_id: None,
                streaming: false,
            };
            messages::insert(tx, &row, Place::Transcript, at(micros)).await?;
            tasks::raise_activity(tx, task, at(micros)).await
        })
        .await?;
    Ok(id)
}

/// C06, SUM-08, SUM-09: the figures of the case, live, rebuilt from the durable records, and after a replay.
async fn c06_background_work_does_not_shuffle_the_list(story: Story) -> Result<()> {
    let five = Five::begin(story).await?;
    let begin = [1000, 1001, 1002, 1003, 1004];
    assert_eq!(five.shown().await?, begin);

    // T1: a turn starts 1990, streams 500 chunks 2000 to 2100, completes 2100.
    let turn = five.start_turn(0, NewTurn::ForMessage, 1990).await?;
    assert_eq!(five.shown().await?, [1990, 1001, 1002, 1003, 1004]);
    let revision = five.revision(0).await?;
    let growing = five.story.stream(&five.sessions[0], &turn, "").await?;
    for number in 1..=500 {
        let chunk = Segment {
            message_id: growing.clone(),
            number,
            text: "chunk ".to_owned(),
        };
        let mut tx = five.story.store().write().await?;
        let _ = segments::append(&mut tx, &chunk).await?;
        let touched = tx.commit().await?.touched;
        assert_eq!(touched, [], "a chunk makes no summary stale");
    }
    assert_eq!(five.shown().await?, [1990, 1001, 1002, 1003, 1004]);
    assert_eq!(five.revision(0).await?, revision, "500 chunks, no revision");

    // T2: git totals change 2050.
    let environment = five.story.environment(&five.tasks[1], &["root"]).await?;
    let look = Look {
        by: SnapshotTrigger::LiveMonitor,
        ..Look::at(at(2050), 7)
    };
    five.story.observe(&environment, &look).await?;
    assert_eq!(five.shown().await?, [1990, 1001, 1002, 1003, 1004]);
    let stored = five
        .story
        .stored(&five.tasks[1])
        .await?
        .context("a summary")?;
    assert_eq!(stored.payload.git.map(|git| git.additions), Some(7));

    // T3: a pull request changes 2060. T4: opened, its agent resumes with a lifecycle-only turn 2070.
    let linked = five
        .story
        .pull_request(&five.tasks[2], 7, checked(ChecksState::Pending))
        .await?;
    five.shown().await?;
    let revision = five.revision(2).await?;
    five.story
        .forge_says(&linked, checked(ChecksState::Failing))
        .await?;
    let resumed = five.start_turn(3, NewTurn::Lifecycle, 2070).await?;
    five.change(3, async |tx| {
        turns::complete(tx, &resumed, TurnOutcome::Completed, at(2071)).await
    })
    .await?;
    assert_eq!(five.shown().await?, [1990, 1001, 1002, 1003, 1004]);
    assert!(
        revision < five.revision(2).await?,
        "the row shows it all the same"
    );

    // All summaries are repaired 2080.
    let spoil = sql("UPDATE task_status_summaries SET payload = '{}'");
    five.story.tamper(spoil).await?;
    assert_eq!(five.projector.converge().await?.written, 5);
    assert_eq!(five.shown().await?, [1990, 1001, 1002, 1003, 1004]);

    // T2: a user prompt 2090. T1: its turn completes 2100.
    prompt((&five.story, &five.tasks[1], &five.sessions[1]), 2090).await?;
    assert_eq!(five.shown().await?, [1990, 2090, 1002, 1003, 1004]);
    five.change(0, async |tx| {
        turns::complete(tx, &turn, TurnOutcome::Completed, at(2100)).await?;
        tasks::raise_activity(tx, &five.tasks[0], at(2100)).await
    })
    .await?;
    let end = [2100, 2090, 1002, 1003, 1004];
    assert_eq!(five.shown().await?, end);

    // A rebuild from the durable records gives the same.
    let forget = sql("UPDATE tasks SET last_activity_at = NULL");
    five.story.tamper(forget).await?;
    five.story
        .tamper(sql("DELETE FROM task_status_summaries"))
        .await?;
    assert_eq!(five.projector.converge().await?.failed, 0);
    assert_eq!(five.shown().await?, end);

    // An event stamped 900 for T5 is replayed.
    five.change(4, async |tx| {
        tasks::raise_activity(tx, &five.tasks[4], at(900)).await
    })
    .await?;
    five.story
        .change(&[], async |tx| {
            activity::raise_from_records(tx, &five.tasks).await
        })
        .await?;
    assert_eq!(five.shown().await?, end);
    Ok(())
}

/// SUM-10: missing rows, and older ones without the field.
async fn sum_10_summaries_that_lack_a_milestone_get_it_from_the_records_in_one_batch(
    story: Story,
) -> Result<()> {
    let five = Five::begin(story).await?;
    let shown = five.shown().await?;
    for spoil in [
        "DELETE FROM task_status_summaries",
        "UPDATE task_status_summaries SET payload = '{\"queued_prompt_count\":3}'",
    ] {
        five.story.tamper(sql(spoil)).await?;
        five.story
            .tamper(sql("UPDATE tasks SET last_activity_at = NULL"))
            .await?;
        let published = five.hub.summaries().len();
        let doubts = Doubts {
            lacking: five.tasks.clone(),
            differing: Vec::new(),
        };
        let before = five.story.store().statements();
        let hydrated = five.projector.hydrate(doubts, patience()).await;
        let statements = five.story.store().statements() - before;
        assert_eq!(hydrated.len(), 5);
        assert!(statements < 5 * 5, "one batch: {statements} statements");
        assert_eq!(five.hub.summaries().len() - published, 5);
        assert_eq!(five.shown().await?, shown);
    }
    Ok(())
}

/// SUM-10.
async fn sum_10_a_lost_column_is_found_by_lists_and_at_start_up(story: Story) -> Result<()> {
    let five = Five::begin(story).await?;
    let shown = five.shown().await?;
    // The summaries are true; that the tasks forgot their milestone would show with the next change.
    let forget = || sql("UPDATE tasks SET last_activity_at = NULL");
    five.story.tamper(forget()).await?;
    assert_eq!(five.projector.converge().await?.written, 0);
    assert_eq!(five.shown().await?, shown, "start-up put it back");

    // One that only the stored summary still knows is not lost either.
    five.change(0, async |tx| {
        tasks::raise_activity(tx, &five.tasks[0], at(5000)).await
    })
    .await?;
    let shown = five.shown().await?;
    assert_eq!(shown[0], 5000);
    five.story.tamper(forget()).await?;
    let touched: Vec<&TaskId> = five.tasks.iter().collect();
    five.story.change(&touched, async |_| Ok(())).await?;
    assert_eq!(five.projector.converge().await?.failed, 0);
    assert_eq!(
        five.shown().await?,
        shown,
        "also when they are stale as well"
    );
    Ok(())
}
