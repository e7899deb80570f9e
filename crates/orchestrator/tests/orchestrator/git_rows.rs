//! Git totals on rows: complete from the first event on, shared, and never a guess (GIT-01 … GIT-04).

use crate::world::World;
use anyhow::{Context, Result};
use model::event::Event;
use model::git::MeasureFailure;
use model::ids::{EnvironmentId, TaskId};
use model::session::{Activity, SessionState};
use model::summary::{PendingAction, SummaryPayload};
use orchestrator::tasks::{CreateTask, StartAgent};
use std::path::Path;
use std::time::Duration;
use store::sql::sql;
use store::{sessions, tasks};
use testkit::repository::Repository;
use testkit::story::look::Look;
use testkit::waiting::until;

testkit::on_every_engine!(crate::world::World =>
    s_05_a_change_of_git_moves_the_row_and_not_its_last_activity,
    s_12_after_a_restart_one_repositorys_event_counts_every_repository,
    s_13_the_first_event_of_a_task_without_a_row_creates_it_from_everything,
    git_03_the_last_session_of_a_shared_environment_takes_no_totals_along,
    git_04_what_cannot_be_measured_leaves_the_totals_as_they_were,
);

fn look(world: &World, repository: Option<&str>, additions: u64) -> Look {
    Look {
        repository: repository.map(str::to_owned),
        ..Look::at(world.story.now(), additions)
    }
}

fn additions(payload: &SummaryPayload) -> Option<u64> {
    payload.git.as_ref().map(|git| git.additions)
}

/// S-05, SUM-08.
async fn s_05_a_change_of_git_moves_the_row_and_not_its_last_activity(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let environment = world.story.environment(&task, &["root"]).await?;
    let session = world.story.session(&task, Some(&environment)).await?;
    world
        .story
        .change(&[&task], async |tx| {
            sessions::set_state(tx, &session, SessionState::Idle).await
        })
        .await?;
    let before = world.projected(&task).await?;
    assert_eq!(additions(&before.payload), None);
    for lines in [3, 0] {
        let held = world.projected(&task).await?;
        world.story.db.clock.advance(Duration::from_secs(60));
        world
            .story
            .observe(&environment, &look(&world, None, lines))
            .await?;
        let after = world.projected(&task).await?;
        assert_eq!(additions(&after.payload), Some(lines));
        assert!(held.revision < after.revision);
        assert!(held.updated_at < after.updated_at);
        assert_eq!(
            after.payload.last_activity_at, before.payload.last_activity_at,
            "what Git says is no activity"
        );
    }
    Ok(())
}

/// GIT-01, GIT-02, S-12.
async fn s_12_after_a_restart_one_repositorys_event_counts_every_repository(
    world: World,
) -> Result<()> {
    let damages = [
        // No aggregate in the stored row, and no mark that says so.
        Some(sql(
            r#"UPDATE task_status_summaries SET payload = '{"primary_session":null}' WHERE task_id = $1"#,
        )),
        Some(sql("DELETE FROM task_status_summaries WHERE task_id = $1")),
        None,
    ];
    for damage in damages {
        let task = world.story.task().await?;
        let environment = world
            .story
            .environment(&task, &["root", "docs", "api"])
            .await?;
        let names = [None, Some("docs"), Some("api")];
        for (name, lines) in names.into_iter().zip([1, 10, 100]) {
            world
                .story
                .observe(&environment, &look(&world, name, lines))
                .await?;
        }
        if let Some(damage) = damage {
            world.projected(&task).await?;
            world.story.tamper(damage.bind(&task)).await?;
        }
        let restarted = world.restarted_projector();
        world
            .story
            .observe(&environment, &look(&world, Some("docs"), 20))
            .await?;
        restarted.project(std::slice::from_ref(&task)).await;
        let stored = world.story.stored(&task).await?.context("a summary")?;
        assert_eq!(additions(&stored.payload), Some(121));
    }
    Ok(())
}

/// GIT-02, SUM-04, S-13.
async fn s_13_the_first_event_of_a_task_without_a_row_creates_it_from_everything(
    world: World,
) -> Result<()> {
    let task = world.story.task().await?;
    let environment = world.story.environment(&task, &["root", "docs"]).await?;
    let session = world.story.session(&task, Some(&environment)).await?;
    let (turn, _) = world.story.prompt(&session, "go").await?;
    world
        .story
        .change(&[&task], async |tx| {
            sessions::set_state(tx, &session, SessionState::Running).await?;
            sessions::set_activity(tx, &session, Some(Activity::Generating), 2).await
        })
        .await?;
    world.story.permission(&session, &turn).await?;
    world.story.queue(&session, "then").await?;
    let failed = world.story.session(&task, None).await?;
    let error = world.fail(&failed, "it ended").await?;
    for (name, lines) in [(None, 1), (Some("docs"), 10)] {
        world
            .story
            .observe(&environment, &look(&world, name, lines))
            .await?;
    }
    assert_eq!(world.story.stored(&task).await?, None);

    let first = world.restarted_projector();
    world
        .story
        .observe(&environment, &look(&world, None, 2))
        .await?;
    first.project(std::slice::from_ref(&task)).await;
    let created = world.story.stored(&task).await?.context("a summary")?;
    let row = created.payload;
    assert_eq!(additions(&row), Some(12));
    assert_eq!(
        row.primary_session
            .map(|primary| (primary.id, primary.state)),
        Some((session, SessionState::Running))
    );
    assert_eq!(row.foreground_activity, Some(Activity::Generating));
    assert_eq!(row.active_subagent_count, Some(2));
    assert_eq!(row.pending_action, Some(PendingAction::Permission));
    assert_eq!(row.queued_prompt_count, Some(1));
    assert_eq!(row.active_error.map(|shown| shown.stamp), Some(error.stamp));
    assert!(row.last_activity_at.is_some());
    Ok(())
}

/// GIT-03.
async fn git_03_the_last_session_of_a_shared_environment_takes_no_totals_along(
    world: World,
) -> Result<()> {
    let parent = world.story.task().await?;
    let environment = world.story.environment(&parent, &["root"]).await?;
    let child = world.story.child_of(&parent).await?;
    world.story.bind(&child, &environment).await?;
    let mut all = Vec::new();
    for task in [&parent, &parent, &child] {
        all.push(world.story.session(task, Some(&environment)).await?);
    }
    world
        .story
        .observe(&environment, &look(&world, None, 7))
        .await?;
    for session in [None].into_iter().chain(all.iter().map(Some)) {
        if let Some(session) = session {
            world.orchestrator.delete_session(session).await?;
        }
        for task in [&parent, &child] {
            let row = world.projected(task).await?.payload;
            assert_eq!(additions(&row), Some(7), "counted once, and not lost");
        }
    }
    Ok(())
}

/// A task that tried to start on a real repository: its worktree is made, and no agent is there.
async fn task_with_worktree(
    world: &World,
    repository: &Repository,
) -> Result<(TaskId, EnvironmentId, String)> {
    let path = repository.path()?;
    let path = path.to_str().context("a path in Unicode")?;
    let registered = world
        .orchestrator
        .add_repository(&world.story.workspace, path, Some("sample"), None)
        .await?;
    let new = CreateTask {
        workspace_id: world.story.workspace.clone(),
        client_id: "sample".to_owned(),
        title: "Sample".to_owned(),
        description: String::new(),
        workflow_id: None,
        step_id: None,
        repositories: vec![(registered.id, None)],
        inherit_environment: false,
        parent_id: None,
        start: Some(StartAgent {
            agent_profile_id: None,
            prompt: None,
        }),
    };
    let task = world.orchestrator.create_task(new).await?.id;
    until("the start to fail for want of an agent", async || {
        let error = world.story.derived(&task).await?.active_error;
        Ok(error.map(|error| assert_eq!(error.category.as_deref(), Some("agent_unavailable"))))
    })
    .await?;
    let mut tx = world.story.store().read().await?;
    let loaded = tasks::get(&mut tx, &task).await?;
    let environment = loaded.environments.into_iter().next().context("one")?;
    let worktree = environment.repositories[0].worktree_path.clone();
    Ok((task, environment.id, worktree))
}

/// GIT-04. A worktree that is gone, and one that answers for another repository, are not clean ones.
async fn git_04_what_cannot_be_measured_leaves_the_totals_as_they_were(world: World) -> Result<()> {
    let repository = Repository::new()?;
    let (task, environment, worktree) = task_with_worktree(&world, &repository).await?;
    std::fs::write(Path::new(&worktree).join("NOTES.md"), "one\ntwo\n")?;
    world.orchestrator.refresh_git(&environment).await?;
    let measured = world.projected(&task).await?;
    assert_eq!(additions(&measured.payload), Some(2));

    let failures = || -> Vec<MeasureFailure> {
        let events = world.hub.events().into_iter();
        events
            .filter_map(|event| match event {
                Event::GitMeasureFailed { reason, .. } => Some(reason),
                _ => None,
            })
            .collect()
    };
    assert_eq!(failures(), []);
    let away = format!("{worktree}-away");
    std::fs::rename(&worktree, &away)?;
    world.orchestrator.refresh_git(&environment).await?;
    assert_eq!(failures().len(), 1);
    assert_eq!(world.projected(&task).await?, measured);

    std::fs::rename(&away, &worktree)?;
    let pointer = Path::new(&worktree).join(".git");
    let pointed = std::fs::read(&pointer)?;
    std::fs::remove_file(&pointer)?;
    world.orchestrator.refresh_git(&environment).await?;
    assert_eq!(failures().len(), 2);
    assert_eq!(world.projected(&task).await?, measured);

    // A later look repairs it: the same again is no news, a change is.
    std::fs::write(&pointer, pointed)?;
    std::fs::write(Path::new(&worktree).join("NOTES.md"), "one\n")?;
    world.orchestrator.refresh_git(&environment).await?;
    assert_eq!(additions(&world.projected(&task).await?.payload), Some(1));
    world.orchestrator.shutdown().await;
    Ok(())
}
