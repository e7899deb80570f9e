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
use model::clarification::{Answer, Clarification};
use model::event::ResolvedRequest;
use model::ids::{MessageId, PendingId, SessionId};
use model::message::RequestStatus;
use model::session::Session;
use model::turn::Turn;
use model::turn_machine::change::Change;
use std::collections::HashMap;
use store::clarifications::{self as rows, Asked};
use store::requests::{self, DecideOutcome};
use store::tx::WriteTx;
use store::{sessions, turns};

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
        self.refuse_while_closing(session_id)?;
        let current = turns::current(&mut tx, session_id).await?;
        check_open(&session, &bundle, current.as_ref())?;
        let pending: Vec<Asked> = bundle
            .into_iter()
            .filter(|row| !row.status.is_terminal())
            .collect();
        let (status, decided) = match reply {
            Reply::Rejected => {
                let kept = pending
                    .into_iter()
                    .map(|row| (row.message_id, row.metadata));
                (RequestStatus::Rejected, kept.collect())
            }
            Reply::Answers(answers) => (RequestStatus::Answered, fit(&pending, answers)?),
        };
        decide(&mut tx, &session, pending_id, status, decided).await?;
        let attached = self.inner.registry.is_attached(session_id, pending_id);
        let poke = if attached || status == RequestStatus::Rejected {
            Poke::Answers
        } else {
            self.go_on(&mut tx, &session).await?;
            Poke::Work
        };
        Ok(self.commit_and_poke(tx, &session, poke).await?)
    }
}

/// That there is something to decide.
fn check_open(session: &Session, bundle: &[Asked], current: Option<&Turn>) -> Result<()> {
    if bundle.iter().all(|row| row.status.is_terminal()) {
        return Err(CommandError::conflict("this question was already resolved"));
    }
    if session.state.is_terminal() {
        return Err(CommandError::conflict(
            "the session is closed, so nobody would hear of the answer; start a new one",
        ));
    }
    let superseded = |row: &Asked| row.turn_id.as_ref() != current.map(|turn| &turn.id);
    if bundle.iter().any(superseded) {
        return Err(CommandError::conflict(
            "a newer message took the place of this question; send the answer as a message instead",
        ));
    }
    Ok(())
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
    let now = tx.now();
    for (id, metadata) in &decided {
        let outcome = requests::decide(tx, id, pending_id, status, metadata, None, now).await?;
        if outcome == DecideOutcome::NotPending {
            return Err(CommandError::conflict("this question was already resolved"));
        }
    }
    for (message_id, _) in decided {
        emit::message_updated(tx, &message_id).await?;
        let resolved = ResolvedRequest {
            message_id,
            pending_id: pending_id.clone(),
            status,
        };
        emit::pending(tx, &session.id, Some(resolved)).await?;
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
