//! Registering repositories. Agents only ever work in worktrees of registered ones.

use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::tasks::check_title;
use git::error::GitError;
use git::facts::RepositoryFacts;
use model::event::Event;
use model::ids::{RepositoryId, WorkspaceId};
use model::workspace::Repository;
use std::path::{Path, PathBuf};
use store::repositories;

impl Orchestrator {
    /// Looks at a folder that might be registered.
    ///
    /// # Errors
    /// `Invalid` saying why it cannot be.
    pub async fn inspect_repository(&self, path: &str) -> Result<RepositoryFacts> {
        let path = self.expand(path)?;
        self.inner
            .git
            .inspect(&path)
            .await
            .map_err(|error| explain(&path, &error))
    }

    /// Registers the repository at `path`; registering it again gives the registered one.
    ///
    /// # Errors
    /// `Invalid` saying why it cannot be registered, or that the branch is not there.
    pub async fn add_repository(
        &self,
        workspace_id: &WorkspaceId,
        path: &str,
        name: Option<&str>,
        default_branch: Option<&str>,
    ) -> Result<Repository> {
        let facts = self.inspect_repository(path).await?;
        let top_level = facts.top_level.to_str().ok_or_else(|| {
            CommandError::invalid(
                "the folder's name is not valid Unicode, so it cannot be registered",
            )
        })?;
        let folder = facts
            .top_level
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("repository");
        let name = check_title(name.unwrap_or(folder), "name")?.to_owned();
        let wanted = default_branch
            .map(str::trim)
            .filter(|branch| !branch.is_empty());
        if let Some(branch) = wanted {
            self.inner
                .git
                .resolve_base(&facts.top_level, Some(branch))
                .await
                .map_err(|_| {
                    CommandError::Invalid(format!("the repository has no branch {branch}"))
                })?;
        }
        let mut tx = self.inner.store.write().await?;
        let repository = Repository {
            id: RepositoryId::generate(),
            workspace_id: workspace_id.clone(),
            revision: 1,
            name,
            path: top_level.to_owned(),
            default_branch: wanted.map(str::to_owned).or(facts.default_branch),
            created_at: tx.now(),
        };
        if !repositories::insert(&mut tx, &repository).await? {
            let known = repositories::by_path(&mut tx, workspace_id, &repository.path).await?;
            return known.ok_or(CommandError::NotFound("repository"));
        }
        tx.emit(Event::Repository(repository.clone().into()));
        self.commit(tx).await?;
        Ok(repository)
    }

    /// Renames it, or sets its default branch.
    ///
    /// # Errors
    /// `Invalid` for a bad name or a branch that is not there.
    pub async fn update_repository(
        &self,
        id: &RepositoryId,
        name: Option<&str>,
        default_branch: Option<&str>,
    ) -> Result<Repository> {
        let name = name.map(|name| check_title(name, "name")).transpose()?;
        if let Some(branch) = default_branch {
            let path = self.repository(id).await?.path;
            let found = self
                .inner
                .git
                .resolve_base(Path::new(&path), Some(branch))
                .await;
            found.map_err(|_| {
                CommandError::Invalid(format!("the repository has no branch {branch}"))
            })?;
        }
        let mut tx = self.inner.store.write().await?;
        repositories::update(&mut tx, id, name, default_branch).await?;
        let repository = repositories::get(&mut tx, id)
            .await?
            .ok_or(CommandError::NotFound("repository"))?;
        tx.emit(Event::Repository(repository.clone().into()));
        self.commit(tx).await?;
        Ok(repository)
    }

    /// Unregisters it. Nothing on disk changes.
    ///
    /// # Errors
    /// `Conflict` while a task uses it.
    pub async fn remove_repository(&self, id: &RepositoryId) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let repository = repositories::get(&mut tx, id)
            .await?
            .ok_or(CommandError::NotFound("repository"))?;
        if repositories::in_use(&mut tx, id).await? {
            return Err(CommandError::conflict(
                "tasks use this repository; delete them first",
            ));
        }
        repositories::remove(&mut tx, id).await?;
        tx.emit(Event::RepositoryRemoved {
            workspace_id: repository.workspace_id,
            repository_id: id.clone(),
        });
        Ok(self.commit(tx).await?)
    }

    /// Its default branch and the branches a task may start from, most recent first.
    ///
    /// # Errors
    /// `Git` when it cannot be read.
    pub async fn repository_branches(
        &self,
        id: &RepositoryId,
    ) -> Result<(Option<String>, Vec<String>)> {
        let repository = self.repository(id).await?;
        let path = Path::new(&repository.path);
        let branches = self
            .inner
            .git
            .branches(path, model::bounds::BRANCHES_LISTED)
            .await?;
        let default = match repository.default_branch {
            Some(branch) => Some(branch),
            None => self
                .inner
                .git
                .resolve_base(path, None)
                .await
                .ok()
                .map(|base| base.branch),
        };
        Ok((
            default,
            branches.into_iter().map(|branch| branch.name).collect(),
        ))
    }

    async fn repository(&self, id: &RepositoryId) -> Result<Repository> {
        let mut tx = self.inner.store.read().await?;
        repositories::get(&mut tx, id)
            .await?
            .ok_or(CommandError::NotFound("repository"))
    }

    fn expand(&self, path: &str) -> Result<PathBuf> {
        let path = path.trim();
        let expanded = match (path.strip_prefix('~'), &self.inner.config.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => PathBuf::from(path),
        };
        if !expanded.is_absolute() {
            return Err(CommandError::invalid(
                "give the folder's full path, e.g. ~/project",
            ));
        }
        Ok(expanded)
    }
}

fn explain(path: &Path, error: &GitError) -> CommandError {
    let path = path.display();
    CommandError::Invalid(match error {
        GitError::NotFound => format!("{path} does not exist on the server"),
        GitError::NotARepository => {
            format!(
                "{path} is not a Git repository; run `git init` there, or choose another folder"
            )
        }
        GitError::InsideParent { top_level } => {
            format!(
                "{path} has no repository of its own; did you mean {}?",
                top_level.display()
            )
        }
        GitError::Bare => format!("{path} is a bare repository; choose one with a working tree"),
        GitError::NotOwned => format!(
            "{path} belongs to another user, so Git refuses to read it; allow it with \
             `git config --global --add safe.directory {path}`"
        ),
        GitError::Unreadable => format!("{path} cannot be read by the server"),
        other => match other.explanation() {
            Some(words) => format!("{path}: {other}: {}", model::text::preview(words, 300)),
            None => format!("{path}: {other}"),
        },
    })
}
