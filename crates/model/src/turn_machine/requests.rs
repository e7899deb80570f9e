//! Requests: asked by the agent, decided by a person, delivered by the owner.

use super::Planning;
use super::change::{Act, Change};
use super::facts::{PermissionFact, QuestionsFact};
use super::input::Refusal;
use crate::ids::{MessageId, PendingId};
use crate::message::RequestStatus;
use crate::session::{Activity, SessionState};

impl Planning<'_> {
    pub(super) fn permission_asked(&mut self, id: &MessageId) {
        self.then(Change::AskPermission(id.clone()));
    }

    /// The first decision wins; a later one reaches nobody (PEN-05).
    pub(super) fn permission_decided(
        &mut self,
        id: &MessageId,
        status: RequestStatus,
    ) -> Result<(), Refusal> {
        let pending = |p: &PermissionFact| p.id == *id && !p.status.is_terminal();
        if !self.facts.permissions.iter().any(pending) {
            return Err(Refusal::Resolved);
        }
        self.then(Change::EndPermission {
            id: id.clone(),
            status,
            delivered: None,
        });
        Ok(())
    }

    /// The agent took it back; a decision that is under way already stays.
    pub(super) fn permission_withdrawn(&mut self, id: &MessageId) {
        self.first(Act::AnswerPermission {
            id: id.clone(),
            decision: RequestStatus::Cancelled,
        });
        self.then(Change::EndPermission {
            id: id.clone(),
            status: RequestStatus::Cancelled,
            delivered: Some(true),
        });
    }

    /// Every decision goes to the request it was made about, once.
    pub(super) fn deliver_decisions(&mut self) {
        for permission in self.undelivered() {
            if permission.awaited {
                self.first(Act::AnswerPermission {
                    id: permission.id.clone(),
                    decision: permission.status,
                });
            }
            self.then(Change::PermissionDelivered {
                id: permission.id,
                delivered: permission.awaited,
            });
        }
    }

    /// Decisions that can reach nobody any more.
    pub(super) fn fail_deliveries(&mut self) {
        for permission in self.undelivered() {
            self.then(Change::PermissionDelivered {
                id: permission.id,
                delivered: false,
            });
        }
    }

    fn undelivered(&self) -> Vec<PermissionFact> {
        let waits = |p: &&PermissionFact| {
            p.delivered.is_none()
                && matches!(
                    p.status,
                    RequestStatus::Approved | RequestStatus::Rejected | RequestStatus::Cancelled
                )
        };
        self.facts
            .permissions
            .iter()
            .filter(waits)
            .cloned()
            .collect()
    }

    /// Questions are asked in the current turn, and only while that is the one the agent works on.
    pub(super) fn questions_asked(&mut self, id: &PendingId) -> Result<(), Refusal> {
        let current = self.facts.current().filter(|turn| turn.attempted);
        let turn = current.map(|turn| turn.id.clone());
        let turn = turn.ok_or(Refusal::Superseded)?;
        self.then(Change::AskQuestions {
            id: id.clone(),
            turn,
        });
        Ok(())
    }

    /// The first answer wins. An answer that nobody waits for becomes a prompt: at once, or when the open turn settles.
    pub(super) fn questions_resolved(
        &mut self,
        id: &PendingId,
        status: RequestStatus,
    ) -> Result<(), Refusal> {
        let bundle = self.facts.questions.iter().find(|bundle| bundle.id == *id);
        let bundle = bundle.filter(|bundle| !bundle.status.is_terminal());
        let bundle = bundle.ok_or(Refusal::Resolved)?;
        if self.facts.session.is_terminal() {
            return Err(Refusal::Closed);
        }
        if !self.facts.is_answerable(bundle) {
            return Err(Refusal::Superseded);
        }
        let attached = bundle.attached;
        self.then(Change::EndQuestions {
            id: id.clone(),
            status,
            delivered: None,
        });
        if !attached && status == RequestStatus::Answered {
            self.go_on();
        }
        Ok(())
    }

    pub(super) fn questions_withdrawn(&mut self, id: &PendingId) {
        self.first(Act::AnswerQuestions {
            id: id.clone(),
            decision: RequestStatus::Cancelled,
        });
        self.then(Change::EndQuestions {
            id: id.clone(),
            status: RequestStatus::Cancelled,
            delivered: Some(true),
        });
    }

    /// Who waits hears it. Answers that nobody waits for get a turn, unless one is open or the process is to end.
    pub(super) fn deliver_answers(&mut self) {
        let decided = |q: &&QuestionsFact| {
            q.delivered.is_none()
                && matches!(q.status, RequestStatus::Answered | RequestStatus::Rejected)
        };
        let bundles: Vec<_> = self
            .facts
            .questions
            .iter()
            .filter(decided)
            .cloned()
            .collect();
        for bundle in bundles {
            if bundle.attached {
                self.first(Act::AnswerQuestions {
                    id: bundle.id.clone(),
                    decision: bundle.status,
                });
            } else if bundle.status == RequestStatus::Answered {
                continue;
            }
            self.then(Change::QuestionsDelivered {
                id: bundle.id,
                delivered: bundle.attached,
            });
        }
        if self.facts.open().is_none() && !self.unsent_answers().is_empty() {
            if self.facts.stopping || self.facts.session.is_terminal() {
                self.restore_answers();
            } else {
                self.go_on();
            }
        }
    }

    /// Something came back for the open turn, so its prompt reached the agent.
    pub(super) fn acknowledge(&mut self) {
        let open = self.facts.open().filter(|turn| turn.attempted);
        if let Some(turn) = open
            .filter(|turn| !turn.acknowledged)
            .map(|turn| turn.id.clone())
        {
            self.then(Change::Acknowledge(turn));
        }
    }

    /// A subagent's start or end changes count and activity. With the last one, what was left open after the end of
    /// its turn is over.
    pub(super) fn subagents(&mut self, count: u32) {
        let generating = self.facts.session == SessionState::Running;
        let activity = match (generating, count) {
            (true, _) => Some(Activity::Generating),
            (false, 0) => None,
            (false, _) => Some(Activity::Background),
        };
        self.then(Change::Activity {
            activity,
            subagents: count,
        });
        if !generating && count == 0 {
            self.then(Change::EndPermissions(RequestStatus::Expired));
            self.finally(Act::Withdraw);
        }
    }
}
