//! Changes of tasks and sessions.

use crate::change::{Failing, SessionChange, TaskChange};
use crate::facts::{FailureFact, SessionFact, TaskFact};
use crate::scene::{Scene, chosen};
use model::error::ActiveError;
use model::ids::{SessionId, TaskId};
use model::session::SessionState;
use store::error::Result;
use store::sessions::{self, NewSession};
use store::tasks::{self, NewTask};
use store::tx::WriteTx;

/// Tasks at a time, at most.
const TASKS: usize = 3;

/// Sessions of a task at a time, at most.
const SESSIONS: usize = 3;

fn stored(failure: &FailureFact) -> ActiveError {
    ActiveError {
        session_id: None,
        task_repository_id: failure.repository.clone(),
        stamp: failure.stamp.clone(),
        occurred_at: failure.at,
        preview: failure.preview.clone(),
        category: failure.category.clone(),
        recovery_actions: failure.actions.clone(),
    }
}

pub(crate) async fn task(tx: &mut WriteTx, scene: &mut Scene, what: &TaskChange) -> Result<()> {
    let now = tx.now();
    if matches!(what, TaskChange::Made) {
        // Few tasks, so that much happens to each.
        return match scene.facts.tasks.len() {
            0..TASKS => make_task(tx, scene).await,
            _ => Ok(()),
        };
    }
    let (TaskChange::Edited(n)
    | TaskChange::Moved(n, _)
    | TaskChange::Archived(n, _)
    | TaskChange::Deleted(n)
    | TaskChange::LaunchFailed(n, _)
    | TaskChange::LaunchCleared(n)
    | TaskChange::TouchedOnly(n)) = what
    else {
        return Ok(());
    };
    let Some(id) = chosen(&scene.facts.tasks, *n) else {
        return Ok(());
    };
    tx.touch(&id);
    match what {
        TaskChange::Edited(_) => {
            tasks::set_facts(tx, &id, Some("Another title"), None, Some(1), now).await?;
        }
        TaskChange::Moved(_, step) => {
            let step = scene.story.steps[*step].clone();
            tasks::move_to(tx, &id, &step, None, now).await?;
        }
        TaskChange::Archived(_, away) => {
            tasks::set_archived(tx, &id, away.then_some(now), now).await?;
        }
        TaskChange::Deleted(_) => {
            tasks::remove(tx, &id).await?;
            scene.facts.forget_task(&id);
            return Ok(());
        }
        TaskChange::LaunchFailed(_, failing) => {
            return fail_launch(tx, scene, &id, Some(failing)).await;
        }
        TaskChange::LaunchCleared(_) => return fail_launch(tx, scene, &id, None).await,
        TaskChange::Made | TaskChange::TouchedOnly(_) => return Ok(()),
    }
    tasks::raise_activity(tx, &id, now).await?;
    scene.facts.reach_milestone(&id, now);
    Ok(())
}

async fn make_task(tx: &mut WriteTx, scene: &mut Scene) -> Result<()> {
    let now = tx.now();
    let id = scene.name(TaskId::parse);
    let new = NewTask {
        id: &id,
        workspace_id: &scene.story.workspace,
        workflow_id: &scene.story.workflow,
        step_id: &scene.story.steps[0],
        client_id: id.as_str(),
        title: "A task",
        description: "",
        parent_id: None,
    };
    tasks::insert(tx, &new, now).await?;
    tx.touch(&id);
    let fact = TaskFact {
        milestone: now,
        failure: None,
    };
    scene.facts.tasks.insert(id, fact);
    Ok(())
}

async fn fail_launch(
    tx: &mut WriteTx,
    scene: &mut Scene,
    id: &TaskId,
    failing: Option<&Failing>,
) -> Result<()> {
    let failure = failing.map(|failing| scene.failure(id, failing, tx.now()));
    tasks::set_launch_error(tx, id, failure.as_ref().map(stored).as_ref()).await?;
    let tasks = &mut scene.facts.tasks;
    tasks
        .entry(id.clone())
        .and_modify(|task| task.failure = failure);
    Ok(())
}

pub(crate) async fn session(
    tx: &mut WriteTx,
    scene: &mut Scene,
    what: &SessionChange,
) -> Result<()> {
    let (SessionChange::Made(n)
    | SessionChange::Moved(n, _)
    | SessionChange::Busy(n, ..)
    | SessionChange::Failed(n, _)
    | SessionChange::Cleared(n)
    | SessionChange::Dismissed(n, _)
    | SessionChange::MadePrimary(n)
    | SessionChange::Deleted(n)) = what;
    if matches!(what, SessionChange::Made(_)) {
        return match chosen(&scene.facts.tasks, *n) {
            Some(task) if scene.facts.sessions_of(&task).len() < SESSIONS => {
                make_session(tx, scene, task).await
            }
            _ => Ok(()),
        };
    }
    let Some(id) = chosen(&scene.facts.sessions, *n) else {
        return Ok(());
    };
    change_session(tx, scene, &id, what).await
}

async fn make_session(tx: &mut WriteTx, scene: &mut Scene, task: TaskId) -> Result<()> {
    let now = tx.now();
    let id = scene.name(SessionId::parse);
    let new = NewSession {
        id: &id,
        task_id: &task,
        environment_id: None,
        client_id: id.as_str(),
        agent_profile_id: &scene.story.profile,
        name: "A session",
        own_environment: false,
    };
    sessions::insert(tx, &new, now).await?;
    tx.touch(&task);
    let fact = SessionFact {
        primary: scene.facts.sessions_of(&task).is_empty(),
        task,
        started: now,
        state: SessionState::Created,
        activity: None,
        subagents: 0,
        failure: None,
        queue: Vec::new(),
    };
    scene.facts.sessions.insert(id, fact);
    Ok(())
}

async fn change_session(
    tx: &mut WriteTx,
    scene: &mut Scene,
    id: &SessionId,
    what: &SessionChange,
) -> Result<()> {
    let now = tx.now();
    let mut fact = scene.facts.sessions[id].clone();
    let task = fact.task.clone();
    tx.touch(&task);
    match what {
        SessionChange::Made(_) => {}
        SessionChange::Moved(_, state) => {
            sessions::set_state(tx, id, *state).await?;
            // A closed session never comes back.
            if !["COMPLETED", "FAILED", "CANCELLED"].contains(&fact.state.as_str()) {
                fact.state = *state;
            }
        }
        SessionChange::Busy(_, activity, subagents) => {
            sessions::set_activity(tx, id, *activity, *subagents).await?;
            (fact.activity, fact.subagents) = (*activity, *subagents);
        }
        SessionChange::Failed(_, failing) => {
            let failure = scene.failure(&task, failing, now);
            sessions::set_error(tx, id, &stored(&failure)).await?;
            fact.failure = Some(failure);
        }
        SessionChange::Cleared(_) => {
            let cleared = sessions::clear_error(tx, id, None, "a recovery", now).await?;
            assert_eq!(cleared, fact.failure.take().is_some());
        }
        SessionChange::Dismissed(_, current) => {
            let shown = fact.failure.as_ref().map(|failure| failure.stamp.clone());
            let stamp = shown.filter(|_| *current).unwrap_or_else(|| "f".repeat(32));
            let cleared = sessions::clear_error(tx, id, Some(&stamp), "a person", now).await?;
            assert_eq!(cleared, *current && fact.failure.is_some());
            fact.failure = fact.failure.filter(|_| !cleared);
        }
        SessionChange::MadePrimary(_) => {
            sessions::set_primary(tx, &task, id).await?;
            tasks::raise_activity(tx, &task, now).await?;
            scene.facts.reach_milestone(&task, now);
            for other in scene.facts.sessions.values_mut() {
                other.primary &= other.task != task;
            }
            fact.primary = true;
        }
        SessionChange::Deleted(_) => {
            sessions::remove(tx, &task, id).await?;
            scene.facts.forget_session(id);
            return Ok(());
        }
    }
    scene.facts.sessions.insert(id.clone(), fact);
    Ok(())
}
