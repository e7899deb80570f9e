//! What a row shows first: one state out of twelve, and the attention group it is listed in.
//!
//! Desktop, phone, board and notifications use this one rule. The browser has the same rule in TypeScript; both are
//! tested against the table in `cases/row_states.json`, so they cannot drift apart (PEN-01, WEB-05).

use crate::error::words;
use crate::session::{Activity, SessionState};
use crate::summary::{PendingAction, SummaryPayload};
use crate::task::TaskState;

words! {
    /// The state of a row, by precedence: the first that applies.
    RowState {
        /// An agent asks whether it may.
        Permission = "permission",
        /// An agent asks a question.
        Clarification = "clarification",
        /// An agent is at work.
        Generating = "generating",
        /// Subagents are at work.
        Background = "background",
        /// A person or workflow said so.
        WaitingForInput = "waiting_for_input",
        /// An agent is starting.
        Preparing = "preparing",
        /// Work is under way.
        InProgress = "in_progress",
        /// The task failed.
        Failed = "failed",
        /// The task was given up.
        Cancelled = "cancelled",
        /// A person or workflow said so.
        Blocked = "blocked",
        /// The server stopped under an open turn.
        Interrupted = "interrupted",
        /// Done.
        Complete = "complete",
        /// The agent finished; a person may look.
        TurnFinished = "turn_finished",
        /// Nothing started.
        Backlog = "backlog",
    }
}

words! {
    /// The group a row is listed in, in list order.
    AttentionGroup {
        /// A person must act.
        NeedsYou = "needs_you",
        /// Agents are at work.
        Working = "working",
        /// A person may look.
        ToReview = "to_review",
        /// Nothing happens.
        Waiting = "waiting",
        /// Over.
        Done = "done",
    }
}

/// What the rule reads: the task's own facts and its summary, if it has one (WEB-01).
#[derive(Clone, Copy, Debug)]
pub struct RowFacts<'a> {
    /// The task's coarse state.
    pub state: TaskState,
    /// Whether it is on the last step of its board.
    pub on_last_step: bool,
    /// Whether `interrupted_at` is set.
    pub interrupted: bool,
    /// The summary; without one only the coarse facts speak.
    pub summary: Option<&'a SummaryPayload>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bucket {
    Backlog,
    InProgress,
    Review,
}

fn bucket(facts: RowFacts<'_>) -> Bucket {
    use SessionState::{
        Cancelled, Completed, Created, Failed, Idle, Running, Starting, WaitingForInput,
    };
    let primary = facts
        .summary
        .and_then(|s| s.primary_session.as_ref())
        .map(|s| s.state);
    match primary {
        Some(Running) => Bucket::InProgress,
        Some(WaitingForInput | Idle | Completed | Failed | Cancelled) => Bucket::Review,
        Some(Created | Starting) | None => match facts.state {
            TaskState::Review | TaskState::Completed => Bucket::Review,
            TaskState::InProgress | TaskState::Scheduling => Bucket::InProgress,
            _ => Bucket::Backlog,
        },
    }
}

/// The row's state: the first rule that applies.
#[must_use]
pub fn row_state(facts: RowFacts<'_>) -> RowState {
    let summary = facts.summary;
    let bucket = bucket(facts);
    let starting = summary
        .and_then(|s| s.primary_session.as_ref())
        .is_some_and(|session| session.state == SessionState::Starting);
    match summary.and_then(|s| s.pending_action) {
        Some(PendingAction::Permission) => return RowState::Permission,
        Some(PendingAction::Clarification) => return RowState::Clarification,
        None => {}
    }
    match summary.and_then(|s| s.foreground_activity) {
        Some(Activity::Generating) => return RowState::Generating,
        Some(Activity::Background) => return RowState::Background,
        None => {}
    }
    match facts.state {
        TaskState::WaitingForInput => RowState::WaitingForInput,
        TaskState::Scheduling => RowState::Preparing,
        _ if starting && bucket != Bucket::Review => RowState::Preparing,
        _ if bucket == Bucket::InProgress => RowState::InProgress,
        TaskState::Failed => RowState::Failed,
        TaskState::Cancelled => RowState::Cancelled,
        TaskState::Blocked => RowState::Blocked,
        state if facts.interrupted && state != TaskState::Completed => RowState::Interrupted,
        state
            if bucket == Bucket::Review
                && (facts.on_last_step || state == TaskState::Completed) =>
        {
            RowState::Complete
        }
        state
            if bucket == Bucket::Review
                && !matches!(state, TaskState::Todo | TaskState::Created) =>
        {
            RowState::TurnFinished
        }
        _ => RowState::Backlog,
    }
}

/// The group a row is listed in. An active error needs a person whatever the state (ERR-01).
#[must_use]
pub fn attention_group(facts: RowFacts<'_>) -> AttentionGroup {
    if facts
        .summary
        .is_some_and(|summary| summary.active_error.is_some())
    {
        return AttentionGroup::NeedsYou;
    }
    match row_state(facts) {
        RowState::Permission | RowState::Clarification => AttentionGroup::NeedsYou,
        RowState::Generating
        | RowState::Background
        | RowState::Preparing
        | RowState::InProgress => AttentionGroup::Working,
        RowState::Interrupted | RowState::TurnFinished => AttentionGroup::ToReview,
        RowState::WaitingForInput | RowState::Blocked | RowState::Backlog => {
            AttentionGroup::Waiting
        }
        RowState::Failed | RowState::Cancelled | RowState::Complete => AttentionGroup::Done,
    }
}

#[cfg(test)]
#[path = "row_state_tests.rs"]
mod tests;
