//! Every way a turn ends, and every way a process does.

use super::Planning;
use super::change::{Act, Change};
use crate::ids::TurnId;
use crate::message::RequestStatus;
use crate::session::{Activity, SessionState};
use crate::task::TaskState;
use crate::turn::TurnOutcome;

/// Whether the queue goes on after a turn that ended so. After a stop it does, because a person is there; after a
/// failure or an interruption it waits for one, and so it does when the process is to end.
#[must_use]
pub(super) const fn queue_goes_on(outcome: TurnOutcome, stopping: bool) -> bool {
    matches!(outcome, TurnOutcome::Completed | TurnOutcome::Cancelled) && !stopping
}

impl Planning<'_> {
    /// A person asked to stop: noted on the open turn, carried out by the owner.
    pub(super) fn ask_stop(&mut self) {
        if let Some(turn) = self.facts.open().map(|turn| turn.id.clone()) {
            self.then(Change::RequestCancel(turn));
        }
    }

    /// The agent is told to stop; everything it asks is answered "cancelled" at once, so that it does not wait.
    pub(super) fn begin_stop(&mut self) {
        if self.facts.open().is_none_or(|turn| !turn.attempted) {
            return; // nothing was written: the owner closes the turn instead
        }
        // What a person decided before is told as decided; only the rest is cancelled.
        self.deliver_decisions();
        self.first(Act::Cancel);
        self.first(Act::Withdraw);
        self.then(Change::EndPermissions(RequestStatus::Cancelled));
    }

    /// The turn that was written ended.
    pub(super) fn end_turn(&mut self, outcome: TurnOutcome, replied: bool) {
        let Some(turn) = self.facts.open().filter(|turn| turn.attempted).cloned() else {
            return;
        };
        if self.facts.process && self.facts.subagents == 0 {
            self.deliver_decisions();
            self.first(Act::Withdraw);
        }
        if replied {
            self.then(Change::Acknowledge(turn.id.clone()));
        }
        self.settle(&turn.id, outcome);
        self.go_on_after(outcome);
    }

    /// The reserved turn ends without its prompt having been written.
    pub(super) fn close_unsent(&mut self, outcome: TurnOutcome) {
        let Some(turn) = self.facts.reserved().cloned() else {
            return;
        };
        if turn.authoritative {
            self.settle(&turn.id, outcome);
        } else {
            self.undo(&turn.id);
        }
        self.end_requests();
        self.go_on_after(outcome);
        self.rest();
    }

    /// The reservation opened and so ended what was asked before, but its prompt is not written: nobody may be left
    /// waiting for an answer that cannot come.
    pub(super) fn end_requests(&mut self) {
        self.then(Change::EndPermissions(RequestStatus::Expired));
        self.finally(Act::Withdraw);
    }

    fn go_on_after(&mut self, outcome: TurnOutcome) {
        if queue_goes_on(outcome, self.facts.stopping) {
            self.go_on();
        }
        if self.facts.open().is_none() {
            // Answers that were to go with a turn of their own wait for a person again, like the queue.
            self.restore_answers();
        }
    }

    /// A conversational turn settles: the session waits for a person, its task is to be reviewed unless another turn
    /// of it is open, and its permissions are over unless background work is left.
    fn settle(&mut self, turn: &TurnId, outcome: TurnOutcome) {
        let turn = turn.clone();
        self.then(Change::Settle { turn, outcome });
        if self.facts.subagents == 0 {
            self.then(Change::EndPermissions(RequestStatus::Expired));
        }
        self.rest_activity();
        if !self.facts.session.is_terminal() {
            self.then(Change::Session(SessionState::WaitingForInput));
        }
        self.then(Change::Milestone);
        if self.facts.task.state == TaskState::InProgress && !self.facts.task.others_open {
            self.then(Change::Task(TaskState::Review));
            self.then(Change::TaskSettled);
        }
    }

    /// A person or a workflow closed the session: COMPLETED, or CANCELLED when a turn was open.
    pub(super) fn close(&mut self) {
        if self.facts.session.is_terminal() {
            return;
        }
        let open = self.facts.open().cloned();
        self.then(Change::Session(if open.is_some() {
            SessionState::Cancelled
        } else {
            SessionState::Completed
        }));
        match open {
            Some(turn) if turn.authoritative => self.settle(&turn.id, TurnOutcome::Cancelled),
            Some(turn) => self.undo(&turn.id),
            None => {}
        }
        self.then(Change::EndPermissions(RequestStatus::Expired));
        self.then(Change::Activity {
            activity: None,
            subagents: 0,
        });
        self.rest();
    }

    /// An empty reservation that was never attempted goes, and what it claimed is pending again (PEN-03).
    pub(super) fn undo(&mut self, turn: &TurnId) {
        self.then(Change::RemoveTurn(turn.clone()));
        self.restore_answers();
        self.rest_activity();
    }

    /// Questions whose answers were not sent are pending again, unless somebody waits for them. What a newer turn
    /// superseded stays answered, and is told as not delivered: nothing superseded becomes pending again (PEN-08).
    pub(super) fn restore_answers(&mut self) {
        let current = self.facts.current().map(|turn| turn.id.clone());
        for bundle in self.unsent_answers() {
            let id = bundle.id;
            self.then(if bundle.turn == current {
                Change::RestoreQuestions(id)
            } else {
                let delivered = false;
                Change::QuestionsDelivered { id, delivered }
            });
        }
        // Nobody needs to be told that a question was declined that nobody waits for.
        let declined = |q: &&super::facts::QuestionsFact| {
            q.status == RequestStatus::Rejected && q.delivered.is_none() && !q.attached
        };
        let declined: Vec<_> = self
            .facts
            .questions
            .iter()
            .filter(declined)
            .cloned()
            .collect();
        for bundle in declined {
            self.then(Change::QuestionsDelivered {
                id: bundle.id,
                delivered: false,
            });
        }
    }

    /// No turn is open: only background work is left, if there is any.
    fn rest_activity(&mut self) {
        let subagents = self.facts.subagents;
        let activity = (0 < subagents).then_some(Activity::Background);
        self.then(Change::Activity {
            activity,
            subagents,
        });
    }

    /// The process is gone. What was decided and not delivered is told as not delivered; questions outlive it.
    pub(super) fn forget_process(&mut self, idle: bool) {
        self.first(Act::Withdraw);
        self.then(Change::ForgetProcess);
        self.fail_deliveries();
        self.then(Change::EndPermissions(RequestStatus::Expired));
        if self.facts.open().is_none() {
            self.restore_answers();
        }
        self.then(Change::Activity {
            activity: None,
            subagents: 0,
        });
        if idle && self.facts.session == SessionState::WaitingForInput {
            self.then(Change::Session(SessionState::Idle));
        }
    }

    /// Brings session and task to rest when nothing is under way: RUNNING and STARTING without an open turn become
    /// what they were before, and so do IN_PROGRESS and SCHEDULING.
    pub(super) fn rest(&mut self) {
        let open = self.facts.open().is_some();
        let busy = matches!(
            self.facts.session,
            SessionState::Running | SessionState::Starting
        );
        if !open && busy {
            self.then(Change::Session(if self.facts.resumable {
                SessionState::WaitingForInput
            } else {
                SessionState::Created
            }));
        }
        let task = self.facts.task;
        if open || task.others_open || task.others_starting {
            return;
        }
        match task.state {
            TaskState::InProgress => self.then(Change::Task(TaskState::Review)),
            TaskState::Scheduling if !task.intended => self.then(Change::Task(TaskState::Todo)),
            _ => {}
        }
    }
}
