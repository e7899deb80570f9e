//! Observations of Git (`task_session_git_snapshots`), owned by environments (ENV-01 … ENV-03).
//!
//! Current is the newest row of a pair (environment, repository), whatever its type; equal times prefer file details,
//! then the greater id. Nothing ever looks past the newest row for details. A write that is not newer than the pair's
//! current row is skipped, so a slow observation cannot undo a fast one.

use crate::dialect;
use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, sql, sql_in};
use model::git::{
    FileChange, GitSnapshot, GitStatus, GitTotals, SnapshotTrigger, normalised_repository,
};
use model::ids::{EnvironmentId, SnapshotId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a snapshot's `metadata` holds beside the columns.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Metadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository_name: Option<String>,
    #[serde(default)]
    additions: u64,
    #[serde(default)]
    deletions: u64,
    #[serde(default)]
    changed_files: u64,
    #[serde(default)]
    base_resolvable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_branch: Option<String>,
    #[serde(default)]
    truncated: bool,
}

/// What a write of an observation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    /// It is the pair's current row now.
    Recorded,
    /// A row that began to look later, or at the same time, is there already.
    NotNewer,
}

/// Stores an observation of the live monitor as the only one of its kind of the pair
/// (`upsert_latest_live_git_snapshot`), or the observation at a turn's end, which also replaces earlier live ones.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn record(link: &mut Link, snapshot: &GitSnapshot) -> Result<RecordOutcome> {
    let repository = normalised_repository(snapshot.status.repository_name.as_deref());
    let at = snapshot.status.timestamp;
    hold_environment(link, &snapshot.environment_id).await?;
    let newest = sql(
        "SELECT max(created_at) AS newest FROM task_session_git_snapshots
                      WHERE task_environment_id = $1 AND repository_name = $2",
    );
    let row = link
        .one(
            newest.bind(&snapshot.environment_id).bind(repository),
            "environment",
        )
        .await?;
    // The look at a turn's end is often the very look that the monitor stored a moment ago.
    let is_late = |newest| match snapshot.triggered_by {
        SnapshotTrigger::LiveMonitor => at <= newest,
        SnapshotTrigger::AgentCompleted => at < newest,
    };
    if row.maybe_time("newest")?.is_some_and(is_late) {
        return Ok(RecordOutcome::NotNewer);
    }
    let replaced = match snapshot.triggered_by {
        SnapshotTrigger::LiveMonitor => sql("DELETE FROM task_session_git_snapshots
             WHERE task_environment_id = $1 AND repository_name = $2 AND created_at <= $3
               AND triggered_by = 'live_monitor' AND snapshot_type <> 'archive'"),
        SnapshotTrigger::AgentCompleted => sql("DELETE FROM task_session_git_snapshots
             WHERE task_environment_id = $1 AND repository_name = $2 AND created_at <= $3
               AND triggered_by IN ('live_monitor', 'agent_completed') AND snapshot_type <> 'archive'"),
    };
    link.execute(
        replaced
            .bind(&snapshot.environment_id)
            .bind(repository)
            .bind(at),
    )
    .await?;
    insert(link, snapshot, repository).await?;
    Ok(RecordOutcome::Recorded)
}

/// Locks the environment's row, so that two writers of the same pair cannot both see the same newest row (ENV-05,
/// ENV-06). The one-writer lock already keeps our own writers apart; this one holds whoever else writes, too.
async fn hold_environment(link: &mut Link, id: &EnvironmentId) -> Result<()> {
    let query = sql("SELECT id FROM task_environments WHERE id = $1");
    let query = query.and(dialect::for_update(&link.engine));
    link.maybe(query.bind(id)).await?;
    Ok(())
}

async fn insert(link: &mut Link, snapshot: &GitSnapshot, repository: &str) -> Result<()> {
    let status = &snapshot.status;
    let metadata = Metadata {
        repository_name: status.repository_name.clone(),
        additions: status.totals.additions,
        deletions: status.totals.deletions,
        changed_files: status.totals.changed_files,
        base_resolvable: status.base_resolvable,
        base_branch: status.base_branch.clone(),
        truncated: status.truncated,
    };
    let files: BTreeMap<&str, &FileChange> = status
        .files
        .iter()
        .flatten()
        .map(|file| (file.path.as_str(), file))
        .collect();
    let insert = sql(
        "INSERT INTO task_session_git_snapshots (id, task_environment_id, session_id, snapshot_type, branch,
                remote_branch, head_commit, base_commit, ahead, behind, files, triggered_by, metadata,
                repository_name, created_at)
         VALUES ($1, $2, $3, 'status_update', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    );
    let count = |n: Option<u64>| n.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    link.execute(
        insert
            .bind(&snapshot.id)
            .bind(&snapshot.environment_id)
            .bind(snapshot.session_id.as_ref())
            .bind(status.branch.as_deref().unwrap_or(""))
            .bind(status.remote_branch.as_deref())
            .bind(status.head_commit.as_deref())
            .bind(status.base_commit.as_deref())
            .bind(count(status.totals.ahead))
            .bind(count(status.totals.behind))
            .bind(serde_json::to_string(&files).expect("files are plain data"))
            .bind(snapshot.triggered_by.as_str())
            .bind(serde_json::to_string(&metadata).expect("metadata is plain data"))
            .bind(repository)
            .bind(status.timestamp),
    )
    .await?;
    Ok(())
}

/// The current observation of every pair of these environments, by one seek per pair (GIT-03). The seeks are made before
/// the join, because PostgreSQL would compare every observation that there is with them.
///
/// # Errors
/// As [`record`].
pub async fn current(link: &mut Link, environments: &[EnvironmentId]) -> Result<Vec<GitSnapshot>> {
    let query = sql_in(
        "WITH pairs AS (SELECT DISTINCT task_environment_id, repository_name FROM task_session_git_snapshots
                        WHERE task_environment_id IN ({})),
              latest AS MATERIALIZED (SELECT (
                  SELECT c.id FROM task_session_git_snapshots c
                  WHERE c.task_environment_id = pairs.task_environment_id
                    AND c.repository_name = pairs.repository_name
                  ORDER BY c.created_at DESC, (c.files <> '{}') DESC, c.id DESC LIMIT 1) AS id FROM pairs)
         SELECT g.* FROM latest JOIN task_session_git_snapshots g ON g.id = latest.id
         ORDER BY g.task_environment_id, g.repository_name",
        environments.iter().map(EnvironmentId::as_str),
    );
    link.all(query).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<GitSnapshot> {
    let metadata: Metadata = serde_json::from_str(&row.text("metadata")?).unwrap_or_default();
    let files: BTreeMap<String, FileChange> =
        serde_json::from_str(&row.text("files")?).unwrap_or_default();
    let name = row.text("repository_name")?;
    let branch = row.text("branch")?;
    let count = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
    Ok(GitSnapshot {
        id: row.id::<SnapshotId>("id")?,
        environment_id: row.id("task_environment_id")?,
        session_id: row.maybe_id("session_id")?,
        triggered_by: row
            .maybe_word("triggered_by", SnapshotTrigger::parse)?
            .unwrap_or(SnapshotTrigger::LiveMonitor),
        status: GitStatus {
            repository_name: (!name.is_empty()).then_some(name),
            timestamp: row.time("created_at")?,
            branch: (!branch.is_empty()).then_some(branch),
            remote_branch: row.maybe_text("remote_branch")?,
            head_commit: row.maybe_text("head_commit")?,
            base_commit: row.maybe_text("base_commit")?,
            base_branch: metadata.base_branch,
            base_resolvable: metadata.base_resolvable,
            totals: GitTotals {
                additions: metadata.additions,
                deletions: metadata.deletions,
                changed_files: metadata.changed_files,
                ahead: count(row.maybe_int("ahead")?),
                behind: count(row.maybe_int("behind")?),
            },
            // A clean tree has details that name no file; the totals tell it from a row without details.
            files: (!files.is_empty() || metadata.changed_files == 0)
                .then(|| files.into_values().collect()),
            truncated: metadata.truncated,
        },
    })
}
