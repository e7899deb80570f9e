//! `kill -9` of the server with agents running: no process is left, no row says RUNNING, no message is missing.

use crate::support::{Bench, answers};
use anyhow::Result;
use serde_json::json;
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    rec_05_a_killed_server_leaves_no_agent_and_no_lie,
    a_stop_flushes_streams_and_marks_the_turn,
);

/// REC-05's ground: three agents, one of which ignores end of input, one of which asks.
async fn rec_05_a_killed_server_leaves_no_agent_and_no_lie(mut bench: Bench) -> Result<()> {
    let deaf = bench
        .start_task("Deaf", "/ignore-eof\n/say I stay \n/sleep 600000")
        .await?;
    let asks = bench
        .start_task("Asks", "/say May I? \n/permission Run it\n/say yes")
        .await?;
    let works = bench
        .start_task("Works", "/stream 50 10\n/sleep 600000")
        .await?;
    bench.pending(&asks).await?;
    for task in [&deaf, &works] {
        bench
            .summary(task, "work", |s| s["foreground_activity"] == "generating")
            .await?;
    }
    let session = bench.session(&works).await?;
    let streamed = until("all that was streamed", async || {
        let text = answers(&bench.transcript(&session).await?);
        Ok((text.len() == 500).then_some(text))
    })
    .await?;
    bench
        .send(&works, &session, "queued-1", "/say after")
        .await?;
    assert!(!bench.server.agent_processes()?.is_empty());

    bench.server.kill().await?;
    bench.server.no_agents_left().await?;

    bench.server.launch().await?;
    bench.reconnect().await?;
    for task_id in [&deaf, &asks, &works] {
        let task = bench.task(task_id).await?;
        assert_eq!(task["state"], "REVIEW", "{task}");
        assert!(task["interrupted_at"].is_string(), "{task}");
        let summary = &task["status_summary"];
        assert_eq!(
            summary["primary_session"]["state"], "WAITING_FOR_INPUT",
            "{summary}"
        );
        assert!(
            summary["foreground_activity"].is_null() && summary["pending_action"].is_null(),
            "{summary}"
        );
    }
    let transcript = bench.transcript(&session).await?;
    assert_eq!(answers(&transcript), streamed);
    let prompt = &transcript[0];
    assert_eq!(
        (&prompt["author"], &prompt["disposition"]),
        (&json!("user"), &json!("dispatched"))
    );
    let queue = bench
        .client
        .request("message.queue.list", json!({ "session_id": session }))
        .await?;
    assert_eq!(queue["messages"][0]["id"], "queued-1", "{queue}");

    // The queue waited for a person: one more send starts it, in order.
    bench.send(&works, &session, "second", "/say last").await?;
    bench
        .summary(&works, "the queue to be worked off", |s| {
            s["queued_prompt_count"].is_null()
                && s["foreground_activity"].is_null()
                && s["primary_session"]["state"] == "WAITING_FOR_INPUT"
        })
        .await?;
    assert_eq!(
        answers(&bench.transcript(&session).await?),
        format!("{streamed}afterlast")
    );
    bench.server.stop().await?;
    bench.server.no_agents_left().await
}

/// An ordinary stop in the middle of a stream: what was said is stored, the turn is marked interrupted, agents end.
async fn a_stop_flushes_streams_and_marks_the_turn(mut bench: Bench) -> Result<()> {
    let task = bench
        .start_task("Stream", "/stream 100 10\n/sleep 600000")
        .await?;
    let session = bench.session(&task).await?;
    until("all that was streamed", async || {
        Ok((answers(&bench.transcript(&session).await?).len() == 1_000).then_some(()))
    })
    .await?;
    bench.server.stop().await?;
    bench.server.no_agents_left().await?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    assert_eq!(answers(&bench.transcript(&session).await?).len(), 1_000);
    let task = bench.task(&task).await?;
    assert_eq!(task["state"], "REVIEW", "{task}");
    assert!(task["interrupted_at"].is_string(), "{task}");
    assert!(
        task["status_summary"]["foreground_activity"].is_null(),
        "{task}"
    );
    assert!(task["status_summary"]["active_error"].is_null(), "{task}");

    // Opening the session resumes its agent with a lifecycle turn only: nothing counts as activity (S-06's ground).
    let before = task["status_summary"]["last_activity_at"].clone();
    let task_id = task["id"].as_str().unwrap_or_default().to_owned();
    bench
        .client
        .request("session.subscribe", json!({ "session_id": session }))
        .await?;
    until("the resumed agent", async || {
        Ok((!bench.server.agent_processes()?.is_empty()).then_some(()))
    })
    .await?;
    bench
        .summary(&task_id, "rest", |s| {
            s["primary_session"]["state"] == "WAITING_FOR_INPUT"
        })
        .await?;
    let after = bench.task(&task_id).await?;
    assert_eq!(after["status_summary"]["last_activity_at"], before);
    assert_eq!(after["state"], "REVIEW");
    bench.server.stop().await
}
