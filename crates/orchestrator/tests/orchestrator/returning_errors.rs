//! Case C05: the error mark goes when the agent recovers, and does not come back.

use crate::world::World;
use anyhow::Result;
use model::clock::Timestamp;
use model::error::{ActiveError, ErrorCategory};
use model::event::{Event, EventHub};
use model::ids::{SessionId, TaskId};
use model::message::{Author, MessageType};
use model::session::SessionState;
use model::turn::TurnOutcome;
use std::sync::Arc;
use store::{sessions, turns};
use tokio::task::JoinSet;

testkit::on_every_engine!(crate::world::World =>
    c05_an_error_goes_with_the_answer_and_stays_away,
    c05_deletions_and_a_dismissal_leave_no_error,
    c05_sessions_deleted_at_once_leave_no_error,
);

/// An error that happened at this second.
async fn fail_at(world: &World, session: &SessionId, second: i64) -> Result<ActiveError> {
    let at = Timestamp::from_micros(second * 1_000_000);
    let error = ActiveError::record(session.as_str(), at, "it ended", ErrorCategory::AgentExited);
    world.store_error(session, &error).await?;
    Ok(error)
}

/// What the session's owner commits when the agent answers and its turn ends normally.
async fn answer(world: &World, task: &TaskId, session: &SessionId) -> Result<()> {
    let (turn, _) = world.story.prompt(session, "again").await?;
    let kind = MessageType::Message;
    world
        .story
        .row(session, Some(&turn), Author::Agent, kind, "done")
        .await?;
    world
        .story
        .change(&[task], async |tx| {
            let now = tx.now();
            turns::complete(tx, &turn, TurnOutcome::Completed, now).await?;
            sessions::clear_error(tx, session, None, "agent response", now).await?;
            sessions::set_state(tx, session, SessionState::WaitingForInput).await
        })
        .await
}

/// C05, ERR-04.
async fn c05_an_error_goes_with_the_answer_and_stays_away(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let session = world.story.session(&task, None).await?;
    let error = fail_at(&world, &session, 100).await?;
    assert_eq!(world.shown(&task).await?, Some(error.stamp));
    let read_at_150 = {
        let mut tx = world.story.store().read().await?;
        sessions::get(&mut tx, &session).await?
    };
    assert!(read_at_150.error.is_some());
    answer(&world, &task, &session).await?;
    assert_eq!(world.shown(&task).await?, None, "at 200");

    // An event of the session arrives with the copy that still has the error.
    world.hub.publish(&Event::Session(read_at_150.into()));
    world
        .story
        .change(&[&task], async |tx| {
            sessions::raise_pending_revision(tx, &session).await
        })
        .await?;
    assert_eq!(world.shown(&task).await?, None, "at 201");

    let revision = world.projected(&task).await?.revision;
    let converged = world.restarted_projector().converge().await?;
    assert_eq!((converged.written, converged.failed), (0, 0));
    let after = world.projected(&task).await?;
    assert_eq!(after.payload.active_error, None, "at 300");
    assert_eq!(after.revision, revision);
    Ok(())
}

/// Two sessions, `e3` of the first at 350, `e2` of the second at 400; the row shows `e2`.
async fn both_failed(world: &World) -> Result<(TaskId, [SessionId; 2], ActiveError)> {
    let task = world.story.task().await?;
    let one = world.story.session(&task, None).await?;
    let two = world.story.session(&task, None).await?;
    let third = fail_at(world, &one, 350).await?;
    let second = fail_at(world, &two, 400).await?;
    assert_eq!(world.shown(&task).await?, Some(second.stamp));
    Ok((task, [one, two], third))
}

/// C05, ERR-05.
async fn c05_deletions_and_a_dismissal_leave_no_error(world: World) -> Result<()> {
    let (task, [_, two], third) = both_failed(&world).await?;
    world.orchestrator.delete_session(&two).await?;
    assert_eq!(world.shown(&task).await?, Some(third.stamp.clone()));
    world
        .orchestrator
        .dismiss_error(&task, &third.stamp)
        .await?;
    assert_eq!(world.shown(&task).await?, None);
    Ok(())
}

/// C05, ERR-06.
async fn c05_sessions_deleted_at_once_leave_no_error(world: World) -> Result<()> {
    let (task, deleted, _) = both_failed(&world).await?;
    let world = Arc::new(world);
    let mut at_once = JoinSet::new();
    for session in deleted {
        let world = Arc::clone(&world);
        at_once.spawn(async move { world.orchestrator.delete_session(&session).await });
    }
    let other = world.restarted_projector();
    other.project(std::slice::from_ref(&task)).await;
    while let Some(joined) = at_once.join_next().await {
        joined??;
    }
    assert_eq!(world.shown(&task).await?, None);
    Ok(())
}
