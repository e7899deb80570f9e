//! Every task's summary beside what its authority gives.

use super::compare::{Fault, Verdict, judge};
use model::bounds;
use model::ids::TaskId;
use std::collections::HashMap;
use store::authority;
use store::error::Result;
use store::marks::{self, Marks};
use store::open::Store;

/// A task whose summary is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Its marks when it was seen.
    pub(super) marks: Marks,
    /// What is wrong.
    pub(super) fault: Fault,
}

/// What looking at all of them showed.
#[derive(Debug, Default)]
pub(super) struct Examined {
    /// Tasks that were looked at.
    pub(super) tasks: usize,
    /// How many of them were stale: not a fault by itself.
    pub(super) stale: usize,
    /// How many changed faster than they could be looked at.
    pub(super) busy: usize,
    /// Those that are wrong.
    pub(super) differences: Vec<Difference>,
}

/// Looks at every task; at those that differ again, as long as a running server may just be writing them.
pub(super) async fn examine(store: &Store, server_running: bool) -> Result<Examined> {
    let mut examined = Examined::default();
    let mut suspects = Vec::new();
    let mut last: Option<TaskId> = None;
    loop {
        let seen = look(store, Which::After(last.as_ref())).await?;
        let Some(end) = seen.last() else { break };
        last = Some(end.marks.task_id.clone());
        examined.tasks += seen.len();
        examined.stale += seen.iter().filter(|one| one.marks.is_stale()).count();
        suspects.extend(seen.into_iter().filter_map(Seen::difference));
    }
    if server_running {
        confirm(store, suspects, &mut examined).await?;
    } else {
        examined.differences = suspects;
    }
    Ok(examined)
}

async fn confirm(store: &Store, first: Vec<Difference>, examined: &mut Examined) -> Result<()> {
    let mut suspects: HashMap<TaskId, Marks> = first
        .into_iter()
        .map(|one| (one.marks.task_id.clone(), one.marks))
        .collect();
    for round in 1..=bounds::DOCTOR_LOOKS {
        if suspects.is_empty() {
            break;
        }
        tokio::time::sleep(bounds::DOCTOR_PAUSE).await;
        let mut ids: Vec<TaskId> = suspects.keys().cloned().collect();
        ids.sort();
        let mut waiting = HashMap::new();
        for batch in ids.chunks(bounds::PROJECTOR_BATCH) {
            for now in look(store, Which::These(batch)).await? {
                let Some(now) = now.difference() else {
                    continue;
                };
                let Some(first) = suspects.remove(&now.marks.task_id) else {
                    continue;
                };
                let last_look = round == bounds::DOCTOR_LOOKS;
                match judge(&first, &now.marks, &now.fault, last_look) {
                    Verdict::Wrong => examined.differences.push(now),
                    Verdict::Busy => examined.busy += 1,
                    Verdict::LookAgain => {
                        waiting.insert(now.marks.task_id, first);
                    }
                }
            }
        }
        suspects = waiting;
    }
    examined
        .differences
        .sort_by(|a, b| a.marks.task_id.cmp(&b.marks.task_id));
    Ok(())
}

/// A task as it was seen.
struct Seen {
    marks: Marks,
    fault: Option<Fault>,
}

impl Seen {
    fn difference(self) -> Option<Difference> {
        let marks = self.marks;
        self.fault.map(|fault| Difference { marks, fault })
    }
}

/// Which tasks a look is at.
#[derive(Clone, Copy)]
enum Which<'a> {
    /// The next batch of all.
    After(Option<&'a TaskId>),
    /// These, as far as they exist.
    These(&'a [TaskId]),
}

/// One look: marks, authority and stored summaries in one snapshot. When one of them cannot be read, each alone.
async fn look(store: &Store, which: Which<'_>) -> Result<Vec<Seen>> {
    let mut tx = store.read().await?;
    let marks = match which {
        Which::After(last) => marks::page(&mut tx, last, bounds::PROJECTOR_BATCH).await?,
        Which::These(ids) => marks::of_tasks(&mut tx, ids).await?,
    };
    let ids: Vec<TaskId> = marks.iter().map(|marks| marks.task_id.clone()).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let loaded = match authority::load(&mut tx, &ids).await {
        Ok(loaded) => loaded,
        Err(error) if error.is_passing() => return Err(error),
        Err(error) if ids.len() == 1 => {
            let fault = Fault::Underivable(error.to_string());
            let seen = marks.into_iter().map(|marks| Seen {
                marks,
                fault: Some(fault.clone()),
            });
            return Ok(seen.collect());
        }
        Err(_) => {
            drop(tx);
            let mut seen = Vec::with_capacity(ids.len());
            for id in &ids {
                let alone = std::slice::from_ref(id);
                seen.extend(Box::pin(look(store, Which::These(alone))).await?);
            }
            return Ok(seen);
        }
    };
    drop(tx);
    let mut marks: HashMap<TaskId, Marks> = marks
        .into_iter()
        .map(|marks| (marks.task_id.clone(), marks))
        .collect();
    Ok(loaded
        .into_iter()
        .filter_map(|task| {
            let marks = marks.remove(&task.task_id)?;
            let derived = summary::derive::derive(&task.authority);
            let stored = task.stored.as_ref().map(|stored| &stored.payload);
            let fault = Fault::between(&marks, stored, &derived);
            Some(Seen { marks, fault })
        })
        .collect())
}
