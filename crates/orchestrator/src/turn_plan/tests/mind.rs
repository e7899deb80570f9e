//! The machine by itself: everything it ever knew of the session, what only the session's owner knows, and which
//! happening is which input to it.

use super::happening::{Beginning, Happening, Pick, Sibling, What};
use model::ids::{MessageId, PendingId, SessionId, TurnId};
use model::message::RequestStatus;
use model::session::SessionState;
use model::task::TaskState;
use model::turn::TurnOutcome;
use model::turn_machine::change::{Act, Change, Plan};
use model::turn_machine::facts::{Facts, PromptFact, TurnFact};
use model::turn_machine::input::Input;

/// What a happening comes to.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The machine is asked.
    Ask(Input),
    /// The process for the reserved prompt is there.
    Up,
    /// The process ended.
    Exit,
    /// The call that asked is not there any more.
    Detach(PendingId),
    /// A person wants the process to end.
    StopProcess,
    /// A person or a workflow sets the task's state.
    SetTask(TaskState),
    /// Another session of the task.
    Sibling(Sibling),
    /// The server is killed and starts again.
    Kill,
}

/// Nothing here is read from rows.
#[derive(Clone, Debug)]
pub(super) struct Mind {
    /// Everything: settled turns, requests that are over.
    pub(super) facts: Facts,
    /// A process is noted.
    pub(super) execution: bool,
    /// What the other session does.
    pub(super) sibling: Sibling,
    session: SessionId,
    /// The owner brings a process up; for nobody's prompt if true.
    starting: Option<bool>,
    /// The process is gone and that is not handled yet.
    lost: bool,
    /// The agent was told to stop its turn.
    stop_begun: bool,
    /// The turns in which permissions were asked for.
    asked_in: Vec<PromptFact>,
    /// How many ids were given.
    given: u32,
    /// Time stands still.
    stands: bool,
}

fn one<T: Clone>(of: &[T], pick: Pick) -> Option<T> {
    of.get(usize::from(pick).checked_rem(of.len())?).cloned()
}

/// The identity of a permission's request.
pub(super) fn asked_by(permission: &MessageId) -> PendingId {
    PendingId::parse(&format!("{permission}-asks")).expect("printable")
}

impl Mind {
    /// A session that was just made in a new task.
    pub(super) fn new(session: &SessionId, beginning: Beginning) -> Self {
        let mut facts = Facts::new(TaskState::Todo);
        facts.task.intended = beginning.intended;
        Self {
            facts,
            execution: false,
            sibling: Sibling::Rests,
            session: session.clone(),
            starting: None,
            lost: false,
            stop_begun: false,
            asked_in: Vec::new(),
            given: 0,
            stands: beginning.stands,
        }
    }

    /// How much time passes before this, in microseconds.
    pub(super) const fn passes(&self, happening: &Happening) -> i64 {
        if self.stands { 0 } else { happening.micros }
    }

    fn id(&self, of: &str) -> String {
        format!("{}-{of}-{:05}", self.session, self.given)
    }

    /// The id that the next turn gets: later than every earlier one.
    pub(super) fn fresh(&self) -> TurnId {
        TurnId::parse(&self.id("turn")).expect("printable")
    }

    fn message(&self, of: &str) -> MessageId {
        MessageId::parse(&self.id(of)).expect("printable")
    }

    /// What this happening comes to now; nothing when it cannot happen.
    pub(super) fn step(&self, what: &What) -> Option<Step> {
        let ask = |input| Some(Step::Ask(input));
        match what {
            What::StopsProcess => {
                (self.facts.process && !self.facts.stopping).then_some(Step::StopProcess)
            }
            What::SetsTask(state) => Some(Step::SetTask(*state)),
            What::Killed => Some(Step::Kill),
            What::Sibling(does) => (self.sibling != *does).then_some(Step::Sibling(*does)),
            What::Works => self.due(),
            What::Exits => self.talks().then_some(Step::Exit),
            What::LeavesQuestions(pick) => self.attached(*pick).map(Step::Detach),
            _ => self.wish(what).or_else(|| self.report(what)).and_then(ask),
        }
    }

    /// What a person asks for.
    fn wish(&self, what: &What) -> Option<Input> {
        Some(match what {
            What::Sends => Input::Accepted(self.message("prompt")),
            What::SendsAgain(pick) => Input::SentAgain(one(&self.prompts(), *pick)?),
            What::SendsNow(pick) => Input::SentNow(one(&self.facts.queue, *pick)?),
            What::TakesOut(pick) => Input::Unqueued(one(&self.facts.queue, *pick)?),
            What::Deletes(pick) => Input::Deleted(one(&self.prompts(), *pick)?),
            What::DeletesPermission(pick) => {
                Input::Deleted(one(&self.facts.permissions, *pick)?.id)
            }
            What::WantsQueue => Input::QueueAsked,
            What::Stops => Input::StopAsked,
            What::Closes => Input::Closed,
            What::Decides(pick, decision) => Input::PermissionDecided {
                id: self.a_permission(*pick)?,
                decision: *decision,
            },
            What::Resolves(pick, decision) => Input::QuestionsResolved {
                id: self.a_bundle(*pick)?,
                decision: *decision,
            },
            _ => return None,
        })
    }

    /// One that is open, if one is.
    fn a_permission(&self, pick: Pick) -> Option<MessageId> {
        let all = &self.facts.permissions;
        let open: Vec<_> = all
            .iter()
            .filter(|p| !p.status.is_terminal())
            .cloned()
            .collect();
        Some(one(&open, pick).or_else(|| one(all, pick))?.id)
    }

    /// One that can be answered, if one can.
    fn a_bundle(&self, pick: Pick) -> Option<PendingId> {
        let all = &self.facts.questions;
        let open = all.iter().filter(|bundle| self.facts.is_answerable(bundle));
        let open: Vec<_> = open.cloned().collect();
        Some(one(&open, pick).or_else(|| one(all, pick))?.id)
    }

    /// What the owner reports, and what its agent does.
    fn report(&self, what: &What) -> Option<Input> {
        let starts = self.starting.is_some();
        let input = match what {
            What::Resumes if self.may_resume() => Input::Starting { lifecycle: true },
            What::StartFails(outcome) if starts => Input::StartFailed { outcome: *outcome },
            What::GivesUp(outcome) => Input::Unsent(*outcome),
            What::Forgets { idle } if self.lost && !self.attempted() => {
                Input::ProcessForgotten { idle: *idle }
            }
            What::Rests if !starts => Input::Rested,
            What::DeliversDecisions => Input::DecisionsDue,
            What::DeliversAnswers => Input::AnswersDue,
            What::IsLate => Input::LateUpdate,
            _ if !self.talks() => return None,
            What::ShowsLife => Input::SignOfLife,
            What::Ends { outcome, replied } => Input::TurnEnded {
                outcome: *outcome,
                replied: *replied,
            },
            What::AsksPermission => Input::PermissionAsked(self.message("permission")),
            What::WithdrawsPermission(pick) => {
                let awaited = self.facts.permissions.iter().filter(|p| p.awaited);
                let ids: Vec<_> = awaited.map(|p| p.id.clone()).collect();
                Input::PermissionWithdrawn(one(&ids, *pick)?)
            }
            What::AsksQuestions => {
                Input::QuestionsAsked(PendingId::parse(&self.id("questions")).expect("printable"))
            }
            What::WithdrawsQuestions(pick) => Input::QuestionsWithdrawn(self.attached(*pick)?),
            What::HasSubagents(count) => Input::Subagents(*count),
            _ => return None,
        };
        Some(input)
    }

    /// What the owner does next by itself.
    fn due(&self) -> Option<Step> {
        let facts = &self.facts;
        let stops = facts.stopping || facts.open().is_some_and(|turn| turn.cancel_requested);
        let input = if let Some(lifecycle) = self.starting {
            if lifecycle || facts.reserved().is_none() {
                Input::Ready
            } else {
                return Some(Step::Up);
            }
        } else if self.lost && self.attempted() {
            let asked = self.stop_begun || facts.stopping;
            let outcome = if asked {
                TurnOutcome::Cancelled
            } else {
                TurnOutcome::Failed
            };
            let replied = false;
            Input::TurnEnded { outcome, replied }
        } else if self.lost {
            let idle = facts.stopping;
            Input::ProcessForgotten { idle }
        } else if facts.reserved().is_some() {
            if stops {
                Input::Unsent(TurnOutcome::Cancelled)
            } else if facts.process {
                Input::Dispatched
            } else {
                Input::Starting { lifecycle: false }
            }
        } else if facts.stopping && facts.process && facts.open().is_none() {
            return Some(Step::Exit);
        } else if self.attempted() && stops && !self.stop_begun {
            Input::StopBegun
        } else if facts
            .permissions
            .iter()
            .any(|p| is_waiting(p.status, p.delivered))
        {
            Input::DecisionsDue
        } else {
            Input::AnswersDue
        };
        Some(Step::Ask(input))
    }

    fn may_resume(&self) -> bool {
        self.starting.is_none()
            && !self.facts.process
            && !self.lost
            && self.facts.open().is_none()
            && self.facts.session == SessionState::WaitingForInput
    }

    fn talks(&self) -> bool {
        self.facts.process && !self.lost
    }

    fn attempted(&self) -> bool {
        self.facts.open().is_some_and(|turn| turn.attempted)
    }

    fn attached(&self, pick: Pick) -> Option<PendingId> {
        let attached = self.facts.questions.iter().filter(|q| q.attached);
        one(&attached.map(|q| q.id.clone()).collect::<Vec<_>>(), pick)
    }

    /// Every prompt that there is.
    pub(super) fn prompts(&self) -> Vec<MessageId> {
        let placed = self.facts.prompts.iter().map(|prompt| &prompt.id);
        placed.chain(&self.facts.queue).cloned().collect()
    }

    /// What the machine is to know for this input. Where the row itself is looked at: a permission has a turn as a prompt
    /// has, and what was written counts as arrived while a process is noted.
    pub(super) fn known(&self, input: &Input) -> Facts {
        let mut known = self.facts.clone();
        if let Input::Deleted(id) | Input::SentAgain(id) = input {
            let asked = self.asked_in.iter().filter(|asked| asked.id == *id);
            known.prompts.extend(asked.cloned());
            let its = known.prompts.iter().find(|prompt| prompt.id == *id);
            let turn = its.map(|prompt| prompt.turn.clone());
            let written = |turn: &&mut TurnFact| turn.is_open() && turn.attempted;
            let mut open = known.turns.iter_mut().filter(written);
            if let Some(open) = open.find(|open| turn.as_ref() == Some(&open.id)) {
                open.acknowledged |= self.execution;
            }
        }
        known
    }

    /// What the step is before the machine is asked, and what it is asked.
    pub(super) fn begin(&mut self, step: &Step) -> Option<Input> {
        match step {
            Step::Ask(input) => {
                match input {
                    Input::Ready => self.comes_up(),
                    Input::Starting { lifecycle } => self.starting = Some(*lifecycle),
                    Input::StartFailed { .. } => self.starting = None,
                    _ => {}
                }
                return Some(input.clone());
            }
            Step::Up => self.comes_up(),
            Step::Exit => {
                self.facts.process = false;
                self.lost = true;
            }
            Step::Detach(id) => {
                let mut bundles = self.facts.questions.iter_mut();
                if let Some(bundle) = bundles.find(|bundle| bundle.id == *id) {
                    bundle.attached = false;
                }
            }
            Step::StopProcess => self.facts.stopping = true,
            Step::SetTask(state) => self.facts.task.state = *state,
            Step::Sibling(does) => self.beside(*does),
            Step::Kill => {
                self.dies();
                self.beside(Sibling::Rests);
                return Some(Input::Recovered);
            }
        }
        None
    }

    /// What the machine decided, as it sees it.
    pub(super) fn follow(&mut self, input: &Input, plan: &Plan) {
        self.given += 1;
        self.say(&plan.before);
        for change in &plan.changes {
            self.facts.apply(change);
            match change {
                Change::ForgetProcess => self.execution = false,
                Change::AskPermission(id) => self.asked_in.extend(self.asked_now(id)),
                _ => {}
            }
        }
        self.say(&plan.after);
        match input {
            Input::StopBegun => self.stop_begun = true,
            Input::TurnEnded { .. } => self.stop_begun = false,
            Input::ProcessForgotten { .. } => {
                self.lost = false;
                self.facts.stopping = false;
            }
            Input::StartFailed { .. } | Input::Unsent(_) if !self.facts.process => {
                self.facts.stopping = false;
            }
            // The task is recovered after its sessions.
            Input::Recovered => match self.facts.task.state {
                TaskState::Scheduling => self.facts.task.state = TaskState::Todo,
                TaskState::InProgress => self.facts.task.state = TaskState::Review,
                _ => {}
            },
            _ => {}
        }
    }

    /// A process takes prompts.
    fn comes_up(&mut self) {
        self.starting = None;
        self.execution = true;
        self.facts.process = true;
        self.facts.resumable = true;
    }

    fn asked_now(&self, id: &MessageId) -> Option<PromptFact> {
        let (id, turn) = (id.clone(), self.facts.current()?.id.clone());
        Some(PromptFact { id, turn })
    }

    fn say(&mut self, acts: &[Act]) {
        for act in acts {
            self.facts.carry_out(act);
        }
    }

    fn beside(&mut self, does: Sibling) {
        self.sibling = does;
        self.facts.task.others_open = does == Sibling::Works;
        self.facts.task.others_starting = matches!(does, Sibling::Starts | Sibling::Resumes);
    }

    /// Everything that only a live server knows is gone.
    fn dies(&mut self) {
        self.facts.process = false;
        self.facts.stopping = false;
        for permission in &mut self.facts.permissions {
            permission.awaited = false;
        }
        for bundle in &mut self.facts.questions {
            bundle.attached = false;
        }
        self.starting = None;
        self.lost = false;
        self.stop_begun = false;
    }

    /// What a load of the session's facts gives: nothing that changes nothing any more.
    pub(super) fn loadable(&self) -> Facts {
        let mut facts = self.facts.clone();
        let current = facts.current().map(|turn| turn.id.clone());
        facts
            .turns
            .retain(|turn| turn.is_open() || Some(&turn.id) == current.as_ref());
        for turn in &mut facts.turns {
            turn.acknowledged = false;
        }
        facts.prompts.clear();
        facts.permissions.clear();
        facts
            .questions
            .retain(|bundle| is_waiting(bundle.status, bundle.delivered));
        facts
    }
}

/// A person decided it and nobody has heard of that yet.
fn is_waiting(status: RequestStatus, delivered: Option<bool>) -> bool {
    status.is_terminal() && status != RequestStatus::Expired && delivered.is_none()
}
