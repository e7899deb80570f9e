//! Questions of agents, from the call that asks to the answer.
//!
//! An agent asks through the MCP tool that the gateway serves ([`Orchestrator::ask`]) or by an ACP elicitation. The
//! session's owner stores the questions as a bundle of the current turn; a person answers or rejects it, once, by
//! compare-and-set ([`Orchestrator::respond_clarification`]). The decision is committed first and carried out after:
//!
//! - somebody waits (the bundle is *attached*): the owner gives them the answer;
//! - nobody does (*detached*): the answers are sent as a prompt in an empty turn of their own. Until that turn is
//!   attempted nothing has happened: a failure, a stop or a restart removes the turn and makes the questions pending
//!   again (PEN-03). While a turn is open the answers wait for its end, and go before the queue.
//!
//! A bundle of an older turn is superseded: an answer to it is a conflict, and nothing about it is rewritten (PEN-04).

use crate::emit;
use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::runtime::pokes::Poke;
use crate::turn_plan;
use crate::turns::{Ending, end_request};
use model::clarification::{Answer, Clarification};
use model::ids::{MessageId, PendingId, SessionId};
use model::message::RequestStatus;
use model::session::Session;
use model::turn_machine::change::Change;
use model::turn_machine::facts::{Facts, QuestionsFact};
use model::turn_machine::input::Input;
use std::collections::HashMap;
use store::clarifications::{self as rows, Asked};
use store::requests::{self, DecideOutcome};
use store::sessions;
use store::tx::WriteTx;

/// What an agent's call gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole bundle with its answers.
    Answered(Vec<Clarification>),
    /// A person declined to answer.
    Rejected,
    /// Nobody has answered yet; the answer will come as a message.
    Detached,
    /// The questions were not put: the person has written something newer, or there is no turn to ask in.
    Superseded,
}

/// What a person decided about a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Answers by the rows of their questions.
    Answers(Vec<(MessageId, Answer)>),
    /// None.
    Rejected,
}

/// Rows of several bundles, bundle by bundle.
pub(crate) fn by_bundle(rows: Vec<Asked>) -> Vec<Vec<Asked>> {
    let mut bundles: Vec<Vec<Asked>> = Vec::new();
    for row in rows {
        let same = |bundle: &&mut Vec<Asked>| {
            bundle
                .first()
                .is_some_and(|first| first.pending_id == row.pending_id)
        };
        match bundles.iter_mut().find(same) {
            Some(bundle) => bundle.push(row),
            None => bundles.push(vec![row]),
        }
    }
    bundles
}

impl Orchestrator {
    /// Answers or rejects a bundle; `message_id` is any of its rows.
    ///
    /// # Errors
    /// `Conflict` when it is resolved already, or when a newer turn superseded it: nobody hears of this answer.
    /// `Invalid` when an answer does not fit its question, or one is missing.
    pub async fn respond_clarification(
        &self,
        session_id: &SessionId,
        message_id: &MessageId,
        pending_id: &PendingId,
        reply: Reply,
    ) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        let bundle = rows::bundle(&mut tx, session_id, pending_id).await?;
        if !bundle.iter().any(|row| row.message_id == *message_id) {
            return Err(CommandError::NotFound("question"));
        }
        let decision = match reply {
            Reply::Rejected => RequestStatus::Rejected,
            Reply::Answers(_) => RequestStatus::Answered,
        };
        let facts = self.with_bundle(&mut tx, session_id, &bundle).await?;
        let wish = Input::QuestionsResolved {
            id: pending_id.clone(),
            decision,
        };
        let plan = self.admit(session_id, &facts, &wish)?;
        let pending: Vec<Asked> = bundle
            .into_iter()
            .filter(|row| !row.status.is_terminal())
            .collect();
        let decided = match reply {
            Reply::Rejected => {
                let kept = pending
                    .into_iter()
                    .map(|row| (row.message_id, row.metadata));
                kept.collect()
            }
            Reply::Answers(answers) => fit(&pending, answers)?,
        };
        decide(&mut tx, &session, pending_id, decision, decided).await?;
        // The rows of the bundle are ended with what they hold; what follows from that is the machine's.
        let ends = |change: &Change| matches!(change, Change::EndQuestions { .. });
        let follows: Vec<Change> = plan.changes.into_iter().filter(|c| !ends(c)).collect();
        turn_plan::carry_out(&mut tx, session_id, &facts, &follows).await?;
        let attached = self.inner.registry.is_attached(session_id, pending_id);
        let poke = if attached || decision == RequestStatus::Rejected {
            Poke::Answers
        } else {
            Poke::Work
        };
        Ok(self.commit_and_poke(tx, &session, poke).await?)
    }

    /// The facts of a session with a bundle of its questions, wherever that stands.
    async fn with_bundle(
        &self,
        tx: &mut WriteTx,
        session_id: &SessionId,
        bundle: &[Asked],
    ) -> Result<Facts> {
        let mut facts = self.facts(tx, session_id).await?;
        // One row that is open keeps the bundle open: the others were decided apart (deleted, say).
        let open = bundle.iter().find(|row| !row.status.is_terminal());
        if let Some(row) = open.or_else(|| bundle.first()) {
            facts.questions.retain(|known| known.id != row.pending_id);
            facts.questions.push(QuestionsFact {
                id: row.pending_id.clone(),
                turn: row.turn_id.clone(),
                status: row.status,
                delivered: None,
                attached: self.inner.registry.is_attached(session_id, &row.pending_id),
            });
        }
        Ok(facts)
    }
}

/// The new metadata of every pending row.
fn fit(
    pending: &[Asked],
    answers: Vec<(MessageId, Answer)>,
) -> Result<Vec<(MessageId, serde_json::Value)>> {
    let mut given: HashMap<MessageId, (usize, Answer)> = HashMap::new();
    for (index, (id, answer)) in answers.into_iter().enumerate() {
        if !pending.iter().any(|row| row.message_id == id) || given.contains_key(&id) {
            return Err(CommandError::invalid(format!(
                "answers[{index}].message_id: an open question of this bundle, each once"
            )));
        }
        given.insert(id, (index, answer));
    }
    let mut decided = Vec::new();
    for row in pending {
        let clarification = row.clarification().ok_or_else(|| {
            CommandError::conflict("this question cannot be answered: it is unreadable; decline it")
        })?;
        let (place, answer) = given.remove(&row.message_id).map_or_else(
            || ("answers".to_owned(), Answer::default()),
            |(index, answer)| (format!("answers[{index}]"), answer),
        );
        let answer = clarification
            .question
            .take(&place, &answer)
            .map_err(|misfit| CommandError::invalid(misfit.to_string()))?;
        let answered = Clarification {
            answer: Some(answer),
            ..clarification
        };
        let metadata = serde_json::to_value(answered).unwrap_or_default();
        decided.push((row.message_id.clone(), metadata));
    }
    Ok(decided)
}

async fn decide(
    tx: &mut WriteTx,
    session: &Session,
    pending_id: &PendingId,
    status: RequestStatus,
    decided: Vec<(MessageId, serde_json::Value)>,
) -> Result<()> {
    for (message_id, metadata) in &decided {
        let ending = Ending {
            message_id,
            pending_id,
            metadata,
            status,
            delivered: None,
        };
        if end_request(tx, &session.id, ending).await? == DecideOutcome::NotPending {
            return Err(CommandError::conflict("this question was already resolved"));
        }
    }
    Ok(())
}

/// The prompt of an empty turn: the answers it claimed, which count as delivered from here on. Nothing when they are
/// gone. What somebody waits for (`attached`) is left to them.
pub(crate) async fn claim(
    tx: &mut WriteTx,
    session_id: &SessionId,
    attached: impl Fn(&PendingId) -> bool,
) -> store::error::Result<Option<String>> {
    let now = tx.now();
    let mut answered = Vec::new();
    for row in rows::undelivered(tx, session_id).await? {
        if row.status == RequestStatus::Answered && !attached(&row.pending_id) {
            requests::set_delivered(tx, &row.message_id, true, now).await?;
            emit::message_updated(tx, &row.message_id).await?;
            answered.extend(row.clarification());
        }
    }
    Ok((!answered.is_empty()).then(|| model::clarification::as_prompt(&answered)))
}

/// Makes questions pending again whose answers were not sent, unless somebody waits for them (`attached`).
pub(crate) async fn restore(
    tx: &mut WriteTx,
    session: &Session,
    attached: impl Fn(&PendingId) -> bool,
) -> store::error::Result<()> {
    let now = tx.now();
    let mut waiting = rows::undelivered(tx, &session.id).await?;
    waiting.retain(|row| !attached(&row.pending_id));
    for row in &waiting {
        match row.status {
            RequestStatus::Answered => rows::restore(tx, row, now).await?,
            _ => requests::set_delivered(tx, &row.message_id, false, now).await?,
        }
        emit::message_updated(tx, &row.message_id).await?;
    }
    if !waiting.is_empty() {
        emit::pending(tx, &session.id, None).await?;
    }
    Ok(())
}

/// Carries out what the turn machine decided about a bundle whose decision was not delivered.
pub(crate) async fn carry_out(
    tx: &mut WriteTx,
    session_id: &SessionId,
    change: &Change,
) -> store::error::Result<()> {
    let now = tx.now();
    let (Change::QuestionsDelivered { id, .. } | Change::RestoreQuestions(id)) = change else {
        return Ok(());
    };
    let mut waiting = rows::undelivered(tx, session_id).await?;
    waiting.retain(|row| row.pending_id == *id);
    for row in &waiting {
        match change {
            Change::RestoreQuestions(_) if row.status == RequestStatus::Answered => {
                rows::restore(tx, row, now).await?;
            }
            Change::QuestionsDelivered { delivered, .. } => {
                requests::set_delivered(tx, &row.message_id, *delivered, now).await?;
            }
            _ => requests::set_delivered(tx, &row.message_id, false, now).await?,
        }
        emit::message_updated(tx, &row.message_id).await?;
    }
    if matches!(change, Change::RestoreQuestions(_)) {
        emit::pending(tx, session_id, None).await?;
    }
    Ok(())
}
