//! Tasks and their repositories.

use crate::environments;
use crate::error::Result;
use crate::hydration::{Listed, Listing, Unreadable};
use crate::row::Row;
use crate::sql::{Link, Statement, sql, sql_in};
use crate::summaries;
use model::bounds;
use model::clock::Timestamp;
use model::error::ActiveError;
use model::ids::{
    AgentProfileId, RepositoryId, StepId, TaskId, TaskRepositoryId, WorkflowId, WorkspaceId,
};
use model::task::{Task, TaskRepository, TaskState};
use std::collections::HashMap;

/// What a new task's row holds.
#[derive(Clone, Debug)]
pub struct NewTask<'a> {
    /// Its id.
    pub id: &'a TaskId,
    /// Its workspace.
    pub workspace_id: &'a WorkspaceId,
    /// Its board.
    pub workflow_id: &'a WorkflowId,
    /// Its column.
    pub step_id: &'a StepId,
    /// The client's id for the request that made it.
    pub client_id: &'a str,
    /// One line.
    pub title: &'a str,
    /// What is to be done.
    pub description: &'a str,
    /// The task it is a part of.
    pub parent_id: Option<&'a TaskId>,
}

/// Stores a task at the end of its step. It is stale from the start, so its summary will be made.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert(link: &mut Link, new: &NewTask<'_>, now: Timestamp) -> Result<()> {
    let insert = sql(
        "INSERT INTO tasks (id, workspace_id, workflow_id, step_id, client_id, revision, title, description,
                            state, position, priority, parent_id, last_activity_at, authority_seq, derived_seq,
                            created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, 1, $6, $7, 'TODO',
                 (SELECT coalesce(max(position), 0) + 1 FROM tasks WHERE step_id = $4), 0, $8, $9, 0, 0, $9, $9)",
    );
    link.execute(
        insert
            .bind(new.id)
            .bind(new.workspace_id)
            .bind(new.workflow_id)
            .bind(new.step_id)
            .bind(new.client_id)
            .bind(new.title)
            .bind(new.description)
            .bind(new.parent_id)
            .bind(now),
    )
    .await?;
    Ok(())
}

/// Attaches a repository.
///
/// # Errors
/// As [`insert`].
pub async fn add_repository(
    link: &mut Link,
    task_id: &TaskId,
    id: &TaskRepositoryId,
    repository_id: &RepositoryId,
    position: i64,
    base_branch: Option<&str>,
) -> Result<()> {
    let insert = sql(
        "INSERT INTO task_repositories (id, task_id, repository_id, position, base_branch)
                      VALUES ($1, $2, $3, $4, $5)",
    );
    link.execute(
        insert
            .bind(id)
            .bind(task_id)
            .bind(repository_id)
            .bind(position)
            .bind(base_branch),
    )
    .await?;
    Ok(())
}

/// Notes the branch a task's repository is checked out on.
///
/// # Errors
/// As [`insert`].
pub async fn set_checkout(link: &mut Link, id: &TaskRepositoryId, branch: &str) -> Result<()> {
    let update = sql("UPDATE task_repositories SET checkout_branch = $2 WHERE id = $1");
    link.execute(update.bind(id).bind(branch)).await?;
    Ok(())
}

/// Chooses the branch a task's repository starts from.
///
/// # Errors
/// As [`insert`].
pub async fn set_base(link: &mut Link, id: &TaskRepositoryId, branch: Option<&str>) -> Result<()> {
    let update = sql("UPDATE task_repositories SET base_branch = $2 WHERE id = $1");
    link.execute(update.bind(id).bind(branch)).await?;
    Ok(())
}

/// The task that a client's request made, if it did.
///
/// # Errors
/// As [`insert`].
pub async fn by_client_id(
    link: &mut Link,
    workspace_id: &WorkspaceId,
    client_id: &str,
) -> Result<Option<TaskId>> {
    let query = sql("SELECT id FROM tasks WHERE workspace_id = $1 AND client_id = $2");
    link.maybe(query.bind(workspace_id).bind(client_id))
        .await?
        .map(|row| row.id("id"))
        .transpose()
}

/// One task with everything clients see.
///
/// # Errors
/// `NotFound` when it does not exist.
pub async fn get(link: &mut Link, id: &TaskId) -> Result<Task> {
    let mut tasks = load(link, std::slice::from_ref(id)).await?;
    tasks
        .pop()
        .ok_or(crate::error::StoreError::NotFound { what: "task" })
}

/// Tasks in the order of `ids`, missing ones left out, in a constant number of statements (PST-04).
///
/// # Errors
/// As [`insert`], and when any of them cannot be read.
pub async fn load(link: &mut Link, ids: &[TaskId]) -> Result<Vec<Task>> {
    let Listing { listed, unreadable } = load_listed(link, ids).await?;
    match unreadable.into_iter().next() {
        Some(Unreadable { error, .. }) => Err(error),
        None => Ok(listed.into_iter().map(|listed| listed.task).collect()),
    }
}

/// As [`load`], with how each stored summary was kept. A task that cannot be read, because of its own row or one that
/// belongs to it, harms no other.
///
/// # Errors
/// As [`insert`].
pub async fn load_listed(link: &mut Link, ids: &[TaskId]) -> Result<Listing> {
    let mut listing = Listing::default();
    if ids.is_empty() {
        return Ok(listing);
    }
    let list = || ids.iter().map(TaskId::as_str);
    let tasks = sql_in(
        "SELECT t.id, t.workspace_id, t.workflow_id, t.revision, t.title, t.description, t.state, t.step_id, t.position,
                t.priority, t.parent_id, t.archived_at, t.interrupted_at, t.created_at, t.updated_at,
                t.derived_seq < t.authority_seq AS stale, t.last_activity_at IS NULL AS undated,
                y.revision AS summary_revision, y.payload AS summary_payload, y.updated_at AS summary_updated_at
         FROM tasks t LEFT JOIN task_status_summaries y ON y.task_id = t.id WHERE t.id IN ({})",
        list(),
    );
    let rows = link.all(tasks).await?;
    let mut repositories = repositories(link, ids).await?;
    let mut environments = environments::each_of_tasks(link, ids).await?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in &rows {
        let id: TaskId = row.id("id")?;
        let (repositories, environments) = (repositories.remove(&id), environments.remove(&id));
        let one = move || -> Result<Listed> {
            Ok(Listed {
                stale: row.truth("stale")?,
                undated: row.truth("undated")?,
                task: Task {
                    repositories: repositories.transpose()?.unwrap_or_default(),
                    environments: environments.transpose()?.unwrap_or_default(),
                    status_summary: summaries::read_beside(row),
                    ..read(row)?
                },
            })
        };
        found.insert(id, one());
    }
    for id in ids {
        match found.remove(id) {
            Some(Ok(listed)) => listing.listed.push(listed),
            Some(Err(error)) => listing.unreadable.push(Unreadable {
                task_id: id.clone(),
                error,
            }),
            None => {} // it is gone
        }
    }
    Ok(listing)
}

/// The repositories of these tasks, in their order; what cannot be read is its own task's failure and no other's.
async fn repositories(
    link: &mut Link,
    ids: &[TaskId],
) -> Result<HashMap<TaskId, Result<Vec<TaskRepository>>>> {
    let query = sql_in(
        "SELECT id, task_id, repository_id, base_branch, checkout_branch FROM task_repositories
         WHERE task_id IN ({}) ORDER BY position, id",
        ids.iter().map(TaskId::as_str),
    );
    let mut found: HashMap<TaskId, Result<Vec<TaskRepository>>> = HashMap::new();
    for row in link.all(query).await? {
        let one = found
            .entry(row.id("task_id")?)
            .or_insert_with(|| Ok(Vec::new()));
        if let Ok(repositories) = one {
            match read_repository(&row) {
                Ok(repository) => repositories.push(repository),
                Err(error) => *one = Err(error),
            }
        }
    }
    Ok(found)
}

fn read_repository(row: &Row) -> Result<TaskRepository> {
    Ok(TaskRepository {
        id: row.id("id")?,
        repository_id: row.id("repository_id")?,
        base_branch: row.maybe_text("base_branch")?,
        checkout_branch: row.maybe_text("checkout_branch")?,
    })
}

/// The next ids of a workspace's tasks, newest first, after `cursor`; fewer than `limit` when their texts alone are
/// more than `bounds::PAGE_BYTES`, but then at least one that does not fit, so that the reader knows of it.
///
/// # Errors
/// As [`insert`].
pub async fn page(
    link: &mut Link,
    workspace_id: &WorkspaceId,
    workflow_id: Option<&WorkflowId>,
    archived: bool,
    cursor: Option<&TaskId>,
    limit: usize,
) -> Result<Vec<TaskId>> {
    let living = "SELECT id, CAST(octet_length(title) + octet_length(description) AS BIGINT) AS bytes FROM tasks
                  WHERE workspace_id = $1 AND archived_at IS NULL
                    AND id < $3 AND ($2 IS NULL OR workflow_id = $2) ORDER BY id DESC LIMIT $4";
    let shelved = "SELECT id, CAST(octet_length(title) + octet_length(description) AS BIGINT) AS bytes FROM tasks
                   WHERE workspace_id = $1 AND archived_at IS NOT NULL
                     AND id < $3 AND ($2 IS NULL OR workflow_id = $2) ORDER BY id DESC LIMIT $4";
    let query = sql(if archived { shelved } else { living })
        .bind(workspace_id)
        .bind(workflow_id)
        .bind(cursor.map_or("~", TaskId::as_str)) // after every id, which are hexadecimal
        .bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let mut ids = Vec::new();
    let mut bytes = 0;
    for row in link.all(query).await? {
        let full = bounds::PAGE_BYTES < bytes;
        ids.push(row.id("id")?);
        if full {
            break;
        }
        bytes += usize::try_from(row.int("bytes")?).unwrap_or(0);
    }
    Ok(ids)
}

async fn change(link: &mut Link, statement: Statement) -> Result<()> {
    link.execute(statement).await?;
    Ok(())
}

/// Changes title, description and priority; absent ones stay.
///
/// # Errors
/// As [`insert`].
pub async fn set_facts(
    link: &mut Link,
    id: &TaskId,
    title: Option<&str>,
    description: Option<&str>,
    priority: Option<i64>,
    now: Timestamp,
) -> Result<()> {
    let update = sql("UPDATE tasks SET title = coalesce($2, title), description = coalesce($3, description),
                      priority = coalesce($4, priority), updated_at = $5, revision = revision + 1 WHERE id = $1");
    change(
        link,
        update
            .bind(id)
            .bind(title)
            .bind(description)
            .bind(priority)
            .bind(now),
    )
    .await
}

/// Sets the coarse state.
///
/// # Errors
/// As [`insert`].
pub async fn set_state(
    link: &mut Link,
    id: &TaskId,
    state: TaskState,
    now: Timestamp,
) -> Result<()> {
    let update = sql(
        "UPDATE tasks SET state = $2, updated_at = $3, revision = revision + 1
                      WHERE id = $1 AND state <> $2",
    );
    change(link, update.bind(id).bind(state.as_str()).bind(now)).await
}

/// Moves a task to a step; absent position: to its end.
///
/// # Errors
/// As [`insert`].
pub async fn move_to(
    link: &mut Link,
    id: &TaskId,
    step_id: &StepId,
    position: Option<i64>,
    now: Timestamp,
) -> Result<()> {
    let update = sql("UPDATE tasks SET step_id = $2, updated_at = $4, revision = revision + 1,
                      position = coalesce($3, (SELECT coalesce(max(position), 0) + 1 FROM tasks WHERE step_id = $2))
                      WHERE id = $1");
    change(link, update.bind(id).bind(step_id).bind(position).bind(now)).await
}

/// Archives a task, or takes it out of the archive.
///
/// # Errors
/// As [`insert`].
pub async fn set_archived(
    link: &mut Link,
    id: &TaskId,
    archived_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<()> {
    let update = sql(
        "UPDATE tasks SET archived_at = $2, updated_at = $3, revision = revision + 1 WHERE id = $1",
    );
    change(link, update.bind(id).bind(archived_at).bind(now)).await
}

/// Notes, or clears, that the server stopped under an open turn.
///
/// # Errors
/// As [`insert`].
pub async fn set_interrupted(link: &mut Link, id: &TaskId, at: Option<Timestamp>) -> Result<()> {
    let update = sql("UPDATE tasks SET interrupted_at = $2, revision = revision + 1 WHERE id = $1");
    change(link, update.bind(id).bind(at)).await
}

/// Raises the task's last milestone; never lowers it (SUM-08).
///
/// # Errors
/// As [`insert`].
pub async fn raise_activity(link: &mut Link, id: &TaskId, at: Timestamp) -> Result<()> {
    let update = sql("UPDATE tasks SET last_activity_at = $2
                      WHERE id = $1 AND (last_activity_at IS NULL OR last_activity_at < $2)");
    change(link, update.bind(id).bind(at)).await
}

/// Raises the revision of a task whose repositories or environments changed.
///
/// # Errors
/// As [`insert`].
pub async fn raise_revision(link: &mut Link, id: &TaskId) -> Result<()> {
    change(
        link,
        sql("UPDATE tasks SET revision = revision + 1 WHERE id = $1").bind(id),
    )
    .await
}

/// Stores a launch error, or clears it.
///
/// # Errors
/// As [`insert`].
pub async fn set_launch_error(
    link: &mut Link,
    id: &TaskId,
    error: Option<&ActiveError>,
) -> Result<()> {
    let actions = error.map(|error| {
        serde_json::to_string(&error.recovery_actions).expect("a list of words serialises")
    });
    let update = sql(
        "UPDATE tasks SET launch_error_stamp = $2, launch_error_occurred_at = $3, launch_error_preview = $4,
                launch_error_category = $5, launch_error_actions = $6, launch_error_task_repository_id = $7
         WHERE id = $1",
    );
    let update = update
        .bind(id)
        .bind(error.map(|error| error.stamp.as_str()))
        .bind(error.map(|error| error.occurred_at))
        .bind(error.map(|error| error.preview.as_str()))
        .bind(error.and_then(|error| error.category.as_deref()))
        .bind(actions)
        .bind(error.and_then(|error| error.task_repository_id.as_ref()));
    change(link, update).await
}

/// What a task was asked to start with, until a session exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchIntent {
    /// Which agent; absent: the workspace's first.
    pub agent_profile_id: Option<AgentProfileId>,
    /// The first prompt.
    pub prompt: String,
}

/// Keeps, or forgets, what the task was asked to start with.
///
/// # Errors
/// As [`insert`].
pub async fn set_launch_intent(
    link: &mut Link,
    id: &TaskId,
    intent: Option<&LaunchIntent>,
) -> Result<()> {
    let update =
        sql("UPDATE tasks SET launch_agent_profile_id = $2, launch_prompt = $3 WHERE id = $1");
    let profile = intent.and_then(|intent| intent.agent_profile_id.as_ref());
    let prompt = intent.map(|intent| intent.prompt.as_str());
    change(link, update.bind(id).bind(profile).bind(prompt)).await
}

/// What the task was asked to start with.
///
/// # Errors
/// `NotFound` when the task does not exist.
pub async fn launch_intent(link: &mut Link, id: &TaskId) -> Result<Option<LaunchIntent>> {
    let query = sql("SELECT launch_agent_profile_id, launch_prompt FROM tasks WHERE id = $1");
    let row = link.one(query.bind(id), "task").await?;
    let Some(prompt) = row.maybe_text("launch_prompt")? else {
        return Ok(None);
    };
    Ok(Some(LaunchIntent {
        agent_profile_id: row.maybe_id("launch_agent_profile_id")?,
        prompt,
    }))
}

/// The stored launch error's stamp, if there is one.
///
/// # Errors
/// `NotFound` when the task does not exist.
pub async fn launch_error_stamp(link: &mut Link, id: &TaskId) -> Result<Option<String>> {
    let query = sql("SELECT launch_error_stamp FROM tasks WHERE id = $1");
    link.one(query.bind(id), "task")
        .await?
        .maybe_text("launch_error_stamp")
}

/// Deletes a task with its sessions and bindings.
///
/// # Errors
/// As [`insert`].
pub async fn remove(link: &mut Link, id: &TaskId) -> Result<()> {
    change(link, sql("DELETE FROM tasks WHERE id = $1").bind(id)).await
}

fn read(row: &Row) -> Result<Task> {
    Ok(Task {
        id: row.id("id")?,
        workspace_id: row.id("workspace_id")?,
        workflow_id: row.id("workflow_id")?,
        revision: row.int("revision")?,
        title: row.text("title")?,
        description: row.text("description")?,
        state: row.word("state", TaskState::parse)?,
        step_id: row.id("step_id")?,
        position: row.int("position")?,
        priority: row.int("priority")?,
        parent_id: row.maybe_id("parent_id")?,
        repositories: Vec::new(),
        environments: Vec::new(),
        archived_at: row.maybe_time("archived_at")?,
        interrupted_at: row.maybe_time("interrupted_at")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        status_summary: None,
    })
}
