//! What the ends and beginnings of turns mean beside the turn itself: for the task, its step and its permissions. Every
//! function runs inside a transaction and changes everything that belongs together. Which of it happens, and when, is
//! decided by `model::turn_machine`.

use crate::emit;
use crate::turn_plan;
use model::event::{ResolvedRequest, TaskChange};
use model::ids::{SessionId, TaskId};
use model::message::RequestStatus;
use model::turn_machine::input::Input;
use store::error::Result;
use store::tx::WriteTx;
use store::{requests, tasks, workspaces};

/// An agent of the task is up: an earlier failed launch is over, and so is what the task was to start with (ERR-04).
pub(crate) async fn started(tx: &mut WriteTx, task_id: &TaskId) -> Result<()> {
    tasks::set_launch_error(tx, task_id, None).await?;
    tasks::set_launch_intent(tx, task_id, None).await
}

/// Brings session and task to rest when nothing of theirs is under way: the one rule for every end of a start or a
/// process.
pub(crate) async fn rest(tx: &mut WriteTx, session_id: &SessionId) -> Result<()> {
    let facts = turn_plan::facts(tx, session_id, |_| false).await?;
    turn_plan::follow(tx, session_id, &facts, &Input::Rested).await?;
    let session = emit::read_session(tx, session_id).await?;
    tx.touch(&session.task_id);
    Ok(())
}

/// Ends the open permissions of a session and tells so.
pub(crate) async fn expire_permissions(
    tx: &mut WriteTx,
    session_id: &SessionId,
    status: RequestStatus,
) -> Result<()> {
    let now = tx.now();
    for (message_id, pending_id) in requests::end_permissions(tx, session_id, status, now).await? {
        emit::message_updated(tx, &message_id).await?;
        emit::pending(
            tx,
            session_id,
            Some(ResolvedRequest {
                message_id,
                pending_id,
                status,
            }),
        )
        .await?;
    }
    Ok(())
}

/// When a task's step may act.
#[derive(Clone, Copy)]
pub(crate) enum StepMoment {
    TurnStart,
    TurnComplete,
}

/// Carries out what the task's step does at this moment: it may move the task.
pub(crate) async fn follow_step(
    tx: &mut WriteTx,
    task_id: &TaskId,
    moment: StepMoment,
) -> Result<()> {
    let Some((workflow, step_id)) = workspaces::acting_step(tx, task_id).await? else {
        return Ok(());
    };
    let target = workflow.step(&step_id).and_then(|step| match moment {
        StepMoment::TurnStart => step.on_turn_start.clone(),
        StepMoment::TurnComplete => step.on_turn_complete.clone(),
    });
    if let Some(target) = target.filter(|target| workflow.step(target).is_some()) {
        let now = tx.now();
        tasks::move_to(tx, task_id, &target, None, now).await?;
        if workflow.last_step().is_some_and(|last| last.id == target) {
            tasks::set_launch_error(tx, task_id, None).await?;
        }
        emit::task(tx, task_id, TaskChange::Moved).await?;
    }
    Ok(())
}
