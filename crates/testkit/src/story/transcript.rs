//! What happens in a session: turns, prompts, the agent's rows and requests.

use crate::story::Story;
use anyhow::Result;
use model::ids::{MessageId, PendingId, SessionId, TurnId};
use model::message::{Author, MessageType};
use store::messages::{self, NewMessage, Place};
use store::turns::{self, NewTurn};

/// A request row and its identity.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its row.
    pub message_id: MessageId,
    /// Its identity.
    pub pending_id: PendingId,
}

impl Story {
    /// A turn opens.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn turn(&self, session: &SessionId, kind: NewTurn) -> Result<TurnId> {
        let task = self.task_of(session).await?;
        let id = TurnId::generate();
        self.change(&[&task], async |tx| {
            let now = tx.now();
            turns::insert(tx, &id, session, kind, now).await
        })
        .await?;
        Ok(id)
    }

    /// A turn reserved for a prompt, with that prompt's row.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn prompt(&self, session: &SessionId, text: &str) -> Result<(TurnId, MessageId)> {
        let turn = self.turn(session, NewTurn::ForMessage).await?;
        let kind = MessageType::Message;
        let message = self
            .row(session, Some(&turn), Author::User, kind, text)
            .await?;
        Ok((turn, message))
    }

    /// A prompt at the end of the queue.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn queue(&self, session: &SessionId, text: &str) -> Result<MessageId> {
        let row = Row {
            author: Author::User,
            place: Place::QueueEnd,
            ..Row::new(session, text)
        };
        self.insert(row).await
    }

    /// A row at the end of the transcript.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn row(
        &self,
        session: &SessionId,
        turn: Option<&TurnId>,
        author: Author,
        kind: MessageType,
        text: &str,
    ) -> Result<MessageId> {
        let row = Row {
            turn,
            author,
            kind,
            ..Row::new(session, text)
        };
        self.insert(row).await
    }

    /// A row of the agent that text may be appended to.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn stream(
        &self,
        session: &SessionId,
        turn: &TurnId,
        text: &str,
    ) -> Result<MessageId> {
        let row = Row {
            turn: Some(turn),
            streaming: true,
            ..Row::new(session, text)
        };
        self.insert(row).await
    }

    /// The agent asks for a permission.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn permission(&self, session: &SessionId, turn: &TurnId) -> Result<Asked> {
        self.ask(session, turn, MessageType::PermissionRequest)
            .await
    }

    /// The agent asks a question.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn question(&self, session: &SessionId, turn: &TurnId) -> Result<Asked> {
        self.ask(session, turn, MessageType::ClarificationRequest)
            .await
    }

    async fn ask(&self, session: &SessionId, turn: &TurnId, kind: MessageType) -> Result<Asked> {
        let pending_id = PendingId::generate();
        let row = Row {
            turn: Some(turn),
            kind,
            pending_id: Some(&pending_id),
            ..Row::new(session, "May I?")
        };
        let message_id = self.insert(row).await?;
        Ok(Asked {
            message_id,
            pending_id,
        })
    }

    async fn insert(&self, row: Row<'_>) -> Result<MessageId> {
        let task = self.task_of(row.session).await?;
        let id = MessageId::generate();
        self.change(&[&task], async |tx| {
            let new = NewMessage {
                id: &id,
                session_id: row.session,
                task_id: &task,
                turn_id: row.turn,
                author: row.author,
                kind: row.kind,
                content: row.text,
                metadata: &serde_json::json!({}),
                pending_id: row.pending_id,
                streaming: row.streaming,
            };
            let now = tx.now();
            messages::insert(tx, &new, row.place, now).await
        })
        .await?;
        Ok(id)
    }
}

/// A transcript row in the making.
struct Row<'a> {
    session: &'a SessionId,
    turn: Option<&'a TurnId>,
    author: Author,
    kind: MessageType,
    text: &'a str,
    pending_id: Option<&'a PendingId>,
    streaming: bool,
    place: Place,
}

impl<'a> Row<'a> {
    /// A settled text of the agent at the end of the transcript.
    const fn new(session: &'a SessionId, text: &'a str) -> Self {
        Self {
            session,
            turn: None,
            author: Author::Agent,
            kind: MessageType::Message,
            text,
            pending_id: None,
            streaming: false,
            place: Place::Transcript,
        }
    }
}
