//! `flightstrip doctor` on data that was lived in, beside its server, without one, and after a crash.

use crate::commands::{doctor, on, run};
use crate::support::Bench;
use anyhow::Result;
use serde_json::{Value, json};
use store::sql::sql;
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    sum_04_nothing_is_wrong_with_data_that_was_lived_in,
    rec_05_after_a_crash_only_what_the_next_start_repairs_is_wrong,
    a_check_up_that_cannot_be_made_says_so,
);

/// Tasks in many states: answered, streaming, asking, failed, queued, archived, deleted.
async fn live(bench: &mut Bench) -> Result<Vec<String>> {
    let edits = bench
        .start_task(
            "Edits",
            "/permission Write it as edit\n/edit NOTES.md one two\n/say Done.",
        )
        .await?;
    let request = bench.pending(&edits).await?;
    bench.answer(&request, "allow_once").await?;
    bench.settled(&edits).await?;
    let fails = bench.start_task("Fails", "/say Oh.\n/exit 1").await?;
    bench
        .summary(&fails, "an error", |s| s["active_error"].is_object())
        .await?;
    let gone = bench.start_task("Gone", "/say Soon forgotten.").await?;
    bench.settled(&gone).await?;
    let delete = json!({ "task_id": gone, "discard_changes": true });
    bench.client.request("task.delete", delete).await?;
    let filed = bench.start_task("Filed", "/say That was it.").await?;
    bench.settled(&filed).await?;
    bench
        .client
        .request("task.archive", json!({ "task_id": filed }))
        .await?;
    let asks = bench
        .start_task("Asks", "/say May I? \n/permission Run it\n/say yes")
        .await?;
    bench.pending(&asks).await?;
    let streams = bench
        .start_task("Streams", "/stream 50 10\n/sleep 600000")
        .await?;
    let session = bench.session(&streams).await?;
    bench
        .summary(&streams, "work", |s| {
            s["foreground_activity"] == "generating"
        })
        .await?;
    bench
        .send(&streams, &session, "queued-1", "/say after")
        .await?;
    Ok(vec![edits, fails, filed, asks, streams])
}

/// SUM-04: beside the server, without it after an ordinary stop, and on the server's next run.
async fn sum_04_nothing_is_wrong_with_data_that_was_lived_in(mut bench: Bench) -> Result<()> {
    let tasks = live(&mut bench).await?;
    let beside = doctor(&bench.server, &[]).await?;
    assert_eq!(beside.code, 0, "{beside:?}");
    let report = beside.json()?;
    assert_eq!(
        (&report["server_running"], &report["tasks"]),
        (&json!(true), &json!(tasks.len()))
    );

    bench.server.stop().await?;
    let without = doctor(&bench.server, &[]).await?;
    let report = without.json()?;
    assert_eq!(report["server_running"], false, "{report}");
    assert_eq!(report["summaries"]["count"], 0, "{report}");
    assert_eq!(cures(&report), Vec::<&str>::new(), "{report}");
    assert_eq!(without.code, 0);
    bench.server.launch().await?;
    let again = on(&bench.server, "doctor", &[]).await?;
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.out.contains("Nothing is wrong."), "{again:?}");
    bench.server.stop().await
}

/// Who puts right what is wrong.
fn cures(report: &Value) -> Vec<&str> {
    let truths = report["truths"].as_array().into_iter().flatten();
    let mut cures: Vec<&str> = truths.filter_map(|truth| truth["cure"].as_str()).collect();
    cures.dedup();
    cures
}

/// REC-05, REC-02: what hangs on a process is wrong once the process is gone, nothing else is, and a start ends it.
async fn rec_05_after_a_crash_only_what_the_next_start_repairs_is_wrong(
    mut bench: Bench,
) -> Result<()> {
    live(&mut bench).await?;
    bench.server.kill().await?;
    bench.server.no_agents_left().await?;
    let crashed = doctor(&bench.server, &[]).await?;
    assert_eq!(crashed.code, 1, "{crashed:?}");
    let report = crashed.json()?;
    assert_eq!(cures(&report), ["next_start"], "{report}");
    let broken = crashed.broken()?;
    for name in [
        "no_process_without_server",
        "no_open_turn_without_server",
        "no_work_without_server",
        "no_permission_without_server",
    ] {
        assert!(broken.iter().any(|broken| broken == name), "{broken:?}");
    }
    for one in report["summaries"]["listed"]
        .as_array()
        .into_iter()
        .flatten()
    {
        assert_eq!(
            one["stale"], true,
            "only what is marked may differ: {report}"
        );
    }
    bench.server.launch().await?;
    let started = doctor(&bench.server, &[]).await?;
    assert_eq!(started.code, 0, "{started:?}");
    bench.server.stop().await
}

/// The exit status tells "something is wrong" from "not found out", and nothing is made or changed then.
async fn a_check_up_that_cannot_be_made_says_so(mut bench: Bench) -> Result<()> {
    let empty = tempfile::tempdir()?;
    let args = ["doctor", "--data-dir", crate::commands::utf8(empty.path())?];
    let nothing = run(&args).await?;
    assert_eq!((nothing.code, nothing.out.as_str()), (2, ""), "{nothing:?}");
    assert!(nothing.err.contains("there is no database"), "{nothing:?}");
    assert_eq!(std::fs::read_dir(empty.path())?.count(), 0);

    let newer = sql("UPDATE _sqlx_migrations SET version = 9999 WHERE version = 1");
    let store = bench.server.open_store().await?;
    let mut tx = store.write().await?;
    tx.execute(newer).await?;
    let _ = tx.commit().await?; // nothing to publish
    store.close().await;
    let newer = doctor(&bench.server, &[]).await?;
    assert_eq!((newer.code, newer.out.as_str()), (2, ""), "{newer:?}");
    assert!(newer.err.contains("newer version"), "{newer:?}");
    until("an answer of the server, which goes on", async || {
        Ok(bench.server.get("/readyz").await.ok())
    })
    .await?;
    bench.server.stop().await
}
