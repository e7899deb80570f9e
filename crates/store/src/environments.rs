//! Environments, their worktrees and who binds them.

use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, sql, sql_in};
use model::clock::Timestamp;
use model::environment::{Environment, EnvironmentRepository, EnvironmentState};
use model::ids::{EnvironmentId, EnvironmentRepositoryId, SessionId, TaskId, WorkspaceId};
use std::collections::HashMap;

/// Stores an environment without worktrees.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert(
    link: &mut Link,
    id: &EnvironmentId,
    workspace_id: &WorkspaceId,
    path: &str,
    now: Timestamp,
) -> Result<()> {
    let insert = sql(
        "INSERT INTO task_environments (id, workspace_id, state, path, created_at)
                      VALUES ($1, $2, $3, $4, $5)",
    );
    let state = EnvironmentState::Preparing.as_str();
    link.execute(
        insert
            .bind(id)
            .bind(workspace_id)
            .bind(state)
            .bind(path)
            .bind(now),
    )
    .await?;
    Ok(())
}

/// Adds a worktree. The first of an environment is its root repository.
///
/// # Errors
/// As [`insert`].
pub async fn add_repository(
    link: &mut Link,
    environment_id: &EnvironmentId,
    repository: &EnvironmentRepository,
    position: i64,
) -> Result<()> {
    let insert = sql(
        "INSERT INTO task_environment_repos (id, environment_id, repository_id, position, repository_name,
                                             display_name, worktree_path, branch, base_branch)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    );
    link.execute(
        insert
            .bind(&repository.id)
            .bind(environment_id)
            .bind(&repository.repository_id)
            .bind(position)
            .bind(model::git::normalised_repository(
                repository.repository_name.as_deref(),
            ))
            .bind(repository.display_name.as_str())
            .bind(repository.worktree_path.as_str())
            .bind(repository.branch.as_str())
            .bind(repository.base_branch.as_deref()),
    )
    .await?;
    Ok(())
}

/// Moves an environment along its life.
///
/// # Errors
/// As [`insert`].
pub async fn set_state(link: &mut Link, id: &EnvironmentId, state: EnvironmentState) -> Result<()> {
    let update = sql("UPDATE task_environments SET state = $2 WHERE id = $1");
    link.execute(update.bind(id).bind(state.as_str())).await?;
    Ok(())
}

/// Deletes an environment with its snapshots (ENV-01).
///
/// # Errors
/// As [`insert`].
pub async fn remove(link: &mut Link, id: &EnvironmentId) -> Result<()> {
    link.execute(sql("DELETE FROM task_environments WHERE id = $1").bind(id))
        .await?;
    Ok(())
}

/// Binds a task to an environment; again changes nothing.
///
/// # Errors
/// As [`insert`].
pub async fn bind(
    link: &mut Link,
    task_id: &TaskId,
    id: &EnvironmentId,
    now: Timestamp,
) -> Result<()> {
    let insert = sql(
        "INSERT INTO task_environment_bindings (task_id, environment_id, created_at)
                      VALUES ($1, $2, $3) ON CONFLICT (task_id, environment_id) DO NOTHING",
    );
    link.execute(insert.bind(task_id).bind(id).bind(now))
        .await?;
    Ok(())
}

/// The tasks that bind an environment.
///
/// # Errors
/// As [`insert`].
pub async fn tasks_of(link: &mut Link, id: &EnvironmentId) -> Result<Vec<TaskId>> {
    let query = sql(
        "SELECT task_id FROM task_environment_bindings WHERE environment_id = $1 ORDER BY task_id",
    );
    link.all(query.bind(id))
        .await?
        .iter()
        .map(|row| row.id("task_id"))
        .collect()
}

/// Environments that only this task binds: they go with it.
///
/// # Errors
/// As [`insert`].
pub async fn only_of_task(link: &mut Link, task_id: &TaskId) -> Result<Vec<EnvironmentId>> {
    let query = sql(
        "SELECT b.environment_id FROM task_environment_bindings b WHERE b.task_id = $1
         AND NOT EXISTS (SELECT 1 FROM task_environment_bindings o
                         WHERE o.environment_id = b.environment_id AND o.task_id <> $1)",
    );
    link.all(query.bind(task_id))
        .await?
        .iter()
        .map(|row| row.id("environment_id"))
        .collect()
}

/// Environments that nobody binds, or that are being removed: what a sweep finishes.
///
/// # Errors
/// As [`insert`].
pub async fn abandoned(link: &mut Link) -> Result<Vec<EnvironmentId>> {
    let query = sql("SELECT e.id FROM task_environments e WHERE e.state = 'removing'
                     OR NOT EXISTS (SELECT 1 FROM task_environment_bindings b WHERE b.environment_id = e.id)");
    link.all(query)
        .await?
        .iter()
        .map(|row| row.id("id"))
        .collect()
}

/// The sessions that work in an environment and their tasks.
///
/// # Errors
/// As [`insert`].
pub async fn sessions_of(link: &mut Link, id: &EnvironmentId) -> Result<Vec<(SessionId, TaskId)>> {
    let query = sql(
        "SELECT id, task_id FROM task_sessions WHERE task_environment_id = $1 ORDER BY started_at",
    );
    link.all(query.bind(id))
        .await?
        .iter()
        .map(|row| Ok((row.id("id")?, row.id("task_id")?)))
        .collect()
}

/// One environment.
///
/// # Errors
/// As [`insert`].
pub async fn get(link: &mut Link, id: &EnvironmentId) -> Result<Option<Environment>> {
    let row = link
        .maybe(sql("SELECT * FROM task_environments WHERE id = $1").bind(id))
        .await?;
    let Some(row) = row else { return Ok(None) };
    let query =
        sql("SELECT * FROM task_environment_repos WHERE environment_id = $1 ORDER BY position, id");
    let mut repositories = by_environment(&link.all(query.bind(id)).await?)?;
    let repositories = repositories.remove(id).unwrap_or_default();
    environment(&row, id.clone(), repositories).map(Some)
}

/// Every environment, for the monitor at start-up. One that cannot be read is its own failure and no other's.
///
/// # Errors
/// As [`insert`].
pub async fn all(link: &mut Link) -> Result<Vec<(EnvironmentId, Result<Environment>)>> {
    let rows = link
        .all(sql("SELECT * FROM task_environments ORDER BY id"))
        .await?;
    // By no list of ids: it would have no bound, and a statement takes only so many values.
    let query = sql("SELECT * FROM task_environment_repos ORDER BY position, id");
    let mut repositories = by_environment(&link.all(query).await?)?;
    rows.iter()
        .map(|row| {
            let id: EnvironmentId = row.id("id")?;
            let repositories = repositories.remove(&id).unwrap_or_default();
            Ok((id.clone(), environment(row, id, repositories)))
        })
        .collect()
}

/// The environments that these tasks bind, in binding order: one statement, whatever the number of tasks.
///
/// # Errors
/// As [`insert`], and when any of them cannot be read.
pub async fn of_tasks(
    link: &mut Link,
    ids: &[TaskId],
) -> Result<HashMap<TaskId, Vec<Environment>>> {
    let each = each_of_tasks(link, ids).await?;
    each.into_iter()
        .map(|(task_id, environments)| Ok((task_id, environments?)))
        .collect()
}

/// As [`of_tasks`]; what cannot be read is its own task's failure and no other's.
///
/// # Errors
/// As [`insert`].
pub(crate) async fn each_of_tasks(
    link: &mut Link,
    ids: &[TaskId],
) -> Result<HashMap<TaskId, Result<Vec<Environment>>>> {
    let query = sql_in(
        "SELECT b.task_id, e.id, e.state, e.path, r.id AS worktree_id, r.repository_id, r.repository_name,
                r.display_name, r.worktree_path, r.branch, r.base_branch
         FROM task_environment_bindings b JOIN task_environments e ON e.id = b.environment_id
         LEFT JOIN task_environment_repos r ON r.environment_id = e.id
         WHERE b.task_id IN ({}) ORDER BY b.created_at, e.id, r.position, r.id",
        ids.iter().map(TaskId::as_str),
    );
    let mut found: HashMap<TaskId, Result<Vec<Environment>>> = HashMap::new();
    for row in link.all(query).await? {
        let one = found
            .entry(row.id("task_id")?)
            .or_insert_with(|| Ok(Vec::new()));
        if let Ok(environments) = one
            && let Err(error) = add(environments, &row)
        {
            *one = Err(error);
        }
    }
    Ok(found)
}

/// Adds a row of [`each_of_tasks`] to the environments of its task: the next one, or another worktree of the last.
fn add(environments: &mut Vec<Environment>, row: &Row) -> Result<()> {
    let next: EnvironmentId = row.id("id")?;
    if environments.last().is_none_or(|last| last.id != next) {
        environments.push(environment(row, next, Vec::new())?);
    }
    if let (Some(last), Some(id)) = (environments.last_mut(), row.maybe_id("worktree_id")?) {
        last.repositories.push(worktree(row, id)?);
    }
    Ok(())
}

fn by_environment(rows: &[Row]) -> Result<HashMap<EnvironmentId, Vec<EnvironmentRepository>>> {
    let mut found: HashMap<EnvironmentId, Vec<EnvironmentRepository>> = HashMap::new();
    for row in rows {
        found
            .entry(row.id("environment_id")?)
            .or_default()
            .push(worktree(row, row.id("id")?)?);
    }
    Ok(found)
}

fn worktree(row: &Row, id: EnvironmentRepositoryId) -> Result<EnvironmentRepository> {
    let name = row.text("repository_name")?;
    Ok(EnvironmentRepository {
        id,
        repository_id: row.id("repository_id")?,
        repository_name: (!name.is_empty()).then_some(name),
        display_name: row.text("display_name")?,
        worktree_path: row.text("worktree_path")?,
        branch: row.text("branch")?,
        base_branch: row.maybe_text("base_branch")?,
    })
}

fn environment(
    row: &Row,
    id: EnvironmentId,
    repositories: Vec<EnvironmentRepository>,
) -> Result<Environment> {
    Ok(Environment {
        id,
        state: row.word("state", EnvironmentState::parse)?,
        path: row.text("path")?,
        repositories,
    })
}
