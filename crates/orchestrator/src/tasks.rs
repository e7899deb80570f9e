//! Commands on tasks.

use crate::emit;
use crate::environments::uncommitted_conflict;
use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::runtime::pokes::Poke;
use model::bounds;
use model::environment::EnvironmentState;
use model::event::{Event, TaskChange};
use model::ids::{
    AgentProfileId, RepositoryId, StepId, TaskId, TaskRepositoryId, WorkflowId, WorkspaceId,
};
use model::task::{Task, TaskState};
use model::workspace::Workflow;
use store::tasks::{LaunchIntent, NewTask};
use store::tx::WriteTx;
use store::{environments, profiles, repositories, sessions, tasks, workspaces};

/// What a new task is made from.
#[derive(Clone, Debug)]
pub struct CreateTask {
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// The client's id of the request; repeating it gives the same task.
    pub client_id: String,
    /// One line.
    pub title: String,
    /// What is to be done.
    pub description: String,
    /// Its board; absent: the first.
    pub workflow_id: Option<WorkflowId>,
    /// Its step; absent: the first.
    pub step_id: Option<StepId>,
    /// Its repositories, with the branches their worktrees start from; the first is the root.
    pub repositories: Vec<(RepositoryId, Option<String>)>,
    /// Work in the parent's environment.
    pub inherit_environment: bool,
    /// The task it is a part of.
    pub parent_id: Option<TaskId>,
    /// Start an agent at once.
    pub start: Option<StartAgent>,
}

/// With what a new task starts.
#[derive(Clone, Debug)]
pub struct StartAgent {
    /// Which agent; absent: the workspace's first.
    pub agent_profile_id: Option<AgentProfileId>,
    /// The first prompt; absent: title and description.
    pub prompt: Option<String>,
}

/// Checks a one-line text; gives it without surrounding space.
pub(crate) fn check_title<'a>(text: &'a str, what: &str) -> Result<&'a str> {
    let text = text.trim();
    if text.is_empty() {
        return Err(CommandError::Invalid(format!("the {what} is empty")));
    }
    if bounds::TITLE_CHARS < text.chars().count() {
        return Err(CommandError::Invalid(format!(
            "the {what} is longer than {} characters",
            bounds::TITLE_CHARS
        )));
    }
    if text.chars().any(char::is_control) {
        return Err(CommandError::Invalid(format!(
            "the {what} must be one line of plain text"
        )));
    }
    Ok(text)
}

fn check_description(text: &str) -> Result<()> {
    if bounds::USER_CONTENT_BYTES < text.len() {
        return Err(CommandError::invalid(
            "the description is longer than 1 MiB",
        ));
    }
    Ok(())
}

impl Orchestrator {
    /// Makes a task, and starts an agent on it when asked to.
    ///
    /// # Errors
    /// `Invalid` naming the wrong field; `NotFound` for ids outside the workspace.
    pub async fn create_task(&self, new: CreateTask) -> Result<Task> {
        let title = check_title(&new.title, "title")?;
        check_description(&new.description)?;
        model::ids::MessageId::from_client(&new.client_id)
            .map_err(|error| CommandError::Invalid(format!("client_id: {error}")))?;
        let mut tx = self.inner.store.write().await?;
        if let Some(id) = tasks::by_client_id(&mut tx, &new.workspace_id, &new.client_id).await? {
            return Ok(tasks::get(&mut tx, &id).await?);
        }
        let (workflow, step_id) = place(&mut tx, &new).await?;
        let task_id = TaskId::generate();
        let row = NewTask {
            id: &task_id,
            workspace_id: &new.workspace_id,
            workflow_id: &workflow.id,
            step_id: &step_id,
            client_id: &new.client_id,
            title,
            description: &new.description,
            parent_id: new.parent_id.as_ref(),
        };
        let now = tx.now();
        tasks::insert(&mut tx, &row, now).await?;
        attach_repositories(&mut tx, &task_id, &new).await?;
        inherit(&mut tx, &task_id, &new).await?;
        if let Some(start) = &new.start {
            self.intend_launch(&mut tx, &task_id, &new, start).await?;
        }
        tx.touch(&task_id);
        let task = emit::read_task(&mut tx, &task_id, TaskChange::Created).await?;
        self.commit(tx).await?;
        if new.start.is_some() {
            self.start_intended(task_id);
        }
        Ok((*task).clone())
    }

    async fn intend_launch(
        &self,
        tx: &mut WriteTx,
        task_id: &TaskId,
        new: &CreateTask,
        start: &StartAgent,
    ) -> Result<()> {
        if let Some(id) = &start.agent_profile_id {
            let profile = profiles::get(tx, id).await?;
            if profile.is_none_or(|profile| profile.workspace_id != new.workspace_id) {
                return Err(CommandError::NotFound("agent profile"));
            }
        }
        let prompt = start
            .prompt
            .clone()
            .filter(|prompt| !prompt.trim().is_empty());
        let prompt = prompt.unwrap_or_else(|| {
            let whole = format!("{}\n\n{}", new.title.trim(), new.description.trim());
            whole.trim().to_owned()
        });
        crate::sends::check_content(&prompt, false)?;
        let intent = LaunchIntent {
            agent_profile_id: start.agent_profile_id.clone(),
            prompt,
        };
        tasks::set_launch_intent(tx, task_id, Some(&intent)).await?;
        let now = tx.now();
        Ok(tasks::set_state(tx, task_id, TaskState::Scheduling, now).await?)
    }

    /// Changes a task's own facts; absent ones stay.
    ///
    /// # Errors
    /// `Invalid` naming the wrong field.
    pub async fn update_task(
        &self,
        id: &TaskId,
        title: Option<&str>,
        description: Option<&str>,
        state: Option<TaskState>,
        priority: Option<i64>,
    ) -> Result<Task> {
        let title = title.map(|title| check_title(title, "title")).transpose()?;
        description.map(check_description).transpose()?;
        if state == Some(TaskState::Scheduling) {
            return Err(CommandError::invalid(
                "a task is scheduled by starting an agent on it",
            ));
        }
        let mut tx = self.inner.store.write().await?;
        let now = tx.now();
        tasks::get(&mut tx, id).await?;
        tasks::set_facts(&mut tx, id, title, description, priority, now).await?;
        if let Some(state) = state {
            tasks::set_state(&mut tx, id, state, now).await?;
            if state.is_terminal() {
                tasks::set_launch_error(&mut tx, id, None).await?;
            }
        }
        tasks::raise_activity(&mut tx, id, now).await?;
        self.finish_task(tx, id, TaskChange::Updated).await
    }

    /// Moves a task to a step of its board. On the last step its launch error is over.
    ///
    /// # Errors
    /// `NotFound` when the step is on another board.
    pub async fn move_task(
        &self,
        id: &TaskId,
        step_id: &StepId,
        position: Option<i64>,
    ) -> Result<Task> {
        let mut tx = self.inner.store.write().await?;
        let now = tx.now();
        let task = tasks::get(&mut tx, id).await?;
        let workflow = workspaces::workflow(&mut tx, &task.workflow_id).await?;
        let workflow = workflow.ok_or(CommandError::NotFound("workflow"))?;
        let step = workflow
            .step(step_id)
            .ok_or(CommandError::NotFound("step"))?;
        tasks::move_to(&mut tx, id, step_id, position, now).await?;
        if workflow.last_step().is_some_and(|last| last.id == step.id) {
            tasks::set_launch_error(&mut tx, id, None).await?;
        }
        tasks::raise_activity(&mut tx, id, now).await?;
        self.finish_task(tx, id, TaskChange::Moved).await
    }

    /// Archives a task, or takes it out of the archive. Archiving stops its agents and removes nothing.
    ///
    /// # Errors
    /// `NotFound` when it does not exist.
    pub async fn set_task_archived(&self, id: &TaskId, archived: bool) -> Result<Task> {
        let mut closings = Vec::new();
        if archived {
            for session in self.sessions_of(id).await? {
                let closing = self.inner.registry.close(&session.id).await;
                closings.push((session, closing));
            }
        }
        let mut tx = self.inner.store.write().await?;
        let now = tx.now();
        tasks::get(&mut tx, id).await?;
        tasks::set_archived(&mut tx, id, archived.then_some(now), now).await?;
        tasks::raise_activity(&mut tx, id, now).await?;
        let task = self.finish_task(tx, id, TaskChange::Archived).await?;
        for (session, closing) in closings {
            if closing.finish() {
                self.poke(&session, Poke::Work);
            }
        }
        Ok(task)
    }

    async fn sessions_of(&self, id: &TaskId) -> Result<Vec<model::session::Session>> {
        let mut tx = self.inner.store.read().await?;
        Ok(sessions::of_task(&mut tx, id).await?)
    }

    pub(crate) async fn finish_task(
        &self,
        mut tx: WriteTx,
        id: &TaskId,
        change: TaskChange,
    ) -> Result<Task> {
        tx.touch(id);
        let task = emit::read_task(&mut tx, id, change).await?;
        self.commit(tx).await?;
        Ok((*task).clone())
    }

    /// Deletes a task with its sessions and the worktrees that only it binds.
    ///
    /// # Errors
    /// `Conflict` naming the worktrees with uncommitted work, unless that may be discarded.
    pub async fn delete_task(&self, id: &TaskId, discard_changes: bool) -> Result<()> {
        // No environment is made while the task goes, and none inherits one.
        let _preparing = self.inner.preparing.lock(id).await;
        self.ask_before_losing(id, discard_changes).await?;
        let mut closings = Vec::new();
        for session in self.sessions_of(id).await? {
            closings.push(self.inner.registry.close(&session.id).await);
        }
        // What agents wrote while they were stopped counts as well.
        self.ask_before_losing(id, discard_changes).await?;
        let mut tx = self.inner.store.write().await?;
        let task = tasks::get(&mut tx, id).await?;
        let own = environments::only_of_task(&mut tx, id).await?;
        let own: Vec<_> = task
            .environments
            .iter()
            .filter(|e| own.contains(&e.id))
            .cloned()
            .collect();
        for environment in &own {
            environments::set_state(&mut tx, &environment.id, EnvironmentState::Removing).await?;
        }
        let files = store::attachments::of_task(&mut tx, id).await?;
        tasks::remove(&mut tx, id).await?;
        tx.emit(Event::TaskDeleted {
            workspace_id: task.workspace_id,
            task_id: id.clone(),
        });
        self.commit(tx).await?;
        self.remove_files(files);
        let this = self.clone();
        self.spawn(async move {
            for environment in &own {
                this.remove_environment(environment).await;
            }
        });
        Ok(())
    }
}

impl Orchestrator {
    /// Refuses when uncommitted work in worktrees that only this task binds would be lost.
    async fn ask_before_losing(&self, id: &TaskId, discard_changes: bool) -> Result<()> {
        if discard_changes {
            return Ok(());
        }
        let own: Vec<_> = {
            let mut tx = self.inner.store.read().await?;
            let task = tasks::get(&mut tx, id).await?;
            let own = environments::only_of_task(&mut tx, id).await?;
            task.environments
                .into_iter()
                .filter(|environment| own.contains(&environment.id))
                .collect()
        };
        uncommitted_conflict(&self.inner.git, &own)
            .await
            .map_or(Ok(()), Err)
    }
}

async fn place(tx: &mut WriteTx, new: &CreateTask) -> Result<(Workflow, StepId)> {
    let workflows = workspaces::workflows(tx, &new.workspace_id).await?;
    let workflow = match &new.workflow_id {
        Some(id) => workflows.into_iter().find(|workflow| workflow.id == *id),
        None => workflows.into_iter().next(),
    };
    let workflow = workflow.ok_or(CommandError::NotFound("workflow"))?;
    let step = match &new.step_id {
        Some(id) => workflow.step(id),
        None => workflow.steps.first(),
    };
    let step_id = step.ok_or(CommandError::NotFound("step"))?.id.clone();
    Ok((workflow, step_id))
}

async fn attach_repositories(tx: &mut WriteTx, task_id: &TaskId, new: &CreateTask) -> Result<()> {
    if bounds::TASK_REPOSITORIES < new.repositories.len() {
        return Err(CommandError::Invalid(format!(
            "a task has at most {} repositories",
            bounds::TASK_REPOSITORIES
        )));
    }
    for (position, (repository_id, base)) in new.repositories.iter().enumerate() {
        let repository = repositories::get(tx, repository_id).await?;
        if repository.is_none_or(|repository| repository.workspace_id != new.workspace_id) {
            return Err(CommandError::NotFound("repository"));
        }
        if new
            .repositories
            .iter()
            .filter(|(other, _)| other == repository_id)
            .count()
            != 1
        {
            return Err(CommandError::invalid("a repository is listed twice"));
        }
        let base = base
            .as_deref()
            .map(str::trim)
            .filter(|base| !base.is_empty());
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        tasks::add_repository(
            tx,
            task_id,
            &TaskRepositoryId::generate(),
            repository_id,
            position,
            base,
        )
        .await?;
    }
    Ok(())
}

/// Binds the parent's environments to a child that inherits them.
async fn inherit(tx: &mut WriteTx, task_id: &TaskId, new: &CreateTask) -> Result<()> {
    let Some(parent_id) = &new.parent_id else {
        if new.inherit_environment {
            return Err(CommandError::invalid(
                "only a task with a parent can inherit an environment",
            ));
        }
        return Ok(());
    };
    let mut parents = tasks::load(tx, std::slice::from_ref(parent_id)).await?;
    let parent = parents
        .pop()
        .filter(|parent| parent.workspace_id == new.workspace_id);
    let parent = parent.ok_or(CommandError::NotFound("parent task"))?;
    if new.inherit_environment {
        if !parent
            .environments
            .iter()
            .any(|environment| environment.state == EnvironmentState::Ready)
        {
            return Err(CommandError::conflict(
                "the parent has no environment yet; start an agent on it first",
            ));
        }
        let now = tx.now();
        for environment in parent
            .environments
            .iter()
            .filter(|e| e.state == EnvironmentState::Ready)
        {
            environments::bind(tx, task_id, &environment.id, now).await?;
        }
    }
    Ok(())
}
