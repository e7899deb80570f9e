//! Start-up recovery over rows that an ended server left: what is repaired, what stays, and what cannot be read.

use crate::world::World;
use anyhow::{Context, Result};
use model::bounds;
use model::ids::{EnvironmentId, ExecutionId, InstanceId, SessionId, TaskId};
use model::message::RequestStatus;
use model::session::{Activity, SessionState};
use model::summary::{PendingAction, TaskStatusSummary};
use model::task::TaskState;
use model::turn::TurnOutcome;
use orchestrator::clarifications::Reply;
use orchestrator::recovery::Repairing;
use serde_json::json;
use std::sync::{Mutex, PoisonError};
use store::executions::{self, Execution};
use store::faults::FaultPoint;
use store::sql::sql;
use store::{messages, requests, sessions, tasks, turns};

testkit::on_every_engine!(crate::world::World =>
    s_25_a_stored_running_row_is_repaired_by_recovery_and_convergence,
    rec_01_recovery_moves_no_activity_and_changes_nothing_twice,
    err_08_a_session_that_cannot_be_read_is_recovered_unread,
    err_08_answers_that_cannot_be_read_keep_no_session_from_its_recovery,
    rec_01_many_sessions_are_repaired_in_batches,
    rec_01_a_repair_that_cannot_be_stored_is_made_at_the_next_start,
    rec_01_a_damaged_row_beside_the_repaired_ones_stops_nothing,
    pen_04_a_decision_that_the_end_of_a_server_kept_back_is_the_session_s_error,
    rec_01_a_session_closed_while_its_agent_comes_up_stays_closed,
);

/// A task as a killed server leaves it: its agent generates, two subagents work, a process is noted.
async fn killed_at_work(world: &World) -> Result<(TaskId, SessionId)> {
    let task = world.story.task().await?;
    let environment = world.story.environment(&task, &["root"]).await?;
    let session = world.story.session(&task, Some(&environment)).await?;
    let (turn, _) = world.story.prompt(&session, "go").await?;
    world
        .story
        .change(&[&task], async |tx| {
            let now = tx.now();
            turns::mark_attempted(tx, &turn).await?;
            sessions::set_acp_session(tx, &session, Some("one")).await?;
            sessions::set_state(tx, &session, SessionState::Running).await?;
            sessions::set_activity(tx, &session, Some(Activity::Generating), 2).await?;
            tasks::set_state(tx, &task, TaskState::InProgress, now).await?;
            tasks::raise_activity(tx, &task, now).await?;
            executions::insert(tx, &dead_process(&session, &environment), now).await
        })
        .await?;
    Ok((task, session))
}

/// No process has this id: it is larger than the kernel gives.
fn dead_process(session: &SessionId, environment: &EnvironmentId) -> Execution {
    Execution {
        id: ExecutionId::generate(),
        session_id: session.clone(),
        environment_id: environment.clone(),
        pid: i64::from(u32::MAX),
        process_started: "1".to_owned(),
        instance_id: InstanceId::generate(),
    }
}

async fn stored(world: &World, task: &TaskId) -> Result<TaskStatusSummary> {
    world.story.stored(task).await?.context("a summary")
}

async fn noted(world: &World) -> Result<usize> {
    let mut tx = world.story.store().read().await?;
    Ok(executions::all(&mut tx).await?.len())
}

/// S-25, REC-01, REC-02.
async fn s_25_a_stored_running_row_is_repaired_by_recovery_and_convergence(
    world: World,
) -> Result<()> {
    let (task, session) = killed_at_work(&world).await?;
    let settled = world.story.task().await?;
    let idle = world.story.session(&settled, None).await?;
    world
        .story
        .change(&[&settled], async |tx| {
            sessions::set_state(tx, &idle, SessionState::Idle).await
        })
        .await?;
    let before = world.projected(&task).await?;
    assert_eq!(
        before.payload.foreground_activity,
        Some(Activity::Generating)
    );
    assert_eq!(before.payload.active_subagent_count, Some(2));
    let kept = world.projected(&settled).await?;

    let recovered = world.orchestrator.recover().await?;
    assert_eq!((recovered.sessions, recovered.tasks), (1, 1));
    let converged = world.restarted_projector().converge().await?;
    assert_eq!((converged.written, converged.failed), (1, 0));

    let after = stored(&world, &task).await?;
    assert!(before.revision < after.revision);
    assert!(before.updated_at < after.updated_at);
    let primary = after.payload.primary_session.context("a session")?;
    assert_eq!(
        (primary.id, primary.state),
        (session, SessionState::WaitingForInput)
    );
    assert_eq!(after.payload.foreground_activity, None);
    assert_eq!(after.payload.active_subagent_count, None);
    assert_eq!(after.payload.active_error, None, "nothing failed");
    assert_eq!(
        stored(&world, &settled).await?,
        kept,
        "what was true stays as it is"
    );
    assert_eq!(noted(&world).await?, 0);
    let mut tx = world.story.store().read().await?;
    let task = tasks::get(&mut tx, &task).await?;
    assert_eq!(task.state, TaskState::Review);
    assert!(task.interrupted_at.is_some());
    Ok(())
}

/// REC-01, SUM-08.
async fn rec_01_recovery_moves_no_activity_and_changes_nothing_twice(world: World) -> Result<()> {
    let (task, _) = killed_at_work(&world).await?;
    let before = world.projected(&task).await?;
    world.orchestrator.recover().await?;
    let after = world.projected(&task).await?;
    assert_eq!(
        after.payload.last_activity_at,
        before.payload.last_activity_at
    );
    let again = world.orchestrator.recover().await?;
    assert_eq!((again.sessions, again.tasks, again.groups_ended), (0, 0, 0));
    assert_eq!(world.projected(&task).await?, after);
    Ok(())
}

/// One row that nobody can read does not keep a server from starting, and lies no longer than the others.
///
/// ERR-08, REC-01.
async fn err_08_a_session_that_cannot_be_read_is_recovered_unread(world: World) -> Result<()> {
    let (damaged, session) = killed_at_work(&world).await?;
    let (other, _) = killed_at_work(&world).await?;
    let damage = sql(
        "UPDATE task_sessions SET state = 'DREAMING', foreground_activity = 'musing' WHERE id = $1",
    );
    world.story.tamper(damage.bind(&session)).await?;
    let recovered = world.orchestrator.recover().await?;
    assert_eq!(recovered.sessions, 2);
    for task in [&damaged, &other] {
        let row = world.projected(task).await?.payload;
        let primary = row.primary_session.context("a session")?;
        assert_eq!(primary.state, SessionState::WaitingForInput);
        assert_eq!(row.foreground_activity, None);
    }
    assert_eq!(noted(&world).await?, 0);
    let mut tx = world.story.store().read().await?;
    assert_eq!(turns::open(&mut tx, &session).await?, None);
    let turn = turns::current(&mut tx, &session).await?.context("a turn")?;
    assert_eq!(turn.outcome, Some(TurnOutcome::Interrupted));
    Ok(())
}

/// ERR-08, REC-01: an answer that was not delivered is damaged in two ways. Its session comes to rest, and so does the
/// one beside it; the question is open again, as nobody has its answer, and can be declined.
async fn err_08_answers_that_cannot_be_read_keep_no_session_from_its_recovery(
    world: World,
) -> Result<()> {
    for damage in ["not JSON", r#"{"question":7}"#] {
        let (task, session) = killed_at_work(&world).await?;
        let (beside, _) = killed_at_work(&world).await?;
        let turn = {
            let mut tx = world.story.store().read().await?;
            turns::open(&mut tx, &session).await?.context("a turn")?.id
        };
        let asked = world.story.question(&session, &turn).await?;
        let broken = sql(
            "UPDATE task_session_messages SET status = 'answered', metadata = $2 WHERE id = $1",
        );
        let broken = broken.bind(&asked.message_id).bind(damage);
        assert_eq!(world.story.tamper(broken).await?, 1);
        assert_eq!(world.orchestrator.recover().await?.sessions, 2, "{damage}");
        let asks = Some(PendingAction::Clarification);
        for (task, pending) in [(&task, asks), (&beside, None)] {
            let row = world.projected(task).await?.payload;
            let primary = row.primary_session.context("a session")?;
            assert_eq!(primary.state, SessionState::WaitingForInput, "{damage}");
            assert_eq!(row.foreground_activity, None, "{damage}");
            assert_eq!(row.pending_action, pending, "{damage}");
        }
        let (row, bundle) = (&asked.message_id, &asked.pending_id);
        world
            .orchestrator
            .respond_clarification(&session, row, bundle, Reply::Rejected)
            .await?;
        assert_eq!(world.projected(&task).await?.payload.pending_action, None);
        assert_eq!(noted(&world).await?, 0);
        assert_eq!(world.orchestrator.recover().await?.sessions, 0, "once");
    }
    Ok(())
}

async fn state(world: &World, session: &SessionId) -> Result<SessionState> {
    let mut tx = world.story.store().read().await?;
    Ok(sessions::get(&mut tx, session).await?.state)
}

/// A full batch with a damaged session in it, and one session more. The damage is its own session's alone.
///
/// REC-01, ERR-08.
async fn rec_01_many_sessions_are_repaired_in_batches(world: World) -> Result<()> {
    let all = bounds::RECOVERY_BATCH + 1;
    let mut killed = Vec::new();
    for _ in 0..all {
        killed.push(killed_at_work(&world).await?);
    }
    let (_, damaged) = killed.get(7).context("a session")?;
    let damage = sql("UPDATE task_sessions SET state = 'DREAMING' WHERE id = $1");
    world.story.tamper(damage.bind(damaged)).await?;
    let progress = Mutex::new(Vec::new());
    let note = |repairing, done, of| {
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.push((repairing, done, of));
    };
    let recovered = world.orchestrator.recover_telling(&note).await?;
    // The task of the damaged one came to rest with it.
    assert_eq!((recovered.sessions, recovered.tasks), (all, all - 1));
    let progress = progress
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let told = [
        (Repairing::Sessions, 0, all),
        (Repairing::Sessions, bounds::RECOVERY_BATCH, all),
        (Repairing::Tasks, 0, all - 1),
    ];
    assert_eq!(progress, told);
    assert_eq!(noted(&world).await?, 0);
    for (task, session) in &killed {
        assert_eq!(state(&world, session).await?, SessionState::WaitingForInput);
        let mut tx = world.story.store().read().await?;
        assert_eq!(turns::open(&mut tx, session).await?, None);
        let task = tasks::get(&mut tx, task).await?;
        assert_eq!(task.state, TaskState::Review);
    }
    Ok(())
}

/// Nothing of a batch that fails is kept; the start that comes next finds all of it as it was.
///
/// REC-01, REC-05.
async fn rec_01_a_repair_that_cannot_be_stored_is_made_at_the_next_start(
    world: World,
) -> Result<()> {
    let killed = [killed_at_work(&world).await?, killed_at_work(&world).await?];
    let faults = world.story.store().faults();
    faults.fail(FaultPoint::BeforeCommit, 1);
    assert!(world.orchestrator.recover().await.is_err());
    assert_eq!(faults.take_failed(), [FaultPoint::BeforeCommit]);
    assert_eq!(noted(&world).await?, 2);
    let recovered = world.orchestrator.recover().await?;
    assert_eq!((recovered.sessions, recovered.tasks), (2, 2));
    for (_, session) in &killed {
        assert_eq!(state(&world, session).await?, SessionState::WaitingForInput);
    }
    Ok(())
}

/// What recovery does not change it does not read: a damaged row beside what it repairs keeps no server from starting,
/// and nothing is put together for events that nobody can hear yet.
///
/// REC-01, ERR-08.
async fn rec_01_a_damaged_row_beside_the_repaired_ones_stops_nothing(world: World) -> Result<()> {
    let (task, session) = killed_at_work(&world).await?;
    let damage = sql("UPDATE task_environments SET state = 'dreaming'");
    world.story.tamper(damage).await?;
    let recovered = world.orchestrator.recover().await?;
    assert_eq!((recovered.sessions, recovered.tasks), (1, 1));
    assert_eq!(
        state(&world, &session).await?,
        SessionState::WaitingForInput
    );
    assert!(world.hub.events().is_empty());
    let mut tx = world.story.store().read().await?;
    assert!(tasks::get(&mut tx, &task).await.is_err(), "it is damaged");
    Ok(())
}

/// Decided, and then the server was killed before the agent heard of it: the row keeps the decision, and the person is
/// told that nobody heard.
///
/// PEN-04, REC-01.
async fn pen_04_a_decision_that_the_end_of_a_server_kept_back_is_the_session_s_error(
    world: World,
) -> Result<()> {
    let (task, session) = killed_at_work(&world).await?;
    let turn = {
        let mut tx = world.story.store().read().await?;
        turns::current(&mut tx, &session).await?.context("a turn")?
    };
    let asked = world.story.permission(&session, &turn.id).await?;
    let decided = json!({ "tool_call": {}, "options": [], "chosen_option_id": "once" });
    let (id, pending, status) = (
        &asked.message_id,
        &asked.pending_id,
        RequestStatus::Approved,
    );
    world
        .story
        .change(&[&task], async |tx| {
            let now = tx.now();
            requests::decide(tx, id, pending, status, &decided, None, now).await
        })
        .await?;
    world.orchestrator.recover().await?;
    let row = world.projected(&task).await?.payload;
    let error = row.active_error.context("an error")?;
    assert!(
        error.preview.contains("did not reach the agent"),
        "{error:?}"
    );
    let mut tx = world.story.store().read().await?;
    let stored = messages::get(&mut tx, id).await?.context("a row")?;
    assert_eq!(
        (stored.status, stored.delivered),
        (Some(RequestStatus::Approved), Some(false))
    );
    Ok(())
}

/// The close is committed while the start waits to write that it begins.
///
/// REC-01.
async fn rec_01_a_session_closed_while_its_agent_comes_up_stays_closed(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let session = world.story.session(&task, None).await?;
    world
        .story
        .change(&[&task], async |tx| {
            sessions::set_acp_session(tx, &session, Some("one")).await?;
            sessions::set_state(tx, &session, SessionState::WaitingForInput).await
        })
        .await?;
    let elsewhere = world.elsewhere().await?;
    let starting = world.story.store().faults().hold(FaultPoint::BeginWrite, 1);
    world.orchestrator.session_opened(&session).await?;
    starting.reached().await;
    let mut tx = elsewhere.write().await?;
    sessions::set_state(&mut tx, &session, SessionState::Cancelled).await?;
    tx.touch(&task);
    let _ = tx.commit().await?; // nobody listens
    drop(starting);
    world.orchestrator.shutdown().await;
    assert_eq!(state(&world, &session).await?, SessionState::Cancelled);
    let turns = sql("SELECT id FROM task_session_turns WHERE session_id = $1");
    let mut tx = elsewhere.read().await?;
    assert!(tx.all(turns.bind(&session)).await?.is_empty());
    Ok(())
}
