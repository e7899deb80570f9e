//! Planted faults: found by name, repaired without a server, and left to the server beside one.

use crate::commands::{doctor, on};
use crate::support::Bench;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use store::sql::{Statement, sql};

testkit::on_every_engine!(crate::support::Bench =>
    sum_04_wrong_summaries_are_found_by_field_and_derived_again,
    rec_02_broken_rows_are_found_and_put_right_as_far_as_possible,
    rec_03_beside_a_server_only_marks_are_raised_and_the_server_publishes,
    sum_10_a_last_activity_that_went_back_is_raised_again,
    rec_02_rows_by_the_rules_of_another_version_are_named_and_derived_again,
);

/// Changes the database behind everybody's back, and says how many rows it changed.
async fn tamper(bench: &Bench, statements: Vec<Statement>) -> Result<()> {
    let store = bench.server.open_store().await?;
    let mut tx = store.write().await?;
    for statement in statements {
        assert!(0 < tx.execute(statement).await?, "nothing was planted");
    }
    let _ = tx.commit().await?; // nothing to publish
    store.close().await;
    Ok(())
}

async fn idle_tasks(bench: &mut Bench, titles: &[&str]) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for title in titles {
        let id = bench.start_task(title, "/say Done.").await?;
        bench.settled(&id).await?;
        ids.push(id);
    }
    Ok(ids)
}

const PAYLOAD: &str = "UPDATE task_status_summaries SET payload = $2 WHERE task_id = $1";

/// SUM-04, REC-02: whatever became of the stored rows, they are found, named without content, and computed again.
async fn sum_04_wrong_summaries_are_found_by_field_and_derived_again(
    mut bench: Bench,
) -> Result<()> {
    let tasks = idle_tasks(&mut bench, &["Gone", "Garbled", "Wrong", "Right"]).await?;
    let [gone, garbled, wrong, right] = tasks.as_slice() else {
        anyhow::bail!("four tasks");
    };
    bench.server.stop().await?;
    let marker = "2001-02-03T04:05:06.000000Z";
    let lie = json!({ "last_activity_at": marker, "queued_prompt_count": 7 }).to_string();
    tamper(
        &bench,
        vec![
            sql("DELETE FROM task_status_summaries WHERE task_id = $1").bind(gone.as_str()),
            sql(PAYLOAD).bind(garbled.as_str()).bind("not JSON"),
            sql(PAYLOAD).bind(wrong.as_str()).bind(lie),
        ],
    )
    .await?;

    let found = doctor(&bench.server, &[]).await?;
    assert_eq!(found.code, 1, "{found:?}");
    let report = found.json()?;
    let listed = report["summaries"]["listed"].as_array().context("a list")?;
    let of = |task: &str| {
        let mut one = listed.iter().filter(|one| one["task"] == task);
        one.next().cloned().unwrap_or(Value::Null)
    };
    assert_eq!(report["summaries"]["count"], 3, "{report}");
    assert_eq!(of(gone)["fault"], "missing");
    assert_eq!(of(garbled)["fault"], "unreadable");
    assert_eq!(of(wrong)["fault"], "differs");
    assert_eq!(of(right), Value::Null);
    let fields = of(wrong)["fields"].to_string();
    for field in ["last_activity_at", "queued_prompt_count", "primary_session"] {
        assert!(fields.contains(field), "{fields}");
    }
    let text = on(&bench.server, "doctor", &[]).await?;
    assert!(
        text.out.contains(&format!("{wrong}  differs in")),
        "{text:?}"
    );
    for said in [&text.out, &found.out] {
        assert!(!said.contains(marker), "content was printed: {said}");
    }

    let repaired = doctor(&bench.server, &["--repair"]).await?;
    assert_eq!(repaired.code, 0, "{repaired:?}");
    assert_eq!(repaired.json()?["repair"]["written"], 3, "{repaired:?}");
    assert_eq!(doctor(&bench.server, &[]).await?.code, 0);
    bench.server.launch().await?;
    bench.reconnect().await?;
    for task in [gone, garbled, wrong] {
        let task = bench.task(task).await?;
        let state = &task["status_summary"]["primary_session"]["state"];
        assert_eq!(state, "WAITING_FOR_INPUT", "{task}");
    }
    bench.server.stop().await
}

/// REC-02: what follows from other rows is put right, what a person must judge is named and left.
async fn rec_02_broken_rows_are_found_and_put_right_as_far_as_possible(
    mut bench: Bench,
) -> Result<()> {
    let tasks = idle_tasks(&mut bench, &["One", "Two", "Three", "Unread"]).await?;
    let [one, two, three, unread] = tasks.as_slice() else {
        anyhow::bail!("four tasks");
    };
    let turn_of_two = sql("UPDATE task_session_messages SET turn_id =
            (SELECT u.id FROM task_session_turns u JOIN task_sessions s ON s.id = u.session_id WHERE s.task_id = $2
             ORDER BY u.id LIMIT 1) WHERE task_id = $1 AND author = 'agent'");
    bench.server.stop().await?;
    tamper(
        &bench,
        vec![
            sql("UPDATE task_sessions SET is_primary = FALSE WHERE task_id = $1")
                .bind(one.as_str()),
            sql("UPDATE tasks SET derived_seq = authority_seq + 5 WHERE id = $1")
                .bind(two.as_str()),
            turn_of_two.bind(three.as_str()).bind(two.as_str()),
            sql("UPDATE task_sessions SET state = 'MISLAID' WHERE task_id = $1")
                .bind(unread.as_str()),
        ],
    )
    .await?;
    let found = doctor(&bench.server, &[]).await?;
    assert_eq!(found.code, 1, "{found:?}");
    let planted = [
        "message_turn_is_its_sessions",
        "some_primary_session",
        "derived_behind_authority",
    ];
    assert_eq!(found.broken()?, planted);
    let listed = &found.json()?["summaries"]["listed"];
    assert_eq!(listed[0]["task"], unread.as_str(), "{listed}");
    assert_eq!(listed[0]["fault"], "underivable", "{listed}");
    assert!(
        listed[0]["reason"].to_string().contains("state"),
        "{listed}"
    );

    let repaired = doctor(&bench.server, &["--repair"]).await?;
    assert_eq!(repaired.code, 1, "{repaired:?}");
    assert_eq!(repaired.broken()?, ["message_turn_is_its_sessions"]);
    let report = repaired.json()?;
    assert_eq!(
        report["repair"]["restored"],
        json!(["some_primary_session", "derived_behind_authority"])
    );
    assert_eq!(report["summaries"]["count"], 1, "{report}");

    tamper(
        &bench,
        vec![
            sql("UPDATE task_session_messages SET turn_id = NULL WHERE task_id = $1 AND author = 'agent'")
                .bind(three.as_str()),
            sql("UPDATE task_sessions SET state = 'WAITING_FOR_INPUT' WHERE task_id = $1")
                .bind(unread.as_str()),
        ],
    )
    .await?;
    let healthy = doctor(&bench.server, &[]).await?;
    assert_eq!(healthy.code, 0, "{healthy:?}");
    Ok(())
}

/// `authority_seq`, `derived_seq` and the stored summary's revision of a task. A look at a worktree may raise the
/// first two at any time; only what somebody repaired raises the last.
async fn marks(bench: &Bench, task: &str) -> Result<(i64, i64, i64)> {
    let store = bench.server.open_store().await?;
    let mut tx = store.read().await?;
    let query = sql(
        "SELECT t.authority_seq, t.derived_seq, y.revision FROM tasks t
                     JOIN task_status_summaries y ON y.task_id = t.id WHERE t.id = $1",
    );
    let row = tx.one(query.bind(task), "task").await?;
    let marks = (
        row.int("authority_seq")?,
        row.int("derived_seq")?,
        row.int("revision")?,
    );
    drop(tx);
    store.close().await;
    Ok(marks)
}

/// REC-03, SUM-04: the live server's own projector does the work, so its clients learn of it.
async fn rec_03_beside_a_server_only_marks_are_raised_and_the_server_publishes(
    mut bench: Bench,
) -> Result<()> {
    let tasks = idle_tasks(&mut bench, &["Wrong", "Right"]).await?;
    let (wrong, right) = (tasks[0].clone(), tasks[1].clone());
    let lie = json!({ "last_activity_at": "2001-02-03T04:05:06.000000Z" }).to_string();
    tamper(&bench, vec![sql(PAYLOAD).bind(wrong.as_str()).bind(lie)]).await?;
    let before = (marks(&bench, &wrong).await?, marks(&bench, &right).await?);

    let found = doctor(&bench.server, &[]).await?;
    assert_eq!(found.code, 1, "{found:?}");
    assert_eq!(
        found.json()?["summaries"]["listed"][0]["task"],
        wrong.as_str()
    );
    assert_eq!(
        marks(&bench, &wrong).await?.2,
        before.0.2,
        "looking changes nothing"
    );

    let repaired = doctor(&bench.server, &["--repair"]).await?;
    assert_eq!(repaired.code, 1, "{repaired:?}");
    assert_eq!(repaired.json()?["repair"]["marked"], 1, "{repaired:?}");
    let frame = bench
        .client
        .wait("the server to publish it", |frame| {
            frame["action"] == "task.status_summary.updated"
                && frame["payload"]["task_id"] == wrong.as_str()
                && frame["payload"]["status_summary"]["revision"].as_i64() == Some(before.0.2 + 1)
        })
        .await?;
    let summary = &frame["payload"]["status_summary"];
    assert_eq!(summary["primary_session"]["state"], "WAITING_FOR_INPUT");
    assert_eq!(doctor(&bench.server, &[]).await?.code, 0);
    let (authority, derived, revision) = marks(&bench, &wrong).await?;
    assert!(before.0.0 < authority && before.0.0 < derived);
    assert_eq!(revision, before.0.2 + 1);
    let untouched = marks(&bench, &right).await?.2;
    assert_eq!(untouched, before.1.2, "no other summary was written");
    bench.server.stop().await
}

/// SUM-10.
async fn sum_10_a_last_activity_that_went_back_is_raised_again(mut bench: Bench) -> Result<()> {
    let tasks = idle_tasks(&mut bench, &["Back", "Lacking"]).await?;
    let mut shown = Vec::new();
    for task in &tasks {
        shown.push(bench.task(task).await?["status_summary"]["last_activity_at"].clone());
    }
    bench.server.stop().await?;
    let set = sql("UPDATE tasks SET last_activity_at = 5 WHERE id = $1");
    let lose = sql("UPDATE tasks SET last_activity_at = NULL WHERE id = $1");
    let old = sql("UPDATE task_status_summaries SET payload = '{}' WHERE task_id = $1");
    let [back, lacking] = tasks.as_slice() else {
        anyhow::bail!("two tasks");
    };
    tamper(
        &bench,
        vec![
            set.bind(back.as_str()),
            lose.bind(lacking.as_str()),
            old.bind(lacking.as_str()),
        ],
    )
    .await?;
    let found = doctor(&bench.server, &[]).await?;
    assert_eq!(found.broken()?, ["activity_covers_records"], "{found:?}");
    let repaired = doctor(&bench.server, &["--repair"]).await?;
    assert_eq!(repaired.code, 0, "{repaired:?}");
    bench.server.launch().await?;
    bench.reconnect().await?;
    for (task, shown) in tasks.iter().zip(shown) {
        let now = bench.task(task).await?["status_summary"]["last_activity_at"].clone();
        assert_eq!(now, shown);
    }
    bench.server.stop().await
}

/// REC-02: what another version derived otherwise is put right by a repair, and by a start.
async fn rec_02_rows_by_the_rules_of_another_version_are_named_and_derived_again(
    mut bench: Bench,
) -> Result<()> {
    let tasks = idle_tasks(&mut bench, &["Old"]).await?;
    let [task] = tasks.as_slice() else {
        anyhow::bail!("a task");
    };
    let shown = bench.task(task).await?["status_summary"]["last_activity_at"].clone();
    let old = async |bench: &Bench| {
        let rules = sql("UPDATE settings SET value = '0' WHERE name = 'summary_rules'");
        let payload = json!({ "last_activity_at": shown, "queued_prompt_count": 7 }).to_string();
        tamper(
            bench,
            vec![rules, sql(PAYLOAD).bind(task.as_str()).bind(payload)],
        )
        .await
    };
    bench.server.stop().await?;
    old(&bench).await?;
    let found = doctor(&bench.server, &[]).await?;
    assert_eq!(found.code, 1, "{found:?}");
    assert_eq!(found.broken()?, ["summaries_follow_the_rules"], "{found:?}");
    assert_eq!(found.json()?["summaries"]["count"], 1, "{found:?}");
    let repaired = doctor(&bench.server, &["--repair"]).await?;
    assert_eq!(repaired.code, 0, "{repaired:?}");

    old(&bench).await?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    let summary = bench.task(task).await?["status_summary"].clone();
    assert_eq!(summary["queued_prompt_count"], Value::Null, "{summary}");
    assert_eq!(doctor(&bench.server, &[]).await?.code, 0);
    bench.server.stop().await
}
