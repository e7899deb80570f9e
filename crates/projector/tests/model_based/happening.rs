//! What may happen, beside changes: pokes in any order, faults, restarts, crashes, and clocks that jump.

use crate::change::{Change, Pick, change};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use store::faults::FaultPoint;

/// Which of the two servers on the database: the first makes the changes, the second only projects.
pub(crate) type Which = usize;

#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// A change, and its poke.
    Change(Change),
    /// A change whose poke is lost.
    Unheard(Change),
    /// Pokes that say nothing new: repeated, reordered, too late.
    Poked(Which, Vec<Pick>),
    /// Milliseconds go by, and what is due is projected.
    Served(Which, u64),
    /// What a sweep and a start do.
    Converged(Which),
    /// Both servers project everything at once.
    Both,
    /// A use of the store fails some time from now.
    Fault(Which, FaultPoint, u32),
    /// A projection of everything is held somewhere, and the world goes on; the other server may project meanwhile.
    Held(Which, FaultPoint, u32, Vec<Change>, bool),
    /// A session gets busy, and while a projection of that is held the other server finds that it is over again.
    TakenBack(Which, Pick),
    /// A projection of everything ends in the middle: its server is killed there and started again.
    Killed(Which, FaultPoint, u32),
    Restarted(Which),
    /// The wall clock jumps by this many seconds.
    Jumped(i64),
    /// A stored summary is deleted.
    SummaryLost(Pick),
    /// A stored summary becomes something that cannot be read, or lacks its last milestone.
    SummaryDamaged(Pick, bool),
}

pub(crate) fn happening() -> impl Strategy<Value = Happening> {
    use Happening::*;
    let which = || 0..2usize;
    let mut points = FaultPoint::ALL.to_vec();
    points.push(FaultPoint::CommitAnswer);
    let point = select(points);
    // Whoever waits at one of these holds nothing that the others need.
    let outside = select(vec![
        FaultPoint::BeginRead,
        FaultPoint::ReadStatement,
        FaultPoint::BeginWrite,
        FaultPoint::AfterCommit,
    ]);
    prop_oneof![
        50 => change().prop_map(Change),
        10 => change().prop_map(Unheard),
        3 => (which(), vec(0..12usize, 1..6)).prop_map(|(n, picks)| Poked(n, picks)),
        10 => (which(), 0..80u64).prop_map(|(n, ms)| Served(n, ms)),
        1 => which().prop_map(Converged),
        2 => Just(Both),
        6 => (which(), point.clone(), 1..7u32).prop_map(|(n, point, nth)| Fault(n, point, nth)),
        4 => (which(), outside, 1..10u32, vec(change(), 1..4), any::<bool>())
            .prop_map(|(n, point, nth, changes, other)| Held(n, point, nth, changes, other)),
        5 => (which(), 0..12usize).prop_map(|(n, pick)| TakenBack(n, pick)),
        1 => (which(), point, 1..10u32).prop_map(|(n, point, nth)| Killed(n, point, nth)),
        1 => which().prop_map(Restarted),
        2 => (-5_000..5_000i64).prop_map(Jumped),
        1 => (0..12usize).prop_map(SummaryLost),
        1 => (0..12usize, any::<bool>()).prop_map(|(n, old)| SummaryDamaged(n, old)),
    ]
}
