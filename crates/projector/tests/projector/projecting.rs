//! One batch after another: rebuilding, doing nothing, and failing without harm (SUM-04, SUM-05, SUM-10, REC-03).

use anyhow::Result;
use model::error::{ActiveError, ErrorCategory};
use model::ids::TaskId;
use model::message::{Author, MessageType};
use model::session::{Activity, SessionState};
use model::summary::{SummaryPayload, TaskStatusSummary};
use projector::project::{Projected, project};
use projector::running::Projector;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::sql::sql;
use store::{sessions, summaries, tasks};
use testkit::recorder::Recorder;
use testkit::store::Engine;
use testkit::story::Story;
use testkit::story::look::Look;

testkit::on_every_engine!(
    sum_04_a_rebuild_gives_the_same_payloads_whatever_was_deleted,
    sum_05_a_change_that_means_nothing_is_neither_written_nor_published,
    sum_10_a_row_without_last_activity_is_rebuilt_and_nothing_moves_back,
    err_05_deleting_the_failed_session_shows_the_retained_error,
    err_07_a_malformed_launch_error_rejects_and_erases_nothing,
    rec_03_one_unreadable_task_keeps_its_value_and_harms_no_other,
    a_task_that_is_gone_is_no_failure,
    an_unreadable_summary_is_replaced_and_published_once,
);

async fn run(story: &Story, hub: &Recorder, ids: &[TaskId]) -> Projected {
    project(story.store(), hub, ids).await
}

async fn stored(story: &Story, task: &TaskId) -> Result<TaskStatusSummary> {
    let stored = story.stored(task).await?;
    Ok(stored.expect("a summary is stored"))
}

async fn stale(story: &Story) -> Result<Vec<TaskId>> {
    let mut tx = story.store().read().await?;
    Ok(summaries::stale_tasks(&mut tx, None, 100).await?)
}

/// Tasks that show something in every field the store can fill.
async fn busy_tasks(story: &Story) -> Result<Vec<TaskId>> {
    let mut tasks = Vec::new();
    for activity in [None, Some(Activity::Generating), Some(Activity::Background)] {
        let task = story.task().await?;
        let environment = story.environment(&task, &["root"]).await?;
        let session = story.session(&task, Some(&environment)).await?;
        story
            .observe(&environment, &Look::at(story.now(), 3))
            .await?;
        let (turn, _) = story.prompt(&session, "go").await?;
        story.question(&session, &turn).await?;
        story.queue(&session, "then").await?;
        let kind = MessageType::Message;
        story
            .row(&session, Some(&turn), Author::Agent, kind, "an answer")
            .await?;
        let error = ActiveError::record(
            session.as_str(),
            story.now(),
            "boom",
            ErrorCategory::AgentExited,
        );
        story
            .change(&[&task], async |tx| {
                sessions::set_state(tx, &session, SessionState::Running).await?;
                sessions::set_activity(tx, &session, activity, 2).await?;
                sessions::set_error(tx, &session, &error).await?;
                let now = tx.now();
                tasks::raise_activity(tx, &task, now).await
            })
            .await?;
        tasks.push(task);
    }
    Ok(tasks)
}

async fn payloads(story: &Story, ids: &[TaskId]) -> Result<BTreeMap<TaskId, SummaryPayload>> {
    let mut found = BTreeMap::new();
    for id in ids {
        found.insert(id.clone(), stored(story, id).await?.payload);
    }
    Ok(found)
}

async fn sum_04_a_rebuild_gives_the_same_payloads_whatever_was_deleted(story: Story) -> Result<()> {
    let hub = Arc::new(Recorder::default());
    let ids = busy_tasks(&story).await?;
    let projected = run(&story, &hub, &ids).await;
    assert_eq!((projected.written, projected.failed.len()), (3, 0));
    let before = payloads(&story, &ids).await?;
    let revisions: Vec<_> = hub.summaries();
    for payload in before.values() {
        assert!(payload.git.is_some() && payload.active_error.is_some());
        assert!(payload.pending_action.is_some() && payload.queued_prompt_count == Some(1));
    }

    // What agents and people said so far goes; requests and the queue are facts that stay.
    story
        .tamper(sql(
            "DELETE FROM task_session_messages WHERE type = 'message' AND queue_position IS NULL",
        ))
        .await?;
    story
        .tamper(sql("DELETE FROM task_status_summaries"))
        .await?;
    story.db.clock.advance(std::time::Duration::from_secs(1));
    let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
    let converged = projector.converge().await?;
    assert_eq!((converged.written, converged.failed), (3, 0));
    assert_eq!(payloads(&story, &ids).await?, before);
    for (task, revision) in revisions {
        assert!(revision < stored(&story, &task).await?.revision);
    }
    Ok(())
}

async fn sum_05_a_change_that_means_nothing_is_neither_written_nor_published(
    story: Story,
) -> Result<()> {
    let hub = Recorder::default();
    let ids = busy_tasks(&story).await?;
    run(&story, &hub, &ids).await;
    let before = stored(&story, &ids[0]).await?;
    let published = hub.summaries().len();

    story.change(&[&ids[0]], async |_| Ok(())).await?;
    assert_eq!(stale(&story).await?, [ids[0].clone()]);
    let projected = run(&story, &hub, &ids).await;
    assert_eq!((projected.written, projected.failed.len()), (0, 0));
    assert_eq!(projected.summaries.get(&ids[0]), Some(&before));
    assert_eq!(stored(&story, &ids[0]).await?, before);
    assert_eq!(hub.summaries().len(), published);
    assert_eq!(stale(&story).await?, [], "only the bookkeeping moved");
    Ok(())
}

async fn sum_10_a_row_without_last_activity_is_rebuilt_and_nothing_moves_back(
    story: Story,
) -> Result<()> {
    let hub = Arc::new(Recorder::default());
    let ids = busy_tasks(&story).await?;
    run(&story, &hub, &ids).await;
    let before = payloads(&story, &ids).await?;
    let older = sql(r#"UPDATE task_status_summaries SET payload = '{"queued_prompt_count":1}'"#);
    story.tamper(older).await?;
    assert_eq!(stale(&story).await?, [], "nothing marks such a row");
    let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
    let statements = story.store().statements();
    let converged = projector.converge().await?;
    let statements = story.store().statements() - statements;
    assert_eq!(converged.written, 3);
    assert_eq!(payloads(&story, &ids).await?, before);
    assert!(
        statements < 30,
        "one batch, not one load per task: {statements} statements"
    );

    // Replaying an old milestone changes nothing.
    let task = &ids[0];
    story
        .change(&[task], async |tx| {
            let old = model::clock::Timestamp::from_micros(1);
            tasks::raise_activity(tx, task, old).await
        })
        .await?;
    let projected = run(&story, &hub, &ids).await;
    assert_eq!(projected.written, 0);
    Ok(())
}

/// ERR-05.
async fn err_05_deleting_the_failed_session_shows_the_retained_error(story: Story) -> Result<()> {
    let hub = Recorder::default();
    let task = story.task().await?;
    let ids = [task.clone()];
    let mut failed = Vec::new();
    for text in ["kept", "gone"] {
        let session = story.session(&task, None).await?;
        let at = story.now();
        let error = ActiveError::record(session.as_str(), at, text, ErrorCategory::AgentExited);
        story
            .change(&[&task], async |tx| {
                sessions::set_error(tx, &session, &error).await
            })
            .await?;
        failed.push(session);
    }
    run(&story, &hub, &ids).await;
    let shown = async || -> Result<Option<String>> {
        let error = stored(&story, &task).await?.payload.active_error;
        Ok(error.map(|error| error.preview))
    };
    assert_eq!(shown().await?.as_deref(), Some("gone"));
    story.delete_session(&failed[1]).await?;
    run(&story, &hub, &ids).await;
    assert_eq!(shown().await?.as_deref(), Some("kept"));
    story.delete_session(&failed[0]).await?;
    run(&story, &hub, &ids).await;
    assert_eq!(shown().await?, None);
    Ok(())
}

/// ERR-07.
async fn err_07_a_malformed_launch_error_rejects_and_erases_nothing(story: Story) -> Result<()> {
    let hub = Recorder::default();
    let ids = busy_tasks(&story).await?;
    run(&story, &hub, &ids).await;
    let before = stored(&story, &ids[0]).await?;
    let damage = match story.db.engine() {
        Engine::Sqlite => sql(
            "UPDATE tasks SET launch_error_stamp = 'x', launch_error_preview = 'x', launch_error_actions = '?',
                    launch_error_occurred_at = 'yesterday'",
        ),
        // It keeps no text in a column of integers.
        Engine::Postgres => sql(
            "UPDATE tasks SET launch_error_stamp = 'x', launch_error_preview = 'x', launch_error_actions = '?',
                    launch_error_occurred_at = NULL",
        ),
    };
    story.tamper(damage).await?;
    let touched: Vec<&TaskId> = ids.iter().collect();
    story.change(&touched, async |_| Ok(())).await?;
    let projected = run(&story, &hub, &ids).await;
    assert_eq!((projected.written, projected.failed.len()), (0, 0));
    assert_eq!(stored(&story, &ids[0]).await?, before);
    Ok(())
}

async fn rec_03_one_unreadable_task_keeps_its_value_and_harms_no_other(story: Story) -> Result<()> {
    let hub = Arc::new(Recorder::default());
    let ids = busy_tasks(&story).await?;
    run(&story, &hub, &ids).await;
    let before = stored(&story, &ids[1]).await?;
    let damage = sql("UPDATE task_sessions SET state = 'DREAMING' WHERE task_id = $1");
    story.tamper(damage.bind(&ids[1])).await?;
    for id in &ids {
        story
            .change(&[id], async |tx| {
                let now = tx.now();
                tasks::raise_activity(tx, id, now).await
            })
            .await?;
    }
    let projected = run(&story, &hub, &ids).await;
    assert_eq!(projected.failed, [ids[1].clone()]);
    assert_eq!(projected.written, 2);
    assert_eq!(stored(&story, &ids[1]).await?, before);
    assert_eq!(
        stale(&story).await?,
        [ids[1].clone()],
        "it is not forgotten"
    );

    let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
    let converged = projector.converge().await?;
    assert_eq!((converged.failed, converged.written), (1, 0));

    let repair = sql("UPDATE task_sessions SET state = 'IDLE' WHERE state = 'DREAMING'");
    story.tamper(repair).await?;
    let converged = projector.converge().await?;
    assert_eq!((converged.failed, converged.written), (0, 1));
    assert_eq!(
        stored(&story, &ids[1]).await?.payload,
        story.derived(&ids[1]).await?
    );
    Ok(())
}

async fn a_task_that_is_gone_is_no_failure(story: Story) -> Result<()> {
    let hub = Recorder::default();
    let (kept, gone) = (story.task().await?, story.task().await?);
    story
        .change(&[], async |tx| tasks::remove(tx, &gone).await)
        .await?;
    let projected = run(&story, &hub, &[gone.clone(), kept.clone()]).await;
    assert_eq!((projected.written, projected.failed.len()), (1, 0));
    assert_eq!(story.stored(&gone).await?, None);
    let published: Vec<_> = hub.summaries().into_iter().map(|(task, _)| task).collect();
    assert_eq!(published, [kept]);
    Ok(())
}

async fn an_unreadable_summary_is_replaced_and_published_once(story: Story) -> Result<()> {
    let hub = Arc::new(Recorder::default());
    let task = story.task().await?;
    run(&story, &hub, std::slice::from_ref(&task)).await;
    let damage = sql("UPDATE task_status_summaries SET payload = 'not json'");
    story.tamper(damage).await?;
    let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
    for expected in [1, 0] {
        assert_eq!(projector.converge().await?.written, expected);
    }
    let revisions: Vec<_> = hub.summaries().into_iter().map(|(_, n)| n).collect();
    assert_eq!(revisions.len(), 2);
    assert!(revisions[0] < revisions[1]);
    assert_eq!(stored(&story, &task).await?.revision, revisions[1]);
    Ok(())
}
