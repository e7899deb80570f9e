//! Permissions on their way between the agent and a person.
//!
//! Each JSON-RPC request is a row of its own and gets exactly the answer that was chosen for it. The decision is
//! committed by whoever answered; this owner only carries it out and notes whether it arrived.

use crate::emit;
use crate::permissions::note_delivery;
use crate::runtime::Runtime;
use crate::runtime::stream::NewRow;
use crate::runtime::tool_call;
use agentctl::event::{
    self as agent, PermissionAnswer, PermissionDelivery, PermissionTicket, ToolCallUpdate,
};
use model::ids::{MessageId, PendingId};
use model::message::{Author, MessageType, PermissionRequest, RequestStatus};
use model::turn_machine::input::Input;
use serde_json::Value;
use store::requests;

impl Runtime {
    pub(super) async fn on_permission(
        &mut self,
        ticket: PermissionTicket,
        update: ToolCallUpdate,
        options: Vec<agent::PermissionOption>,
    ) {
        // Some agents ask before they announce the call: its row comes first all the same.
        let id = update.id.clone();
        self.on_tool_call(update).await;
        self.row_barrier().await;
        self.flush_tools().await;
        let tool_call = self
            .rows
            .tools
            .get(&id)
            .map(|row| row.call.clone())
            .unwrap_or_default();
        let title = tool_call.title.clone();
        let request = PermissionRequest {
            tool_call,
            options: tool_call::options(options),
            chosen_option_id: None,
        };
        let new = NewRow {
            metadata: serde_json::to_value(&request).unwrap_or_default(),
            pending_id: Some(PendingId::generate()),
            ..NewRow::new(Author::Agent, MessageType::PermissionRequest, &title)
        };
        let message_id = new.id.clone();
        if self.insert(&new).await
            && let Some(live) = &mut self.live
        {
            live.tickets.insert(message_id, ticket);
        }
    }

    /// The agent took a request back.
    pub(super) async fn on_withdrawn(&mut self, ticket: PermissionTicket) {
        let Some(live) = &mut self.live else { return };
        let row = live
            .tickets
            .iter()
            .find(|(_, open)| **open == ticket)
            .map(|(id, _)| id.clone());
        let Some(message_id) = row else { return };
        live.tickets.remove(&message_id);
        self.follow("request", Input::PermissionWithdrawn(message_id))
            .await;
    }

    /// Delivers decisions that were committed.
    pub(super) async fn deliver_answers(&mut self) {
        let waiting = self
            .persist("answers", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.read().await?;
                    requests::undelivered(&mut tx, &self.session_id).await
                })
            })
            .await;
        for (message_id, status, metadata) in waiting.unwrap_or_default() {
            let delivered = self.deliver(&message_id, status, metadata);
            self.note_delivery(&message_id, delivered).await;
        }
    }

    fn deliver(&mut self, message_id: &MessageId, status: RequestStatus, metadata: Value) -> bool {
        let Some(live) = &mut self.live else {
            return false;
        };
        let Some(ticket) = live.tickets.remove(message_id) else {
            return false;
        };
        let chosen = serde_json::from_value::<PermissionRequest>(metadata)
            .ok()
            .and_then(|r| r.chosen_option_id);
        let answer = match (status, chosen) {
            (RequestStatus::Approved | RequestStatus::Rejected, Some(option)) => {
                PermissionAnswer::Selected(option)
            }
            _ => PermissionAnswer::Cancelled,
        };
        live.connection.answer_permission(ticket, answer) == PermissionDelivery::Delivered
    }

    async fn note_delivery(&self, message_id: &MessageId, delivered: bool) {
        self.persist("delivery", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                if !note_delivery(&mut tx, &self.session_id, message_id, delivered).await? {
                    tx.touch(&self.task_id);
                    emit::session(&mut tx, &self.session_id).await?;
                }
                self.o.commit(tx).await
            })
        })
        .await;
    }

    /// The agent is answered "cancelled" for everything it still asks; the rows are the caller's to end. What a person
    /// decided before that ended still reaches it.
    pub(super) async fn withdraw_tickets(&mut self) {
        if self
            .live
            .as_ref()
            .is_some_and(|live| !live.tickets.is_empty())
        {
            self.deliver_answers().await;
        }
        if self.handle.questions.any_attached() {
            self.deliver_decisions().await;
        }
        if let Some(live) = &mut self.live {
            live.connection.cancel_open_permissions();
            live.tickets.clear();
        }
        self.detach_questions();
    }
}
