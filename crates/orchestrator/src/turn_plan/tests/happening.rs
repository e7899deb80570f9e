//! What can happen to a session: by a person, by its owner, by its agent, by its server, and beside it.

use model::message::RequestStatus;
use model::task::TaskState;
use model::turn::TurnOutcome;
use proptest::prelude::*;
use proptest::strategy::Union;
use store::faults::FaultPoint;

/// Which of several.
pub(super) type Pick = u8;

/// How a case begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    /// What the task is to start with is stored.
    pub(super) intended: bool,
    /// Time stands still, which is harsher than any clock of ours: what is ordered by time is ordered by ids then.
    pub(super) stands: bool,
}

/// Anything.
pub(super) fn beginning() -> impl Strategy<Value = Beginning> {
    (any::<bool>(), any::<bool>()).prop_map(|(intended, stands)| Beginning { intended, stands })
}

/// Something that happens, if it can happen just then.
#[derive(Clone, Debug)]
pub(super) struct Happening {
    pub(super) what: What,
    /// So long after what happened before, if time does not stand still.
    pub(super) micros: i64,
    pub(super) fate: Fate,
}

/// What becomes of its transaction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Commits,
    RollsBack,
    /// The store fails at this passing of this point, if that is reached; else it is committed.
    Fails(FaultPoint, u32),
}

/// What another session of the same task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sibling {
    Rests,
    Starts,
    /// Its agent comes back, for nobody's prompt.
    Resumes,
    Works,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    // A person.
    Sends,
    SendsAgain(Pick),
    SendsNow(Pick),
    TakesOut(Pick),
    Deletes(Pick),
    DeletesPermission(Pick),
    WantsQueue,
    Stops,
    StopsProcess,
    Closes,
    Decides(Pick, RequestStatus),
    Resolves(Pick, RequestStatus),
    SetsTask(TaskState),
    // The owner.
    /// What is due.
    Works,
    Resumes,
    StartFails(TurnOutcome),
    GivesUp(TurnOutcome),
    Forgets {
        idle: bool,
    },
    Rests,
    DeliversDecisions,
    DeliversAnswers,
    // The agent.
    ShowsLife,
    IsLate,
    Ends {
        outcome: TurnOutcome,
        replied: bool,
    },
    AsksPermission,
    WithdrawsPermission(Pick),
    AsksQuestions,
    WithdrawsQuestions(Pick),
    LeavesQuestions(Pick),
    HasSubagents(u32),
    Exits,
    // The server, and beside it.
    Killed,
    Sibling(Sibling),
}

/// Anything, the usual more often.
pub(super) fn happening() -> impl Strategy<Value = Happening> {
    let micros = prop_oneof![1 => Just(1_i64), 1 => 2..5_000_000_i64];
    (what(), micros, fate()).prop_map(|(what, micros, fate)| Happening { what, micros, fate })
}

fn fate() -> impl Strategy<Value = Fate> {
    let fails = prop_oneof![
        4 => (1..60_u32).prop_map(|nth| (FaultPoint::WriteStatement, nth)),
        1 => Just((FaultPoint::BeforeCommit, 1)),
        1 => Just((FaultPoint::AfterCommit, 1)),
    ];
    prop_oneof![
        84 => Just(Fate::Commits),
        7 => Just(Fate::RollsBack),
        9 => fails.prop_map(|(point, nth)| Fate::Fails(point, nth)),
    ]
}

fn what() -> impl Strategy<Value = What> {
    Union::new_weighted(vec![
        (40, people().boxed()),
        (50, owner().boxed()),
        (40, agent().boxed()),
        (3, beside().boxed()),
    ])
}

fn people() -> impl Strategy<Value = What> {
    let decision = prop::sample::select(vec![
        RequestStatus::Approved,
        RequestStatus::Rejected,
        RequestStatus::Cancelled,
    ]);
    let answer = prop_oneof![
        3 => Just(RequestStatus::Answered),
        1 => Just(RequestStatus::Rejected),
    ];
    let set = prop::sample::select(vec![
        TaskState::Todo,
        TaskState::Created,
        TaskState::Review,
        TaskState::Completed,
    ]);
    prop_oneof![
        28 => Just(What::Sends),
        8 => any::<Pick>().prop_map(What::SendsAgain),
        7 => any::<Pick>().prop_map(What::SendsNow),
        3 => any::<Pick>().prop_map(What::TakesOut),
        4 => any::<Pick>().prop_map(What::Deletes),
        2 => any::<Pick>().prop_map(What::DeletesPermission),
        4 => Just(What::WantsQueue),
        3 => Just(What::Stops),
        3 => Just(What::StopsProcess),
        1 => prop_oneof![Just(What::Stops), Just(What::Closes)],
        14 => (any::<Pick>(), decision).prop_map(|(which, how)| What::Decides(which, how)),
        18 => (any::<Pick>(), answer).prop_map(|(which, how)| What::Resolves(which, how)),
        1 => set.prop_map(What::SetsTask),
    ]
}

fn owner() -> impl Strategy<Value = What> {
    let ending = prop::sample::select(vec![TurnOutcome::Failed, TurnOutcome::Cancelled]);
    prop_oneof![
        44 => Just(What::Works),
        3 => Just(What::Resumes),
        3 => ending.clone().prop_map(What::StartFails),
        2 => ending.prop_map(What::GivesUp),
        4 => prop::bool::weighted(0.8).prop_map(|idle| What::Forgets { idle }),
        1 => Just(What::Rests),
        3 => Just(What::DeliversDecisions),
        5 => Just(What::DeliversAnswers),
    ]
}

fn agent() -> impl Strategy<Value = What> {
    let outcome = prop::sample::select(vec![
        TurnOutcome::Completed,
        TurnOutcome::Completed,
        TurnOutcome::Completed,
        TurnOutcome::Cancelled,
        TurnOutcome::Failed,
        TurnOutcome::Interrupted,
    ]);
    let ends = (outcome, prop::bool::weighted(0.8));
    prop_oneof![
        6 => Just(What::ShowsLife),
        1 => Just(What::IsLate),
        12 => ends.prop_map(|(outcome, replied)| What::Ends { outcome, replied }),
        12 => Just(What::AsksPermission),
        3 => any::<Pick>().prop_map(What::WithdrawsPermission),
        14 => Just(What::AsksQuestions),
        2 => any::<Pick>().prop_map(What::WithdrawsQuestions),
        10 => any::<Pick>().prop_map(What::LeavesQuestions),
        3 => (0..3_u32).prop_map(What::HasSubagents),
        2 => Just(What::Exits),
    ]
}

fn beside() -> impl Strategy<Value = What> {
    let sibling = prop::sample::select(vec![
        Sibling::Rests,
        Sibling::Starts,
        Sibling::Resumes,
        Sibling::Works,
    ]);
    prop_oneof![
        1 => Just(What::Killed),
        2 => sibling.prop_map(What::Sibling),
    ]
}
