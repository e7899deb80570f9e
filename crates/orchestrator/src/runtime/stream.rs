//! Text of the agent: first piece at once, the rest on the tick, in order and complete.

use crate::emit;
use crate::runtime::Runtime;
use crate::runtime::rows::TextRow;
use agentctl::event as agent;
use flow::coalescer::{Output, TextKind};
use model::event::Event;
use model::ids::{MessageId, PendingId};
use model::message::{Author, MessageType};
use model::text::utf16_len;
use serde_json::{Value, json};
use std::sync::Arc;
use store::messages::{self, NewMessage, Place};
use store::segments::{AppendOutcome, Segment};
use store::{sessions, turns};

/// A new row of this session's transcript.
pub(super) struct NewRow<'a> {
    pub(super) id: MessageId,
    pub(super) author: Author,
    pub(super) kind: MessageType,
    pub(super) content: &'a str,
    pub(super) metadata: Value,
    pub(super) pending_id: Option<PendingId>,
    pub(super) streaming: bool,
}

impl<'a> NewRow<'a> {
    pub(super) fn new(author: Author, kind: MessageType, content: &'a str) -> Self {
        let id = MessageId::generate();
        Self {
            id,
            author,
            kind,
            content,
            metadata: json!({}),
            pending_id: None,
            streaming: false,
        }
    }
}

impl Runtime {
    pub(super) async fn on_text(
        &mut self,
        kind: agent::TextKind,
        protocol_id: Option<String>,
        text: &str,
    ) {
        let kind = match kind {
            agent::TextKind::Message => TextKind::Message,
            agent::TextKind::Thought => TextKind::Thought,
        };
        if kind == TextKind::Message
            && let Some(turn) = &mut self.turn
        {
            turn.answered = true;
        }
        let now = self.now();
        for output in self
            .rows
            .coalescer
            .push(kind, protocol_id.as_deref(), text, now)
        {
            self.write(output).await;
        }
    }

    /// A tick: what waited leaves.
    pub(super) async fn flush_window(&mut self) {
        if let Some(output) = self.rows.coalescer.flush() {
            self.write(output).await;
        }
        self.flush_tools().await;
    }

    /// A row is about to join the transcript: what waits goes before it.
    pub(super) async fn row_barrier(&mut self) {
        if let Some(output) = self.rows.coalescer.row_barrier() {
            self.write(output).await;
        }
    }

    async fn write(&mut self, output: Output) {
        match output {
            Output::Open { row, kind, text } => {
                let message_type = match kind {
                    TextKind::Message => MessageType::Message,
                    TextKind::Thought => MessageType::Thought,
                };
                let new = NewRow {
                    streaming: true,
                    ..NewRow::new(Author::Agent, message_type, &text)
                };
                let settled = self.turn.is_none();
                let text_row = TextRow {
                    message_id: new.id.clone(),
                    segments: 0,
                    revision: 1,
                    utf16: utf16_len(&text) as u64,
                    settled,
                };
                let new = NewRow {
                    streaming: !settled,
                    ..new
                };
                if self.insert(&new).await {
                    self.rows.texts.insert(row, text_row);
                }
            }
            Output::Append { row, text } => {
                let Some(known) = self.rows.texts.get(&row).cloned() else {
                    return;
                };
                let after = if known.settled {
                    self.append_late(known, &text).await
                } else {
                    self.append(known, text).await
                };
                if let Some(after) = after {
                    self.rows.texts.insert(row, after);
                }
            }
        }
    }

    /// Stores a row, with everything its arrival means: the turn's prompt has reached the agent, and an agent's
    /// answer clears the session's error (ERR-04).
    pub(super) async fn insert(&mut self, new: &NewRow<'_>) -> bool {
        let acknowledges = new.author == Author::Agent
            && self.turn.as_ref().is_some_and(|turn| !turn.acknowledged);
        let stored = self.store_row(new, acknowledges).await;
        if let Some(turn) = &mut self.turn {
            turn.acknowledged |= acknowledges && stored;
        }
        stored
    }

    /// The storing itself; also for notes while no turn is open.
    pub(super) async fn store_row(&self, new: &NewRow<'_>, acknowledges: bool) -> bool {
        let this = self;
        this.persist("message", || {
            Box::pin(async {
                let mut tx = this.o.inner.store.write().await?;
                let now = tx.now();
                let row = NewMessage {
                    id: &new.id,
                    session_id: &this.session_id,
                    task_id: &this.task_id,
                    turn_id: this.rows.turn_id.as_ref(),
                    author: new.author,
                    kind: new.kind,
                    content: new.content,
                    metadata: &new.metadata,
                    pending_id: new.pending_id.as_ref(),
                    streaming: new.streaming,
                };
                messages::insert(&mut tx, &row, Place::Transcript, now).await?;
                if let (true, Some(turn)) = (acknowledges, &this.turn) {
                    turns::mark_acknowledged(&mut tx, &turn.id).await?;
                }
                let answer = new.author == Author::Agent && new.kind == MessageType::Message;
                if answer
                    && sessions::clear_error(&mut tx, &this.session_id, None, "agent response", now)
                        .await?
                {
                    tx.touch(&this.task_id);
                    emit::session(&mut tx, &this.session_id).await?;
                }
                emit::message_added(&mut tx, &new.id).await?;
                if new.pending_id.is_some() {
                    emit::pending(&mut tx, &this.session_id, None).await?;
                }
                this.o.commit(tx).await
            })
        })
        .await
        .is_some()
    }

    /// Appends to a row of the open turn, as a segment beside it.
    async fn append(&mut self, row: TextRow, text: String) -> Option<TextRow> {
        let length = utf16_len(&text) as u64;
        let text: Arc<str> = text.into();
        let segment = Segment {
            message_id: row.message_id.clone(),
            number: row.segments + 1,
            text: text.to_string(),
        };
        match self.o.inner.appender.append(segment).await {
            Ok(AppendOutcome::Appended) => {}
            Ok(AppendOutcome::Gone) => return None,
            Err(error) => {
                tracing::error!(session = %self.session_id, %error, "streamed text could not be stored");
                return None;
            }
        }
        let after = TextRow {
            segments: row.segments + 1,
            utf16: row.utf16 + length,
            ..row
        };
        self.o.inner.publisher.hub.publish(&Event::MessageAppended {
            session_id: self.session_id.clone(),
            message_id: after.message_id.clone(),
            offset: row.utf16,
            text,
            revision: after.revision + after.segments,
        });
        Some(after)
    }

    /// Appends to a row whose turn is over: late text belongs to its message and opens no turn (C08).
    async fn append_late(&self, row: TextRow, text: &str) -> Option<TextRow> {
        self.persist("late text", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let now = tx.now();
                messages::append_settled(&mut tx, &row.message_id, text, now).await?;
                emit::message_updated(&mut tx, &row.message_id).await?;
                self.o.commit(tx).await
            })
        })
        .await?;
        Some(TextRow {
            revision: row.revision + 1,
            utf16: row.utf16 + utf16_len(text) as u64,
            ..row
        })
    }

    /// A note of the system in the transcript.
    pub(super) async fn note(&mut self, text: &str) {
        self.row_barrier().await;
        self.insert(&NewRow::new(Author::System, MessageType::Status, text))
            .await;
    }

    /// An update of a kind this version does not know is kept raw and shown as such.
    pub(super) async fn on_unknown(&mut self, kind: &str, raw: &Value) {
        let text = raw.to_string();
        let kept = model::text::cut(&text, model::bounds::UNKNOWN_UPDATE_BYTES);
        let new = NewRow {
            metadata: json!({ "kind": kind, "raw": kept, "truncated": kept.len() < text.len() }),
            ..NewRow::new(Author::Agent, MessageType::Unknown, kind)
        };
        self.row_barrier().await;
        self.insert(&new).await;
    }
}
