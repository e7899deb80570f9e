//! A lived-in database of any size, made by a few statements that count by themselves.
//!
//! Per task: one session (every fourth: two), two turns and four messages per session, one environment with one
//! repository and its observation. Every tenth waits for an answer to a question, which no restart ends; every twentieth
//! shows an error.

use anyhow::{Context as _, Result, ensure};
use model::ids::{TaskId, WorkspaceId};
use projector::running::Projector;
use std::sync::Arc;
use store::open::Store;
use store::sql::{Statement, sql};

/// The rows that everything hangs from.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// The workspace that is filled.
    pub(crate) workspace: WorkspaceId,
}

/// The head of every statement: a row per task.
const NUMBERS: &str = "WITH RECURSIVE n(i, id, t) AS (
    SELECT CAST(1 AS BIGINT), CAST(1000001 AS TEXT), CAST(1700000000000000 AS BIGINT)
    UNION ALL SELECT i + 1, CAST(1000001 + i AS TEXT), t + 1000 FROM n WHERE i < $1) ";

/// What follows it, one statement per table.
const TABLES: &str = include_str!("world.sql");

impl World {
    /// Finds the first workspace, as a server or a story made it, and registers a repository that is never looked at.
    pub(crate) async fn find(store: &Store) -> Result<Self> {
        let mut tx = store.write().await?;
        let row = tx
            .one(
                sql("SELECT id FROM workspaces ORDER BY id LIMIT 1"),
                "workspace",
            )
            .await?;
        let workspace: WorkspaceId = row.id("id")?;
        let repository = sql(
            "INSERT INTO repositories (id, workspace_id, revision, name, path, default_branch, created_at)
             VALUES ('bench-repository', $1, 1, 'sample', '/nonexistent', 'main', 1) ON CONFLICT DO NOTHING",
        );
        tx.execute(repository.bind(&workspace)).await?;
        let _ = tx.commit().await?; // nobody listens yet
        Ok(Self { workspace })
    }

    /// Adds `tasks` tasks, all of them stale. Once per database.
    pub(crate) async fn fill(&self, store: &Store, tasks: i64) -> Result<()> {
        for text in TABLES.split(";\n") {
            let insert = text.trim_start_matches(|c| c != 'I'); // past the comment
            if insert.is_empty() {
                continue;
            }
            let mut tx = store.write().await?;
            let statement = Statement::joined(&[NUMBERS, insert]).bind(tasks);
            tx.execute(statement)
                .await
                .with_context(|| format!("filling by: {insert}"))?;
            let _ = tx.commit().await?; // nobody listens yet
        }
        Ok(())
    }

    /// Makes the first `sessions` sessions look as if a server was killed while their agents worked.
    pub(crate) async fn interrupt(&self, store: &Store, sessions: i64) -> Result<()> {
        let last = format!("bench-s-1-{}", 1_000_000 + sessions);
        let last_task = format!("bench-t-{}", 1_000_000 + sessions);
        let mut tx = store.write().await?;
        let running = sql(
            "UPDATE task_sessions SET state = 'RUNNING', foreground_activity = 'generating' WHERE id LIKE 'bench-s-1-%' AND id <= $1",
        );
        tx.execute(running.bind(last.as_str())).await?;
        let open = sql(
            "UPDATE task_session_turns SET completed_at = NULL, outcome = NULL WHERE id LIKE 'bench-u-2-%' AND session_id <= $1",
        );
        tx.execute(open.bind(last.as_str())).await?;
        let working =
            sql("UPDATE tasks SET state = 'IN_PROGRESS' WHERE id LIKE 'bench-t-%' AND id <= $1");
        tx.execute(working.bind(last_task.as_str())).await?;
        let _ = tx.commit().await?; // nobody listens yet
        Ok(())
    }

    /// Derives every summary, so that nothing is stale.
    pub(crate) async fn settle(&self, store: &Store) -> Result<()> {
        let nobody = Arc::new(testkit::recorder::Recorder::default());
        let converged = Projector::new(store.clone(), nobody).converge().await?;
        ensure!(
            converged.failed == 0,
            "{} summaries failed",
            converged.failed
        );
        Ok(())
    }

    /// The tasks, oldest first.
    pub(crate) async fn ids(&self, store: &Store) -> Result<Vec<TaskId>> {
        let mut tx = store.read().await?;
        let rows = tx
            .all(
                sql("SELECT id FROM tasks WHERE workspace_id = $1 ORDER BY id")
                    .bind(&self.workspace),
            )
            .await?;
        Ok(rows
            .iter()
            .map(|row| row.id("id"))
            .collect::<Result<_, _>>()?)
    }
}
