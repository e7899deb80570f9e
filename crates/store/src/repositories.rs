//! Registered repositories.

use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, sql};
use model::ids::{RepositoryId, WorkspaceId};
use model::workspace::Repository;

/// Registers a repository; nothing happens when its path is registered already.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert(link: &mut Link, repository: &Repository) -> Result<bool> {
    let insert = sql(
        "INSERT INTO repositories (id, workspace_id, revision, name, path, default_branch, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (workspace_id, path) DO NOTHING",
    );
    let inserted = link
        .execute(
            insert
                .bind(&repository.id)
                .bind(&repository.workspace_id)
                .bind(repository.revision)
                .bind(repository.name.as_str())
                .bind(repository.path.as_str())
                .bind(repository.default_branch.as_deref())
                .bind(repository.created_at),
        )
        .await?;
    Ok(0 < inserted)
}

/// Changes name and default branch; absent ones stay.
///
/// # Errors
/// As [`insert`].
pub async fn update(
    link: &mut Link,
    id: &RepositoryId,
    name: Option<&str>,
    default_branch: Option<&str>,
) -> Result<()> {
    let update = sql("UPDATE repositories SET name = coalesce($2, name),
                      default_branch = coalesce($3, default_branch), revision = revision + 1 WHERE id = $1");
    link.execute(update.bind(id).bind(name).bind(default_branch))
        .await?;
    Ok(())
}

/// Whether any task or environment uses it.
///
/// # Errors
/// As [`insert`].
pub async fn in_use(link: &mut Link, id: &RepositoryId) -> Result<bool> {
    let query = sql("SELECT EXISTS (SELECT 1 FROM task_repositories WHERE repository_id = $1)
                     OR EXISTS (SELECT 1 FROM task_environment_repos WHERE repository_id = $1) AS used");
    link.one(query.bind(id), "repository").await?.truth("used")
}

/// Unregisters it.
///
/// # Errors
/// As [`insert`].
pub async fn remove(link: &mut Link, id: &RepositoryId) -> Result<()> {
    link.execute(sql("DELETE FROM repositories WHERE id = $1").bind(id))
        .await?;
    Ok(())
}

/// One repository.
///
/// # Errors
/// As [`insert`].
pub async fn get(link: &mut Link, id: &RepositoryId) -> Result<Option<Repository>> {
    let row = link
        .maybe(sql("SELECT * FROM repositories WHERE id = $1").bind(id))
        .await?;
    row.as_ref().map(repository).transpose()
}

/// The one registered for a path.
///
/// # Errors
/// As [`insert`].
pub async fn by_path(
    link: &mut Link,
    workspace_id: &WorkspaceId,
    path: &str,
) -> Result<Option<Repository>> {
    let query = sql("SELECT * FROM repositories WHERE workspace_id = $1 AND path = $2");
    link.maybe(query.bind(workspace_id).bind(path))
        .await?
        .as_ref()
        .map(repository)
        .transpose()
}

/// All of a workspace, by name.
///
/// # Errors
/// As [`insert`].
pub async fn of_workspace(link: &mut Link, workspace_id: &WorkspaceId) -> Result<Vec<Repository>> {
    let query = sql("SELECT * FROM repositories WHERE workspace_id = $1 ORDER BY name, id");
    link.all(query.bind(workspace_id))
        .await?
        .iter()
        .map(repository)
        .collect()
}

fn repository(row: &Row) -> Result<Repository> {
    Ok(Repository {
        id: row.id("id")?,
        workspace_id: row.id("workspace_id")?,
        revision: row.int("revision")?,
        name: row.text("name")?,
        path: row.text("path")?,
        default_branch: row.maybe_text("default_branch")?,
        created_at: row.time("created_at")?,
    })
}
