//! The facts of one session, and what a change makes of them.

use crate::ids::{MessageId, PendingId, TurnId};
use crate::message::{Disposition, PromptFacts, RequestStatus, disposition};
use crate::session::{Activity, SessionState};
use crate::task::TaskState;
use crate::turn::{Turn, TurnOutcome};
use crate::turn_machine::change::{Act, Change};

/// One session. A driver loads what its inputs read: settled turns other than the current one, and requests that are
/// over and delivered, change nothing and may be left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Facts {
    /// Its state.
    pub session: SessionState,
    /// The agent knows the conversation, so a later process can go on with it.
    pub resumable: bool,
    /// A process lives and takes prompts.
    pub process: bool,
    /// The process is to end on a person's wish: the queue waits.
    pub stopping: bool,
    /// What works, as the row says.
    pub activity: Option<Activity>,
    /// Live subagents.
    pub subagents: u32,
    /// Its turns, oldest first.
    pub turns: Vec<TurnFact>,
    /// The queued prompts, first one first.
    pub queue: Vec<MessageId>,
    /// The prompts that have a turn.
    pub prompts: Vec<PromptFact>,
    /// Permissions.
    pub permissions: Vec<PermissionFact>,
    /// Bundles of questions, in the order in which they were asked.
    pub questions: Vec<QuestionsFact>,
    /// Its task.
    pub task: TaskFact,
}

/// A turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TurnFact {
    /// Its id.
    pub id: TurnId,
    /// It is a boundary for good (PEN-03).
    pub authoritative: bool,
    /// An agent's start or resume.
    pub lifecycle_only: bool,
    /// Its prompt may have reached the agent.
    pub attempted: bool,
    /// Something came back for it.
    pub acknowledged: bool,
    /// A person asked to stop it.
    pub cancel_requested: bool,
    /// How it ended; nothing while it is open.
    pub outcome: Option<TurnOutcome>,
}

impl From<&Turn> for TurnFact {
    fn from(turn: &Turn) -> Self {
        let over = turn.outcome.or(Some(TurnOutcome::Interrupted));
        Self {
            id: turn.id.clone(),
            authoritative: turn.authoritative,
            lifecycle_only: turn.lifecycle_only,
            attempted: turn.prompt_dispatch_attempted,
            acknowledged: false,
            cancel_requested: turn.cancel_requested_at.is_some(),
            outcome: turn.completed_at.and(over),
        }
    }
}

impl TurnFact {
    fn new(id: &TurnId) -> Self {
        Self {
            id: id.clone(),
            authoritative: false,
            lifecycle_only: false,
            attempted: false,
            acknowledged: false,
            cancel_requested: false,
            outcome: None,
        }
    }

    /// Whether it has not settled.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.outcome.is_none()
    }
}

/// A prompt that has a turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PromptFact {
    /// Its row.
    pub id: MessageId,
    /// Its turn.
    pub turn: TurnId,
}

/// A permission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PermissionFact {
    /// Its row.
    pub id: MessageId,
    /// Where it stands.
    pub status: RequestStatus,
    /// Whether a decision reached the agent; nothing while there is none, or it is under way.
    pub delivered: Option<bool>,
    /// The agent still waits for it. Known to the owner only.
    pub awaited: bool,
}

/// A bundle of questions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuestionsFact {
    /// The bundle.
    pub id: PendingId,
    /// The turn in which it was asked.
    pub turn: Option<TurnId>,
    /// Where it stands.
    pub status: RequestStatus,
    /// As with a permission.
    pub delivered: Option<bool>,
    /// Somebody waits for its answer. Known to the owner only.
    pub attached: bool,
}

/// What a session's rules know of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskFact {
    /// Its state.
    pub state: TaskState,
    /// Another session of it has an open conversational turn.
    pub others_open: bool,
    /// Another session of it is starting.
    pub others_starting: bool,
    /// What it was to be started with is still to be done.
    pub intended: bool,
}

impl Facts {
    /// A session that was just created, alone in its task.
    #[must_use]
    pub const fn new(task: TaskState) -> Self {
        Self {
            session: SessionState::Created,
            resumable: false,
            process: false,
            stopping: false,
            activity: None,
            subagents: 0,
            turns: Vec::new(),
            queue: Vec::new(),
            prompts: Vec::new(),
            permissions: Vec::new(),
            questions: Vec::new(),
            task: TaskFact {
                state: task,
                others_open: false,
                others_starting: false,
                intended: false,
            },
        }
    }

    /// The open conversational turn.
    #[must_use]
    pub fn open(&self) -> Option<&TurnFact> {
        let mut newest_first = self.turns.iter().rev();
        newest_first.find(|turn| turn.is_open() && !turn.lifecycle_only)
    }

    /// The open conversational turn, if its prompt is not written yet.
    #[must_use]
    pub fn reserved(&self) -> Option<&TurnFact> {
        self.open().filter(|turn| !turn.attempted)
    }

    /// The boundary of what is pending: the newest authoritative conversational turn (PEN-02).
    #[must_use]
    pub fn current(&self) -> Option<&TurnFact> {
        let mut newest_first = self.turns.iter().rev();
        newest_first.find(|turn| turn.authoritative && !turn.lifecycle_only)
    }

    /// One of its turns.
    #[must_use]
    pub fn turn(&self, id: &TurnId) -> Option<&TurnFact> {
        self.turns.iter().find(|turn| turn.id == *id)
    }

    /// What became of a prompt; nothing when it is not there.
    #[must_use]
    pub fn disposition(&self, id: &MessageId) -> Option<Disposition> {
        let queued = self.queue.contains(id);
        let prompt = self.prompts.iter().find(|prompt| prompt.id == *id);
        if !queued && prompt.is_none() {
            return None;
        }
        let turn = prompt.and_then(|prompt| self.turn(&prompt.turn));
        Some(disposition(PromptFacts {
            queued,
            has_turn: turn.is_some(),
            attempted: turn.is_some_and(|turn| turn.attempted),
            acknowledged: turn
                .is_some_and(|turn| turn.acknowledged || (turn.is_open() && self.process)),
            turn_closed: turn.is_some_and(|turn| !turn.is_open()),
        }))
    }

    /// Whether anybody may still answer this bundle: it is pending, and nothing superseded it (PEN-02).
    #[must_use]
    pub fn is_answerable(&self, bundle: &QuestionsFact) -> bool {
        !bundle.status.is_terminal() && bundle.turn.as_ref() == self.current().map(|turn| &turn.id)
    }

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
