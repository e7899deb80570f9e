//! A story with an orchestrator that commands it, a projector that follows, and a hub that keeps what was published.

use anyhow::{Context, Result};
use model::error::{ActiveError, ErrorCategory};
use model::event::{Event, EventHub};
use model::ids::{SessionId, TaskId};
use model::summary::TaskStatusSummary;
use orchestrator::orchestrator::Orchestrator;
use projector::running::Projector;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use store::open::Store;
use store::{sessions, tasks};
use tempfile::TempDir;
use testkit::in_process;
use testkit::store::Engine;
use testkit::story::Story;

/// Everything a command reaches.
pub(crate) struct World {
    pub(crate) story: Story,
    pub(crate) hub: Arc<Published>,
    pub(crate) orchestrator: Orchestrator,
    /// Not running: a test says when it works.
    pub(crate) projector: Projector,
    data_dir: TempDir,
}

impl World {
    /// A new one on this engine.
    pub(crate) async fn on(engine: Engine) -> Result<Self> {
        let story = Story::on(engine).await?;
        let data_dir = tempfile::Builder::new().prefix("orchestrator-").tempdir()?;
        let hub = Arc::new(Published::default());
        let as_hub: Arc<dyn EventHub> = Arc::clone(&hub) as _;
        let (orchestrator, projector) =
            in_process::orchestrator(story.store(), &as_hub, data_dir.path());
        Ok(Self {
            story,
            hub,
            orchestrator,
            projector,
            data_dir,
        })
    }

    /// Where files are kept.
    pub(crate) fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    /// A projector that knows nothing of what went before.
    pub(crate) fn restarted_projector(&self) -> Projector {
        Projector::new(self.story.store().clone(), Arc::clone(&self.hub) as _)
    }

    /// Another process's connections to the same database: its writers do not wait their turn behind ours.
    pub(crate) async fn elsewhere(&self) -> Result<Store> {
        self.story.db.open_again().await
    }

    /// A projector over those connections that knows nothing of what went before.
    pub(crate) fn projector_over(&self, elsewhere: &Store) -> Projector {
        Projector::new(elsewhere.clone(), Arc::clone(&self.hub) as _)
    }

    /// Stores an error of a session as its owner does; gives its stamp.
    pub(crate) async fn fail(&self, session: &SessionId, text: &str) -> Result<ActiveError> {
        let at = self.story.now();
        let error = ActiveError {
            session_id: Some(session.clone()),
            ..ActiveError::record(session.as_str(), at, text, ErrorCategory::AgentExited)
        };
        self.store_error(session, &error).await?;
        Ok(error)
    }

    /// Stores this error of a session.
    pub(crate) async fn store_error(&self, session: &SessionId, error: &ActiveError) -> Result<()> {
        let task = self.story.task_of(session).await?;
        self.story
            .change(&[&task], async |tx| {
                sessions::set_error(tx, session, error).await
            })
            .await
    }

    /// Stores a launch error of a task; gives it.
    pub(crate) async fn fail_launch(
        &self,
        task: &TaskId,
        category: ErrorCategory,
    ) -> Result<ActiveError> {
        let at = self.story.now();
        let error = ActiveError::record(task.as_str(), at, "it did not start", category);
        self.story
            .change(&[task], async |tx| {
                tasks::set_launch_error(tx, task, Some(&error)).await
            })
            .await?;
        Ok(error)
    }

    /// Projects a task now and gives its stored summary, which must be what authority says.
    pub(crate) async fn projected(&self, task: &TaskId) -> Result<TaskStatusSummary> {
        let done = self.projector.project(std::slice::from_ref(task)).await;
        assert_eq!(done.failed, []);
        let stored = self.story.stored(task).await?.context("a summary")?;
        assert_eq!(stored.payload, self.story.derived(task).await?);
        Ok(stored)
    }

    /// The stamp of the error that the row of a task shows, after projecting it.
    pub(crate) async fn shown(&self, task: &TaskId) -> Result<Option<String>> {
        let error = self.projected(task).await?.payload.active_error;
        Ok(error.map(|error| error.stamp))
    }
}

/// Every published event, in order.
#[derive(Debug, Default)]
pub(crate) struct Published {
    events: Mutex<Vec<Event>>,
}

impl Published {
    pub(crate) fn events(&self) -> Vec<Event> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.clone()
    }

    /// The published summaries of a task by revision: two projectors may publish out of order, and whoever reads
    /// keeps the newer.
    pub(crate) fn summaries(&self, task: &TaskId) -> Vec<TaskStatusSummary> {
        let of_task = |event| match event {
            Event::Summary {
                task_id, summary, ..
            } if task_id == *task => Some(TaskStatusSummary::clone(&summary)),
            _ => None,
        };
        let mut summaries: Vec<_> = self.events().into_iter().filter_map(of_task).collect();
        summaries.sort_by_key(|summary| summary.revision);
        summaries
    }
}

impl EventHub for Published {
    fn publish(&self, event: &Event) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event.clone());
    }
}
