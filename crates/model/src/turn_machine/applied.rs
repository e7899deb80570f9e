//! What a change makes of the facts, and what saying something makes of what the owner knows.

use super::change::{Act, Change};
use super::facts::{Facts, PermissionFact, PromptFact, QuestionsFact, TurnFact};
use crate::ids::{MessageId, TurnId};
use crate::message::RequestStatus;
use crate::turn::TurnOutcome;

impl Facts {
    fn turn_mut(&mut self, id: &TurnId) -> Option<&mut TurnFact> {
        self.turns.iter_mut().find(|turn| turn.id == *id)
    }

    fn leave_places(&mut self, prompt: &MessageId) {
        self.queue.retain(|queued| queued != prompt);
        self.prompts.retain(|placed| placed.id != *prompt);
    }

    /// What the rows say after this change.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::ReserveForPrompt { turn, prompt } => {
                self.leave_places(prompt);
                self.turns.push(TurnFact {
                    authoritative: true,
                    ..TurnFact::new(turn)
                });
                self.prompts.push(PromptFact {
                    id: prompt.clone(),
                    turn: turn.clone(),
                });
            }
            Change::ReserveForAnswers(turn) => self.turns.push(TurnFact::new(turn)),
            Change::OpenLifecycle(turn) => self.turns.push(TurnFact {
                lifecycle_only: true,
                ..TurnFact::new(turn)
            }),
            Change::MarkAttempted(id) => {
                if let Some(turn) = self.turn_mut(id) {
                    turn.attempted = true;
                    turn.authoritative = true;
                }
            }
            Change::Acknowledge(id) => {
                if let Some(turn) = self.turn_mut(id) {
                    turn.acknowledged = true;
                }
            }
            Change::RequestCancel(id) => {
                if let Some(turn) = self.turn_mut(id) {
                    turn.cancel_requested = true;
                }
            }
            Change::Settle { turn, outcome } => {
                if let Some(turn) = self.turn_mut(turn).filter(|turn| turn.is_open()) {
                    turn.outcome = Some(*outcome);
                    turn.acknowledged |= *outcome == TurnOutcome::Completed;
                }
            }
            Change::RemoveTurn(id) => self.turns.retain(|turn| turn.id != *id),
            Change::QueueLast(prompt) => {
                self.leave_places(prompt);
                self.queue.push(prompt.clone());
            }
            Change::QueueFirst(prompt) => {
                self.leave_places(prompt);
                self.queue.insert(0, prompt.clone());
            }
            Change::Unqueue(prompt) => self.queue.retain(|queued| queued != prompt),
            Change::DeleteRow(id) => {
                self.leave_places(id);
                self.permissions.retain(|permission| permission.id != *id);
            }
            Change::Session(state) => self.session = *state,
            Change::Activity {
                activity,
                subagents,
            } => {
                self.activity = *activity;
                self.subagents = *subagents;
            }
            Change::Task(state) => self.task.state = *state,
            Change::LaunchOver => self.task.intended = false,
            Change::TurnOpened(_)
            | Change::TaskSettled
            | Change::Milestone
            | Change::ForgetProcess => {}
            _ => self.apply_to_requests(change),
        }
    }

    fn apply_to_requests(&mut self, change: &Change) {
        match change {
            Change::AskPermission(id) => self.permissions.push(PermissionFact {
                id: id.clone(),
                status: RequestStatus::Pending,
                delivered: None,
                awaited: true,
            }),
            Change::EndPermission {
                id,
                status,
                delivered,
            } => {
                let pending = |p: &&mut PermissionFact| p.id == *id && !p.status.is_terminal();
                if let Some(permission) = self.permissions.iter_mut().find(pending) {
                    permission.status = *status;
                    permission.delivered = *delivered;
                }
            }
            Change::EndPermissions(status) => {
                let pending = |p: &&mut PermissionFact| !p.status.is_terminal();
                for permission in self.permissions.iter_mut().filter(pending) {
                    permission.status = *status;
                    permission.delivered = (*status == RequestStatus::Cancelled).then_some(true);
                }
            }
            Change::PermissionDelivered { id, delivered } => {
                let of = |p: &&mut PermissionFact| p.id == *id;
                if let Some(permission) = self.permissions.iter_mut().find(of) {
                    permission.delivered = Some(*delivered);
                }
            }
            Change::AskQuestions { id, turn } => self.questions.push(QuestionsFact {
                id: id.clone(),
                turn: Some(turn.clone()),
                status: RequestStatus::Pending,
                delivered: None,
                attached: true,
            }),
            Change::EndQuestions {
                id,
                status,
                delivered,
            } => {
                let pending = |q: &&mut QuestionsFact| q.id == *id && !q.status.is_terminal();
                if let Some(bundle) = self.questions.iter_mut().find(pending) {
                    bundle.status = *status;
                    bundle.delivered = *delivered;
                }
            }
            Change::QuestionsDelivered { id, delivered } => {
                if let Some(bundle) = self.questions.iter_mut().find(|q| q.id == *id) {
                    bundle.delivered = Some(*delivered);
                }
            }
            Change::RestoreQuestions(id) => {
                let unsent = |q: &&mut QuestionsFact| {
                    q.id == *id && q.status == RequestStatus::Answered && q.delivered.is_none()
                };
                if let Some(bundle) = self.questions.iter_mut().find(unsent) {
                    bundle.status = RequestStatus::Pending;
                }
            }
            _ => {}
        }
    }

    /// What its owner knows after this was said.
    pub fn carry_out(&mut self, act: &Act) {
        match act {
            Act::AnswerPermission { id, .. } => {
                if let Some(permission) = self.permissions.iter_mut().find(|p| p.id == *id) {
                    permission.awaited = false;
                }
            }
            Act::AnswerQuestions { id, .. } => {
                if let Some(bundle) = self.questions.iter_mut().find(|q| q.id == *id) {
                    bundle.attached = false;
                }
            }
            Act::Withdraw => {
                for permission in &mut self.permissions {
                    permission.awaited = false;
                }
                for bundle in &mut self.questions {
                    bundle.attached = false;
                }
            }
            Act::Write(_) | Act::Cancel | Act::Work => {}
        }
    }
}
