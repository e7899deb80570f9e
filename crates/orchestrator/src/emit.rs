//! Reads an entity as the transaction leaves it and adds the event that tells it.

use model::event::{Event, ResolvedRequest, TaskChange};
use model::ids::{MessageId, SessionId, TaskId, TurnId};
use model::session::Session;
use model::task::Task;
use std::sync::Arc;
use store::error::Result;
use store::tx::WriteTx;
use store::{messages, sessions, tasks, turns};

/// A task changed.
pub(crate) async fn task(tx: &mut WriteTx, id: &TaskId, change: TaskChange) -> Result<Arc<Task>> {
    let task = Arc::new(tasks::get(tx, id).await?);
    tx.emit(Event::Task {
        change,
        task: Arc::clone(&task),
    });
    Ok(task)
}

/// A session changed.
pub(crate) async fn session(tx: &mut WriteTx, id: &SessionId) -> Result<Arc<Session>> {
    let session = Arc::new(sessions::get(tx, id).await?);
    tx.emit(Event::Session(Arc::clone(&session)));
    Ok(session)
}

/// A row joined a transcript or queue.
pub(crate) async fn message_added(tx: &mut WriteTx, id: &MessageId) -> Result<()> {
    if let Some(message) = messages::get(tx, id).await? {
        tx.emit(Event::MessageAdded(Arc::new(message)));
    }
    Ok(())
}

/// A row changed.
pub(crate) async fn message_updated(tx: &mut WriteTx, id: &MessageId) -> Result<()> {
    if let Some(message) = messages::get(tx, id).await? {
        tx.emit(Event::MessageUpdated(Arc::new(message)));
    }
    Ok(())
}

/// The dispositions of a turn's prompts changed with the turn.
pub(crate) async fn prompts_of_turn(tx: &mut WriteTx, turn_id: &TurnId) -> Result<()> {
    for prompt in messages::prompts_of_turn(tx, turn_id).await? {
        messages::raise_revision(tx, &prompt.id).await?;
        message_updated(tx, &prompt.id).await?;
    }
    Ok(())
}

/// A turn opened.
pub(crate) async fn turn_started(tx: &mut WriteTx, id: &TurnId) -> Result<()> {
    let turn = turns::get(tx, id).await?;
    tx.emit(Event::TurnStarted(Arc::new(turn)));
    Ok(())
}

/// A turn settled.
pub(crate) async fn turn_completed(tx: &mut WriteTx, id: &TurnId) -> Result<()> {
    let turn = turns::get(tx, id).await?;
    tx.emit(Event::TurnCompleted(Arc::new(turn)));
    Ok(())
}

/// A request was armed (`resolved` absent) or resolved.
pub(crate) async fn pending(
    tx: &mut WriteTx,
    session_id: &SessionId,
    resolved: Option<ResolvedRequest>,
) -> Result<()> {
    sessions::raise_pending_revision(tx, session_id).await?;
    let session = session(tx, session_id).await?;
    tx.touch(&session.task_id);
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
    let count = messages::queued(tx, session_id).await?;
    tx.emit(Event::Queue {
        session_id: session_id.clone(),
        count,
    });
    Ok(())
}
