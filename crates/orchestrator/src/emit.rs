//! Reads an entity as the transaction leaves it and adds the event that tells it.
//!
//! In a transaction that nobody can hear (start-up recovery) nothing is read to be told, so no row that only an event
//! would need can fail it.

use model::event::{Event, ResolvedRequest, TaskChange};
use model::ids::{MessageId, SessionId, TaskId, TurnId};
use model::session::Session;
use model::task::Task;
use std::sync::Arc;
use store::error::Result;
use store::tx::WriteTx;
use store::{messages, sessions, tasks, turns};

/// A task changed.
pub(crate) async fn task(tx: &mut WriteTx, id: &TaskId, change: TaskChange) -> Result<()> {
    if tx.is_heard() {
        read_task(tx, id, change).await?;
    }
    Ok(())
}

/// As [`task`], and gives it.
pub(crate) async fn read_task(
    tx: &mut WriteTx,
    id: &TaskId,
    change: TaskChange,
) -> Result<Arc<Task>> {
    let task = Arc::new(tasks::get(tx, id).await?);
    tx.emit(Event::Task {
        change,
        task: Arc::clone(&task),
    });
    Ok(task)
}

/// A session changed.
pub(crate) async fn session(tx: &mut WriteTx, id: &SessionId) -> Result<()> {
    if tx.is_heard() {
        read_session(tx, id).await?;
    }
    Ok(())
}

/// As [`session`], and gives it.
pub(crate) async fn read_session(tx: &mut WriteTx, id: &SessionId) -> Result<Arc<Session>> {
    let session = Arc::new(sessions::get(tx, id).await?);
    tx.emit(Event::Session(Arc::clone(&session)));
    Ok(session)
}

/// A row joined a transcript or queue.
pub(crate) async fn message_added(tx: &mut WriteTx, id: &MessageId) -> Result<()> {
    if tx.is_heard()
        && let Some(message) = messages::get(tx, id).await?
    {
        tx.emit(Event::MessageAdded(Arc::new(message)));
    }
    Ok(())
}

/// A row changed.
pub(crate) async fn message_updated(tx: &mut WriteTx, id: &MessageId) -> Result<()> {
    if tx.is_heard()
        && let Some(message) = messages::get(tx, id).await?
    {
        tx.emit(Event::MessageUpdated(Arc::new(message)));
    }
    Ok(())
}

/// The dispositions of a turn's prompts changed with the turn.
pub(crate) async fn prompts_of_turn(tx: &mut WriteTx, turn_id: &TurnId) -> Result<()> {
    messages::raise_prompts_of_turn(tx, turn_id).await?;
    if tx.is_heard() {
        for prompt in messages::prompts_of_turn(tx, turn_id).await? {
            tx.emit(Event::MessageUpdated(Arc::new(prompt)));
        }
    }
    Ok(())
}

/// A turn opened.
pub(crate) async fn turn_started(tx: &mut WriteTx, id: &TurnId) -> Result<()> {
    if tx.is_heard() {
        let turn = turns::get(tx, id).await?;
        tx.emit(Event::TurnStarted(Arc::new(turn)));
    }
    Ok(())
}

/// A turn settled.
pub(crate) async fn turn_completed(tx: &mut WriteTx, id: &TurnId) -> Result<()> {
    if tx.is_heard() {
        let turn = turns::get(tx, id).await?;
        tx.emit(Event::TurnCompleted(Arc::new(turn)));
    }
    Ok(())
}

/// A request was armed (`resolved` absent) or resolved.
pub(crate) async fn pending(
    tx: &mut WriteTx,
    session_id: &SessionId,
    resolved: Option<ResolvedRequest>,
) -> Result<()> {
    sessions::raise_pending_revision(tx, session_id).await?;
    let task_id = sessions::task_of(tx, session_id).await?;
    tx.touch(&task_id);
    if !tx.is_heard() {
        return Ok(());
    }
    let session = read_session(tx, session_id).await?;
    tx.emit(Event::PendingChanged {
        session_id: session_id.clone(),
        pending_action: session.pending_action,
        pending_action_revision: session.pending_action_revision,
        resolved,
    });
    Ok(())
}

/// The queue of a session changed.
pub(crate) async fn queue(tx: &mut WriteTx, session_id: &SessionId) -> Result<()> {
    if !tx.is_heard() {
        return Ok(());
    }
    let count = messages::queued(tx, session_id).await?;
    tx.emit(Event::Queue {
        session_id: session_id.clone(),
        count,
    });
    Ok(())
}
