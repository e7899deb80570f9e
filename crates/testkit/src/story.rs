//! A story about tasks, told with the store's own functions: what tests of the store and the projector read like.
//!
//! Each verb is one committed transaction that marks the tasks it concerns, as the product's own commands do; nothing
//! is published. What no verb says, [`Story::change`] does.
//!
//! A test is a function over a [`Story`]; [`crate::on_every_engine`] runs it on each engine. What happens in a session
//! is told by [`transcript`], what Git looked like by [`look`], what a forge said by [`pull_request`].

pub mod look;
pub mod pull_request;
pub mod transcript;

use crate::store::{Engine, ThrowawayStore};
use crate::story::look::Look;
use ::store::authority::{self, LoadedTask};
use ::store::open::Store;
use ::store::sessions::{self, NewSession};
use ::store::snapshots::{self, RecordOutcome};
use ::store::sql::Statement;
use ::store::tasks::{self, NewTask};
use ::store::tx::WriteTx;
use ::store::{environments, marks, profiles, repositories, summaries, workspaces};
use anyhow::{Context, Result};
use model::agent::AgentProfile;
use model::clock::Timestamp;
use model::environment::{EnvironmentRepository, EnvironmentState};
use model::ids::{
    AgentProfileId, EnvironmentId, EnvironmentRepositoryId, RepositoryId, SessionId, StepId,
    TaskId, UserId, WorkflowId, WorkspaceId,
};
use model::summary::{SummaryPayload, TaskStatusSummary};
use model::workspace::{Repository, Step, User, Workflow, Workspace};
use std::collections::BTreeMap;

/// A workspace with a board of three steps, one agent profile and one registered repository.
pub struct Story {
    /// The database it happens in.
    pub db: ThrowawayStore,
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The board.
    pub workflow: WorkflowId,
    /// Its columns; the last means done.
    pub steps: [StepId; 3],
    /// How agents are started.
    pub profile: AgentProfileId,
    /// The registered repository.
    pub repository: RepositoryId,
}

impl Story {
    /// The beginning, on this engine.
    ///
    /// # Errors
    /// When the store cannot be made; so for every function here.
    pub async fn on(engine: Engine) -> Result<Self> {
        Self::begin(ThrowawayStore::on(engine).await?).await
    }

    /// The beginning, on SQLite.
    ///
    /// # Errors
    /// As [`Story::on`].
    pub async fn sqlite() -> Result<Self> {
        Self::on(Engine::Sqlite).await
    }

    /// The beginning, on PostgreSQL.
    ///
    /// # Errors
    /// As [`Story::on`].
    pub async fn postgres() -> Result<Self> {
        Self::on(Engine::Postgres).await
    }

    async fn begin(db: ThrowawayStore) -> Result<Self> {
        let story = Self {
            db,
            workspace: WorkspaceId::generate(),
            workflow: WorkflowId::generate(),
            steps: [StepId::generate(), StepId::generate(), StepId::generate()],
            profile: AgentProfileId::generate(),
            repository: RepositoryId::generate(),
        };
        let names = ["Backlog", "Doing", "Done"];
        let steps = story.steps.iter().zip(names).zip(0..);
        let workflow = Workflow {
            id: story.workflow.clone(),
            workspace_id: story.workspace.clone(),
            revision: 1,
            name: "Board".to_owned(),
            steps: steps
                .map(|((id, name), position)| Step {
                    id: id.clone(),
                    name: name.to_owned(),
                    position,
                    on_turn_start: None,
                    on_turn_complete: None,
                })
                .collect(),
        };
        story
            .change(&[], async |tx| {
                let now = tx.now();
                let owner = User {
                    id: UserId::generate(),
                    name: "Owner".to_owned(),
                };
                workspaces::insert_user(tx, &owner, now).await?;
                let workspace = Workspace {
                    id: story.workspace.clone(),
                    revision: 1,
                    name: "Workspace".to_owned(),
                    created_at: now,
                };
                workspaces::insert(tx, &workspace, &owner.id).await?;
                workspaces::insert_workflow(tx, &workflow, 0).await?;
                profiles::insert(tx, &story.agent_profile(), now).await?;
                repositories::insert(tx, &story.registered(now)).await?;
                marks::adopt(tx, summary::RULES).await?; // as the first start of a server does
                Ok(())
            })
            .await?;
        Ok(story)
    }

    fn agent_profile(&self) -> AgentProfile {
        AgentProfile {
            id: self.profile.clone(),
            workspace_id: self.workspace.clone(),
            revision: 1,
            name: "Agent".to_owned(),
            command: "agent".to_owned(),
            args: Vec::new(),
            env: BTreeMap::new(),
            default_mode: None,
            default_model: None,
        }
    }

    fn registered(&self, now: Timestamp) -> Repository {
        Repository {
            id: self.repository.clone(),
            workspace_id: self.workspace.clone(),
            revision: 1,
            name: "project".to_owned(),
            path: "/projects/project".to_owned(),
            default_branch: Some("main".to_owned()),
            created_at: now,
        }
    }

    /// The store.
    #[must_use]
    pub const fn store(&self) -> &Store {
        &self.db.store
    }

    /// The present; later than every earlier answer.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.store().now()
    }

    /// Does `work` in one transaction that touches these tasks, and commits it.
    ///
    /// # Errors
    /// What `work` says, or the engine.
    pub async fn change<T>(
        &self,
        touched: &[&TaskId],
        work: impl AsyncFnOnce(&mut WriteTx) -> ::store::error::Result<T>,
    ) -> Result<T> {
        let mut tx = self.store().write().await?;
        let done = work(&mut tx).await?;
        for task_id in touched {
            tx.touch(task_id);
        }
        let _ = tx.commit().await?; // a story publishes nothing
        Ok(done)
    }

    /// Runs a statement that no function of the store would: another program, an older version, a damaged row.
    ///
    /// # Errors
    /// What the engine says.
    pub async fn tamper(&self, statement: Statement) -> Result<u64> {
        self.change(&[], async |tx| tx.execute(statement).await)
            .await
    }

    /// A task.
    ///
    /// # Errors
    /// When the store fails; so for every verb.
    pub async fn task(&self) -> Result<TaskId> {
        self.new_task(None).await
    }

    /// A task that is a part of another.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn child_of(&self, parent: &TaskId) -> Result<TaskId> {
        self.new_task(Some(parent)).await
    }

    async fn new_task(&self, parent: Option<&TaskId>) -> Result<TaskId> {
        let id = TaskId::generate();
        let [first, ..] = &self.steps;
        self.change(&[&id], async |tx| {
            let new = NewTask {
                id: &id,
                workspace_id: &self.workspace,
                workflow_id: &self.workflow,
                step_id: first,
                client_id: id.as_str(),
                title: "A task",
                description: "",
                parent_id: parent,
            };
            let now = tx.now();
            tasks::insert(tx, &new, now).await
        })
        .await?;
        Ok(id)
    }

    /// A ready environment that this task binds. The first name is the root repository's, whatever it says.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn environment(&self, task: &TaskId, names: &[&str]) -> Result<EnvironmentId> {
        let id = EnvironmentId::generate();
        self.change(&[task], async |tx| {
            let now = tx.now();
            environments::insert(tx, &id, &self.workspace, "/environments/one", now).await?;
            for (name, position) in names.iter().zip(0..) {
                let repository = EnvironmentRepository {
                    id: EnvironmentRepositoryId::generate(),
                    repository_id: self.repository.clone(),
                    repository_name: (0 < position).then(|| (*name).to_owned()),
                    display_name: (*name).to_owned(),
                    worktree_path: format!("/environments/one/{name}"),
                    branch: "work".to_owned(),
                    base_branch: Some("main".to_owned()),
                };
                environments::add_repository(tx, &id, &repository, position).await?;
            }
            environments::set_state(tx, &id, EnvironmentState::Ready).await?;
            environments::bind(tx, task, &id, now).await
        })
        .await?;
        Ok(id)
    }

    /// One more task binds an environment.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn bind(&self, task: &TaskId, environment: &EnvironmentId) -> Result<()> {
        self.change(&[task], async |tx| {
            let now = tx.now();
            environments::bind(tx, task, environment, now).await
        })
        .await
    }

    /// A session, in state CREATED.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn session(
        &self,
        task: &TaskId,
        environment: Option<&EnvironmentId>,
    ) -> Result<SessionId> {
        let id = SessionId::generate();
        self.change(&[task], async |tx| {
            let new = NewSession {
                id: &id,
                task_id: task,
                environment_id: environment,
                client_id: id.as_str(),
                agent_profile_id: &self.profile,
                name: "A session",
                own_environment: false,
            };
            let now = tx.now();
            sessions::insert(tx, &new, now).await
        })
        .await?;
        Ok(id)
    }

    /// A session is deleted with its transcript.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn delete_session(&self, session: &SessionId) -> Result<()> {
        let task = self.task_of(session).await?;
        self.change(&[&task], async |tx| {
            sessions::remove(tx, &task, session).await
        })
        .await
    }

    /// An observation is stored.
    ///
    /// # Errors
    /// As [`Story::task`].
    pub async fn observe(&self, environment: &EnvironmentId, look: &Look) -> Result<RecordOutcome> {
        let mut tx = self.store().read().await?;
        let bound = environments::tasks_of(&mut tx, environment).await?;
        drop(tx);
        let bound: Vec<&TaskId> = bound.iter().collect();
        let snapshot = look.snapshot(environment);
        self.change(&bound, async |tx| snapshots::record(tx, &snapshot).await)
            .await
    }

    /// The task of a session.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn task_of(&self, session: &SessionId) -> Result<TaskId> {
        let mut tx = self.store().read().await?;
        Ok(sessions::get(&mut tx, session).await?.task_id)
    }

    /// What the summary of a task is derived from, now.
    ///
    /// # Errors
    /// When it cannot be loaded or there is no such task.
    pub async fn authority(&self, task: &TaskId) -> Result<LoadedTask> {
        let mut tx = self.store().read().await?;
        let mut loaded = authority::load(&mut tx, std::slice::from_ref(task)).await?;
        loaded.pop().context("the task exists")
    }

    /// What the summary of a task must say, now.
    ///
    /// # Errors
    /// As [`Story::authority`].
    pub async fn derived(&self, task: &TaskId) -> Result<SummaryPayload> {
        Ok(summary::derive::derive(
            &self.authority(task).await?.authority,
        ))
    }

    /// What the stored summary of a task says.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn stored(&self, task: &TaskId) -> Result<Option<TaskStatusSummary>> {
        let mut tx = self.store().read().await?;
        Ok(summaries::of_tasks(&mut tx, std::slice::from_ref(task))
            .await?
            .remove(task))
    }
}

/// Runs each named `async fn(Story) -> anyhow::Result<()>` of the calling module on every engine.
///
/// `on_every_engine!(crate::World => first, second)` gives the tests a `World` instead: any type, named by its whole
/// path, with an `async fn on(Engine) -> anyhow::Result<Self>`. [`crate::store::Engine`] itself is one.
///
/// The engine is a part of each test's name: `messages::postgres::str_02_…`.
#[macro_export]
macro_rules! on_every_engine {
    ($($test:ident),+ $(,)?) => {
        $crate::on_every_engine!($crate::story::Story => $($test),+);
    };
    ($world:ty => $($test:ident),+ $(,)?) => {
        $crate::on_one_engine!(sqlite, Sqlite, $world, $($test),+);
        $crate::on_one_engine!(postgres, Postgres, $world, $($test),+);
    };
}

/// A part of [`on_every_engine`].
#[doc(hidden)]
#[macro_export]
macro_rules! on_one_engine {
    ($name:ident, $engine:ident, $world:ty, $($test:ident),+) => {
        mod $name {
            $(
                #[tokio::test]
                async fn $test() -> anyhow::Result<()> {
                    let world = <$world>::on($crate::store::Engine::$engine).await?;
                    Box::pin(super::$test(world)).await
                }
            )+
        }
    };
}
