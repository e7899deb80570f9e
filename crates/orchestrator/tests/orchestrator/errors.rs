//! Which errors a row shows, and what ends them (ERR-01, ERR-04).

use crate::world::World;
use anyhow::Result;
use model::clock::Timestamp;
use model::error::{ActiveError, ErrorCategory, RecoveryAction};
use model::ids::{SessionId, TaskId};
use model::session::SessionState;
use model::task::TaskState;
use orchestrator::error::CommandError;
use orchestrator::tasks::{CreateTask, StartAgent};
use store::sql::sql;
use store::{sessions, tasks};
use testkit::waiting::until;

testkit::on_every_engine!(crate::world::World =>
    s_09_the_newer_of_a_launch_error_and_a_sessions_is_shown_after_a_rebuild,
    err_04_dismissal_ends_the_error_with_that_stamp,
    err_04_dismissing_a_stamp_that_is_not_current_changes_nothing,
    err_04_a_launch_error_is_not_dismissed,
    err_04_a_terminal_move_ends_a_launch_error,
    err_04_a_launch_that_fails_after_the_task_was_finished_leaves_no_error,
    err_04_marking_the_review_done_ends_the_error_that_offered_it,
    an_action_that_is_not_offered_is_refused,
    an_error_of_a_closed_session_still_counts_and_can_be_dismissed,
    s_08_a_start_that_fails_before_a_session_exists_is_the_tasks_error,
);

/// ERR-01, S-09.
async fn s_09_the_newer_of_a_launch_error_and_a_sessions_is_shown_after_a_rebuild(
    world: World,
) -> Result<()> {
    let rebuilt = async |task: &TaskId| -> Result<Option<String>> {
        let delete = sql("DELETE FROM task_status_summaries WHERE task_id = $1");
        world.story.tamper(delete.bind(task)).await?;
        world.restarted_projector().converge().await?;
        let stored = world.story.stored(task).await?;
        Ok(stored
            .and_then(|stored| stored.payload.active_error)
            .map(|error| error.stamp))
    };
    let task = world.story.task().await?;
    let session = world.story.session(&task, None).await?;
    let launch = world
        .fail_launch(&task, ErrorCategory::WorkspaceInvalid)
        .await?;
    let exited = world.fail(&session, "it ended").await?;
    assert_eq!(rebuilt(&task).await?, Some(exited.stamp));
    let again = world
        .fail_launch(&task, ErrorCategory::WorkspaceInvalid)
        .await?;
    assert_ne!(launch.stamp, again.stamp, "each failure has its own stamp");
    assert_eq!(rebuilt(&task).await?, Some(again.stamp));
    Ok(())
}

/// ERR-04.
async fn err_04_dismissal_ends_the_error_with_that_stamp(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let one = world.story.session(&task, None).await?;
    let two = world.story.session(&task, None).await?;
    let older = world.fail(&one, "older").await?;
    let newer = world.fail(&two, "newer").await?;
    assert_eq!(world.shown(&task).await?, Some(newer.stamp.clone()));
    world
        .orchestrator
        .dismiss_error(&task, &newer.stamp)
        .await?;
    assert_eq!(world.shown(&task).await?, Some(older.stamp.clone()));
    world
        .orchestrator
        .dismiss_error(&task, &older.stamp)
        .await?;
    assert_eq!(world.shown(&task).await?, None);
    Ok(())
}

async fn revision(world: &World, session: &SessionId) -> Result<i64> {
    let mut tx = world.story.store().read().await?;
    Ok(sessions::get(&mut tx, session).await?.revision)
}

/// ERR-04.
async fn err_04_dismissing_a_stamp_that_is_not_current_changes_nothing(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let session = world.story.session(&task, None).await?;
    let earlier = world.fail(&session, "boom").await?;
    let error = world.fail(&session, "boom").await?;
    let shown = world.projected(&task).await?;
    let before = (revision(&world, &session).await?, world.hub.events().len());
    for stamp in [earlier.stamp.as_str(), "no such stamp", ""] {
        world.orchestrator.dismiss_error(&task, stamp).await?;
    }
    assert_eq!(world.projected(&task).await?, shown);
    let after = (revision(&world, &session).await?, world.hub.events().len());
    assert_eq!(after, before, "nothing is written and nothing is told");
    world
        .orchestrator
        .dismiss_error(&task, &error.stamp)
        .await?;
    world
        .orchestrator
        .dismiss_error(&task, &error.stamp)
        .await?;
    assert_eq!(world.shown(&task).await?, None);
    Ok(())
}

/// ERR-04.
async fn err_04_a_launch_error_is_not_dismissed(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let error = world
        .fail_launch(&task, ErrorCategory::AgentUnavailable)
        .await?;
    let refused = world.orchestrator.dismiss_error(&task, &error.stamp).await;
    assert!(
        matches!(refused, Err(CommandError::Conflict { .. })),
        "{refused:?}"
    );
    assert_eq!(world.shown(&task).await?, Some(error.stamp));
    Ok(())
}

/// ERR-04.
async fn err_04_a_terminal_move_ends_a_launch_error(world: World) -> Result<()> {
    let [_, middle, last] = &world.story.steps;
    for state in TaskState::ALL {
        if *state == TaskState::Scheduling {
            continue; // nobody sets it
        }
        let task = world.story.task().await?;
        let error = world
            .fail_launch(&task, ErrorCategory::BaseBranchMissing)
            .await?;
        let shown = world.shown(&task).await?;
        assert_eq!(shown.as_ref(), Some(&error.stamp));
        world
            .orchestrator
            .update_task(&task, None, None, Some(*state), None)
            .await?;
        let left = (!state.is_terminal()).then_some(error.stamp);
        assert_eq!(world.shown(&task).await?, left, "{state:?}");
    }
    let task = world.story.task().await?;
    let error = world
        .fail_launch(&task, ErrorCategory::BaseBranchMissing)
        .await?;
    world.orchestrator.move_task(&task, middle, None).await?;
    assert_eq!(world.shown(&task).await?, Some(error.stamp));
    world.orchestrator.move_task(&task, last, None).await?;
    assert_eq!(world.shown(&task).await?, None);
    Ok(())
}

fn starting(world: &World, name: &str) -> CreateTask {
    CreateTask {
        workspace_id: world.story.workspace.clone(),
        client_id: name.to_owned(),
        title: name.to_owned(),
        description: String::new(),
        workflow_id: None,
        step_id: None,
        // Registered, and not there.
        repositories: vec![(world.story.repository.clone(), None)],
        inherit_environment: false,
        parent_id: None,
        start: Some(StartAgent {
            agent_profile_id: None,
            prompt: None,
        }),
    }
}

/// ERR-04. Whichever of the two comes first.
async fn err_04_a_launch_that_fails_after_the_task_was_finished_leaves_no_error(
    world: World,
) -> Result<()> {
    let mut started = Vec::new();
    for round in 0..20 {
        let new = starting(&world, &format!("round-{round}"));
        let task = world.orchestrator.create_task(new).await?.id;
        let state = Some(TaskState::Cancelled);
        let finish = world
            .orchestrator
            .update_task(&task, None, None, state, None);
        finish.await?;
        started.push(task);
    }
    world.orchestrator.shutdown().await; // every launch is over then
    for task in &started {
        assert_eq!(world.shown(task).await?, None);
        let mut tx = world.story.store().read().await?;
        assert_eq!(tasks::get(&mut tx, task).await?.state, TaskState::Cancelled);
    }
    Ok(())
}

async fn step_and_error(world: &World, task: &TaskId) -> Result<(bool, Option<String>)> {
    let mut tx = world.story.store().read().await?;
    let on_last = tasks::get(&mut tx, task).await?.step_id == world.story.steps[2];
    drop(tx);
    Ok((on_last, world.shown(task).await?))
}

/// ERR-04.
async fn err_04_marking_the_review_done_ends_the_error_that_offered_it(world: World) -> Result<()> {
    let closed = ErrorCategory::PrAlreadyClosed;
    let done = RecoveryAction::MarkReviewDone;
    let task = world.story.task().await?;
    let error = world.fail_launch(&task, closed).await?;
    assert_eq!(error.recovery_actions, [done]);
    let recover = world
        .orchestrator
        .recover_task(&task, &error.stamp, done, None);
    recover.await?;
    assert_eq!(step_and_error(&world, &task).await?, (true, None));

    // The same of a session, beside another's error, which stays.
    let task = world.story.task().await?;
    let other = world.story.session(&task, None).await?;
    let kept = world.fail(&other, "kept").await?;
    let session = world.story.session(&task, None).await?;
    let at = world.story.now();
    let error = ActiveError::record(session.as_str(), at, "it was closed", closed);
    world.store_error(&session, &error).await?;
    assert_eq!(world.shown(&task).await?, Some(error.stamp.clone()));
    let recover = world
        .orchestrator
        .recover_task(&task, &error.stamp, done, None);
    recover.await?;
    let expected = (true, Some(kept.stamp));
    assert_eq!(step_and_error(&world, &task).await?, expected);
    Ok(())
}

async fn an_action_that_is_not_offered_is_refused(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let [first, ..] = &world.story.steps;
    for category in ErrorCategory::ALL {
        let error = world.fail_launch(&task, *category).await?;
        for action in RecoveryAction::ALL {
            if error.recovery_actions.contains(action) {
                continue;
            }
            let refused = world
                .orchestrator
                .recover_task(&task, &error.stamp, *action, Some("main"))
                .await;
            assert!(
                matches!(refused, Err(CommandError::Conflict { .. })),
                "{category:?} {action:?} {refused:?}"
            );
        }
        let mut tx = world.story.store().read().await?;
        let unmoved = tasks::get(&mut tx, &task).await?;
        assert_eq!(
            (unmoved.state, &unmoved.step_id),
            (TaskState::Todo, first),
            "{category:?}"
        );
        drop(tx);
        assert_eq!(world.shown(&task).await?, Some(error.stamp.clone()));
    }
    let refused = world
        .orchestrator
        .recover_task(&task, "over", RecoveryAction::RetryDefault, None)
        .await;
    assert!(
        matches!(refused, Err(CommandError::Conflict { .. })),
        "{refused:?}"
    );
    Ok(())
}

async fn an_error_of_a_closed_session_still_counts_and_can_be_dismissed(
    world: World,
) -> Result<()> {
    let task = world.story.task().await?;
    let session = world.story.session(&task, None).await?;
    let error = world.fail(&session, "boom").await?;
    let closed = world.orchestrator.close_session(&session).await?;
    assert_eq!(closed.state, SessionState::Completed);
    let offered = closed.error.map(|error| error.recovery_actions);
    assert_eq!(offered, Some(Vec::new()), "what would be refused");
    let shown = world.projected(&task).await?.payload.active_error;
    let shown = shown.map(|error| (error.stamp, error.recovery_actions));
    assert_eq!(shown, Some((error.stamp.clone(), Vec::new())));
    let retry = RecoveryAction::RetryDefault;
    let refused = world
        .orchestrator
        .recover_task(&task, &error.stamp, retry, None)
        .await;
    let Err(CommandError::Conflict { message, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert!(
        message.contains("start a new one"),
        "it says what to do: {message}"
    );
    assert_eq!(world.shown(&task).await?, Some(error.stamp.clone()));
    world
        .orchestrator
        .dismiss_error(&task, &error.stamp)
        .await?;
    assert_eq!(world.shown(&task).await?, None);
    Ok(())
}

/// ERR-01, ERR-02, S-08.
async fn s_08_a_start_that_fails_before_a_session_exists_is_the_tasks_error(
    world: World,
) -> Result<()> {
    let started = world.story.now();
    let task = world
        .orchestrator
        .create_task(starting(&world, "auto-start"))
        .await?;
    until("the launch to fail", async || {
        let failed = world.story.derived(&task.id).await?.active_error;
        Ok(failed.map(drop))
    })
    .await?;
    let summary = world.projected(&task.id).await?.payload;
    let error = summary.active_error.expect("an error");
    assert_eq!(error.session_id, None);
    assert_eq!(summary.primary_session, None);
    assert_eq!(error.category.as_deref(), Some("workspace_invalid"));
    assert_eq!(error.recovery_actions, [RecoveryAction::RetryDefault]);
    assert_eq!(
        error.task_repository_id.as_ref(),
        task.repositories.first().map(|repository| &repository.id),
        "it names the one repository that is the cause"
    );
    assert!(started < error.occurred_at);
    let mut tx = world.story.store().read().await?;
    assert_eq!(tasks::get(&mut tx, &task.id).await?.state, TaskState::Todo);
    assert!(
        tasks::launch_intent(&mut tx, &task.id).await?.is_some(),
        "trying again knows what was asked"
    );
    drop(tx);

    // A launch error moves no activity: nobody did anything.
    assert!(summary.last_activity_at < Some(error.occurred_at));
    assert!(Some(Timestamp::from_micros(0)) < summary.last_activity_at);
    world.orchestrator.shutdown().await;
    Ok(())
}
