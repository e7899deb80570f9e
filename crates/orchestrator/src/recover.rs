//! What a person can do about an error: dismiss it, or carry out one of the offered actions.

use crate::emit;
use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::runtime::pokes::Poke;
use model::error::{ActiveError, ErrorCategory, RecoveryAction};
use model::event::TaskChange;
use model::ids::{SessionId, TaskId};
use model::session::{Session, SessionState};
use model::task::{Task, TaskState};
use std::path::Path;
use store::tasks::LaunchIntent;
use store::tx::WriteTx;
use store::{repositories, sessions, tasks, workspaces};

const CLOSED: &str = "the session is closed; start a new one";

impl Orchestrator {
    /// Dismisses a session's error by its stamp. A stamp that is not current succeeds without effect; a launch
    /// error cannot be dismissed, because the task would then look as if nothing had been asked of it.
    ///
    /// # Errors
    /// `Conflict` when the stamp is the task's launch error.
    pub async fn dismiss_error(&self, task_id: &TaskId, stamp: &str) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        if tasks::launch_error_stamp(&mut tx, task_id)
            .await?
            .as_deref()
            == Some(stamp)
        {
            return Err(CommandError::conflict(
                "a failed launch is not dismissed; try again or move the task",
            ));
        }
        let now = tx.now();
        for session in sessions::of_task(&mut tx, task_id).await? {
            if sessions::clear_error(&mut tx, &session.id, Some(stamp), "person", now).await? {
                tx.touch(task_id);
                emit::session(&mut tx, &session.id).await?;
            }
        }
        Ok(self.commit(tx).await?)
    }

    /// Carries out a recovery action of the error with this stamp.
    ///
    /// # Errors
    /// `Conflict` when that error is not there any more or does not offer the action.
    pub async fn recover_task(
        &self,
        task_id: &TaskId,
        stamp: &str,
        action: RecoveryAction,
        base_branch: Option<&str>,
    ) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let task = tasks::get(&mut tx, task_id).await?;
        let mut loaded = store::authority::load(&mut tx, std::slice::from_ref(task_id)).await?;
        let authority = loaded
            .pop()
            .ok_or(CommandError::NotFound("task"))?
            .authority;
        let errors = authority
            .sessions
            .iter()
            .filter_map(|session| session.error.as_ref());
        let error = errors
            .chain(&authority.launch_error)
            .find(|error| error.stamp == stamp)
            .cloned();
        let error = error.ok_or_else(|| CommandError::conflict("this error is over already"))?;
        let over = authority.sessions.iter().any(|session| {
            Some(&session.id) == error.session_id.as_ref() && session.state.is_terminal()
        });
        if over && action.starts_again() {
            return Err(CommandError::conflict(CLOSED));
        }
        if !error.recovery_actions.contains(&action) {
            return Err(CommandError::conflict(
                "this action does not help against this error",
            ));
        }
        match action {
            RecoveryAction::MarkReviewDone => self.finish_on_last_step(tx, &task, &error).await,
            RecoveryAction::RetryDefault => self.retry(tx, &task, &error, None).await,
            RecoveryAction::PickBaseBranch => {
                let branch = base_branch
                    .map(str::trim)
                    .filter(|branch| !branch.is_empty());
                let branch = branch.ok_or_else(|| CommandError::invalid("choose a base branch"))?;
                self.retry(tx, &task, &error, Some(branch)).await
            }
        }
    }

    /// Moves the task to its last step; the error that it was about is over, whoever owns it.
    async fn finish_on_last_step(
        &self,
        mut tx: WriteTx,
        task: &Task,
        error: &ActiveError,
    ) -> Result<()> {
        let workflow = workspaces::workflow(&mut tx, &task.workflow_id).await?;
        let last = workflow.as_ref().and_then(|workflow| workflow.last_step());
        let last = last.ok_or(CommandError::NotFound("step"))?;
        let now = tx.now();
        tasks::move_to(&mut tx, &task.id, &last.id, None, now).await?;
        tasks::set_launch_error(&mut tx, &task.id, None).await?;
        if let Some(session_id) = &error.session_id {
            let stamp = Some(error.stamp.as_str());
            sessions::clear_error(&mut tx, session_id, stamp, "recovery", now).await?;
            emit::session(&mut tx, session_id).await?;
        }
        tasks::raise_activity(&mut tx, &task.id, now).await?;
        self.finish_task(tx, &task.id, TaskChange::Moved)
            .await
            .map(drop)
    }

    async fn retry(
        &self,
        mut tx: WriteTx,
        task: &Task,
        error: &ActiveError,
        branch: Option<&str>,
    ) -> Result<()> {
        // The named repository starts from the chosen branch; without one, from its default branch again.
        let failed =
            task.repositories
                .iter()
                .filter(|repository| match &error.task_repository_id {
                    Some(id) => repository.id == *id,
                    None => branch.is_some() && task.repositories.len() == 1,
                });
        for repository in failed {
            tasks::set_base(&mut tx, &repository.id, branch).await?;
        }
        tx.touch(&task.id);
        match error.category.as_deref().and_then(ErrorCategory::parse) {
            Some(ErrorCategory::WorkspaceMissing) => {
                // The folder is gone, and what was in no commit with it: the work goes on in a new worktree.
                self.commit(tx).await?;
                self.replace_missing_environments(task).await;
                tx = self.inner.store.write().await?;
            }
            Some(ErrorCategory::BaseBranchMissing) if branch.is_none() => {
                self.commit(tx).await?;
                self.find_default_anew(task, error).await?;
                tx = self.inner.store.write().await?;
            }
            _ => {}
        }
        match &error.session_id {
            Some(session_id) => self.retry_session(tx, session_id).await,
            None => self.retry_launch(tx, task).await,
        }
    }

    /// The branch that was the failed repository's default when it was registered may have been renamed since: then
    /// trying again on it would only fail again.
    async fn find_default_anew(&self, task: &Task, error: &ActiveError) -> Result<()> {
        let failed = task
            .repositories
            .iter()
            .find(|of| Some(&of.id) == error.task_repository_id.as_ref());
        let Some(of) = failed else { return Ok(()) };
        let repository = {
            let mut tx = self.inner.store.read().await?;
            repositories::get(&mut tx, &of.repository_id).await?
        };
        let Some(repository) = repository else {
            return Ok(());
        };
        let path = Path::new(&repository.path);
        let recorded = repository.default_branch.as_deref();
        let git = &self.inner.git;
        if recorded.is_none() || git.resolve_base(path, recorded).await.is_ok() {
            return Ok(());
        }
        // Without one the launch says so, and offers to pick another.
        let Ok(present) = git.resolve_base(path, None).await else {
            return Ok(());
        };
        let default = Some(present.branch.as_str());
        self.update_repository(&repository.id, None, default)
            .await
            .map(drop)
    }

    /// Forgets environments of the task whose folder is not there any more; the branches stay.
    async fn replace_missing_environments(&self, task: &Task) {
        for environment in &task.environments {
            if !Path::new(&environment.path).is_dir() {
                self.remove_environment(environment).await;
            }
        }
    }

    async fn retry_launch(&self, mut tx: WriteTx, task: &Task) -> Result<()> {
        let now = tx.now();
        if tasks::launch_intent(&mut tx, &task.id).await?.is_none() {
            let prompt = format!("{}\n\n{}", task.title, task.description)
                .trim()
                .to_owned();
            let intent = LaunchIntent {
                agent_profile_id: None,
                prompt,
            };
            tasks::set_launch_intent(&mut tx, &task.id, Some(&intent)).await?;
        }
        tasks::set_launch_error(&mut tx, &task.id, None).await?;
        tasks::set_state(&mut tx, &task.id, TaskState::Scheduling, now).await?;
        self.finish_task(tx, &task.id, TaskChange::Updated).await?;
        self.start_intended(task.id.clone());
        Ok(())
    }

    async fn retry_session(&self, mut tx: WriteTx, session_id: &SessionId) -> Result<()> {
        let session: Session = sessions::get(&mut tx, session_id).await?;
        self.refuse_while_closing(session_id)?;
        if session.state.is_terminal() {
            return Err(CommandError::conflict(CLOSED));
        }
        let now = tx.now();
        sessions::clear_error(&mut tx, session_id, None, "recovery", now).await?;
        // The prompt that did not get through goes first again, then the queue.
        if let Some(turn) = store::turns::current(&mut tx, session_id).await?
            && turn.completed_at.is_some()
            && !turn.prompt_dispatch_attempted
        {
            for prompt in store::messages::prompts_of_turn(&mut tx, &turn.id).await? {
                store::messages::requeue_first(&mut tx, session_id, &prompt.id, now).await?;
                emit::message_updated(&mut tx, &prompt.id).await?;
            }
        }
        let reserved = self.go_on(&mut tx, &session).await?;
        let launch = reserved.is_none()
            && !self.inner.registry.has_process(session_id)
            && store::turns::open(&mut tx, session_id).await?.is_none();
        if launch {
            sessions::set_state(&mut tx, session_id, SessionState::Starting).await?;
        }
        emit::session(&mut tx, session_id).await?;
        let poke = if launch { Poke::Launch } else { Poke::Work };
        Ok(self.commit_and_poke(tx, &session, poke).await?)
    }
}
