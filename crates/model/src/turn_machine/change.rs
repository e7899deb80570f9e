//! What a plan is made of.

use crate::ids::{MessageId, PendingId, TurnId};
use crate::message::RequestStatus;
use crate::session::{Activity, SessionState};
use crate::task::TaskState;
use crate::turn::TurnOutcome;

/// One change of rows. What has to be published, and which revisions rise, follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A turn is reserved for this prompt, which has a row and leaves the queue if it is in it: authoritative at once.
    ReserveForPrompt {
        /// The new turn.
        turn: TurnId,
        /// Its prompt.
        prompt: MessageId,
    },
    /// An empty turn is reserved for answers that wait.
    ReserveForAnswers(TurnId),
    /// A lifecycle turn is opened.
    OpenLifecycle(TurnId),
    /// A turn opens: told, and what that means for the task's step.
    TurnOpened(TurnId),
    /// The turn's prompt may reach the agent from now on: authoritative for good.
    MarkAttempted(TurnId),
    /// Something came back for it.
    Acknowledge(TurnId),
    /// A person asked to stop it.
    RequestCancel(TurnId),
    /// It settles.
    Settle {
        /// The turn.
        turn: TurnId,
        /// How.
        outcome: TurnOutcome,
    },
    /// An empty reservation goes, as if it had never been.
    RemoveTurn(TurnId),
    /// The prompt is queued last.
    QueueLast(MessageId),
    /// The prompt is queued first, and leaves its turn.
    QueueFirst(MessageId),
    /// The prompt leaves the queue for good; its id stays owned.
    Unqueue(MessageId),
    /// The row is deleted; a person's id stays owned.
    DeleteRow(MessageId),
    /// The session's state.
    Session(SessionState),
    /// The session's activity and its subagents.
    Activity {
        /// What works.
        activity: Option<Activity>,
        /// How many subagents.
        subagents: u32,
    },
    /// The task's state.
    Task(TaskState),
    /// The last open turn of the task settled: what that means for the task's step.
    TaskSettled,
    /// A milestone: the task's `last_activity_at` rises (SUM-08).
    Milestone,
    /// An agent of the task is up, so an earlier failed launch is over (ERR-04).
    LaunchOver,
    /// No process is noted any more.
    ForgetProcess,
    /// A permission is asked for.
    AskPermission(MessageId),
    /// One permission is over.
    EndPermission {
        /// Its row.
        id: MessageId,
        /// How.
        status: RequestStatus,
        /// The agent knows already.
        delivered: Option<bool>,
    },
    /// Every open permission is over. Cancelled ones count as delivered: whoever cancels tells the agent.
    EndPermissions(RequestStatus),
    /// Whether the decision about a permission reached the agent.
    PermissionDelivered {
        /// Its row.
        id: MessageId,
        /// Whether it did; if not, the session gets an error.
        delivered: bool,
    },
    /// Questions are asked, in this turn.
    AskQuestions {
        /// The bundle.
        id: PendingId,
        /// The current turn.
        turn: TurnId,
    },
    /// The pending rows of a bundle are over.
    EndQuestions {
        /// The bundle.
        id: PendingId,
        /// How.
        status: RequestStatus,
        /// The agent knows already.
        delivered: Option<bool>,
    },
    /// Whether the decision about a bundle reached the agent, or is about to with the turn that brings it.
    QuestionsDelivered {
        /// The bundle.
        id: PendingId,
        /// Whether it did.
        delivered: bool,
    },
    /// The bundle's answers were not sent: it is pending again.
    RestoreQuestions(PendingId),
}

/// Something said to the agent. It has no effect on rows by itself, and it can be lost with the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The turn's prompt, or the answers it claimed, are written.
    Write(TurnId),
    /// The agent hears what was decided about this very permission.
    AnswerPermission {
        /// Its row.
        id: MessageId,
        /// What was decided.
        decision: RequestStatus,
    },
    /// Who waits for this bundle hears what was decided.
    AnswerQuestions {
        /// The bundle.
        id: PendingId,
        /// What was decided.
        decision: RequestStatus,
    },
    /// Everything the agent still waits for: permissions are answered "cancelled", questions "answered later".
    Withdraw,
    /// The agent is told to stop its turn.
    Cancel,
    /// The owner looks for a reserved prompt.
    Work,
}

/// What follows from an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Said before the changes are committed: a crash in between leaves a decision that was carried out unnoted, which
    /// is told as "did not arrive", never as done twice.
    pub before: Vec<Act>,
    /// One transaction.
    pub changes: Vec<Change>,
    /// Said once the changes are committed.
    pub after: Vec<Act>,
}
