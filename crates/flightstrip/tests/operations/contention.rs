//! Another process at the same data: a short lock is a delay, a long one a visible failure that passes, and a second
//! server is refused.

use crate::commands::{doctor, run, utf8};
use crate::support::{Bench, text};
use anyhow::{Context, Result};
use serde_json::json;
use store::sql::sql;
use testkit::store::Engine;
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    c24_a_short_foreign_lock_is_only_a_delay,
    c24_a_long_foreign_lock_is_a_visible_failure_and_then_repaired,
    c24_a_second_server_is_refused_and_told_who_has_the_data,
);

/// A task that rests, and its session.
async fn resting(bench: &mut Bench) -> Result<(String, String)> {
    let task = bench.start_task("Rests", "/say Done.").await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    Ok((task, session))
}

/// Lists and boot answer although nobody can write.
async fn readers_answer(bench: &Bench, task: &str) -> Result<()> {
    let mut reader = bench.server.connect().await?;
    let workspace = json!({ "workspace_id": bench.workspace_id });
    let list = reader.request("task.list", workspace).await?;
    assert_eq!(list["tasks"][0]["id"], task, "{list}");
    let boot = bench.server.get("/api/v1/boot").await?;
    assert_eq!(boot["workspaces"][0]["tasks"]["tasks"][0]["id"], task);
    Ok(())
}

/// C24: what was sent under the lock is accepted when it ends.
async fn c24_a_short_foreign_lock_is_only_a_delay(mut bench: Bench) -> Result<()> {
    let (task, session) = resting(&mut bench).await?;
    let other = bench.server.open_store().await?;
    let lock = other.write().await?;
    let message = json!({
        "task_id": task, "session_id": session, "client_message_id": "delayed", "content": "/say late",
    });
    let sent = bench.client.send("message.add", message).await?;
    // The same connection goes on meanwhile. (Lists are asked below: they may wait for a summary, and the patience of
    // the message would be measured.)
    let meanwhile = json!({ "session_id": session });
    bench.client.request("message.list", meanwhile).await?;
    let _ = lock.commit().await?; // nothing was written under it
    other.close().await;
    let answer = bench.client.answer(&sent).await?;
    assert_eq!(answer["payload"]["message"]["id"], "delayed", "{answer}");
    bench.settled(&task).await?;
    bench.server.stop().await
}

/// C24, REC-03, REC-06.
async fn c24_a_long_foreign_lock_is_a_visible_failure_and_then_repaired(
    mut bench: Bench,
) -> Result<()> {
    let (task, session) = resting(&mut bench).await?;
    let other = bench.server.open_store().await?;
    // The row is wrong and marked, and nobody can write before the projector finds the mark.
    let lock = loop {
        let mut tx = other.write().await?;
        let lie = sql(
            "UPDATE task_status_summaries SET payload = '{\"queued_prompt_count\":9}' WHERE task_id = $1",
        );
        tx.execute(lie.bind(task.as_str())).await?;
        let mark = sql("UPDATE tasks SET authority_seq = authority_seq + 1 WHERE id = $1");
        tx.execute(mark.bind(task.as_str())).await?;
        let _ = tx.commit().await?; // the sweep finds it
        let mut lock = other.write().await?;
        let stale = sql("SELECT derived_seq < authority_seq AS stale FROM tasks WHERE id = $1");
        let stale = lock.one(stale.bind(task.as_str()), "task").await?;
        if stale.truth("stale")? {
            break lock;
        }
    };
    let message = json!({
        "task_id": task, "session_id": session, "client_message_id": "again", "content": "/say at last",
    });
    let refused = bench.client.refused("message.add", message.clone()).await?;
    assert_eq!(refused["code"], "BUSY", "{refused}");
    until("the projection to fail in the log", async || {
        Ok(bench
            .server
            .log()
            .contains("projection failed")
            .then_some(()))
    })
    .await?;
    readers_answer(&bench, &task).await?;
    let _ = lock.commit().await?; // nothing was written under it
    other.close().await;

    bench.client.request("message.add", message).await?;
    bench
        .summary(&task, "the true row", |summary| {
            summary["queued_prompt_count"].is_null() && summary["primary_session"].is_object()
        })
        .await?;
    bench.settled(&task).await?;
    let transcript = bench.transcript(&session).await?;
    let again = transcript.iter().filter(|row| row["id"] == "again");
    assert_eq!(again.count(), 1, "accepted once: {transcript:?}");
    assert_eq!(doctor(&bench.server, &[]).await?.code, 0);
    bench.server.stop().await
}

/// C24: on SQLite the data directory is locked, on PostgreSQL the database as well, whatever directory is named.
async fn c24_a_second_server_is_refused_and_told_who_has_the_data(mut bench: Bench) -> Result<()> {
    let boot = bench.server.get("/api/v1/boot").await?;
    let holder = text(&boot["server_generation"])?;
    let elsewhere = tempfile::tempdir()?;
    let dir = match bench.server.engine() {
        Engine::Sqlite => bench.server.data_dir(),
        Engine::Postgres => elsewhere.path(),
    };
    let database = bench.server.database_args();
    let mut args = vec!["serve", "--listen", "127.0.0.1:0", "--data-dir", utf8(dir)?];
    args.extend(database.iter().map(String::as_str));
    let second = run(&args).await?;
    assert_eq!((second.code, second.out.as_str()), (1, ""), "{second:?}");
    let reason = second.err.lines().last().context("a reason")?;
    assert!(
        reason.contains(&format!("another server (instance {holder}) works on")),
        "{second:?}"
    );
    let ready = bench.server.get("/readyz").await?;
    assert_eq!(ready["gates"]["api_open"], true, "the first goes on");
    bench.server.stop().await
}
