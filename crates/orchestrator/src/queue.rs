//! The queue of a session as a person edits it: other words, another order, out of it, or next.
//!
//! A queued prompt has a place and nothing else yet, so all of this is one transaction over its row. What has left the
//! queue is refused with a conflict: the person saw an older queue. None of it is activity of the task (SUM-08).

use crate::emit;
use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::runtime::pokes::Poke;
use crate::sends::{check_content, own_message};
use crate::turn_plan::carry_out;
use model::event::Event;
use model::ids::{MessageId, SessionId};
use model::message::Message;
use model::turn_machine::change::Change;
use model::turn_machine::input::Input;
use std::collections::BTreeSet;
use store::{attachments, messages, sessions};

impl Orchestrator {
    /// Changes the text of a queued prompt; its files and its place stay.
    ///
    /// # Errors
    /// `Invalid` for bad text, `Conflict` when it is not queued (any more).
    pub async fn rewrite_queued(
        &self,
        session_id: &SessionId,
        message_id: &MessageId,
        content: &str,
    ) -> Result<Message> {
        let mut tx = self.inner.store.write().await?;
        let message = own_message(&mut tx, session_id, message_id).await?;
        check_content(content, !message.attachments.is_empty())?;
        let now = tx.now();
        if !messages::rewrite_queued(&mut tx, message_id, content, now).await? {
            return Err(no_longer_queued());
        }
        tx.touch(&message.task_id);
        emit::message_updated(&mut tx, message_id).await?;
        emit::queue(&mut tx, session_id).await?;
        let stored = messages::get(&mut tx, message_id).await?;
        self.commit(tx).await?;
        stored.ok_or(CommandError::NotFound("message"))
    }

    /// Puts the queue into this order; gives it as it is then. Only rows whose place changes are changed.
    ///
    /// # Errors
    /// `Conflict` when these are not exactly the queued prompts.
    pub async fn reorder_queue(
        &self,
        session_id: &SessionId,
        order: &[MessageId],
    ) -> Result<Vec<Message>> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        let queue = messages::queue(&mut tx, session_id).await?;
        let wanted: BTreeSet<&MessageId> = order.iter().collect();
        let queued: BTreeSet<&MessageId> = queue.iter().map(|message| &message.id).collect();
        if wanted != queued || order.len() != queue.len() {
            return Err(CommandError::conflict(
                "the queue has changed meanwhile; look at it again",
            ));
        }
        let now = tx.now();
        // The places stay, their owners change: whoever is queued afterwards still goes behind all of them.
        let places = queue.iter().filter_map(|message| message.queue_position);
        for ((id, place), before) in order.iter().zip(places).zip(&queue) {
            if *id != before.id {
                messages::place_queued(&mut tx, id, place, now).await?;
                emit::message_updated(&mut tx, id).await?;
            }
        }
        tx.touch(&session.task_id);
        emit::queue(&mut tx, session_id).await?;
        let reordered = messages::queue(&mut tx, session_id).await?;
        self.commit(tx).await?;
        Ok(reordered)
    }

    /// Takes a prompt out of the queue with its files. Its id stays owned.
    ///
    /// # Errors
    /// `Conflict` when it is not queued (any more).
    pub async fn remove_queued(
        &self,
        session_id: &SessionId,
        message_id: &MessageId,
    ) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let message = own_message(&mut tx, session_id, message_id).await?;
        let now = tx.now();
        if !messages::remove_queued(&mut tx, message_id, now).await? {
            return Err(no_longer_queued());
        }
        let files = attachments::remove_of_message(&mut tx, message_id).await?;
        tx.touch(&message.task_id);
        tx.emit(Event::MessageDeleted {
            session_id: session_id.clone(),
            message_id: message_id.clone(),
        });
        emit::queue(&mut tx, session_id).await?;
        self.commit(tx).await?;
        self.remove_files(files);
        Ok(())
    }

    /// Sends a queued prompt next: it goes to the head, and the open turn, if there is one, is asked to stop. When that
    /// has settled the queue goes on with it. Without an open turn it is sent now.
    ///
    /// # Errors
    /// `Conflict` when it is not queued (any more): it may be on its way already, and is not stopped then.
    pub async fn send_now(
        &self,
        session_id: &SessionId,
        message_id: &MessageId,
    ) -> Result<Message> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        own_message(&mut tx, session_id, message_id).await?;
        let facts = self.facts(&mut tx, session_id).await?;
        let plan = self.admit(session_id, &facts, &Input::SentNow(message_id.clone()))?;
        carry_out(&mut tx, session_id, &facts, &plan.changes).await?;
        let stops = |change: &Change| matches!(change, Change::RequestCancel(_));
        let poke = if plan.changes.iter().any(stops) {
            Poke::Cancel
        } else {
            Poke::Work
        };
        let stored = messages::get(&mut tx, message_id).await?;
        self.commit_and_poke(tx, &session, poke).await?;
        stored.ok_or(CommandError::NotFound("message"))
    }
}

fn no_longer_queued() -> CommandError {
    CommandError::conflict("the message is not in the queue any more")
}
