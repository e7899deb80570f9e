//! What a list must know before it believes the summaries that it read (PEN-07): which tasks are stale, which have no
//! usable row, and whether a pending request is shown as it is.
//!
//! A list asks the same number of questions whatever its length (PST-04). What it doubts the projector derives anew;
//! this module derives nothing.

use crate::error::{Result, StoreError};
use crate::sessions::{current_turn, open};
use crate::sql::{Link, sql_in};
use model::clock::Timestamp;
use model::ids::TaskId;
use model::summary::{PendingAction, TaskStatusSummary};
use model::task::Task;
use std::collections::HashMap;

/// A task of a list and how its summary was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The task with its stored summary.
    pub task: Task,
    /// Its summary was derived from older authority.
    pub stale: bool,
    /// Its row lacks the last milestone (SUM-10).
    pub undated: bool,
}

/// A task whose row, or a row that belongs to it, holds what cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The task.
    pub task_id: TaskId,
    /// What was met first.
    pub error: StoreError,
}

/// What was found of a list's tasks, each in the order of the list; those that are gone are in neither part.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that can be shown.
    pub listed: Vec<Listed>,
    /// Those that cannot.
    pub unreadable: Vec<Unreadable>,
}

/// What each of some tasks waits on a person for; a task that waits for nothing is left out.
pub type OpenRequests = HashMap<TaskId, (PendingAction, Timestamp)>;

/// What these tasks wait for, by one query over open requests: a permission until it is terminal, a clarification in
/// its session's current turn only, and neither in a terminal session (PEN-02). The rule of `summary::derive`, as a
/// query; a property test holds them together.
///
/// # Errors
/// Whatever the engine says.
pub async fn open_requests(link: &mut Link, ids: &[TaskId]) -> Result<OpenRequests> {
    let query = sql_in(
        concat!(
            "SELECT s.task_id,
                    min(CASE WHEN m.type = 'permission_request' THEN m.created_at END) AS permission_since,
                    min(CASE WHEN m.type = 'clarification_request' AND m.turn_id = ",
            current_turn!(),
            " THEN m.created_at END) AS clarification_since
             FROM task_sessions s JOIN task_session_messages m ON m.session_id = s.id
             WHERE s.task_id IN ({}) AND s.state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED') AND ",
            open!(),
            " GROUP BY s.task_id"
        ),
        ids.iter().map(TaskId::as_str),
    );
    let mut found = OpenRequests::new();
    for row in link.all(query).await? {
        let permission = row.maybe_time("permission_since")?;
        let clarification = row.maybe_time("clarification_since")?;
        let waits = permission
            .map(|since| (PendingAction::Permission, since))
            .or_else(|| clarification.map(|since| (PendingAction::Clarification, since)));
        if let Some(waits) = waits {
            found.insert(row.id("task_id")?, waits);
        }
    }
    Ok(found)
}

/// The tasks of a list whose summary is not believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// Without a readable summary, or without a last milestone in it or in the row: the milestone is looked for in
    /// the durable records first (SUM-10).
    pub lacking: Vec<TaskId>,
    /// Stale, or shown as waiting for something else than they do.
    pub differing: Vec<TaskId>,
}

impl Doubts {
    /// Whether everything is believed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.lacking.is_empty() && self.differing.is_empty()
    }

    /// How many tasks are doubted.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.lacking.len() + self.differing.len()
    }
}

/// Compares a list with what its tasks wait for. `open` is absent when that could not be asked: then nothing is
/// doubted for it, and the stored value is shown.
#[must_use]
pub fn doubts(listed: &[Listed], open: Option<&OpenRequests>) -> Doubts {
    let mut doubts = Doubts::default();
    for one in listed {
        let id = &one.task.id;
        match one.task.status_summary.as_ref() {
            Some(summary) if !one.undated && summary.payload.last_activity_at.is_some() => {
                let agrees = open.is_none_or(|open| agrees(summary, open.get(id)));
                if one.stale || !agrees {
                    doubts.differing.push(id.clone());
                }
            }
            _ => doubts.lacking.push(id.clone()),
        }
    }
    doubts
}

/// Whether a stored summary says what its task waits for.
fn agrees(summary: &TaskStatusSummary, waits: Option<&(PendingAction, Timestamp)>) -> bool {
    summary.payload.pending_action == waits.map(|&(action, _)| action)
        && summary.payload.pending_since == waits.map(|&(_, since)| since)
}
