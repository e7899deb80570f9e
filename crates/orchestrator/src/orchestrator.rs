//! The handle through which everything is commanded.

use crate::appender::Appender;
use crate::config::OrchestratorConfig;
use crate::git::GitSink;
use crate::keyed::KeyedLocks;
use crate::keys::Keys;
use crate::publish::Publisher;
use crate::runtime::registry::Registry;
use agentctl::git_monitor::GitMonitor;
use git::Git;
use model::event::EventHub;
use model::ids::{EnvironmentId, TaskId};
use projector::running::Projector;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use store::open::Store;
use store::tx::{Committed, WriteTx};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A handle; cloning it is cheap.
#[derive(Clone)]
pub struct Orchestrator {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) config: OrchestratorConfig,
    pub(crate) store: Store,
    pub(crate) publisher: Publisher,
    pub(crate) git: Git,
    pub(crate) monitor: GitMonitor,
    pub(crate) registry: Registry,
    /// Where agents may ask, and by which secrets.
    pub(crate) keys: Keys,
    /// Held while what agents wait for is read and published.
    pub(crate) telling_awaited: Mutex<()>,
    pub(crate) appender: Appender,
    /// Starting is the heaviest moment of an agent: `bounds::AGENTS_STARTING` at once.
    pub(crate) starting: Arc<Semaphore>,
    /// One place per live agent.
    pub(crate) live: Arc<Semaphore>,
    /// Files being uploaded: `bounds::UPLOADS` at once.
    pub(crate) uploads: Arc<Semaphore>,
    /// One environment is made at a time per task.
    pub(crate) preparing: KeyedLocks<TaskId>,
    /// How many clients focus an environment.
    pub(crate) focus: Mutex<HashMap<EnvironmentId, usize>>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

impl Orchestrator {
    /// An orchestrator over `store`. It starts its writer of streams; sessions start when they are asked for.
    ///
    /// Must be called within a tokio runtime.
    #[must_use]
    pub fn new(
        config: OrchestratorConfig,
        store: Store,
        hub: Arc<dyn EventHub>,
        projector: Projector,
        git: Git,
    ) -> Self {
        let shutdown = CancellationToken::new();
        let tasks = TaskTracker::new();
        let publisher = Publisher { hub, projector };
        let sink = Arc::new(GitSink::new(store.clone(), publisher.clone()));
        let monitor = GitMonitor::new(git.clone(), store.clock(), sink);
        let appender = Appender::start(store.clone(), &tasks, shutdown.clone());
        let inner = Inner {
            live: Arc::new(Semaphore::new(config.live_agents)),
            starting: Arc::new(Semaphore::new(model::bounds::AGENTS_STARTING)),
            uploads: Arc::new(Semaphore::new(model::bounds::UPLOADS)),
            telling_awaited: Mutex::default(),
            preparing: KeyedLocks::new(),
            focus: Mutex::default(),
            registry: Registry::default(),
            keys: Keys::default(),
            config,
            store,
            publisher,
            git,
            monitor,
            appender,
            shutdown,
            tasks,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The store, for reads.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Stops every session's runtime: streams are flushed, turns settle as interrupted, agents end. Returns when all
    /// of that is done.
    pub async fn shutdown(&self) {
        self.inner.shutdown.cancel();
        self.inner.registry.all_ended().await;
        self.inner.monitor.shutdown().await;
        self.inner.appender.close();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }

    /// Commits and publishes.
    pub(crate) async fn commit(&self, tx: WriteTx) -> store::error::Result<()> {
        let committed: Committed = tx.commit().await?;
        self.inner.publisher.publish(&committed);
        Ok(())
    }

    /// Runs work beside the caller; shutdown waits for it.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.inner.tasks.spawn(work);
    }
}
