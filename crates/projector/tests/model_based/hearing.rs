//! What a client holds that lists once when it connects and afterwards believes only what is published.

use anyhow::{Result, ensure};
use model::event::{Event, EventHub};
use model::ids::TaskId;
use model::summary::{SummaryPayload, TaskStatusSummary};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Keeps what is published until the client takes it.
#[derive(Debug, Default)]
pub(crate) struct Air {
    summaries: Mutex<Vec<(TaskId, TaskStatusSummary)>>,
}

impl EventHub for Air {
    fn publish(&self, event: &Event) {
        if let Event::Summary {
            task_id, summary, ..
        } = event
        {
            let said = (task_id.clone(), TaskStatusSummary::clone(summary));
            let mut summaries = self
                .summaries
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            summaries.push(said);
        }
    }
}

impl Air {
    fn take(&self) -> Vec<(TaskId, TaskStatusSummary)> {
        let mut summaries = self
            .summaries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut summaries)
    }
}

/// The client.
#[derive(Debug, Default)]
pub(crate) struct Client {
    held: BTreeMap<TaskId, (i64, SummaryPayload)>,
    /// The last published revisions, whatever was listed since.
    said: BTreeMap<TaskId, i64>,
    /// Tasks whose stored row was lost or damaged: the same value may be said once more.
    repeats: BTreeSet<TaskId>,
}

impl Client {
    /// Takes what was published. Two servers may publish in another order than they committed in, so what came at
    /// once is taken by revision; no revision may come twice, and none may say what is held already.
    pub(crate) fn hear(&mut self, air: &Air, exists: impl Fn(&TaskId) -> bool) -> Result<()> {
        let mut heard = air.take();
        heard.sort_by(|a, b| (&a.0, a.1.revision).cmp(&(&b.0, b.1.revision)));
        for (task, summary) in heard {
            if exists(&task) {
                self.take(task, summary)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, task: TaskId, summary: TaskStatusSummary) -> Result<()> {
        let new = summary.revision;
        let said = self.said.insert(task.clone(), new);
        ensure!(
            said < Some(new),
            "{task} was published as {new} after {said:?}"
        );
        let repeats = self.repeats.remove(&task);
        if let Some((held, payload)) = self.held.get(&task) {
            if new <= *held {
                // Listed before it was said.
                ensure!(
                    new < *held || *payload == summary.payload,
                    "two values of {task} are {new}"
                );
                return Ok(());
            }
            // Beyond a revision whose publication is still owed the value may be the one before it again.
            let next = new == held + 1;
            ensure!(
                *payload != summary.payload || repeats || !next,
                "revision {new} of {task} says nothing new: {payload:?}"
            );
        }
        self.held.insert(task, (new, summary.payload));
        Ok(())
    }

    /// The connection was lost, and with it perhaps a publication: lists again.
    pub(crate) fn list(&mut self, stored: &BTreeMap<TaskId, TaskStatusSummary>) -> Result<()> {
        for (task, summary) in stored {
            let now = (summary.revision, summary.payload.clone());
            let before = self.held.insert(task.clone(), now);
            let before = before.map(|(revision, _)| revision);
            let listed = summary.revision;
            ensure!(
                before <= Some(listed),
                "{task} went from {before:?} to {listed}"
            );
        }
        Ok(())
    }

    /// A row was lost or damaged.
    pub(crate) fn may_repeat(&mut self, task: TaskId) {
        self.repeats.insert(task);
    }

    /// Whether some row was lost or damaged and not written since.
    pub(crate) fn waits_for_repeat(&self) -> bool {
        !self.repeats.is_empty()
    }

    /// Whether it holds exactly what is stored.
    pub(crate) fn check(&self, stored: &BTreeMap<TaskId, TaskStatusSummary>) -> Result<()> {
        for (task, summary) in stored {
            let held = self.held.get(task);
            ensure!(
                held == Some(&(summary.revision, summary.payload.clone())),
                "clients were never told what is stored of {task}: {summary:?}, they hold {held:?}"
            );
        }
        Ok(())
    }
}
