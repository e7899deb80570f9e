//! Answering permissions. Nothing is ever answered on a person's behalf.

use crate::emit;
use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::runtime::pokes::Poke;
use model::event::ResolvedRequest;
use model::ids::{MessageId, PendingId, SessionId};
use model::message::{MessageType, PermissionRequest, RequestStatus};
use store::requests::{self, DecideOutcome};
use store::{messages, sessions};

/// What a person chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// One of the agent's own options.
    Option(String),
    /// None of them.
    Cancelled,
}

impl Orchestrator {
    /// Decides a permission: committed by compare-and-set on *pending*, then delivered by the session's owner.
    ///
    /// # Errors
    /// `Conflict` when it is decided, withdrawn or expired already: nobody hears of this answer. `Invalid` when the
    /// option is none of the agent's.
    pub async fn respond_permission(
        &self,
        session_id: &SessionId,
        message_id: &MessageId,
        pending_id: &PendingId,
        decision: Decision,
    ) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        let message = messages::get(&mut tx, message_id)
            .await?
            .filter(|m| m.session_id == *session_id && m.kind == MessageType::PermissionRequest)
            .ok_or(CommandError::NotFound("permission request"))?;
        let mut request: PermissionRequest =
            serde_json::from_value(message.metadata).map_err(|_| {
                CommandError::conflict(
                    "this request cannot be answered: its options are unreadable",
                )
            })?;
        let status = match &decision {
            Decision::Cancelled => RequestStatus::Cancelled,
            Decision::Option(id) => {
                let option = request.options.iter().find(|option| option.id == *id);
                let option = option
                    .ok_or_else(|| CommandError::invalid("the agent did not offer this option"))?;
                let status = option.kind.decides();
                request.chosen_option_id = Some(id.clone());
                status
            }
        };
        let metadata = serde_json::to_value(&request).unwrap_or_default();
        let now = tx.now();
        match requests::decide(
            &mut tx, message_id, pending_id, status, &metadata, None, now,
        )
        .await?
        {
            DecideOutcome::NotPending => {
                return Err(CommandError::conflict("this request was already resolved"));
            }
            DecideOutcome::Decided => {}
        }
        emit::message_updated(&mut tx, message_id).await?;
        let resolved = ResolvedRequest {
            message_id: message_id.clone(),
            pending_id: pending_id.clone(),
            status,
        };
        emit::pending(&mut tx, session_id, Some(resolved)).await?;
        Ok(self.commit_and_poke(tx, &session, Poke::Answers).await?)
    }
}
