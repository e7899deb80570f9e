//! Questions on their way between the agent and a person: asking, delivering, detaching.
//!
//! A bundle is *attached* while somebody waits for its answer: a call of the tool that agents ask with, or an ACP
//! elicitation. Who waits stands in the session's [`Questions`], which the command that answers can look at too; that a
//! question is open, and what was answered, stands in the database alone. So losing a waiter loses nothing: the bundle
//! is detached then, and its answer goes as a prompt.

use crate::clarifications::{self, Verdict};
use crate::emit;
use crate::runtime::Runtime;
use crate::runtime::pokes::{Handle, Poke};
use agentctl::elicitation::{ElicitationAnswer, Form};
use agentctl::event::{PermissionDelivery, PermissionTicket};
use model::bounds;
use model::clarification::{Clarification, Question};
use model::ids::{MessageId, PendingId, TurnId};
use model::message::{Author, MessageType, RequestStatus};
use model::turn_machine::change::Change;
use model::turn_machine::decide;
use model::turn_machine::input::Input;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::clarifications::Asked;
use store::messages::{self, NewMessage, Place};
use store::requests;
use store::{sessions, turns};
use tokio::sync::oneshot;

/// Who waits for the answer to a bundle.
#[derive(Debug)]
pub(crate) enum Waiter {
    /// A call of the tool; a dropped receiver waits no more.
    Call(oneshot::Sender<Verdict>),
    /// An elicitation of the agent.
    Elicitation(PermissionTicket, Form),
}

impl Waiter {
    fn waits(&self) -> bool {
        match self {
            Self::Call(caller) => !caller.is_closed(),
            Self::Elicitation(..) => true,
        }
    }
}

/// What an agent asks and nobody has stored yet, and who waits for what was stored.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    asks: Vec<(Vec<Question>, oneshot::Sender<Verdict>)>,
    waiting: HashMap<PendingId, Waiter>,
}

impl Questions {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands questions to the session's owner; says whether there was room.
    pub(crate) fn ask(&self, questions: Vec<Question>, caller: oneshot::Sender<Verdict>) -> bool {
        let mut inner = self.lock();
        inner.waiting.retain(|_, waiter| waiter.waits());
        let room = inner.asks.len() + inner.waiting.len() < bounds::OPEN_QUESTIONS;
        if room {
            inner.asks.push((questions, caller));
        }
        room
    }

    fn take_asks(&self) -> Vec<(Vec<Question>, oneshot::Sender<Verdict>)> {
        std::mem::take(&mut self.lock().asks)
    }

    fn attach(&self, pending_id: &PendingId, waiter: Waiter) {
        self.lock().waiting.insert(pending_id.clone(), waiter);
    }

    fn take(&self, pending_id: &PendingId) -> Option<Waiter> {
        self.lock().waiting.remove(pending_id)
    }

    fn take_all(&self) -> Vec<Waiter> {
        let mut inner = self.lock();
        inner.waiting.drain().map(|(_, waiter)| waiter).collect()
    }

    fn of_ticket(&self, ticket: PermissionTicket) -> Option<PendingId> {
        self.lock().waiting.iter().find_map(|(id, waiter)| {
            matches!(waiter, Waiter::Elicitation(open, _) if *open == ticket).then(|| id.clone())
        })
    }

    /// Whether somebody waits for the answer to this bundle.
    pub(crate) fn is_attached(&self, pending_id: &PendingId) -> bool {
        let inner = self.lock();
        inner.waiting.get(pending_id).is_some_and(Waiter::waits)
    }

    /// The bundles that somebody waits for, in the order of their ids.
    pub(crate) fn awaited(&self) -> Vec<PendingId> {
        let inner = self.lock();
        let awaited = inner.waiting.iter().filter(|(_, waiter)| waiter.waits());
        let mut ids: Vec<PendingId> = awaited.map(|(id, _)| id.clone()).collect();
        ids.sort();
        ids
    }

    /// Whether somebody waits for anything.
    pub(crate) fn any_attached(&self) -> bool {
        self.lock().waiting.values().any(Waiter::waits)
    }
}

impl Handle {
    /// Hands questions to the owner, who is told.
    pub(crate) fn ask(&self, questions: Vec<Question>, caller: oneshot::Sender<Verdict>) -> bool {
        let taken = self.questions.ask(questions, caller);
        if taken {
            self.poke(Poke::Ask);
        }
        taken
    }
}

/// The turn that questions are asked in.
fn asked_in(change: Change) -> Option<TurnId> {
    match change {
        Change::AskQuestions { turn, .. } => Some(turn),
        _ => None,
    }
}

/// What came of storing a bundle.
enum Placed {
    Open,
    /// A newer prompt of the person goes first, or there is no turn to ask in.
    Superseded,
}

impl Runtime {
    /// Asks what calls have brought.
    pub(super) async fn take_questions(&mut self) {
        for (questions, caller) in self.handle.questions.take_asks() {
            self.put(questions, Waiter::Call(caller)).await;
        }
    }

    /// The agent asks by an elicitation.
    pub(super) async fn on_elicitation(&mut self, ticket: PermissionTicket, form: Form) {
        let questions = form.questions.clone();
        self.put(questions, Waiter::Elicitation(ticket, form)).await;
    }

    /// The agent took an elicitation back: its questions are over.
    pub(super) async fn on_elicitation_withdrawn(&mut self, ticket: PermissionTicket) {
        let Some(pending_id) = self.handle.questions.of_ticket(ticket) else {
            return;
        };
        self.handle.questions.take(&pending_id);
        self.o.tell_awaited(&self.session_id);
        self.follow("question", Input::QuestionsWithdrawn(pending_id))
            .await;
    }

    async fn put(&mut self, questions: Vec<Question>, waiter: Waiter) {
        self.row_barrier().await;
        self.flush_tools().await;
        let pending_id = PendingId::generate();
        // Attached before it can be seen, so that the quickest answer finds who waits.
        self.handle.questions.attach(&pending_id, waiter);
        self.o.tell_awaited(&self.session_id);
        let stored = self.store_bundle(&pending_id, &questions).await;
        if let Some(turn) = &mut self.turn {
            turn.acknowledged |= matches!(stored, Some(Placed::Open));
        }
        let verdict = match stored {
            Some(Placed::Open) => return,
            Some(Placed::Superseded) => Verdict::Superseded,
            None => Verdict::Detached,
        };
        if let Some(waiter) = self.handle.questions.take(&pending_id) {
            self.tell(waiter, verdict);
            self.o.tell_awaited(&self.session_id);
        }
    }

    async fn store_bundle(&self, pending_id: &PendingId, questions: &[Question]) -> Option<Placed> {
        let acknowledges = self.turn.as_ref().filter(|turn| !turn.acknowledged);
        let count = u32::try_from(questions.len()).unwrap_or(u32::MAX);
        self.persist("questions", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let now = tx.now();
                let asked =
                    store::clarifications::bundle(&mut tx, &self.session_id, pending_id).await?;
                if !asked.is_empty() {
                    return Ok(Placed::Open); // by an earlier try whose answer was lost
                }
                let facts = self.facts(&mut tx).await?;
                let asked = Input::QuestionsAsked(pending_id.clone());
                let plan = decide(&facts, &asked, &TurnId::generate()).unwrap_or_default();
                let Some(turn) = plan.changes.into_iter().find_map(asked_in) else {
                    return Ok(Placed::Superseded);
                };
                if self.rows.turn_id.as_ref().is_some_and(|own| *own != turn) {
                    return Ok(Placed::Superseded);
                }
                for (index, question) in (0..).zip(questions) {
                    let id = MessageId::generate();
                    let metadata = Clarification {
                        index,
                        count,
                        question: question.clone(),
                        answer: None,
                    };
                    let row = NewMessage {
                        id: &id,
                        session_id: &self.session_id,
                        task_id: &self.task_id,
                        turn_id: Some(&turn),
                        author: Author::Agent,
                        kind: MessageType::ClarificationRequest,
                        content: &question.text,
                        metadata: &serde_json::to_value(metadata).unwrap_or_default(),
                        pending_id: Some(pending_id),
                        streaming: false,
                    };
                    messages::insert(&mut tx, &row, Place::Transcript, now).await?;
                    emit::message_added(&mut tx, &id).await?;
                }
                if let Some(open) = acknowledges {
                    turns::mark_acknowledged(&mut tx, &open.id).await?;
                }
                emit::pending(&mut tx, &self.session_id, None).await?;
                self.o.commit(tx).await?;
                Ok(Placed::Open)
            })
        })
        .await
    }

    /// Delivers decisions to who waits for them. An answer that nobody waits for becomes a prompt: at once, or when the
    /// open turn settles.
    pub(super) async fn deliver_decisions(&mut self) {
        let decided = self
            .persist("decisions", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.read().await?;
                    store::clarifications::undelivered(&mut tx, &self.session_id).await
                })
            })
            .await
            .unwrap_or_default();
        let mut left = false;
        for bundle in clarifications::by_bundle(decided) {
            let answered = bundle
                .iter()
                .all(|row| row.status == RequestStatus::Answered);
            let Some(delivered) = self.deliver_bundle(&bundle).await else {
                continue; // it could not be read; whoever waits goes on waiting, and the next poke tries again
            };
            if delivered || !answered {
                // Nobody needs to be told that a question was declined that nobody waits for.
                self.note_decision(&bundle, delivered).await;
            } else {
                left = true;
            }
        }
        if left && self.turn.is_none() {
            self.reserve_answers().await;
        }
    }

    /// Whether somebody got the answer; none when it could not be told what it is.
    async fn deliver_bundle(&self, bundle: &[Asked]) -> Option<bool> {
        let first = bundle.first()?;
        // Rows that were decided apart (one of them deleted, say) are answered together all the same.
        let all = self
            .persist("bundle", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.read().await?;
                    store::clarifications::bundle(&mut tx, &self.session_id, &first.pending_id)
                        .await
                })
            })
            .await?;
        let Some(waiter) = self.handle.questions.take(&first.pending_id) else {
            return Some(false);
        };
        let verdict = if first.status == RequestStatus::Rejected {
            Verdict::Rejected
        } else {
            Verdict::Answered(all.iter().filter_map(Asked::clarification).collect())
        };
        let told = self.tell(waiter, verdict);
        self.o.tell_awaited(&self.session_id);
        Some(told)
    }

    /// Tells who waits; says whether it was still there.
    fn tell(&self, waiter: Waiter, verdict: Verdict) -> bool {
        match waiter {
            Waiter::Call(caller) => caller.send(verdict).is_ok(),
            Waiter::Elicitation(ticket, form) => {
                let answer = match verdict {
                    Verdict::Answered(answered) => form.fill(&answered),
                    Verdict::Rejected => ElicitationAnswer::Declined,
                    Verdict::Detached | Verdict::Superseded => ElicitationAnswer::Cancelled,
                };
                self.live.as_ref().is_some_and(|live| {
                    live.connection.answer_elicitation(ticket, answer)
                        == PermissionDelivery::Delivered
                })
            }
        }
    }

    async fn note_decision(&self, bundle: &[Asked], delivered: bool) {
        self.persist("decision", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let now = tx.now();
                for row in bundle {
                    requests::set_delivered(&mut tx, &row.message_id, delivered, now).await?;
                    emit::message_updated(&mut tx, &row.message_id).await?;
                }
                self.o.commit(tx).await
            })
        })
        .await;
    }

    /// Nobody waits and no turn is open: the answers get a turn.
    async fn reserve_answers(&self) {
        self.persist("answers' turn", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let session = sessions::get(&mut tx, &self.session_id).await?;
                if session.state.is_terminal() || self.stopping {
                    let attached = |id: &PendingId| self.handle.questions.is_attached(id);
                    clarifications::restore(&mut tx, &session, attached).await?;
                } else {
                    self.o.go_on(&mut tx, &session).await?;
                }
                self.o.commit(tx).await
            })
        })
        .await;
    }

    /// Nobody waits any more: the turn ended, or the process is to take a new prompt. The questions stay open.
    pub(super) fn detach_questions(&self) {
        let waiters = self.handle.questions.take_all();
        if waiters.is_empty() {
            return;
        }
        for waiter in waiters {
            self.tell(waiter, Verdict::Detached);
        }
        self.o.tell_awaited(&self.session_id);
    }
}
