//! A start with much to do: alive from the beginning, ready at the end, and saying in between how far it has come.

use crate::commands::begin_start;
use crate::support::Bench;
use anyhow::{Context, Result};
use serde_json::Value;
use store::sql::sql;
use testkit::http;
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    rec_01_a_long_start_is_alive_and_says_how_far_it_has_come,
);

/// Enough batches that a start cannot be over before anybody looks.
const TASKS: i64 = 6_000;

/// Sessions that claim to run: each is repaired by a transaction of its own.
const SESSIONS: i64 = 300;

/// REC-01, SUM-10: many sessions claim to run, and many tasks have no summary.
async fn rec_01_a_long_start_is_alive_and_says_how_far_it_has_come(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("One", "/say Done.").await?;
    bench.settled(&task).await?;
    bench.server.stop().await?;
    let store = bench.server.open_store().await?;
    let mut tx = store.write().await?;
    let copies = sql("WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)
         INSERT INTO tasks (id, workspace_id, workflow_id, step_id, client_id, revision, title, description, state,
             position, priority, last_activity_at, authority_seq, derived_seq, created_at, updated_at)
         SELECT 'copy-' || n, workspace_id, workflow_id, step_id, 'copy-' || n, 1, title, '', 'TODO', n, 0,
             created_at, 1, 0, created_at, created_at FROM tasks, numbers WHERE id = $1");
    tx.execute(copies.bind(task.as_str()).bind(TASKS)).await?;
    let running = sql("WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)
         INSERT INTO task_sessions (id, task_id, client_id, revision, state, agent_profile_id, name, is_primary,
             own_environment, started_at, settings, commands, active_subagent_count, pending_action_revision, last_seq)
         SELECT 'copy-' || n, task_id, 'copy-' || n, 1, 'RUNNING', agent_profile_id, name, FALSE, own_environment,
             started_at, settings, commands, 0, 0, 0 FROM task_sessions, numbers WHERE task_id = $1");
    tx.execute(running.bind(task.as_str()).bind(SESSIONS))
        .await?;
    let _ = tx.commit().await?; // nothing to publish
    store.close().await;

    let (mut starting, port) = begin_start(&bench.server)?;
    let mut said = Vec::new();
    let mut page = String::new();
    until("the server to be ready", async || {
        let Ok(readyz) = http::send(port, "GET", "/readyz", &[], "").await else {
            return Ok(None); // it does not listen yet
        };
        let livez = http::send(port, "GET", "/livez", &[], "").await?;
        assert_eq!(livez.status, 200, "alive from the moment it listens");
        let report: Value = serde_json::from_str(&readyz.body)?;
        let progress = report["progress"].as_str().unwrap_or_default().to_owned();
        if readyz.status == 200 {
            assert_eq!(report["summaries_failed"], 0, "{report}");
            return Ok(Some(()));
        }
        assert_eq!(readyz.status, 503, "{readyz:?}");
        if progress.contains(" of ") {
            let html = [("Accept", "text/html")];
            page = http::send(port, "GET", "/", &html, "").await?.body;
            said.push((progress, report["gates"].clone()));
        }
        Ok(None)
    })
    .await?;
    let step = |words: &str, of: i64| {
        let step = said
            .iter()
            .find(|(progress, _)| progress.starts_with(words));
        let (progress, gates) = step.with_context(|| format!("{words}: not seen in {said:?}"))?;
        assert!(progress.ends_with(&format!(" of {of}")), "{progress}");
        anyhow::Ok(gates.clone())
    };
    let gates = step("repairing sessions: ", SESSIONS)?;
    assert_eq!(
        (&gates["database_migrated"], &gates["recovery_done"]),
        (&true.into(), &false.into())
    );
    let gates = step("looking at summaries: ", TASKS + 1)?;
    assert_eq!(
        (&gates["recovery_done"], &gates["summaries_converged"]),
        (&true.into(), &false.into())
    );
    assert!(
        page.contains(" of ") || page.contains("<div id="),
        "the starting page says it too, unless it was the app's by then: {page}"
    );
    starting.kill().await?;
    Ok(())
}
