//! Which workspace an id belongs to: what the gateway authorizes by (law 8). An unknown id gives nothing, exactly as
//! a foreign one does.

use crate::error::Result;
use crate::sql::{Link, Statement, sql};
use model::ids::{AgentProfileId, EnvironmentId, RepositoryId, SessionId, TaskId, WorkspaceId};

async fn workspace(link: &mut Link, query: Statement) -> Result<Option<WorkspaceId>> {
    link.maybe(query)
        .await?
        .map(|row| row.id("workspace_id"))
        .transpose()
}

/// The workspace of a task.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn of_task(link: &mut Link, id: &TaskId) -> Result<Option<WorkspaceId>> {
    workspace(
        link,
        sql("SELECT workspace_id FROM tasks WHERE id = $1").bind(id),
    )
    .await
}

/// The workspace of a session.
///
/// # Errors
/// As [`of_task`].
pub async fn of_session(link: &mut Link, id: &SessionId) -> Result<Option<WorkspaceId>> {
    let query = sql(
        "SELECT t.workspace_id FROM task_sessions s JOIN tasks t ON t.id = s.task_id
                     WHERE s.id = $1",
    );
    workspace(link, query.bind(id)).await
}

/// The workspace of an environment.
///
/// # Errors
/// As [`of_task`].
pub async fn of_environment(link: &mut Link, id: &EnvironmentId) -> Result<Option<WorkspaceId>> {
    workspace(
        link,
        sql("SELECT workspace_id FROM task_environments WHERE id = $1").bind(id),
    )
    .await
}

/// The workspace of a repository.
///
/// # Errors
/// As [`of_task`].
pub async fn of_repository(link: &mut Link, id: &RepositoryId) -> Result<Option<WorkspaceId>> {
    workspace(
        link,
        sql("SELECT workspace_id FROM repositories WHERE id = $1").bind(id),
    )
    .await
}

/// The workspace of an agent profile.
///
/// # Errors
/// As [`of_task`].
pub async fn of_profile(link: &mut Link, id: &AgentProfileId) -> Result<Option<WorkspaceId>> {
    workspace(
        link,
        sql("SELECT workspace_id FROM agent_profiles WHERE id = $1").bind(id),
    )
    .await
}
