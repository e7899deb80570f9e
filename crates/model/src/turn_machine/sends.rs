//! Prompts: from acceptance to a turn of their own, and what goes next.

use super::Planning;
use super::change::{Act, Change};
use super::input::Refusal;
use crate::bounds;
use crate::ids::{MessageId, TurnId};
use crate::message::{Disposition, RequestStatus};
use crate::session::{Activity, SessionState};
use crate::task::TaskState;
use crate::turn::TurnOutcome;

impl Planning<'_> {
    /// A prompt waits while a turn is open or others wait; else it gets its turn at once. A queue that nobody works on
    /// starts with whoever is first in it: one send, one start.
    pub(super) fn accept(&mut self, prompt: &MessageId) -> Result<(), Refusal> {
        self.refuse_closed()?;
        let waits = self.facts.open().is_some() || !self.facts.queue.is_empty();
        if waits && bounds::QUEUED_PROMPTS <= self.facts.queue.len() {
            return Err(Refusal::QueueFull);
        }
        self.then(Change::Milestone);
        if waits {
            self.then(Change::QueueLast(prompt.clone()));
            self.go_on();
        } else {
            self.reserve_for(prompt.clone());
            self.begin();
        }
        Ok(())
    }

    /// A prompt that is undelivered or uncertain goes to the head of the queue, and the queue goes on. Sending a queued
    /// one while no turn is open starts a queue that waited for a person.
    pub(super) fn send_again(&mut self, prompt: &MessageId) -> Result<(), Refusal> {
        let again = match self.facts.disposition(prompt) {
            Some(Disposition::Undelivered | Disposition::Uncertain) => true,
            Some(Disposition::Queued) => self.facts.open().is_none(),
            _ => false,
        };
        if !again {
            return Err(Refusal::Moved);
        }
        self.refuse_closed()?;
        self.then(Change::QueueFirst(prompt.clone()));
        self.then(Change::Milestone);
        self.go_on();
        Ok(())
    }

    /// It goes to the head. An open turn is stopped for it, and its end sends it; else it is sent at once.
    pub(super) fn send_now(&mut self, prompt: &MessageId) -> Result<(), Refusal> {
        if !self.facts.queue.contains(prompt) {
            return Err(Refusal::Moved);
        }
        self.refuse_closed()?;
        if self.facts.queue.first() != Some(prompt) {
            self.then(Change::QueueFirst(prompt.clone()));
        }
        if self.facts.open().is_some() {
            self.ask_stop();
        } else {
            self.go_on();
        }
        Ok(())
    }

    /// Its id stays owned.
    pub(super) fn unqueue(&mut self, prompt: &MessageId) -> Result<(), Refusal> {
        if !self.facts.queue.contains(prompt) {
            return Err(Refusal::Moved);
        }
        self.then(Change::Unqueue(prompt.clone()));
        Ok(())
    }

    /// Deleting rows moves no boundary: the turn stays as it is (PEN-04).
    pub(super) fn delete(&mut self, message: &MessageId) -> Result<(), Refusal> {
        if self.facts.queue.contains(message) {
            return Err(Refusal::Moved);
        }
        let mut prompts = self.facts.prompts.iter();
        let turn = prompts
            .find(|prompt| prompt.id == *message)
            .and_then(|prompt| self.facts.turn(&prompt.turn));
        if turn.is_some_and(super::facts::TurnFact::is_open) {
            return Err(Refusal::TurnOpen);
        }
        self.then(Change::DeleteRow(message.clone()));
        Ok(())
    }

    fn refuse_closed(&self) -> Result<(), Refusal> {
        if self.facts.session.is_terminal() {
            return Err(Refusal::Closed);
        }
        Ok(())
    }

    /// Reserves what goes next, if anything does, and begins it.
    pub(super) fn go_on(&mut self) {
        if !self.facts.session.is_terminal() && self.reserve_next() {
            self.begin();
        }
    }

    /// Answers that wait to be sent go before the queue. Answers to questions that a newer turn superseded are given
    /// up: their row says so. Says whether a turn was reserved.
    fn reserve_next(&mut self) -> bool {
        if self.facts.open().is_some() {
            return false;
        }
        let current = self.facts.current().map(|turn| turn.id.clone());
        let mut any = false;
        for bundle in self.unsent_answers() {
            if bundle.turn == current {
                any = true;
            } else {
                self.then(Change::QuestionsDelivered {
                    id: bundle.id,
                    delivered: false,
                });
            }
        }
        if any {
            self.then(Change::ReserveForAnswers(self.fresh.clone()));
        } else if let Some(first) = self.facts.queue.first().cloned() {
            self.reserve_for(first);
        } else {
            return false;
        }
        true
    }

    fn reserve_for(&mut self, prompt: MessageId) {
        self.then(Change::ReserveForPrompt {
            turn: self.fresh.clone(),
            prompt,
        });
    }

    /// Bundles whose answers nobody waits for and nothing has brought to the agent.
    pub(super) fn unsent_answers(&self) -> Vec<super::facts::QuestionsFact> {
        let unsent = |q: &&super::facts::QuestionsFact| {
            q.status == RequestStatus::Answered && q.delivered.is_none() && !q.attached
        };
        self.facts
            .questions
            .iter()
            .filter(unsent)
            .cloned()
            .collect()
    }

    /// The reserved turn opens at once when a process is there for it; else the session starts one.
    fn begin(&mut self) {
        let Some(turn) = self.facts.reserved().map(|turn| turn.id.clone()) else {
            return;
        };
        if self.facts.process {
            self.open(&turn);
        } else {
            self.then(Change::Session(SessionState::Starting));
            if matches!(self.facts.task.state, TaskState::Todo | TaskState::Created) {
                self.then(Change::Task(TaskState::Scheduling));
            }
        }
        self.finally(Act::Work);
    }

    /// A conversational turn opens: the session runs, its task is in progress, older permissions are over.
    fn open(&mut self, turn: &TurnId) {
        self.then(Change::EndPermissions(RequestStatus::Expired));
        self.then(Change::Session(SessionState::Running));
        self.then(Change::Activity {
            activity: Some(Activity::Generating),
            subagents: self.facts.subagents,
        });
        self.then(Change::Task(TaskState::InProgress));
        self.then(Change::LaunchOver);
        self.then(Change::Milestone);
        self.then(Change::TurnOpened(turn.clone()));
    }

    /// The reserved prompt is about to be written. An empty turn brings the answers that wait; without any it is
    /// undone. What the agent still waited for is over: one prompt is under way.
    pub(super) fn dispatch(&mut self) {
        let Some(turn) = self.facts.reserved().cloned() else {
            return;
        };
        if self.facts.session.is_terminal() || !self.facts.process {
            return;
        }
        if turn.cancel_requested {
            return self.close_unsent(TurnOutcome::Cancelled);
        }
        if !turn.authoritative {
            let answers = self.unsent_answers();
            if answers.is_empty() {
                self.undo(&turn.id);
                self.end_requests();
                self.go_on();
                return self.rest();
            }
            for bundle in answers {
                self.then(Change::QuestionsDelivered {
                    id: bundle.id,
                    delivered: true,
                });
            }
        }
        self.deliver_decisions();
        if self.facts.session == SessionState::Running {
            self.then(Change::EndPermissions(RequestStatus::Expired));
        } else {
            self.open(&turn.id);
        }
        self.then(Change::MarkAttempted(turn.id.clone()));
        self.finally(Act::Withdraw);
        self.finally(Act::Write(turn.id));
    }
}
