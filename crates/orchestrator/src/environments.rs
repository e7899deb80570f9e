//! Environments on disk: made for a session's start, removed with their last binding.
//!
//! Worktrees stand in folders of their own under the environment's folder; an agent starts in the only worktree, or
//! in the folder that holds them all. The row comes first, in state *preparing*, so a crash in the middle leaves
//! something to clean up rather than something unknown.

use crate::emit;
use crate::error::CommandError;
use crate::orchestrator::Orchestrator;
use agentctl::git_monitor::WatchedRepository;
use git::Git;
use git::error::GitError;
use model::clock::Timestamp;
use model::environment::{Environment, EnvironmentRepository, EnvironmentState};
use model::error::{ActiveError, ErrorCategory};
use model::event::TaskChange;
use model::ids::{EnvironmentId, EnvironmentRepositoryId, TaskId, TaskRepositoryId};
use model::task::{Task, TaskRepository};
use model::workspace::Repository;
use std::path::{Path, PathBuf};
use store::{environments, repositories, tasks};

/// Why an agent could not be started.
#[derive(Clone, Debug)]
pub struct StartFailure {
    /// What kind.
    pub category: ErrorCategory,
    /// For the person.
    pub text: String,
    /// The one repository that caused it.
    pub task_repository_id: Option<TaskRepositoryId>,
}

impl StartFailure {
    pub(crate) fn new(category: ErrorCategory, text: impl Into<String>) -> Self {
        Self {
            category,
            text: text.into(),
            task_repository_id: None,
        }
    }

    /// The error of the session or task `owner` that this failure becomes.
    pub(crate) fn record(&self, owner: &str, at: Timestamp) -> ActiveError {
        ActiveError {
            task_repository_id: self.task_repository_id.clone(),
            ..ActiveError::record(owner, at, &self.text, self.category)
        }
    }

    fn of_git(error: &GitError, repository: &Repository, of: &TaskRepository) -> Self {
        let (category, text) = match error {
            GitError::BaseBranchMissing { branch } => (
                ErrorCategory::BaseBranchMissing,
                format!("{} has no branch {branch} to start from", repository.name),
            ),
            GitError::DefaultBranchUnresolved => (
                ErrorCategory::DefaultBranchUnresolved,
                format!(
                    "{} does not say which branch is its default",
                    repository.name
                ),
            ),
            other => {
                let words = other
                    .explanation()
                    .map(|words| format!(": {words}"))
                    .unwrap_or_default();
                (
                    ErrorCategory::WorkspaceInvalid,
                    format!("{}: {other}{words}", repository.name),
                )
            }
        };
        Self {
            category,
            text,
            task_repository_id: Some(of.id.clone()),
        }
    }
}

impl From<store::error::StoreError> for StartFailure {
    fn from(error: store::error::StoreError) -> Self {
        Self::new(
            ErrorCategory::GenericLaunchFailure,
            format!("the start could not be recorded: {error}"),
        )
    }
}

/// The conflict that names worktrees with work that is in no commit; nothing when all are clean or gone. What cannot
/// be looked at does not block (C16).
pub(crate) async fn uncommitted_conflict(
    git: &Git,
    environments: &[Environment],
) -> Option<CommandError> {
    let mut dirty = Vec::new();
    for repository in environments
        .iter()
        .flat_map(|environment| &environment.repositories)
    {
        if git
            .has_uncommitted(Path::new(&repository.worktree_path))
            .await
            .unwrap_or(false)
        {
            dirty.push(repository.display_name.clone());
        }
    }
    (!dirty.is_empty()).then(|| CommandError::Conflict {
        message: format!("uncommitted work in {} would be lost", dirty.join(", ")),
        details: Some(serde_json::json!({ "uncommitted": dirty })),
    })
}

impl Orchestrator {
    /// The environment a session of this task works in: the one the task binds, or a new one.
    pub(crate) async fn environment_for(
        &self,
        task_id: &TaskId,
        fresh: bool,
    ) -> Result<Environment, StartFailure> {
        let _one_at_a_time = self.inner.preparing.lock(task_id).await;
        let task = {
            let mut tx = self.inner.store.read().await?;
            tasks::get(&mut tx, task_id).await?
        };
        let bound = task
            .environments
            .iter()
            .find(|e| e.state == EnvironmentState::Ready);
        if let (false, Some(environment)) = (fresh, bound) {
            if !Path::new(&environment.path).is_dir() {
                return Err(StartFailure::new(
                    ErrorCategory::WorkspaceMissing,
                    "the task's worktree is not there any more",
                ));
            }
            return Ok(environment.clone());
        }
        self.make_environment(&task).await
    }

    async fn make_environment(&self, task: &Task) -> Result<Environment, StartFailure> {
        let id = EnvironmentId::generate();
        let dir = self.inner.config.environment_dir(&id);
        let plan = self.plan(task, &dir).await?;
        let mut tx = self.inner.store.write().await?;
        let now = tx.now();
        environments::insert(
            &mut tx,
            &id,
            &task.workspace_id,
            &plan.path.to_string_lossy(),
            now,
        )
        .await?;
        environments::bind(&mut tx, &task.id, &id, now).await?;
        self.commit(tx).await?;
        match self.make_worktrees(task, &id, &dir, &plan).await {
            Ok(environment) => {
                self.watch(&environment);
                let (this, id) = (self.clone(), environment.id.clone());
                self.spawn(async move {
                    this.inner.monitor.observe_now(&id).await;
                });
                Ok(environment)
            }
            Err(failure) => {
                let made = {
                    let mut tx = self.inner.store.read().await?;
                    environments::get(&mut tx, &id).await?
                };
                if let Some(made) = made {
                    self.remove_environment(&made).await;
                }
                Err(failure)
            }
        }
    }

    /// What will be made, before anything is.
    async fn plan(&self, task: &Task, dir: &Path) -> Result<Plan, StartFailure> {
        let mut worktrees = Vec::new();
        for (position, of) in task.repositories.iter().enumerate() {
            let repository = {
                let mut tx = self.inner.store.read().await?;
                repositories::get(&mut tx, &of.repository_id).await?
            };
            let repository = repository.ok_or_else(|| {
                StartFailure::new(
                    ErrorCategory::WorkspaceInvalid,
                    "a repository of the task is gone",
                )
            })?;
            let wanted = of
                .base_branch
                .as_deref()
                .or(repository.default_branch.as_deref());
            let base = self
                .inner
                .git
                .resolve_base(Path::new(&repository.path), wanted)
                .await;
            let base = base
                .map_err(|error| StartFailure::of_git(&error, &repository, of))?
                .branch;
            let mut folder = folder_name(&repository.name);
            if worktrees
                .iter()
                .any(|other: &PlannedWorktree| other.folder == folder)
            {
                folder = format!("{folder}-{}", position + 1);
            }
            worktrees.push(PlannedWorktree {
                repository,
                of: of.clone(),
                base,
                folder,
            });
        }
        let path = match worktrees.as_slice() {
            [only] => dir.join(&only.folder),
            [] => dir.join("work"),
            _ => dir.to_path_buf(),
        };
        Ok(Plan { worktrees, path })
    }

    async fn make_worktrees(
        &self,
        task: &Task,
        id: &EnvironmentId,
        dir: &Path,
        plan: &Plan,
    ) -> Result<Environment, StartFailure> {
        let invalid = |_| {
            StartFailure::new(
                ErrorCategory::WorkspaceInvalid,
                "the workspace folder could not be made",
            )
        };
        let folder = if plan.worktrees.is_empty() {
            plan.path.as_path()
        } else {
            dir
        };
        tokio::fs::create_dir_all(folder).await.map_err(invalid)?;
        let wanted = branch_name(task);
        for (position, planned) in plan.worktrees.iter().enumerate() {
            let worktree = dir.join(&planned.folder);
            let source = Path::new(&planned.repository.path);
            let made = self
                .inner
                .git
                .add_worktree(source, &worktree, &wanted, &planned.base)
                .await;
            let made = made
                .map_err(|error| StartFailure::of_git(&error, &planned.repository, &planned.of))?;
            let row = EnvironmentRepository {
                id: EnvironmentRepositoryId::generate(),
                repository_id: planned.repository.id.clone(),
                repository_name: (position != 0).then(|| planned.folder.clone()),
                display_name: planned.repository.name.clone(),
                worktree_path: worktree.to_string_lossy().into_owned(),
                branch: made.branch.clone(),
                base_branch: Some(planned.base.clone()),
            };
            let mut tx = self.inner.store.write().await?;
            let place = i64::try_from(position).unwrap_or(i64::MAX);
            environments::add_repository(&mut tx, id, &row, place).await?;
            tasks::set_checkout(&mut tx, &planned.of.id, &made.branch).await?;
            self.commit(tx).await?;
        }
        let mut tx = self.inner.store.write().await?;
        environments::set_state(&mut tx, id, EnvironmentState::Ready).await?;
        tasks::raise_revision(&mut tx, &task.id).await?;
        tx.touch(&task.id);
        emit::task(&mut tx, &task.id, TaskChange::Updated).await?;
        let environment = environments::get(&mut tx, id).await?;
        self.commit(tx).await?;
        environment.ok_or_else(|| {
            StartFailure::new(
                ErrorCategory::WorkspaceInvalid,
                "the workspace was removed while it was made",
            )
        })
    }

    /// Declares an environment to the Git monitor.
    pub(crate) fn watch(&self, environment: &Environment) {
        let watched = environment
            .repositories
            .iter()
            .map(|repository| WatchedRepository {
                repository_name: repository.repository_name.clone().unwrap_or_default(),
                worktree: PathBuf::from(&repository.worktree_path),
                base_branch: repository.base_branch.clone(),
            })
            .collect();
        self.inner.monitor.watch(environment.id.clone(), watched);
    }

    /// Removes an environment's worktrees and rows; the branches stay, so committed work is never deleted.
    /// Safe to repeat; what cannot be removed now is left to the next start's sweep.
    pub(crate) async fn remove_environment(&self, environment: &Environment) {
        self.inner.monitor.forget(&environment.id);
        let mut clean = true;
        for worktree in &environment.repositories {
            let source = {
                let Ok(mut tx) = self.inner.store.read().await else {
                    return;
                };
                repositories::get(&mut tx, &worktree.repository_id).await
            };
            let Ok(Some(source)) = source else { continue };
            // The branch stays: committed work is never deleted with a task.
            let path = Path::new(&worktree.worktree_path);
            if let Err(error) = self
                .inner
                .git
                .remove_worktree(Path::new(&source.path), path, None)
                .await
            {
                tracing::warn!(environment = %environment.id, %error, "a worktree could not be removed");
                clean &= !path.exists();
            }
        }
        if !clean {
            return;
        }
        let dir = self.inner.config.environment_dir(&environment.id);
        if let Err(error) = tokio::fs::remove_dir_all(&dir).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(environment = %environment.id, kind = %error.kind(), "a folder could not be removed");
            return;
        }
        let removed = async {
            let mut tx = self.inner.store.write().await?;
            for task_id in environments::tasks_of(&mut tx, &environment.id).await? {
                tx.touch(&task_id);
            }
            environments::remove(&mut tx, &environment.id).await?;
            self.commit(tx).await
        };
        if let Err(error) = removed.await {
            tracing::warn!(environment = %environment.id, %error, "an environment could not be forgotten");
        }
    }
}

struct Plan {
    worktrees: Vec<PlannedWorktree>,
    path: PathBuf,
}

struct PlannedWorktree {
    repository: Repository,
    of: TaskRepository,
    base: String,
    folder: String,
}

/// A repository's name as a folder's: letters, digits, `.`, `_` and `-`.
fn folder_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let plain = plain.trim_matches(['.', '-']);
    if plain.is_empty() {
        "repository".to_owned()
    } else {
        plain.chars().take(60).collect()
    }
}

/// `task/<words of the title>`, a name that people recognise in a list of branches.
fn branch_name(task: &Task) -> String {
    let mut slug = String::new();
    for c in task.title.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if 40 <= slug.len() {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() {
        "task/work".to_owned()
    } else {
        format!("task/{slug}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_are_plain() {
        assert_eq!(folder_name("my api/v2"), "my-api-v2");
        assert_eq!(folder_name("..."), "repository");
    }
}
