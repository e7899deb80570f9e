//! The queue as a person edits it, and where it goes on after a Stop.

use crate::heard::Heard;
use crate::support::{Bench, answers};
use anyhow::Result;
use serde_json::{Value, json};
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    sum_08_a_queue_is_rewritten_and_reordered,
    send_now_stops_the_open_turn_and_goes_first,
    send_now_ends_an_agent_that_does_not_listen,
    send_now_starts_a_queue_that_waits,
    a_stop_while_the_agent_starts_passes_that_prompt_over,
    a_stop_while_the_agent_starts_with_nothing_behind_it_ends_the_start,
);

/// A task whose agent works until it is stopped, with these prompts queued as `q-1`, `q-2`, ….
async fn busy(
    bench: &mut Bench,
    heard: &Heard,
    first: &str,
    queued: &[&str],
) -> Result<(String, String)> {
    let task = heard.start_task(bench, "Queue", first).await?;
    bench
        .summary(&task, "work", |s| s["foreground_activity"] == "generating")
        .await?;
    let session = bench.session(&task).await?;
    for (content, n) in queued.iter().zip(1..) {
        let row = bench
            .send(&task, &session, &format!("q-{n}"), content)
            .await?;
        assert_eq!(row["disposition"], "queued", "{row}");
    }
    Ok((task, session))
}

async fn ids(bench: &mut Bench, session: &str) -> Result<Vec<String>> {
    let list = json!({ "session_id": session });
    let list = bench.client.request("message.queue.list", list).await?;
    Ok(names(&list))
}

fn names(list: &Value) -> Vec<String> {
    let rows = list["messages"].as_array().map(Vec::as_slice);
    let name = |row: &Value| row["id"].as_str().unwrap_or_default().to_owned();
    rows.unwrap_or_default().iter().map(name).collect()
}

fn of(session: &str, id: &str) -> Value {
    json!({ "session_id": session, "message_id": id })
}

async fn worked_off(bench: &mut Bench, task: &str) -> Result<Value> {
    bench
        .summary(task, "the queue to be worked off", |s| {
            s["queued_prompt_count"].is_null()
                && s["foreground_activity"].is_null()
                && s["primary_session"]["state"] == "WAITING_FOR_INPUT"
        })
        .await
}

/// SUM-08: other words and another order reach both devices with a higher revision, move no time, and are what is
/// sent; an order that is not of this queue, and a prompt that has left it, are conflicts.
async fn sum_08_a_queue_is_rewritten_and_reordered(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let go = heard.scripted.gate("go");
    let first = format!("/wait-file {}\n/say a", go.display());
    let (task, session) = busy(&mut bench, &heard, &first, &["/say 1", "/say 2", "/say 3"]).await?;
    let mut other = bench.server.connect().await?;
    let open = json!({ "session_id": session });
    other.request("session.subscribe", open).await?;
    let before = bench.task(&task).await?["status_summary"]["last_activity_at"].clone();

    let rewrite = |id: &str, content: &str| json!({ "session_id": session, "message_id": id, "content": content });
    let written = bench
        .client
        .request("message.queue.update", rewrite("q-2", "/say two"))
        .await?["message"]
        .clone();
    assert_eq!(
        (&written["content"], &written["revision"]),
        (&json!("/say two"), &json!(2))
    );
    let seen = other
        .wait("the new words", |frame| {
            frame["action"] == "session.message.updated"
                && frame["payload"]["message"]["id"] == "q-2"
        })
        .await?;
    assert_eq!(seen["payload"]["message"]["content"], "/say two");
    other
        .wait("the queue's status", |frame| {
            frame["action"] == "message.queue.status_changed"
        })
        .await?;
    for content in ["", "  \n"] {
        let refused = rewrite("q-2", content);
        let refused = bench
            .client
            .refused("message.queue.update", refused)
            .await?;
        assert_eq!(refused["code"], "VALIDATION_ERROR");
    }

    let order = |ids: &[&str]| json!({ "session_id": session, "message_ids": ids });
    let ordered = bench
        .client
        .request("message.queue.reorder", order(&["q-3", "q-2", "q-1"]))
        .await?;
    assert_eq!(names(&ordered), ["q-3", "q-2", "q-1"]);
    assert_eq!(ids(&mut bench, &session).await?, ["q-3", "q-2", "q-1"]);
    let revisions: Vec<_> = ordered["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| row["revision"].clone())
        .collect();
    assert_eq!(
        revisions,
        [json!(2), json!(2), json!(2)],
        "only what moved is changed"
    );
    bench.send(&task, &session, "q-4", "/say 4").await?;
    for stale in [
        order(&["q-1", "q-2", "q-3"]),
        order(&["q-1", "q-2", "q-3", "q-5"]),
        order(&["q-1", "q-1", "q-2", "q-3", "q-4"]),
        order(&[]),
    ] {
        let refused = bench.client.refused("message.queue.reorder", stale).await?;
        assert_eq!(refused["code"], "CONFLICT");
    }
    other
        .request("message.queue.remove", of(&session, "q-1"))
        .await?;
    for (action, payload) in [
        ("message.queue.update", rewrite("q-1", "x")),
        (
            "message.queue.reorder",
            order(&["q-1", "q-2", "q-3", "q-4"]),
        ),
    ] {
        let refused = bench.client.refused(action, payload).await?;
        assert!(
            refused["code"] == "CONFLICT" || refused["code"] == "NOT_FOUND",
            "{refused}"
        );
    }
    let sent = bench.task(&task).await?["status_summary"]["last_activity_at"].clone();
    let queued = bench
        .client
        .request("message.get", of(&session, "q-4"))
        .await?;
    assert_eq!(
        sent, queued["message"]["created_at"],
        "the last thing that happened is q-4"
    );
    assert_ne!(sent, before);

    std::fs::write(&go, "")?;
    worked_off(&mut bench, &task).await?;
    assert_eq!(answers(&bench.transcript(&session).await?), "a3two4");
    assert_eq!(heard.texts()[1..], ["/say 3", "/say two", "/say 4"]);
    let late = bench
        .client
        .refused("message.queue.update", rewrite("q-2", "x"))
        .await?;
    assert_eq!(late["code"], "CONFLICT");
    bench.server.stop().await
}

/// The open turn is stopped, this one is next, the others follow in their order; everything is sent once.
async fn send_now_stops_the_open_turn_and_goes_first(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let queued = ["/say 1", "/say 2", "/say 3"];
    let (task, session) = busy(&mut bench, &heard, "/say a\n/sleep 600000", &queued).await?;
    let now = bench
        .client
        .request("message.queue.send_now", of(&session, "q-3"))
        .await?["message"]
        .clone();
    assert_eq!(now["id"], "q-3");
    let row = worked_off(&mut bench, &task).await?;
    assert!(row["active_error"].is_null(), "{row}");
    assert_eq!(heard.texts()[1..], ["/say 3", "/say 1", "/say 2"]);
    assert_eq!(answers(&bench.transcript(&session).await?), "a312");
    assert_eq!(
        heard.scripted.starts(),
        1,
        "the agent listened, so it lives"
    );
    let late = bench
        .client
        .refused("message.queue.send_now", of(&session, "q-3"))
        .await?;
    assert_eq!(late["code"], "CONFLICT");
    bench.server.stop().await
}

/// C15 (a): an agent that answers neither prompt nor cancel is ended, and a new one gets what is queued, once, in order.
async fn send_now_ends_an_agent_that_does_not_listen(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let queued = ["/say 1", "/say 2"];
    let (task, session) = busy(&mut bench, &heard, "/say a\n/hang", &queued).await?;
    bench
        .client
        .request("message.queue.send_now", of(&session, "q-2"))
        .await?;
    let row = worked_off(&mut bench, &task).await?;
    assert!(row["active_error"].is_null(), "{row}");
    assert_eq!(heard.texts()[1..], ["/say 2", "/say 1"]);
    assert_eq!(heard.scripted.starts(), 2);
    bench.server.stop().await
}

/// After a stop the queue waits for a person; naming one of it starts it with that one.
async fn send_now_starts_a_queue_that_waits(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let queued = ["/say 1", "/say 2"];
    let (task, session) = busy(&mut bench, &heard, "/say a\n/sleep 600000", &queued).await?;
    let stop = json!({ "session_id": session });
    bench.client.request("session.stop", stop).await?;
    bench
        .summary(&task, "an idle session", |s| {
            s["primary_session"]["state"] == "IDLE"
        })
        .await?;
    bench.server.no_agents_left().await?;
    assert_eq!(ids(&mut bench, &session).await?, ["q-1", "q-2"]);
    let now = bench
        .client
        .request("message.queue.send_now", of(&session, "q-2"))
        .await?["message"]
        .clone();
    assert_eq!(now["disposition"], "sending", "{now}");
    worked_off(&mut bench, &task).await?;
    assert_eq!(heard.texts()[1..], ["/say 2", "/say 1"]);
    bench.server.stop().await
}

/// A session whose agent is only starting, with a prompt that waits for it.
async fn starting(bench: &mut Bench, heard: &Heard) -> Result<(String, String)> {
    heard.keep_out()?;
    let task = heard.start_task(bench, "Start", "/say zero").await?;
    let session = bench.session(&task).await?;
    until("the agent's start", async || {
        Ok((heard.scripted.starts() == 1).then_some(()))
    })
    .await?;
    Ok((task, session))
}

/// C15: a prompt that is stopped before its agent is there is over, undelivered; the queue goes on with the same start.
async fn a_stop_while_the_agent_starts_passes_that_prompt_over(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let (task, session) = starting(&mut bench, &heard).await?;
    bench.send(&task, &session, "q-1", "/say 1").await?;
    bench.send(&task, &session, "q-2", "/say 2").await?;
    let stop = json!({ "session_id": session });
    bench.client.request("agent.cancel", stop).await?;
    until("the next to be on its way", async || {
        let row = bench
            .client
            .request("message.get", of(&session, "q-1"))
            .await?;
        Ok((row["message"]["disposition"] == "sending").then_some(()))
    })
    .await?;
    let transcript = bench.transcript(&session).await?;
    assert_eq!(
        transcript[0]["disposition"], "undelivered",
        "{transcript:?}"
    );
    let row = bench.task(&task).await?["status_summary"].clone();
    assert_eq!(row["primary_session"]["state"], "STARTING", "{row}");
    assert_eq!(row["queued_prompt_count"], 1);
    heard.let_in()?;
    worked_off(&mut bench, &task).await?;
    assert_eq!(heard.texts(), ["/say 1", "/say 2"]);
    assert_eq!(heard.scripted.starts(), 1);
    bench.server.stop().await
}

/// With nothing behind it there is nothing to start for.
async fn a_stop_while_the_agent_starts_with_nothing_behind_it_ends_the_start(
    mut bench: Bench,
) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let (task, session) = starting(&mut bench, &heard).await?;
    let stop = json!({ "session_id": session });
    bench.client.request("agent.cancel", stop).await?;
    let row = bench
        .summary(&task, "rest", |s| {
            s["primary_session"]["state"] == "CREATED"
        })
        .await?;
    assert!(row["active_error"].is_null(), "{row}");
    bench.server.no_agents_left().await?;
    let transcript = bench.transcript(&session).await?;
    assert_eq!(transcript[0]["disposition"], "undelivered");
    let id = transcript[0]["id"].as_str().unwrap_or_default().to_owned();
    heard.let_in()?;
    bench
        .client
        .request("message.resend", of(&session, &id))
        .await?;
    worked_off(&mut bench, &task).await?;
    assert_eq!(heard.texts(), ["/say zero"]);
    bench.server.stop().await
}
