//! The facts of one session. `applied` says what a change makes of them.

use crate::ids::{MessageId, PendingId, TurnId};
use crate::message::{Disposition, PromptFacts, RequestStatus, disposition};
use crate::session::{Activity, SessionState};
use crate::task::TaskState;
use crate::turn::{Turn, TurnOutcome};

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
    pub(super) fn new(id: &TurnId) -> Self {
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
}
