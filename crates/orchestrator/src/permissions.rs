//! Answering permissions. Nothing is ever answered on a person's behalf.

use crate::emit;
use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::runtime::pokes::Poke;
use crate::turns::{Ending, end_request};
use model::error::{ActiveError, ErrorCategory};
use model::ids::{MessageId, PendingId, SessionId};
use model::message::{MessageType, PermissionRequest, RequestStatus};
use model::turn_machine::facts::PermissionFact;
use model::turn_machine::input::Input;
use store::requests::{self, DecideOutcome};
use store::tx::WriteTx;
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
        let mut facts = self.facts(&mut tx, session_id).await?;
        facts.permissions = vec![PermissionFact {
            id: message_id.clone(),
            status: message.status.unwrap_or(RequestStatus::Pending),
            delivered: None,
            awaited: false,
        }];
        let wish = Input::PermissionDecided {
            id: message_id.clone(),
            decision: status,
        };
        self.admit(session_id, &facts, &wish)?;
        let ending = Ending {
            message_id,
            pending_id,
            metadata: &metadata,
            status,
            delivered: None,
        };
        if end_request(&mut tx, session_id, ending).await? == DecideOutcome::NotPending {
            return Err(CommandError::conflict("this request was already resolved"));
        }
        Ok(self.commit_and_poke(tx, &session, Poke::Answers).await?)
    }
}

/// Notes what came of delivering a decision; gives it back. One that did not arrive keeps its row as it was decided, and
/// is the session's error, unless that has one already, which says why (`domain`: Permission).
pub(crate) async fn note_delivery(
    tx: &mut WriteTx,
    session_id: &SessionId,
    message_id: &MessageId,
    delivered: bool,
) -> store::error::Result<bool> {
    let now = tx.now();
    requests::set_delivered(tx, message_id, delivered, now).await?;
    emit::message_updated(tx, message_id).await?;
    if !delivered && sessions::get(tx, session_id).await?.error.is_none() {
        let text = "the answer did not reach the agent: it had stopped waiting for it";
        let category = ErrorCategory::AgentProtocol;
        let error = ActiveError::record(session_id.as_str(), now, text, category);
        sessions::set_error(tx, session_id, &error).await?;
    }
    Ok(delivered)
}
