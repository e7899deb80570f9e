//! The running projector: serves pokes, sweeps, and converges at start-up.

pub mod hydrating;

use crate::owed::Owed;
use crate::project::{Projected, Projection};
use crate::schedule::Schedule;
use model::bounds;
use model::event::EventHub;
use model::ids::TaskId;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::error::StoreError;
use store::marks;
use store::open::Store;
use store::summaries::{self, UnusablePage};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A handle to the projector; cloning it is cheap.
#[derive(Clone)]
pub struct Projector {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    hub: Arc<dyn EventHub>,
    owed: Owed,
    schedule: Mutex<Schedule>,
    poked: Notify,
    epoch: Instant,
    /// Places for hydrations.
    hydrations: Arc<Semaphore>,
    /// Those under way: they end before the projector does.
    hydrating: TaskTracker,
}

/// What start-up convergence did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Converged {
    /// Tasks that were looked at.
    pub tasks: usize,
    /// Summaries that changed.
    pub written: usize,
    /// Tasks whose summary could not be projected; logged, counted, and left to the next event.
    pub failed: usize,
}

/// What start-up convergence does at a moment, and how far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many of so many tasks were looked at, whether they have a summary that can be used.
    Looked {
        /// Done so far.
        done: usize,
        /// All of them.
        of: usize,
    },
    /// So many of so many stale summaries were derived.
    Derived {
        /// Done so far.
        done: usize,
        /// All of them, as they were counted at the beginning.
        of: usize,
    },
}

impl Projector {
    /// A projector over `store` that publishes through `hub`. Nothing runs yet.
    #[must_use]
    pub fn new(store: Store, hub: Arc<dyn EventHub>) -> Self {
        let inner = Inner {
            store,
            hub,
            owed: Owed::default(),
            schedule: Mutex::default(),
            poked: Notify::new(),
            epoch: Instant::now(),
            hydrations: Arc::new(Semaphore::new(bounds::HYDRATIONS)),
            hydrating: TaskTracker::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Says that these tasks changed. A hint: returns at once, and forgetting it would only delay.
    pub fn poke(&self, ids: &[TaskId]) {
        if ids.is_empty() {
            return;
        }
        let now = self.inner.epoch.elapsed();
        let mut schedule = self
            .inner
            .schedule
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            schedule.poke(id, now);
        }
        drop(schedule);
        self.inner.poked.notify_one();
    }

    /// Serves pokes and sweeps until `shutdown`, then lets hydrations end.
    pub async fn run(self, shutdown: CancellationToken) {
        self.serve(&shutdown).await;
        self.inner.hydrating.close();
        self.inner.hydrating.wait().await;
    }

    async fn serve(&self, shutdown: &CancellationToken) {
        let mut sweep = tokio::time::interval(bounds::PROJECTOR_SWEEP);
        sweep.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let (due, next) = self.take_due();
            if !due.is_empty() {
                let _ = self.project(&due).await; // failures are logged there and found by the sweep
                continue;
            }
            let next = self.inner.epoch
                + next.unwrap_or(bounds::PROJECTOR_SWEEP + self.inner.epoch.elapsed());
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = self.inner.poked.notified() => {}
                () = tokio::time::sleep_until(next) => {}
                _ = sweep.tick() => self.sweep().await,
            }
        }
    }

    fn take_due(&self) -> (Vec<TaskId>, Option<Duration>) {
        let mut schedule = self
            .inner
            .schedule
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let due = schedule.take_due(self.inner.epoch.elapsed());
        (due, schedule.next_due())
    }

    /// Pokes what is stale without having been poked: after a crash or panic between commit and poke (REC-06).
    async fn sweep(&self) {
        self.poke(&self.inner.owed.tasks());
        // Every page, so that tasks which fail again and again never hide the others.
        let mut last: Option<TaskId> = None;
        loop {
            match self.stale(last.as_ref()).await {
                Ok(ids) => {
                    let Some(end) = ids.last() else { return };
                    self.poke(&ids);
                    last = Some(end.clone());
                }
                Err(error) => {
                    tracing::warn!(%error, "looking for stale summaries failed");
                    return;
                }
            }
        }
    }

    async fn stale(&self, after: Option<&TaskId>) -> Result<Vec<TaskId>, StoreError> {
        let mut tx = self.inner.store.read().await?;
        summaries::stale_tasks(&mut tx, after, bounds::PROJECTOR_PAGE).await
    }

    async fn unusable(&self, after: Option<&TaskId>) -> Result<UnusablePage, StoreError> {
        let mut tx = self.inner.store.read().await?;
        summaries::unusable(&mut tx, after, bounds::PROJECTOR_PAGE).await
    }

    fn projection(&self) -> Projection<'_> {
        Projection {
            store: &self.inner.store,
            hub: &*self.inner.hub,
            owed: &self.inner.owed,
        }
    }

    /// Projects these tasks now and gives their summaries.
    pub async fn project(&self, ids: &[TaskId]) -> Projected {
        let mut all = Projected::default();
        for page in ids.chunks(bounds::PROJECTOR_PAGE) {
            let (one, other) = batches(page);
            let projection = self.projection();
            let (one, other) = tokio::join!(projection.project(one), projection.project(other));
            all.absorb(one);
            all.absorb(other);
        }
        all
    }

    /// As [`Projector::project`], for tasks that lack their last milestone: it is looked for in the durable records
    /// first, and never moved backward (SUM-10).
    pub async fn rebuild(&self, ids: &[TaskId]) -> Projected {
        let mut all = Projected::default();
        for page in ids.chunks(bounds::PROJECTOR_PAGE) {
            let (one, other) = batches(page);
            let projection = self.projection();
            let (one, other) = tokio::join!(projection.rebuild(one), projection.rebuild(other));
            all.absorb(one);
            all.absorb(other);
        }
        all
    }

    /// Brings every stale, missing or unreadable summary up to date: the gate before readiness (REC-01, SUM-10).
    ///
    /// # Errors
    /// When the store cannot be read. A task that fails is counted once and does not hold the others.
    pub async fn converge(&self) -> Result<Converged, StoreError> {
        self.converge_telling(&|_| {}).await
    }

    /// Summaries that an earlier version derived by other rules are as stale as if their task had changed.
    async fn adopt_rules(&self) -> Result<(), StoreError> {
        {
            let mut tx = self.inner.store.read().await?;
            if marks::follow(&mut tx, summary::RULES).await? {
                return Ok(());
            }
        }
        let mut tx = self.inner.store.write().await?;
        let tasks = marks::adopt(&mut tx, summary::RULES).await?;
        let _ = tx.commit().await?; // what comes of it is published task by task
        tracing::info!(
            tasks,
            rules = summary::RULES,
            "rows are derived by new rules"
        );
        Ok(())
    }

    /// As [`Projector::converge`], saying before and after each batch how far it has come.
    ///
    /// # Errors
    /// As [`Projector::converge`].
    pub async fn converge_telling(
        &self,
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<Converged, StoreError> {
        self.adopt_rules().await?;
        let (tasks, stale) = {
            let mut tx = self.inner.store.read().await?;
            marks::count(&mut tx).await?
        };
        let looked = |pages: usize| Progress::Looked {
            done: tasks.min(pages * bounds::PROJECTOR_PAGE),
            of: tasks,
        };
        let derived = |done: usize| Progress::Derived {
            done: stale.min(done),
            of: stale,
        };
        let mut converged = Converged::default();
        let mut failed = BTreeSet::new();
        let mut last: Option<TaskId> = None;
        tell(looked(0));
        // Before the stale ones: a projection alone would make a row usable without looking at the durable records.
        for pages in 1.. {
            let page = self.unusable(last.as_ref()).await?;
            let Some(end) = page.last else { break };
            converged.tasks += page.unusable.len();
            let projected = self.rebuild(&page.unusable).await;
            converged.written += projected.written;
            failed.extend(projected.failed);
            last = Some(end);
            tell(looked(pages));
        }
        last = None;
        let mut done = 0;
        let owed = self.project(&self.inner.owed.tasks()).await;
        failed.extend(owed.failed);
        tell(derived(0));
        loop {
            let mut ids = self.stale(last.as_ref()).await?;
            let Some(end) = ids.last().cloned() else {
                break;
            };
            done += ids.len();
            ids.retain(|id| !failed.contains(id));
            converged.tasks += ids.len();
            let projected = self.project(&ids).await;
            converged.written += projected.written;
            failed.extend(projected.failed);
            last = Some(end);
            tell(derived(done));
        }
        converged.failed = failed.len();
        Ok(converged)
    }
}

/// The two batches of a page; the other is empty when one is enough.
fn batches(page: &[TaskId]) -> (&[TaskId], &[TaskId]) {
    page.split_at(page.len().min(bounds::PROJECTOR_BATCH))
}
