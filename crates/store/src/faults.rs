//! Fault points: where a test makes the store fail, or wait, exactly where it wants.
//!
//! Only with the feature `faults`, which tests turn on (through `testkit`) and the product never: a store built
//! without it has neither the points nor this module. What fails here fails as a passing failure of the engine does,
//! so whatever is proven with these points is proven about the code that handles real ones.
//!
//! Invariant: a point that nothing is armed for changes nothing.

pub mod halt;

use crate::error::{Result, StoreError};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// A place that every use of the store passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPoint {
    /// Before a read transaction begins.
    BeginRead,
    /// Before a statement of a read transaction.
    ReadStatement,
    /// Before a write transaction waits its turn.
    BeginWrite,
    /// Before a statement of a write transaction, the marks of its commit included.
    WriteStatement,
    /// Before a transaction is committed: failing here, nothing happened.
    BeforeCommit,
    /// After PostgreSQL committed a transaction, before its answer is taken: failing here, it is asked what became of
    /// it. SQLite does not pass it.
    CommitAnswer,
    /// After a transaction was committed: failing here, everything happened and the answer is lost.
    AfterCommit,
}

impl FaultPoint {
    /// Every point of which whoever passes it hears the failure, in the order in which a transaction passes them.
    pub const ALL: [Self; 6] = [
        Self::BeginRead,
        Self::ReadStatement,
        Self::BeginWrite,
        Self::WriteStatement,
        Self::BeforeCommit,
        Self::AfterCommit,
    ];

    fn failure(self) -> StoreError {
        match self {
            Self::BeginWrite => StoreError::Busy,
            _ => StoreError::Engine(sqlx::Error::Io(io::Error::new(
                io::ErrorKind::ConnectionReset,
                "a test's fault",
            ))),
        }
    }
}

/// What a test has armed for one store; cloning it is cheap.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    armed: Vec<Armed>,
    failed: Vec<FaultPoint>,
}

#[derive(Debug)]
struct Armed {
    point: FaultPoint,
    /// How often the point is passed until this acts; 1 is the next time.
    left: u32,
    /// Present: wait there. Absent: fail.
    hold: Option<Arc<Gates>>,
}

#[derive(Debug)]
struct Gates {
    reached: Semaphore,
    released: Semaphore,
}

/// Somebody who is to wait at a point. Dropping it lets them go on.
#[derive(Debug)]
#[must_use = "dropping it releases whoever waits"]
pub struct Hold {
    gates: Arc<Gates>,
}

impl Faults {
    /// The `nth` passing of `point` from now fails (1: the next).
    pub fn fail(&self, point: FaultPoint, nth: u32) {
        self.arm(point, nth, None);
    }

    /// Whoever passes `point` for the `nth` time from now waits there until the answer is dropped.
    pub fn hold(&self, point: FaultPoint, nth: u32) -> Hold {
        let gates = Arc::new(Gates {
            reached: Semaphore::new(0),
            released: Semaphore::new(0),
        });
        self.arm(point, nth, Some(Arc::clone(&gates)));
        Hold { gates }
    }

    fn arm(&self, point: FaultPoint, nth: u32, hold: Option<Arc<Gates>>) {
        let left = nth.max(1);
        self.lock().armed.push(Armed { point, left, hold });
    }

    /// Takes back everything that has not acted yet.
    pub fn disarm(&self) {
        self.lock().armed.clear();
    }

    /// The points that failed since this was last asked, in order.
    #[must_use]
    pub fn take_failed(&self) -> Vec<FaultPoint> {
        std::mem::take(&mut self.lock().failed)
    }

    /// Passes a point.
    ///
    /// # Errors
    /// When a failure is armed for this passing.
    pub(crate) async fn pass(&self, point: FaultPoint) -> Result<()> {
        for armed in self.due(point) {
            let Some(gates) = armed.hold else {
                self.lock().failed.push(point);
                return Err(point.failure());
            };
            gates.reached.add_permits(1);
            // Closed is released.
            let _ = gates.released.acquire().await;
        }
        Ok(())
    }

    fn due(&self, point: FaultPoint) -> Vec<Armed> {
        let mut state = self.lock();
        for armed in &mut state.armed {
            if armed.point == point {
                armed.left -= 1;
            }
        }
        let (due, armed) = std::mem::take(&mut state.armed)
            .into_iter()
            .partition(|armed| armed.left == 0);
        state.armed = armed;
        due
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hold {
    /// Waits until somebody waits at the point.
    pub async fn reached(&self) {
        // Nobody closes this gate, so the answer is always a permit.
        let _ = self.gates.reached.acquire().await;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.gates.released.close();
    }
}

impl crate::sql::Link {
    /// This link's statements pass `point`.
    pub(crate) fn at(mut self, point: FaultPoint) -> Self {
        self.point = point;
        self
    }
}
