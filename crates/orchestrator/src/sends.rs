//! Sending prompts: exact, by the client's id (API-06).
//!
//! One transaction looks the id up, admits the prompt, stores its row, and gives it either a place in the queue (a
//! turn is open, or others wait) or a turn of its own with everything that belongs to a turn's start. Only then is
//! the session's owner poked. A retry finds the row and stops there. Files that were uploaded before are claimed in the
//! same transaction, so a send with files is as exact as one without.

use crate::emit;
use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::runtime::pokes::Poke;
use crate::turn_plan::{add_row, carry_out, follow};
use model::bounds;
use model::event::Event;
use model::ids::{AttachmentId, MessageId, SessionId, TaskId};
use model::message::{Author, Message, MessageType};
use model::session::Session;
use model::turn_machine::change::Change;
use model::turn_machine::input::Input;
use serde_json::json;
use store::messages::{self, NewMessage, Place};
use store::tx::WriteTx;
use store::{attachments, sessions, turns};

/// A prompt as it was handed in.
#[derive(Clone, Debug)]
pub struct NewPrompt {
    /// The task it belongs to.
    pub task_id: TaskId,
    /// Which of its sessions.
    pub session_id: SessionId,
    /// The client's id: it becomes the row's.
    pub message_id: MessageId,
    /// The text; may be empty when there are files.
    pub content: String,
    /// Uploaded files of the task, in order.
    pub attachments: Vec<AttachmentId>,
}

/// Checks a prompt's text; files may stand for it.
pub(crate) fn check_content(content: &str, has_files: bool) -> Result<()> {
    if content.trim().is_empty() && !has_files {
        return Err(CommandError::invalid("the message is empty"));
    }
    if bounds::USER_CONTENT_BYTES < content.len() {
        return Err(CommandError::invalid(
            "the message is longer than 1 MiB; attach it as a file instead",
        ));
    }
    Ok(())
}

impl Orchestrator {
    /// Sends a prompt, or queues it. Answers the stored row; repeating it with the same id changes nothing.
    ///
    /// # Errors
    /// `Invalid` for bad text, too many files or a closed session, `Busy` for a full queue, `Conflict` when the id
    /// belongs to something else, `NotFound` when session and task do not belong together or a file does not wait.
    pub async fn add_message(&self, prompt: NewPrompt) -> Result<Message> {
        let mut tx = self.inner.store.write().await?;
        if let Some(stored) = replay(&mut tx, &prompt).await? {
            // Whoever repeats it may have got no answer because nobody here knew that it is stored.
            let session = sessions::get(&mut tx, &stored.session_id).await?;
            self.poke(&session, Poke::Work);
            return Ok(stored);
        }
        check_content(&prompt.content, !prompt.attachments.is_empty())?;
        let session = sessions::get(&mut tx, &prompt.session_id).await?;
        if session.task_id != prompt.task_id {
            return Err(CommandError::NotFound("session"));
        }
        let files = &prompt.attachments;
        self.accept(
            &mut tx,
            &session,
            &prompt.message_id,
            &prompt.content,
            files,
        )
        .await?;
        let stored = messages::get(&mut tx, &prompt.message_id).await?;
        self.commit_and_poke(tx, &session, Poke::Work).await?;
        stored.ok_or(CommandError::NotFound("message"))
    }

    /// Stores an accepted prompt of a session, inside the caller's transaction.
    pub(crate) async fn accept(
        &self,
        tx: &mut WriteTx,
        session: &Session,
        message_id: &MessageId,
        content: &str,
        files: &[AttachmentId],
    ) -> Result<()> {
        let facts = self.facts(tx, &session.id).await?;
        let plan = self.admit(&session.id, &facts, &Input::Accepted(message_id.clone()))?;
        let now = tx.now();
        // The new row is stored where the plan wants it; everything else of the plan follows.
        let (own, rest): (Vec<_>, Vec<_>) =
            plan.changes.into_iter().partition(|change| match change {
                Change::QueueLast(prompt) | Change::ReserveForPrompt { prompt, .. } => {
                    prompt == message_id
                }
                _ => false,
            });
        let turn_id = own.into_iter().find_map(|change| match change {
            Change::ReserveForPrompt { turn, .. } => Some(turn),
            _ => None,
        });
        let wait = turn_id.is_none();
        if let Some(turn_id) = &turn_id {
            turns::insert(tx, turn_id, &session.id, turns::NewTurn::ForMessage, now).await?;
        }
        let row = NewMessage {
            id: message_id,
            session_id: &session.id,
            task_id: &session.task_id,
            turn_id: turn_id.as_ref(),
            author: Author::User,
            kind: MessageType::Message,
            content,
            metadata: &json!({}),
            pending_id: None,
            streaming: false,
        };
        messages::insert(
            tx,
            &row,
            if wait {
                Place::QueueEnd
            } else {
                Place::Transcript
            },
            now,
        )
        .await?;
        self.claim_attachments(tx, &session.task_id, message_id, files)
            .await?;
        tx.touch(&session.task_id);
        carry_out(tx, &session.id, &facts, &rest).await?;
        emit::message_added(tx, message_id).await?;
        emit::queue(tx, &session.id).await?;
        Ok(())
    }

    /// Sends a prompt again that surely, or perhaps, did not reach an agent: the same row, at the head of the queue.
    /// Also starts a queue that waits for a person.
    ///
    /// # Errors
    /// `Conflict` unless it is undelivered, uncertain, or queued while no turn is open.
    pub async fn resend_message(
        &self,
        session_id: &SessionId,
        message_id: &MessageId,
    ) -> Result<Message> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        let message = own_message(&mut tx, session_id, message_id).await?;
        let mut facts = self.facts(&mut tx, session_id).await?;
        add_row(&mut tx, &mut facts, &message).await?;
        let again = Input::SentAgain(message_id.clone());
        let plan = self.admit(session_id, &facts, &again)?;
        carry_out(&mut tx, session_id, &facts, &plan.changes).await?;
        let stored = messages::get(&mut tx, message_id).await?;
        self.commit_and_poke(tx, &session, Poke::Work).await?;
        stored.ok_or(CommandError::NotFound("message"))
    }

    /// Deletes a row of a settled turn.
    ///
    /// # Errors
    /// `Conflict` while its turn is open.
    pub async fn delete_message(
        &self,
        session_id: &SessionId,
        message_id: &MessageId,
    ) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let message = own_message(&mut tx, session_id, message_id).await?;
        let mut facts = self.facts(&mut tx, session_id).await?;
        add_row(&mut tx, &mut facts, &message).await?;
        self.admit(session_id, &facts, &Input::Deleted(message_id.clone()))?;
        let now = tx.now();
        let files = attachments::remove_of_message(&mut tx, message_id).await?;
        messages::remove(&mut tx, message_id, now).await?;
        tx.touch(&message.task_id);
        tx.emit(Event::MessageDeleted {
            session_id: session_id.clone(),
            message_id: message_id.clone(),
        });
        if message.status.is_some_and(|status| !status.is_terminal()) {
            emit::pending(&mut tx, session_id, None).await?;
        }
        self.commit(tx).await?;
        self.remove_files(files);
        Ok(())
    }

    /// Asks the agent to stop its turn. Answered when that is stored; the turn settles within a bound.
    ///
    /// # Errors
    /// `NotFound` when the session does not exist.
    pub async fn cancel_turn(&self, session_id: &SessionId) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        let facts = self.facts(&mut tx, session_id).await?;
        follow(&mut tx, session_id, &facts, &Input::StopAsked).await?;
        self.commit_and_poke(tx, &session, Poke::Cancel).await?;
        Ok(())
    }
}

/// The stored row of an id that is owned already, if this request may have made it.
async fn replay(tx: &mut WriteTx, prompt: &NewPrompt) -> Result<Option<Message>> {
    let Some(owner) = messages::owner(tx, &prompt.message_id).await? else {
        return Ok(None);
    };
    if owner.task_id != prompt.task_id || owner.author != Author::User {
        return Err(CommandError::conflict("this message id is taken"));
    }
    if owner.removed {
        return Err(CommandError::conflict(
            "this message was removed from the queue",
        ));
    }
    Ok(messages::get(tx, &prompt.message_id).await?)
}

/// A row of this session.
pub(crate) async fn own_message(
    tx: &mut WriteTx,
    session_id: &SessionId,
    id: &MessageId,
) -> Result<Message> {
    let message = messages::get(tx, id)
        .await?
        .filter(|message| message.session_id == *session_id);
    message.ok_or(CommandError::NotFound("message"))
}
