//! Sends are exact: whatever is repeated, from wherever, there is one message and one dispatch, and every accepted
//! message says what became of it.

use crate::heard::Heard;
use crate::scripted::Scripted;
use crate::support::{Bench, answers};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    s_19_a_retry_after_a_lost_response_is_one_message_and_one_dispatch,
    api_06_two_devices_with_one_id_at_once_are_one_message,
    api_06_a_queued_message_is_retried_before_and_after_its_turn,
    api_06_odd_ids_are_ids,
    c_15_a_lost_reply_strands_nobody,
    c_15_a_relaunch_that_fails_refuses_nothing_silently,
);

fn message(task: &str, session: &str, id: &str, content: &str) -> Value {
    json!({ "task_id": task, "session_id": session, "client_message_id": id, "content": content })
}

async fn settled(bench: &mut Bench, heard: &Heard) -> Result<(String, String)> {
    let task = heard.start_task(bench, "Exact", "/say hello").await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    Ok((task, session))
}

fn rows_of(transcript: &[Value], id: &str) -> usize {
    transcript.iter().filter(|row| row["id"] == id).count()
}

/// S-19, API-06, C14: the connection goes before the answer comes; the retry on a new one gets the stored message, with
/// the time it was stored, and so does one after the turn.
async fn s_19_a_retry_after_a_lost_response_is_one_message_and_one_dispatch(
    mut bench: Bench,
) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let (task, session) = settled(&mut bench, &heard).await?;
    let mut cut = bench.server.connect().await?;
    let send = message(&task, &session, "cm-1", "/run echo migrated >> log.txt");
    cut.send("message.add", send.clone()).await?;
    drop(cut);
    let first = bench.client.request("message.add", send.clone()).await?["message"].clone();
    bench.settled(&task).await?;
    let later = bench.client.request("message.add", send).await?["message"].clone();
    assert_eq!(first["created_at"], later["created_at"]);
    bench.settled(&task).await?;
    assert_eq!(heard.times("/run echo migrated >> log.txt"), 1);
    let transcript = bench.transcript(&session).await?;
    assert_eq!(rows_of(&transcript, "cm-1"), 1);
    let worktree = bench.worktree(&task).await?;
    assert_eq!(
        std::fs::read_to_string(worktree.join("log.txt"))?,
        "migrated\n"
    );
    bench.server.stop().await
}

/// API-06, C14: the same id from two devices while the first is still being handled, under both names of the field.
async fn api_06_two_devices_with_one_id_at_once_are_one_message(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let (task, session) = settled(&mut bench, &heard).await?;
    let mut devices = Vec::new();
    for _ in 0..4 {
        devices.push(bench.server.connect().await?);
    }
    for n in 0..5 {
        let (id, content) = (format!("cm-{n}"), format!("/say {n}"));
        let mut asked = Vec::new();
        for (device, names) in devices.iter_mut().zip([
            &["client_message_id"][..],
            &["message_id"],
            &["client_message_id", "message_id"],
            &["message_id"],
        ]) {
            let mut send = json!({ "task_id": task, "session_id": session, "content": content });
            for name in names {
                send[*name] = json!(id);
            }
            asked.push(device.send("message.add", send).await?);
        }
        let mut stored = Vec::new();
        for (device, request) in devices.iter_mut().zip(asked) {
            let answer = device.answer(&request).await?;
            assert_eq!(answer["type"], "response", "{answer}");
            let message = &answer["payload"]["message"];
            stored.push((message["id"].clone(), message["created_at"].clone()));
        }
        stored.dedup();
        assert_eq!(stored.len(), 1, "{stored:?}");
    }
    bench
        .summary(&task, "the queue to be worked off", |s| {
            s["queued_prompt_count"].is_null() && s["foreground_activity"].is_null()
        })
        .await?;
    assert_eq!(
        heard.texts()[1..],
        ["/say 0", "/say 1", "/say 2", "/say 3", "/say 4"]
    );
    assert_eq!(answers(&bench.transcript(&session).await?), "hello01234");
    bench.server.stop().await
}

/// API-06, C14: queued because the agent is busy; a retry while it is queued, and one when it has left the queue.
async fn api_06_a_queued_message_is_retried_before_and_after_its_turn(
    mut bench: Bench,
) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let (task, session) = settled(&mut bench, &heard).await?;
    let (one, two) = (heard.scripted.gate("one"), heard.scripted.gate("two"));
    let wait = |gate: &std::path::Path| format!("/wait-file {}", gate.display());
    bench.send(&task, &session, "busy", &wait(&one)).await?;
    let queued = bench.send(&task, &session, "cm-1", &wait(&two)).await?;
    assert_eq!(queued["disposition"], "queued");
    let again = bench.send(&task, &session, "cm-1", "/say other").await?;
    assert_eq!(
        (&again["disposition"], &again["content"]),
        (&json!("queued"), &queued["content"])
    );
    std::fs::write(&one, "")?;
    until("the queued one at the agent", async || {
        Ok((heard.times(&wait(&two)) == 1).then_some(()))
    })
    .await?;
    let again = bench.send(&task, &session, "cm-1", &wait(&two)).await?;
    assert_eq!(again["disposition"], "dispatched");
    assert_eq!(again["created_at"], queued["created_at"]);
    std::fs::write(&two, "")?;
    bench.settled(&task).await?;
    assert_eq!(heard.times(&wait(&two)), 1);
    assert_eq!(heard.texts().len(), 3);
    bench.server.stop().await
}

/// API-06: an id is one to 128 characters from U+0021 to U+007E, as it is; whatever else it looks like.
async fn api_06_odd_ids_are_ids(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let (task, session) = settled(&mut bench, &heard).await?;
    let longest = "~".repeat(128);
    let odd = [
        "!",
        "';DROP_TABLE_tasks;--",
        "null",
        "../..",
        "\"\\",
        "{}",
        "$1",
        "0",
        "A",
        "a",
        &longest,
    ];
    for id in odd {
        let sent = bench.send(&task, &session, id, "/say x").await?;
        assert_eq!(sent["id"], json!(id));
        bench.settled(&task).await?;
        let of = json!({ "session_id": session, "message_id": id });
        let row = bench.client.request("message.get", of.clone()).await?;
        assert_eq!(row["message"]["disposition"], "dispatched", "{id}");
        let again = bench.send(&task, &session, id, "/say y").await?;
        assert_eq!(again["content"], "/say x", "{id}");
        bench.client.request("message.delete", of).await?;
        let buried = message(&task, &session, id, "/say z");
        let buried = bench.client.refused("message.add", buried).await?;
        assert_eq!(buried["code"], "CONFLICT", "{id}");
    }
    assert_eq!(heard.times("/say x"), odd.len());
    for id in [
        "",
        " ",
        "a b",
        "\u{7f}",
        "é",
        "a\n",
        "a\0",
        &"x".repeat(129),
    ] {
        let refused = message(&task, &session, id, "/say x");
        let refused = bench.client.refused("message.add", refused).await?;
        assert_eq!(refused["code"], "VALIDATION_ERROR", "{id:?}");
    }
    bench.server.stop().await
}

/// C15 (a) and (c): the agent never answers and ignores the Stop, which settles all the same; what was queued is sent
/// once each, in order; what the agent says late is kept and opens nothing.
async fn c_15_a_lost_reply_strands_nobody(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let (task, session) = settled(&mut bench, &heard).await?;
    bench
        .send(&task, &session, "lost", "/say hm\n/hang")
        .await?;
    for (id, content) in [("m-1", "/say one\n/late  and more"), ("m-2", "/say two")] {
        assert_eq!(
            bench.send(&task, &session, id, content).await?["disposition"],
            "queued"
        );
    }
    let stop = json!({ "session_id": session });
    bench.client.request("agent.cancel", stop).await?;
    let row = bench
        .summary(&task, "everything to be sent", |s| {
            s["queued_prompt_count"].is_null()
                && s["foreground_activity"].is_null()
                && s["primary_session"]["state"] == "WAITING_FOR_INPUT"
        })
        .await?;
    assert!(row["active_error"].is_null(), "{row}");
    assert_eq!(
        heard.texts()[1..],
        ["/say hm\n/hang", "/say one\n/late  and more", "/say two"]
    );
    until("the late words", async || {
        let said = answers(&bench.transcript(&session).await?);
        Ok((said.contains("and more") && said.contains("two")).then_some(()))
    })
    .await?;
    let transcript = bench.transcript(&session).await?;
    for id in ["lost", "m-1", "m-2"] {
        let row = transcript
            .iter()
            .find(|row| row["id"] == id)
            .context("the row")?;
        assert_eq!(row["disposition"], "dispatched", "{row}");
    }
    let task = bench.task(&task).await?;
    assert_eq!(task["state"], "REVIEW", "{task}");
    bench.server.stop().await
}

/// C15 (b): the agent cannot be started again; fifty messages each say that they were not delivered, each one started
/// one attempt and no more, and when the agent is well again one of them is sent, once.
async fn c_15_a_relaunch_that_fails_refuses_nothing_silently(mut bench: Bench) -> Result<()> {
    let scripted = Scripted::new()?;
    let profile = scripted.faulty(&mut bench).await?;
    let created = json!({
        "workspace_id": bench.workspace_id, "client_id": "fails", "title": "Fails",
        "repositories": [{ "repository_id": bench.repository_id }],
        "start_agent": true, "agent_profile_id": profile, "prompt": "/say hello",
    });
    let created = bench.client.request("task.create", created).await?;
    let task = created["task"]["id"].as_str().context("no id")?.to_owned();
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let stop = json!({ "session_id": session });
    bench.client.request("session.stop", stop).await?;
    bench.server.no_agents_left().await?;
    scripted.set_mode("exits")?;
    let before = scripted.starts();
    for n in 0..50 {
        let send = message(&task, &session, &format!("m-{n}"), "/say again");
        let answer = bench.client.ask("message.add", send).await?;
        if answer["type"] == "error" {
            // While ten wait for an attempt that is under way the next is refused, with a reason.
            assert_eq!(answer["payload"]["code"], "BUSY", "{answer}");
        }
    }
    let row = bench
        .summary(&task, "the error", |s| {
            s["active_error"].is_object() && s["primary_session"]["state"] != "STARTING"
        })
        .await?;
    assert_ne!(row["primary_session"]["state"], "RUNNING", "{row}");
    let actions = &row["active_error"]["recovery_actions"];
    assert_eq!(*actions, json!(["retry_default"]), "{row}");
    let mut accepted = bench.transcript(&session).await?;
    let list = json!({ "session_id": session });
    let queue = bench.client.request("message.queue.list", list).await?;
    accepted.extend(queue["messages"].as_array().into_iter().flatten().cloned());
    let sent: Vec<&Value> = accepted
        .iter()
        .filter(|row| row["content"] == "/say again")
        .collect();
    assert!(!sent.is_empty());
    for row in &sent {
        let word = row["disposition"].as_str().unwrap_or_default();
        assert!(["undelivered", "queued"].contains(&word), "{row}");
    }
    assert!(
        scripted.starts() - before <= sent.len(),
        "one send, one start"
    );
    scripted.set_mode("")?;
    let again = json!({ "session_id": session, "message_id": sent[0]["id"] });
    bench
        .client
        .request("message.resend", again.clone())
        .await?;
    until("that one to be sent", async || {
        let row = bench.client.request("message.get", again.clone()).await?;
        Ok((row["message"]["disposition"] == "dispatched").then_some(()))
    })
    .await?;
    bench.server.stop().await
}
