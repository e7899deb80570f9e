//! The Git monitor: looks at the repositories of live environments and hands up what it sees.
//!
//! One task per (environment, repository) carries out what [`flow::poll`] decides. What is seen goes to an
//! [`ObservationSink`] (the orchestrator throttles, stores and publishes); the run is over when the sink is done, so
//! a slow store slows polling down instead of piling up work.
//!
//! Invariant: every observation carries when it *began* to look, so an older one can be told from a newer one.
//! Invariant: a failed look is reported as such and carries no values (GIT-04).
//! Invariant: dropping the last handle, or [`GitMonitor::shutdown`], ends all tasks and the Git processes they wait
//! for.
//!
//! Must not: store or compare observations, or know sessions and tasks.

use flow::poll::{Poll, RunNumber};
use futures_util::future::{BoxFuture, join_all};
use git::Git;
use git::observe::Observation;
use model::clock::{Clock, Timestamp};
use model::git::{GitStatus, MeasureFailure};
use model::ids::EnvironmentId;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

/// A repository of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedRepository {
    /// Its name in the environment; empty for the root repository (ENV-02).
    pub repository_name: String,
    /// Its worktree.
    pub worktree: PathBuf,
    /// The base the environment recorded; none: the repository's default branch.
    pub base_branch: Option<String>,
}

/// What came of one look at one repository.
#[derive(Clone, Debug)]
pub struct ObservedRepository {
    /// The environment.
    pub environment_id: EnvironmentId,
    /// The repository's name in it; empty for the root repository.
    pub repository_name: String,
    /// The base it was compared with, as declared; none: the default branch.
    pub base_branch: Option<String>,
    /// When the look began.
    pub looked_at: Timestamp,
    /// What was seen, or why nothing could be measured; then nothing that is known changes.
    pub outcome: Result<Arc<Observation>, MeasureFailure>,
}

impl ObservedRepository {
    /// What was seen, as it is stored and sent; none when nothing could be measured.
    #[must_use]
    pub fn status(&self) -> Option<GitStatus> {
        let seen = self.outcome.as_ref().ok()?;
        let base = self.base_branch.as_deref();
        Some(seen.status(&self.repository_name, self.looked_at, base))
    }
}

/// Where observations go.
///
/// An implementation must not wait for [`GitMonitor::observe_now`] of the same environment: the run that it waits
/// for is the one that waits for the sink.
pub trait ObservationSink: Send + Sync {
    /// Takes one observation or failure. Those of one repository come one after the other, in the order of
    /// `looked_at`.
    fn observed<'a>(&'a self, observed: &'a ObservedRepository) -> BoxFuture<'a, ()>;
}

/// Cheap to clone; all clones are one monitor.
#[derive(Clone)]
pub struct GitMonitor {
    inner: Arc<Inner>,
}

struct Inner {
    eyes: Eyes,
    watched: Mutex<BTreeMap<EnvironmentId, Environment>>,
}

/// What every task needs to look.
#[derive(Clone)]
struct Eyes {
    git: Git,
    clock: Arc<dyn Clock>,
    sink: Arc<dyn ObservationSink>,
    /// The fixed moment that `flow::poll` counts from.
    epoch: Instant,
}

#[derive(Default)]
struct Environment {
    live: bool,
    focused: bool,
    watchers: Vec<Watcher>,
}

/// A task and what it shares with the handles. The task does not hold the monitor, so the monitor can be dropped.
struct Watcher {
    repository: WatchedRepository,
    shared: Arc<Shared>,
    task: AbortOnDropHandle<()>,
}

struct Shared {
    poll: Mutex<Poll>,
    /// The poll was told something; the task looks again at what is due. Repeats merge.
    told: Notify,
    done: watch::Sender<Done>,
}

/// The newest run that is over.
struct Done {
    run: RunNumber,
    observed: Option<ObservedRepository>,
}

impl GitMonitor {
    /// A monitor that watches nothing yet.
    #[must_use]
    pub fn new(git: Git, clock: Arc<dyn Clock>, sink: Arc<dyn ObservationSink>) -> Self {
        let eyes = Eyes {
            git,
            clock,
            sink,
            epoch: Instant::now(),
        };
        Self {
            inner: Arc::new(Inner {
                eyes,
                watched: Mutex::new(BTreeMap::new()),
            }),
        }
    }

    /// Declares the repositories of an environment; a new one is settled and without focus. Repeating it with other
    /// repositories ends and starts only those that differ.
    ///
    /// Must be called within a tokio runtime.
    pub fn watch(&self, environment: EnvironmentId, repositories: Vec<WatchedRepository>) {
        let eyes = &self.inner.eyes;
        let mut watched = self.watched();
        let entry = watched.entry(environment.clone()).or_default();
        let (live, focused) = (entry.live, entry.focused);
        let mut before = std::mem::take(&mut entry.watchers);
        entry.watchers = repositories
            .into_iter()
            .map(|repository| {
                let kept = before
                    .iter()
                    .position(|watcher| watcher.repository == repository);
                kept.map(|at| before.swap_remove(at)).unwrap_or_else(|| {
                    let mut poll = Poll::new();
                    poll.set_live(live);
                    poll.set_focused(focused, eyes.now());
                    Watcher::start(eyes.clone(), environment.clone(), repository, poll)
                })
            })
            .collect();
    }

    /// The environment has a live execution now (it is polled, GIT-06), or no longer.
    pub fn set_live(&self, environment: &EnvironmentId, live: bool) {
        self.tell(
            environment,
            |entry| entry.live = live,
            |poll| poll.set_live(live),
        );
    }

    /// Some client watches the environment now (it is polled fast while live), or none does.
    pub fn focus(&self, environment: &EnvironmentId, focused: bool) {
        let now = self.inner.eyes.now();
        self.tell(
            environment,
            |entry| entry.focused = focused,
            |poll| poll.set_focused(focused, now),
        );
    }

    /// The environment is gone; its tasks end, whatever they are doing.
    pub fn forget(&self, environment: &EnvironmentId) {
        self.watched().remove(environment);
    }

    /// Looks at every repository of the environment, each in a run that begins from now on, and answers once the
    /// sink has them all. Unknown environments and repositories forgotten meanwhile are left out.
    pub async fn observe_now(&self, environment: &EnvironmentId) -> Vec<ObservedRepository> {
        let waiting: Vec<_> = self
            .watched()
            .get(environment)
            .into_iter()
            .flat_map(|entry| &entry.watchers)
            .map(|watcher| {
                let done = watcher.shared.done.subscribe();
                (done, watcher.shared.tell(Poll::request))
            })
            .collect();
        let answers = waiting.into_iter().map(|(mut done, wanted)| async move {
            let over = done.wait_for(|done| wanted <= done.run).await.ok()?;
            over.observed.clone()
        });
        join_all(answers).await.into_iter().flatten().collect()
    }

    /// Ends all tasks and waits until they are gone.
    pub async fn shutdown(&self) {
        let all = std::mem::take(&mut *self.watched());
        let tasks = all
            .into_values()
            .flat_map(|entry| entry.watchers)
            .map(|watcher| {
                watcher.task.abort();
                watcher.task
            });
        for ended in join_all(tasks).await {
            // Being aborted is what was wanted; a panic was reported when it happened.
            drop(ended);
        }
    }

    fn tell(
        &self,
        environment: &EnvironmentId,
        note: impl FnOnce(&mut Environment),
        mut change: impl FnMut(&mut Poll),
    ) {
        if let Some(entry) = self.watched().get_mut(environment) {
            note(entry);
            for watcher in &entry.watchers {
                watcher.shared.tell(&mut change);
            }
        }
    }

    fn watched(&self) -> MutexGuard<'_, BTreeMap<EnvironmentId, Environment>> {
        // Each change of the map is complete before anything can panic.
        self.inner
            .watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Eyes {
    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }
}

impl Shared {
    fn poll(&self) -> MutexGuard<'_, Poll> {
        // Plain data whose every method leaves it whole.
        self.poll.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell<T>(&self, change: impl FnOnce(&mut Poll) -> T) -> T {
        let answer = change(&mut self.poll());
        self.told.notify_one();
        answer
    }
}

impl Watcher {
    fn start(
        eyes: Eyes,
        environment: EnvironmentId,
        repository: WatchedRepository,
        poll: Poll,
    ) -> Self {
        let none = Done {
            run: RunNumber::NONE,
            observed: None,
        };
        let shared = Arc::new(Shared {
            poll: Mutex::new(poll),
            told: Notify::new(),
            done: watch::Sender::new(none),
        });
        let task = tokio::spawn(watch_one(
            eyes,
            environment,
            repository.clone(),
            Arc::clone(&shared),
        ));
        Self {
            repository,
            shared,
            task: AbortOnDropHandle::new(task),
        }
    }
}

async fn watch_one(
    eyes: Eyes,
    environment: EnvironmentId,
    repository: WatchedRepository,
    shared: Arc<Shared>,
) {
    let mut was_measured = true;
    loop {
        let due = shared.poll().due(eyes.now());
        let Some(due) = due else {
            shared.told.notified().await;
            continue;
        };
        tokio::select! {
            // What it was told may have moved what is due, to earlier or to never.
            () = shared.told.notified() => continue,
            () = sleep_until(eyes.epoch + due) => {}
        }
        let Some(run) = shared.poll().begin(eyes.now()) else {
            continue;
        };
        let observed = look(&eyes, &environment, &repository, &mut was_measured).await;
        eyes.sink.observed(&observed).await;
        shared.poll().finish(eyes.now());
        shared.done.send_replace(Done {
            run,
            observed: Some(observed),
        });
    }
}

async fn look(
    eyes: &Eyes,
    environment: &EnvironmentId,
    repository: &WatchedRepository,
    was_measured: &mut bool,
) -> ObservedRepository {
    let looked_at = eyes.clock.now();
    let base = repository.base_branch.as_deref();
    let outcome = match eyes.git.observe(&repository.worktree, base).await {
        Ok(observation) => Ok(Arc::new(observation)),
        Err(problem) => {
            // A worktree that stays broken is polled for as long as it is live; one line about it is enough.
            if *was_measured {
                tracing::warn!(
                    environment = %environment,
                    repository = %repository.repository_name,
                    problem = %problem,
                    "a repository cannot be measured"
                );
            }
            Err(problem.measure_failure())
        }
    };
    *was_measured = outcome.is_ok();
    ObservedRepository {
        environment_id: environment.clone(),
        repository_name: repository.repository_name.clone(),
        base_branch: repository.base_branch.clone(),
        looked_at,
        outcome,
    }
}
