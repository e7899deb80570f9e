//! What opening and settling a turn means for its session and task. Every function runs inside a transaction and
//! changes everything that belongs together.
//!
//! A prompt that is to be sent gets its turn reserved with the row itself (`turns::NewTurn::ForMessage`), so the
//! reservation is authoritative at once (PEN-03). The turn *opens* (session RUNNING, task IN_PROGRESS) when a process
//! is there to take it; *attempted* is marked right before the line is written.

use crate::clarifications;
use crate::emit;
use model::event::{ResolvedRequest, TaskChange};
use model::ids::{SessionId, TaskId, TurnId};
use model::message::RequestStatus;
use model::session::{Activity, Session, SessionState};
use model::task::TaskState;
use model::turn::TurnOutcome;
use store::error::Result;
use store::tx::WriteTx;
use store::{messages, requests, sessions, tasks, turns, workspaces};

/// Reserves a turn for answers that wait to be sent, else for the first queued prompt, if no turn is open; gives the
/// turn.
pub(crate) async fn reserve_next(
    tx: &mut WriteTx,
    session_id: &SessionId,
) -> Result<Option<TurnId>> {
    if turns::open(tx, session_id).await?.is_some() {
        return Ok(None);
    }
    if let Some(turn_id) = clarifications::reserve(tx, session_id).await? {
        return Ok(Some(turn_id));
    }
    let Some(first) = messages::queue(tx, session_id).await?.into_iter().next() else {
        return Ok(None);
    };
    let turn_id = TurnId::generate();
    let now = tx.now();
    turns::insert(tx, &turn_id, session_id, turns::NewTurn::ForMessage, now).await?;
    messages::dequeue(tx, &first, &turn_id, now).await?;
    emit::message_updated(tx, &first.id).await?;
    emit::queue(tx, session_id).await?;
    tx.touch(&first.task_id);
    Ok(Some(turn_id))
}

/// A conversational turn opens: the session runs, its task is in progress, older requests are over.
pub(crate) async fn open(tx: &mut WriteTx, session: &Session, turn_id: &TurnId) -> Result<()> {
    let now = tx.now();
    expire_permissions(tx, &session.id, RequestStatus::Expired).await?;
    sessions::set_state(tx, &session.id, SessionState::Running).await?;
    sessions::set_activity(
        tx,
        &session.id,
        Some(Activity::Generating),
        session.active_subagent_count,
    )
    .await?;
    emit::session(tx, &session.id).await?;
    emit::turn_started(tx, turn_id).await?;
    tasks::set_state(tx, &session.task_id, TaskState::InProgress, now).await?;
    tasks::set_interrupted(tx, &session.task_id, None).await?;
    started(tx, &session.task_id).await?;
    tasks::raise_activity(tx, &session.task_id, now).await?;
    follow_step(tx, &session.task_id, StepMoment::TurnStart).await?;
    emit::task(tx, &session.task_id, TaskChange::Updated).await?;
    tx.touch(&session.task_id);
    Ok(())
}

/// A conversational turn settles. The session waits for a person, its task is to be reviewed unless another turn of
/// it is open, and its requests are over unless background work is left. A settled turn stays as it is.
pub(crate) async fn settle(
    tx: &mut WriteTx,
    session: &Session,
    turn_id: &TurnId,
    outcome: TurnOutcome,
    subagents: u32,
) -> Result<()> {
    let now = tx.now();
    tx.touch(&session.task_id);
    if !turns::complete(tx, turn_id, outcome, now).await? {
        return Ok(());
    }
    if subagents == 0 {
        expire_permissions(tx, &session.id, RequestStatus::Expired).await?;
    }
    let activity = (0 < subagents).then_some(Activity::Background);
    sessions::set_activity(tx, &session.id, activity, subagents).await?;
    if !session.state.is_terminal() {
        sessions::set_state(tx, &session.id, SessionState::WaitingForInput).await?;
    }
    emit::session(tx, &session.id).await?;
    emit::turn_completed(tx, turn_id).await?;
    emit::prompts_of_turn(tx, turn_id).await?;
    tasks::raise_activity(tx, &session.task_id, now).await?;
    review_if_settled(tx, session).await?;
    tx.touch(&session.task_id);
    Ok(())
}

/// IN_PROGRESS becomes REVIEW when the last open conversational turn of the task settled.
async fn review_if_settled(tx: &mut WriteTx, session: &Session) -> Result<()> {
    let now = tx.now();
    let task = tasks::get(tx, &session.task_id).await?;
    if task.state == TaskState::InProgress
        && !turns::open_in_task(tx, &task.id, &session.id).await?
    {
        tasks::set_state(tx, &task.id, TaskState::Review, now).await?;
        follow_step(tx, &task.id, StepMoment::TurnComplete).await?;
        emit::task(tx, &task.id, TaskChange::Updated).await?;
    }
    Ok(())
}

/// An agent of the task is up: an earlier failed launch is over, and so is what the task was to start with (ERR-04).
pub(crate) async fn started(tx: &mut WriteTx, task_id: &TaskId) -> Result<()> {
    tasks::set_launch_error(tx, task_id, None).await?;
    tasks::set_launch_intent(tx, task_id, None).await
}

/// Brings session and task to rest when nothing of theirs is under way: the one rule for every end of a start or a
/// process. RUNNING and STARTING without an open turn become what they were before; so do IN_PROGRESS and SCHEDULING.
pub(crate) async fn rest(tx: &mut WriteTx, session_id: &SessionId) -> Result<()> {
    let session = sessions::get(tx, session_id).await?;
    tx.touch(&session.task_id);
    let open = turns::open(tx, session_id).await?.is_some();
    if !open
        && matches!(
            session.state,
            SessionState::Running | SessionState::Starting
        )
    {
        let known = sessions::route(tx, session_id)
            .await?
            .acp_session_id
            .is_some();
        let state = if known {
            SessionState::WaitingForInput
        } else {
            SessionState::Created
        };
        sessions::set_state(tx, session_id, state).await?;
    }
    emit::session(tx, session_id).await?;
    let task = tasks::get(tx, &session.task_id).await?;
    let others = sessions::of_task(tx, &task.id).await?;
    let starting = others
        .iter()
        .any(|other| other.id != *session_id && other.state == SessionState::Starting);
    let busy = open || starting || turns::open_in_task(tx, &task.id, session_id).await?;
    let next = match task.state {
        TaskState::InProgress => TaskState::Review,
        TaskState::Scheduling if tasks::launch_intent(tx, &task.id).await?.is_none() => {
            TaskState::Todo
        }
        _ => return Ok(()),
    };
    if !busy {
        let now = tx.now();
        tasks::set_state(tx, &task.id, next, now).await?;
        emit::task(tx, &task.id, TaskChange::Updated).await?;
    }
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

#[derive(Clone, Copy)]
enum StepMoment {
    TurnStart,
    TurnComplete,
}

/// Carries out what the task's step does at this moment: it may move the task.
async fn follow_step(tx: &mut WriteTx, task_id: &TaskId, moment: StepMoment) -> Result<()> {
    let task = tasks::get(tx, task_id).await?;
    let Some(workflow) = workspaces::workflow(tx, &task.workflow_id).await? else {
        return Ok(());
    };
    let target = workflow.step(&task.step_id).and_then(|step| match moment {
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
