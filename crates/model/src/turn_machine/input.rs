//! What can happen to a session.

use crate::ids::{MessageId, PendingId};
use crate::message::RequestStatus;
use crate::turn::TurnOutcome;

/// Something that happens to one session. The first group is asked for by people, the rest reported by its owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A new prompt is accepted. That its id is new was looked up before (API-06).
    Accepted(MessageId),
    /// A prompt that did not, or perhaps did not, reach an agent is sent again; or a waiting queue is started.
    SentAgain(MessageId),
    /// A queued prompt is to go next; the open turn, if there is one, is stopped for it.
    SentNow(MessageId),
    /// A prompt is taken out of the queue.
    Unqueued(MessageId),
    /// A row is deleted.
    Deleted(MessageId),
    /// A person wants the queue, or answers that wait, to go on.
    QueueAsked,
    /// A person asked to stop the turn.
    StopAsked,
    /// A person or a workflow closes the session.
    Closed,
    /// A permission is decided.
    PermissionDecided {
        /// Its row.
        id: MessageId,
        /// `approved`, `rejected` or `cancelled`.
        decision: RequestStatus,
    },
    /// A bundle of questions is answered or declined.
    QuestionsResolved {
        /// The bundle.
        id: PendingId,
        /// `answered` or `rejected`.
        decision: RequestStatus,
    },

    /// The owner begins to bring a process up.
    Starting {
        /// Nobody waits with a prompt: the start is a lifecycle turn (SUM-09).
        lifecycle: bool,
    },
    /// The process takes prompts.
    Ready,
    /// The process did not come up: `failed`, or `cancelled` by a person.
    StartFailed {
        /// How the reserved turn ends.
        outcome: TurnOutcome,
    },
    /// The reserved prompt is about to be written.
    Dispatched,
    /// The reserved prompt will not be written: `cancelled` or `failed`.
    Unsent(TurnOutcome),
    /// The first thing that came back for the open turn.
    SignOfLife,
    /// Something came after its turn had ended.
    LateUpdate,
    /// The agent is told to stop.
    StopBegun,
    /// The open turn ended: by the reply to its prompt, by the end of the process, or because it was stopped.
    TurnEnded {
        /// How.
        outcome: TurnOutcome,
        /// The agent answered the prompt.
        replied: bool,
    },
    /// The process is gone and its turn has ended.
    ProcessForgotten {
        /// It was ended on purpose and can come back.
        idle: bool,
    },
    /// Nothing is under way any more.
    Rested,
    /// The server starts, and no process of an earlier one lives.
    Recovered,
    /// The agent asks whether it may.
    PermissionAsked(MessageId),
    /// The agent took that back.
    PermissionWithdrawn(MessageId),
    /// Decisions about permissions may wait to be delivered.
    DecisionsDue,
    /// The agent asks questions and waits for their answers.
    QuestionsAsked(PendingId),
    /// The agent took them back.
    QuestionsWithdrawn(PendingId),
    /// Decisions about questions may wait to be delivered.
    AnswersDue,
    /// So many subagents are at work now.
    Subagents(u32),
}

/// Why a person's wish cannot be fulfilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// `bounds::QUEUED_PROMPTS` are queued already.
    #[error("the queue is full")]
    QueueFull,
    /// The prompt is not, or not any more, where the wish needs it to be.
    #[error("the prompt is somewhere else by now")]
    Moved,
    /// Its turn is open.
    #[error("the turn is open")]
    TurnOpen,
    /// The request is resolved already.
    #[error("the request is resolved")]
    Resolved,
    /// A newer turn superseded the questions, or there is no turn to ask in.
    #[error("a newer turn superseded the questions")]
    Superseded,
}
