//! What the ends and beginnings of turns mean beside the turn itself: for the task, its step and its permissions. Every
//! function runs inside a transaction and changes everything that belongs together. Which of it happens, and when, is
//! decided by `model::turn_machine`.

use crate::emit;
use crate::turn_plan;
use model::event::{ResolvedRequest, TaskChange};
use model::ids::{MessageId, PendingId, SessionId, TaskId};
use model::message::RequestStatus;
use model::turn_machine::change::Change;
use model::turn_machine::input::Input;
use serde_json::Value as Json;
use store::error::Result;
use store::requests::DecideOutcome;
use store::tx::WriteTx;
use store::{clarifications, messages, requests, tasks, workspaces};

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

/// A request that may be over.
pub(crate) struct Ending<'a> {
    pub(crate) message_id: &'a MessageId,
    pub(crate) pending_id: &'a PendingId,
    /// What its row holds from then on.
    pub(crate) metadata: &'a Json,
    pub(crate) status: RequestStatus,
    /// Whether the agent knows already; nothing while somebody is to tell it.
    pub(crate) delivered: Option<bool>,
}

/// Ends one request and tells so, if it is pending still: whoever comes first wins (PEN-05). Says whether it did.
pub(crate) async fn end_request(
    tx: &mut WriteTx,
    session_id: &SessionId,
    ending: Ending<'_>,
) -> Result<DecideOutcome> {
    let now = tx.now();
    let Ending {
        message_id,
        pending_id,
        metadata,
        status,
        delivered,
    } = ending;
    let outcome =
        requests::decide(tx, message_id, pending_id, status, metadata, delivered, now).await?;
    if outcome == DecideOutcome::Decided {
        emit::message_updated(tx, message_id).await?;
        let resolved = ResolvedRequest {
            message_id: message_id.clone(),
            pending_id: pending_id.clone(),
            status,
        };
        emit::pending(tx, session_id, Some(resolved)).await?;
    }
    Ok(outcome)
}

/// Ends what the agent took back, which it need not be told.
pub(crate) async fn end_withdrawn(
    tx: &mut WriteTx,
    session_id: &SessionId,
    change: &Change,
) -> Result<()> {
    match change {
        Change::EndPermission {
            id,
            status,
            delivered,
        } => {
            let row = messages::get(tx, id).await?;
            if let Some((row, pending_id)) = row
                .as_ref()
                .and_then(|row| Some((row, row.pending_id.as_ref()?)))
            {
                let ending = Ending {
                    message_id: id,
                    pending_id,
                    metadata: &row.metadata,
                    status: *status,
                    delivered: *delivered,
                };
                end_request(tx, session_id, ending).await?;
            }
        }
        Change::EndQuestions {
            id,
            status,
            delivered,
        } => {
            for row in clarifications::bundle(tx, session_id, id).await? {
                let ending = Ending {
                    message_id: &row.message_id,
                    pending_id: id,
                    metadata: &row.metadata,
                    status: *status,
                    delivered: *delivered,
                };
                end_request(tx, session_id, ending).await?;
            }
        }
        _ => {}
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
