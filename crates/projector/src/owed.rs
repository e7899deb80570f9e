//! Publications that are owed: summaries whose commit was answered by an error, although it may have happened.
//!
//! Such a row is stored and marked as derived, so no sweep finds its task, yet nobody was told of it. What was to be
//! written is kept until the task is looked at again: if exactly that is stored it is published then.
//!
//! One clock never answers the same time twice, so revision and time name one attempt. Of two servers' clocks that is
//! only nearly so: should it fail, a revision is said twice, which clients ignore.
//!
//! Bounded by the number of tasks, at a few words each; it is lost with the process, and so are the connections of
//! those who were not told.

use model::clock::Timestamp;
use model::ids::TaskId;
use model::summary::TaskStatusSummary;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a commit of unknown outcome was to write: enough to know it again.
type Attempt = (i64, Timestamp);

/// The attempts whose outcome is not known, by task.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    attempts: Mutex<BTreeMap<TaskId, Attempt>>,
}

impl Owed {
    /// Whether `summary` may be stored is not known.
    pub(crate) fn note(&self, task_id: &TaskId, summary: &TaskStatusSummary) {
        let attempt = (summary.revision, summary.updated_at);
        self.lock().insert(task_id.clone(), attempt);
    }

    /// `stored` is the current value of this task: gives whether it is one that nobody was told of, once.
    pub(crate) fn settle(&self, task_id: &TaskId, stored: &TaskStatusSummary) -> bool {
        self.forget(task_id) == Some((stored.revision, stored.updated_at))
    }

    /// A newer value is published, or there is no such task: nothing is owed.
    pub(crate) fn forget(&self, task_id: &TaskId) -> Option<Attempt> {
        self.lock().remove(task_id)
    }

    /// The tasks to look at.
    pub(crate) fn tasks(&self) -> Vec<TaskId> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TaskId, Attempt>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
