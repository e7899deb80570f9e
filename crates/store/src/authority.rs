//! What summaries are derived from: for a batch of tasks a constant number of statements, in the caller's snapshot,
//! whatever the numbers of tasks, sessions, messages, repositories and pull requests (PST-04).
//!
//! Correlated seeks are used instead of windows over whole tables: each finds its one row by an index.

use crate::active_errors;
use crate::environments;
use crate::error::Result;
use crate::pull_requests;
use crate::sessions::{current_turn, open, read_error};
use crate::snapshots;
use crate::sql::{Link, sql_in};
use crate::summaries;
use model::git::normalised_repository;
use model::ids::{EnvironmentId, SessionId, TaskId, WorkspaceId};
use model::message::{MessageType, RequestStatus};
use model::session::{Activity, SessionState};
use model::summary::{PendingAction, TaskStatusSummary};
use std::collections::HashMap;
use summary::authority::{
    EnvironmentAuthority, RepositoryAuthority, RequestAuthority, SessionAuthority, TaskAuthority,
};

/// One task of a batch: its authority, the mark it was read at, and the summary stored beside it.
#[derive(Clone, Debug)]
pub struct LoadedTask {
    /// The task.
    pub task_id: TaskId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// `authority_seq` in this snapshot: what `derived_seq` may be moved to.
    pub authority_seq: i64,
    /// What the summary is derived from.
    pub authority: TaskAuthority,
    /// What is stored, if it can be read.
    pub stored: Option<TaskStatusSummary>,
}

/// Loads these tasks; missing ones are left out.
///
/// # Errors
/// Whatever the engine says.
pub async fn load(link: &mut Link, ids: &[TaskId]) -> Result<Vec<LoadedTask>> {
    let list = || ids.iter().map(TaskId::as_str);
    let rows = link
        .all(sql_in(
            "SELECT id, workspace_id, created_at, last_activity_at, authority_seq, launch_error_stamp,
                    launch_error_occurred_at, launch_error_preview, launch_error_category, launch_error_actions,
                    launch_error_task_repository_id FROM tasks WHERE id IN ({}) ORDER BY id",
            list(),
        ))
        .await?;
    let mut sessions = load_sessions(link, ids).await?;
    let mut queued = load_queued(link, ids).await?;
    let mut environments = load_environments(link, ids).await?;
    let mut pull_requests = pull_requests::authority(link, ids).await?;
    let mut stored = summaries::of_tasks(link, ids).await?;
    let mut loaded = Vec::with_capacity(rows.len());
    for row in &rows {
        let task_id: TaskId = row.id("id")?;
        loaded.push(LoadedTask {
            workspace_id: row.id("workspace_id")?,
            authority_seq: row.int("authority_seq")?,
            authority: TaskAuthority {
                created_at: row.time("created_at")?,
                last_activity_at: row.maybe_time("last_activity_at")?,
                launch_error: active_errors::read(row, &active_errors::LAUNCH, None),
                sessions: sessions.remove(&task_id).unwrap_or_default(),
                queued_prompts: queued.remove(&task_id).unwrap_or(0),
                environments: environments.remove(&task_id).unwrap_or_default(),
                pull_requests: pull_requests.remove(&task_id).unwrap_or_default(),
            },
            stored: stored.remove(&task_id),
            task_id,
        });
    }
    Ok(loaded)
}

async fn load_sessions(
    link: &mut Link,
    ids: &[TaskId],
) -> Result<HashMap<TaskId, Vec<SessionAuthority>>> {
    let list = || ids.iter().map(TaskId::as_str);
    let requests = sql_in(
        concat!(
            "SELECT m.session_id, m.type, m.turn_id, m.created_at
             FROM task_sessions s JOIN task_session_messages m ON m.session_id = s.id
             WHERE s.task_id IN ({}) AND ",
            open!()
        ),
        list(),
    );
    let mut by_session: HashMap<SessionId, Vec<RequestAuthority>> = HashMap::new();
    for row in link.all(requests).await? {
        let action = match row.word("type", MessageType::parse)? {
            MessageType::ClarificationRequest => PendingAction::Clarification,
            _ => PendingAction::Permission,
        };
        by_session
            .entry(row.id("session_id")?)
            .or_default()
            .push(RequestAuthority {
                action,
                status: RequestStatus::Pending,
                turn_id: row.maybe_id("turn_id")?,
                created_at: row.time("created_at")?,
            });
    }
    let sessions = sql_in(
        concat!(
            "SELECT s.id, s.task_id, s.state, s.is_primary, s.foreground_activity, s.active_subagent_count,
                    s.error_stamp, s.error_occurred_at, s.error_preview, s.error_category, s.error_actions,
                    s.error_task_repository_id, s.error_cleared_at, ",
            current_turn!(),
            " AS current_turn FROM task_sessions s WHERE s.task_id IN ({}) ORDER BY s.started_at, s.id"
        ),
        list(),
    );
    let mut found: HashMap<TaskId, Vec<SessionAuthority>> = HashMap::new();
    for row in link.all(sessions).await? {
        let id: SessionId = row.id("id")?;
        found
            .entry(row.id("task_id")?)
            .or_default()
            .push(SessionAuthority {
                state: row.word("state", SessionState::parse)?,
                is_primary: row.truth("is_primary")?,
                activity: row.maybe_word("foreground_activity", Activity::parse)?,
                subagents: u32::try_from(row.int("active_subagent_count")?).unwrap_or(0),
                current_turn: row.maybe_id("current_turn")?,
                requests: by_session.remove(&id).unwrap_or_default(),
                error: read_error(&row, &id)?,
                id,
            });
    }
    Ok(found)
}

/// Counted session by session and not joined: without statistics PostgreSQL takes every third message for a queued one
/// and would read all that there are.
async fn load_queued(link: &mut Link, ids: &[TaskId]) -> Result<HashMap<TaskId, u32>> {
    let query = sql_in(
        "SELECT s.task_id, (SELECT count(*) FROM task_session_messages m
                            WHERE m.session_id = s.id AND m.queue_position IS NOT NULL AND NOT m.removed) AS n
         FROM task_sessions s WHERE s.task_id IN ({}) AND s.state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')",
        ids.iter().map(TaskId::as_str),
    );
    let mut found: HashMap<TaskId, u32> = HashMap::new();
    for row in link.all(query).await? {
        let queued = u32::try_from(row.int("n")?).unwrap_or(u32::MAX);
        let of_task = found.entry(row.id("task_id")?).or_default();
        *of_task = of_task.saturating_add(queued);
    }
    Ok(found)
}

async fn load_environments(
    link: &mut Link,
    ids: &[TaskId],
) -> Result<HashMap<TaskId, Vec<EnvironmentAuthority>>> {
    let bound = environments::of_tasks(link, ids).await?;
    let mut unique: Vec<EnvironmentId> = bound.values().flatten().map(|e| e.id.clone()).collect();
    unique.sort();
    unique.dedup();
    let mut observed = HashMap::new();
    for snapshot in snapshots::current(link, &unique).await? {
        let name = normalised_repository(snapshot.status.repository_name.as_deref()).to_owned();
        observed.insert(
            (snapshot.environment_id, name),
            (snapshot.status.totals, snapshot.status.base_resolvable),
        );
    }
    Ok(bound
        .into_iter()
        .map(|(task_id, environments)| {
            let environments = environments
                .into_iter()
                .map(|environment| EnvironmentAuthority {
                    repositories: environment
                        .repositories
                        .iter()
                        .map(|repository| {
                            let name = normalised_repository(repository.repository_name.as_deref());
                            let seen = observed.get(&(environment.id.clone(), name.to_owned()));
                            RepositoryAuthority {
                                totals: seen
                                    .and_then(|(totals, resolvable)| resolvable.then_some(*totals)),
                            }
                        })
                        .collect(),
                    id: environment.id,
                })
                .collect();
            (task_id, environments)
        })
        .collect())
}
