//! A process coming up, or not, and a server that starts.

use super::Planning;
use super::change::Change;
use crate::message::RequestStatus;
use crate::session::SessionState;
use crate::turn::TurnOutcome;

impl Planning<'_> {
    /// The owner begins to bring a process up.
    pub(super) fn starting(&mut self, lifecycle: bool) {
        if self.facts.session.is_terminal() {
            return;
        }
        self.then(Change::Session(SessionState::Starting));
        if lifecycle {
            self.then(Change::OpenLifecycle(self.fresh.clone()));
        }
    }

    /// Ready: the lifecycle turn is over. With no prompt the session waits for a person.
    pub(super) fn ready(&mut self) {
        self.settle_lifecycle(TurnOutcome::Completed);
        self.then(Change::LaunchOver);
        self.rest();
    }

    /// It failed or was stopped: the reserved prompt is undelivered.
    pub(super) fn start_failed(&mut self, outcome: TurnOutcome) {
        self.settle_lifecycle(TurnOutcome::Failed);
        if let Some(turn) = self.facts.open().cloned() {
            if turn.authoritative {
                let turn = turn.id;
                self.then(Change::Settle { turn, outcome });
            } else {
                self.undo(&turn.id);
            }
        }
        self.then(Change::Activity {
            activity: None,
            subagents: 0,
        });
        self.then(Change::ForgetProcess);
        self.rest();
    }

    fn settle_lifecycle(&mut self, outcome: TurnOutcome) {
        let open = |turn: &&super::facts::TurnFact| turn.lifecycle_only && turn.is_open();
        let open: Vec<_> = self.facts.turns.iter().filter(open).cloned().collect();
        for turn in open {
            let turn = turn.id;
            self.then(Change::Settle { turn, outcome });
        }
    }

    /// No process lives: turns are over, permissions expired. A prompt that was surely not written waits at the head of
    /// the queue for a person; answers that were not sent are the person's to give again; a question that nobody waits
    /// for stays open. Moves no `last_activity_at` (REC-01).
    pub(super) fn recover(&mut self) {
        let open = self.facts.turns.iter().filter(|turn| turn.is_open());
        for turn in open.cloned().collect::<Vec<_>>() {
            let unsent = !turn.lifecycle_only && !turn.attempted;
            if unsent {
                let prompts = self.facts.prompts.iter();
                let its = prompts.filter(|prompt| prompt.turn == turn.id).cloned();
                for prompt in its.collect::<Vec<_>>() {
                    self.then(Change::QueueFirst(prompt.id));
                }
            }
            if turn.authoritative || turn.lifecycle_only {
                self.then(Change::Settle {
                    turn: turn.id,
                    outcome: if unsent {
                        TurnOutcome::NotDispatched
                    } else {
                        TurnOutcome::Interrupted
                    },
                });
            } else {
                self.then(Change::RemoveTurn(turn.id));
            }
        }
        self.restore_answers();
        self.then(Change::EndPermissions(RequestStatus::Expired));
        self.fail_deliveries();
        self.then(Change::ForgetProcess);
        self.then(Change::Activity {
            activity: None,
            subagents: 0,
        });
        let state = match self.facts.session {
            SessionState::Starting if !self.facts.resumable => SessionState::Created,
            SessionState::Running | SessionState::Starting => SessionState::WaitingForInput,
            other => other,
        };
        self.then(Change::Session(state));
    }
}
