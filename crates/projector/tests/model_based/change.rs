//! Every kind of change that a summary depends on, and some that it must not depend on.
//!
//! Numbers choose among what exists at the time; with nothing to choose from, nothing happens.

use crate::beside::{BesideChange, beside};
use crate::pulling::{PullChange, pull};
use crate::queueing::{QueueChange, queue};
use model::message::RequestStatus;
use model::session::{Activity, SessionState};
use model::summary::PendingAction;
use model::turn::TurnOutcome;
use proptest::prelude::*;
use proptest::sample::select;
use store::turns::NewTurn;

/// Which of the things that exist.
pub(crate) type Pick = usize;

#[derive(Clone, Debug)]
pub(crate) enum Change {
    Task(TaskChange),
    Session(SessionChange),
    Talk(TalkChange),
    Ask(AskChange),
    Git(GitChange),
    Pull(PullChange),
    Queue(QueueChange),
    Beside(BesideChange),
}

#[derive(Clone, Debug)]
pub(crate) enum TaskChange {
    Made,
    Edited(Pick),
    Moved(Pick, usize),
    Archived(Pick, bool),
    Deleted(Pick),
    LaunchFailed(Pick, Failing),
    LaunchCleared(Pick),
    /// Somebody said so, and nothing changed.
    TouchedOnly(Pick),
}

/// A failure; `again` at the very time of an earlier one, so that its stamp decides.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    pub(crate) again: bool,
    pub(crate) stamp: u8,
    pub(crate) actions: usize,
    pub(crate) repository: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum SessionChange {
    Made(Pick),
    Moved(Pick, SessionState),
    Busy(Pick, Option<Activity>, u32),
    Failed(Pick, Failing),
    Cleared(Pick),
    /// Dismissed by stamp: the current one, or one that is not.
    Dismissed(Pick, bool),
    MadePrimary(Pick),
    Deleted(Pick),
}

#[derive(Clone, Debug)]
pub(crate) enum TalkChange {
    Reserved(Pick, NewTurn),
    /// The agent starts again: a lifecycle turn from beginning to end.
    Resumed(Pick),
    Attempted(Pick),
    Completed(Pick, TurnOutcome),
    /// An empty, unattempted reservation is given up.
    Abandoned(Pick),
    Prompted(Pick),
    PromptDeleted(Pick),
    /// The agent says something: text, a thought, or a tool's row with a terminal status.
    Said(Pick, usize),
}

#[derive(Clone, Debug)]
pub(crate) enum AskChange {
    /// In a turn of a session, or in none; questions come in bundles.
    Asked(Pick, Option<Pick>, PendingAction, usize),
    Decided(Pick, RequestStatus),
    /// A question that is open.
    Answered(Pick),
    /// The stored status becomes a word that nobody knows, or none.
    Garbled(Pick, Option<usize>),
    PermissionsEnded(Pick, RequestStatus),
    /// What was decided about a session's questions reached the agent.
    Delivered(Pick),
    /// It did not: what was answered is asked again.
    TakenBack(Pick),
    Deleted(Pick),
}

#[derive(Clone, Debug)]
pub(crate) enum GitChange {
    EnvironmentMade(Pick, usize),
    Bound(Pick, Pick),
    Unbound(Pick, Pick),
    EnvironmentDeleted(Pick),
    RepositoryAdded(Pick, usize),
    RepositoryRemoved(Pick, usize),
    Looked(Pick, Looking),
}

#[derive(Clone, Debug)]
pub(crate) struct Looking {
    pub(crate) repository: usize,
    /// 0 live, 1 completed, 2 archive.
    pub(crate) kind: usize,
    pub(crate) when: When,
    pub(crate) additions: u64,
    pub(crate) ahead: Option<u64>,
    pub(crate) detailed: bool,
    pub(crate) resolvable: bool,
}

/// When an observation began to look, beside the current one of its pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Now,
    AtTheSameTime,
    Before,
}

pub(crate) fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => task().prop_map(Change::Task),
        5 => session().prop_map(Change::Session),
        4 => talk().prop_map(Change::Talk),
        4 => ask().prop_map(Change::Ask),
        4 => git().prop_map(Change::Git),
        2 => pull().prop_map(Change::Pull),
        4 => queue().prop_map(Change::Queue),
        3 => beside().prop_map(Change::Beside),
    ]
}

fn pick() -> std::ops::Range<usize> {
    0..12
}

fn failing() -> impl Strategy<Value = Failing> {
    (any::<bool>(), any::<u8>(), 0..4usize, any::<bool>()).prop_map(
        |(again, stamp, actions, repository)| Failing {
            again,
            stamp,
            actions,
            repository,
        },
    )
}

fn task() -> impl Strategy<Value = TaskChange> {
    use TaskChange::*;
    prop_oneof![
        5 => Just(Made),
        1 => pick().prop_map(Edited),
        1 => (pick(), 0..3usize).prop_map(|(n, step)| Moved(n, step)),
        1 => (pick(), any::<bool>()).prop_map(|(n, away)| Archived(n, away)),
        1 => pick().prop_map(Deleted),
        2 => (pick(), failing()).prop_map(|(n, failing)| LaunchFailed(n, failing)),
        1 => pick().prop_map(LaunchCleared),
        1 => pick().prop_map(TouchedOnly),
    ]
}

fn session() -> impl Strategy<Value = SessionChange> {
    use SessionChange::*;
    let count = prop_oneof![4 => 0..3u32, 1 => Just(700u32)];
    prop_oneof![
        4 => pick().prop_map(Made),
        2 => (pick(), select(SessionState::ALL)).prop_map(|(n, state)| Moved(n, state)),
        3 => (pick(), prop::option::of(select(Activity::ALL)), count)
            .prop_map(|(n, activity, count)| Busy(n, activity, count)),
        2 => (pick(), failing()).prop_map(|(n, failing)| Failed(n, failing)),
        1 => pick().prop_map(Cleared),
        1 => (pick(), any::<bool>()).prop_map(|(n, current)| Dismissed(n, current)),
        1 => pick().prop_map(MadePrimary),
        1 => pick().prop_map(Deleted),
    ]
}

fn talk() -> impl Strategy<Value = TalkChange> {
    use TalkChange::*;
    let kinds = vec![NewTurn::Empty, NewTurn::ForMessage, NewTurn::Lifecycle];
    prop_oneof![
        3 => (pick(), select(kinds)).prop_map(|(n, kind)| Reserved(n, kind)),
        3 => pick().prop_map(Resumed),
        2 => pick().prop_map(Attempted),
        2 => (pick(), select(TurnOutcome::ALL)).prop_map(|(n, outcome)| Completed(n, outcome)),
        1 => pick().prop_map(Abandoned),
        3 => pick().prop_map(Prompted),
        1 => pick().prop_map(PromptDeleted),
        2 => (pick(), 0..3usize).prop_map(|(n, what)| Said(n, what)),
    ]
}

fn ask() -> impl Strategy<Value = AskChange> {
    use AskChange::*;
    let ended = vec![RequestStatus::Expired, RequestStatus::Cancelled];
    prop_oneof![
        6 => (pick(), prop::option::weighted(0.9, pick()), select(PendingAction::ALL), 1..4usize)
            .prop_map(|(n, turn, kind, count)| Asked(n, turn, kind, count)),
        3 => (pick(), select(RequestStatus::ALL)).prop_map(|(n, status)| Decided(n, status)),
        4 => pick().prop_map(Answered),
        1 => (pick(), prop::option::of(0..2usize)).prop_map(|(n, word)| Garbled(n, word)),
        1 => (pick(), select(ended)).prop_map(|(n, status)| PermissionsEnded(n, status)),
        1 => pick().prop_map(Delivered),
        4 => pick().prop_map(TakenBack),
        1 => pick().prop_map(Deleted),
    ]
}

fn git() -> impl Strategy<Value = GitChange> {
    use GitChange::*;
    let when =
        prop_oneof![4 => Just(When::Now), 1 => Just(When::AtTheSameTime), 1 => Just(When::Before)];
    let ahead = prop::option::weighted(0.8, 0..3u64);
    // Mostly the root alone, so that everything is measured now and then.
    let name = || prop_oneof![3 => Just(0usize), 1 => 1..3usize];
    let looking = (
        name(),
        0..3usize,
        when,
        0..4u64,
        ahead,
        any::<bool>(),
        prop::bool::weighted(0.85),
    )
        .prop_map(
            |(repository, kind, when, additions, ahead, detailed, resolvable)| Looking {
                repository,
                kind,
                when,
                additions,
                ahead,
                detailed,
                resolvable,
            },
        );
    prop_oneof![
        2 => (pick(), name()).prop_map(|(n, more)| EnvironmentMade(n, 1 + more)),
        2 => (pick(), pick()).prop_map(|(task, n)| Bound(task, n)),
        1 => (pick(), pick()).prop_map(|(task, n)| Unbound(task, n)),
        1 => pick().prop_map(EnvironmentDeleted),
        1 => (pick(), 0..3usize).prop_map(|(n, name)| RepositoryAdded(n, name)),
        1 => (pick(), 0..3usize).prop_map(|(n, name)| RepositoryRemoved(n, name)),
        8 => (pick(), looking).prop_map(|(n, looking)| Looked(n, looking)),
    ]
}
