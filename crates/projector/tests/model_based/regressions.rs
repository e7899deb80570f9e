//! Cases that failed once, in the fewest happenings that did.

use crate::cases::case;
use crate::change::Change::Task;
use crate::change::TaskChange::{Edited, Made};
use crate::happening::Happening::{self, Change, Converged, Fault, Restarted, Served};
use anyhow::{Context, Result};
use std::sync::Arc;
use store::faults::FaultPoint::AfterCommit;
use testkit::story::Story;

/// Name and happenings.
fn all() -> Vec<(&'static str, Vec<Happening>)> {
    let made = || Change(Task(Made));
    vec![
        (
            "a batch is stored, its answer is lost, and each of its tasks is found unchanged",
            vec![made(), made(), Fault(1, AfterCommit, 1), Converged(1)],
        ),
        (
            "the poked tasks are stored, and the answer is lost",
            vec![Fault(0, AfterCommit, 3), made(), made(), Served(0, 0)],
        ),
        (
            "one task is stored, and nothing tries again until the next sweep",
            vec![
                made(),
                Served(0, 0),
                Change(Task(Edited(0))),
                Fault(1, AfterCommit, 1),
                Converged(1),
            ],
        ),
        (
            "who listed what is owed hears it once more",
            vec![made(), Fault(1, AfterCommit, 1), Converged(1), Restarted(0)],
        ),
    ]
}

/// SUM-04, PST-02.
pub(crate) async fn stay_fixed(story: Story) -> Result<()> {
    let story = Arc::new(story);
    for (name, happenings) in all() {
        case(&story, &happenings).await.context(name)?;
    }
    Ok(())
}
