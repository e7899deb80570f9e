//! Live agent processes (`executors_running`), so that a crash leaves a trace to clean up.

use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, sql};
use model::clock::Timestamp;
use model::ids::{EnvironmentId, ExecutionId, InstanceId, SessionId};

/// A live agent process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Its id.
    pub id: ExecutionId,
    /// The session it serves.
    pub session_id: SessionId,
    /// The environment it works in.
    pub environment_id: EnvironmentId,
    /// The leader of its process group.
    pub pid: i64,
    /// The kernel's start time of that process, so that a reused pid is not mistaken for it.
    pub process_started: String,
    /// The run of the server that started it.
    pub instance_id: InstanceId,
}

/// Notes a process; a session has at most one.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert(link: &mut Link, execution: &Execution, now: Timestamp) -> Result<()> {
    remove(link, &execution.session_id).await?;
    let insert = sql(
        "INSERT INTO executors_running (id, session_id, task_environment_id, pid, process_started, instance_id,
                                        started_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    );
    link.execute(
        insert
            .bind(&execution.id)
            .bind(&execution.session_id)
            .bind(&execution.environment_id)
            .bind(execution.pid)
            .bind(execution.process_started.as_str())
            .bind(&execution.instance_id)
            .bind(now),
    )
    .await?;
    Ok(())
}

/// Forgets the process of a session.
///
/// # Errors
/// As [`insert`].
pub async fn remove(link: &mut Link, session_id: &SessionId) -> Result<()> {
    link.execute(sql("DELETE FROM executors_running WHERE session_id = $1").bind(session_id))
        .await?;
    Ok(())
}

/// All of them: at start-up, what an earlier run left.
///
/// # Errors
/// As [`insert`].
pub async fn all(link: &mut Link) -> Result<Vec<Execution>> {
    link.all(sql("SELECT * FROM executors_running ORDER BY id"))
        .await?
        .iter()
        .map(execution)
        .collect()
}

/// Whether any process lives in an environment (ENV-08).
///
/// # Errors
/// As [`insert`].
pub async fn any_in(link: &mut Link, environment_id: &EnvironmentId) -> Result<bool> {
    let query = sql(
        "SELECT EXISTS (SELECT 1 FROM executors_running WHERE task_environment_id = $1) AS live",
    );
    link.one(query.bind(environment_id), "environment")
        .await?
        .truth("live")
}

fn execution(row: &Row) -> Result<Execution> {
    Ok(Execution {
        id: row.id("id")?,
        session_id: row.id("session_id")?,
        environment_id: row.id("task_environment_id")?,
        pid: row.int("pid")?,
        process_started: row.text("process_started")?,
        instance_id: row.id("instance_id")?,
    })
}
