//! Sending: exact by id, queued in order, stopped within a bound.

use crate::support::{Bench, answers, text};
use anyhow::Result;
use serde_json::{Value, json};

testkit::on_every_engine!(crate::support::Bench =>
    api_06_a_repeated_send_is_one_message,
    prompts_queue_in_order_while_the_agent_is_busy,
    stop_settles_within_a_bound_even_if_the_agent_ignores_it,
    parallel_permissions_each_get_their_own_answer,
    an_agent_that_dies_is_an_error_until_it_answers_again,
    a_stopped_session_leaves_its_queue_to_a_person,
    trying_again_on_a_living_agent_settles,
    err_04_a_successful_launch_clears_the_launch_error,
);

fn prompts(transcript: &[Value]) -> Vec<String> {
    transcript
        .iter()
        .filter(|message| message["author"] == "user")
        .filter_map(|message| message["content"].as_str().map(str::to_owned))
        .collect()
}

/// API-06's ground: a retry with the same id gives the stored row and sends nothing twice; the alias counts; both
/// names with different values are refused.
async fn api_06_a_repeated_send_is_one_message(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Talk", "/say first").await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let one = bench.send(&task, &session, "m-1", "/say second").await?;
    let again = bench
        .send(&task, &session, "m-1", "/say something else")
        .await?;
    assert_eq!((&one["id"], &again["id"]), (&json!("m-1"), &json!("m-1")));
    assert_eq!(again["content"], "/say second");
    let alias =
        json!({ "task_id": task, "session_id": session, "message_id": "m-1", "content": "x" });
    let alias = bench.client.request("message.add", alias).await?;
    assert_eq!(alias["message"]["content"], "/say second");
    let both = json!({
        "task_id": task, "session_id": session, "client_message_id": "m-1", "message_id": "m-2", "content": "x",
    });
    assert_eq!(
        bench.client.refused("message.add", both).await?["code"],
        "VALIDATION_ERROR"
    );
    bench.settled(&task).await?;
    let transcript = bench.transcript(&session).await?;
    assert_eq!(prompts(&transcript), ["/say first", "/say second"]);
    assert_eq!(answers(&transcript), "firstsecond");

    // The same id in another task is refused without a word about what holds it.
    let other = bench.start_task("Other", "/say hi").await?;
    bench.settled(&other).await?;
    let elsewhere = bench.session(&other).await?;
    let reused = json!({ "task_id": other, "session_id": elsewhere, "client_message_id": "m-1", "content": "x" });
    let refused = bench.client.refused("message.add", reused).await?;
    assert_eq!(refused["code"], "CONFLICT");
    assert!(refused["details"].is_null());
    bench.server.stop().await
}

/// While the agent is busy prompts queue in order, at most ten; the queue shows in the row and goes on by itself.
async fn prompts_queue_in_order_while_the_agent_is_busy(mut bench: Bench) -> Result<()> {
    let gate = tempfile::tempdir()?;
    let go = gate.path().join("go");
    let task = bench
        .start_task("Busy", &format!("/wait-file {}\n/say a", go.display()))
        .await?;
    bench
        .summary(&task, "work", |s| s["foreground_activity"] == "generating")
        .await?;
    let session = bench.session(&task).await?;
    for n in 0..10 {
        let row = bench
            .send(&task, &session, &format!("q-{n}"), &format!("/say {n}"))
            .await?;
        assert_eq!(row["disposition"], "queued", "{row}");
    }
    let eleventh = json!({ "task_id": task, "session_id": session, "client_message_id": "q-x", "content": "x" });
    assert_eq!(
        bench.client.refused("message.add", eleventh).await?["code"],
        "BUSY"
    );
    bench
        .summary(&task, "the queue in the row", |s| {
            s["queued_prompt_count"] == 10
        })
        .await?;
    let remove = json!({ "session_id": session, "message_id": "q-4" });
    bench.client.request("message.queue.remove", remove).await?;
    std::fs::write(&go, "")?;
    bench
        .summary(&task, "an empty queue", |s| {
            s["queued_prompt_count"].is_null() && s["foreground_activity"].is_null()
        })
        .await?;
    assert_eq!(answers(&bench.transcript(&session).await?), "a012356789");
    bench.server.stop().await
}

/// Stop settles a turn whose agent listens, and one whose agent does not; then the queue goes on.
async fn stop_settles_within_a_bound_even_if_the_agent_ignores_it(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Polite", "/say hm\n/sleep 600000").await?;
    bench
        .summary(&task, "work", |s| s["foreground_activity"] == "generating")
        .await?;
    let session = bench.session(&task).await?;
    bench
        .client
        .request("agent.cancel", json!({ "session_id": session }))
        .await?;
    bench.settled(&task).await?;

    bench
        .send(&task, &session, "deaf", "/say busy\n/hang")
        .await?;
    bench
        .summary(&task, "work", |s| s["foreground_activity"] == "generating")
        .await?;
    bench.send(&task, &session, "next", "/say and on").await?;
    bench
        .client
        .request("agent.cancel", json!({ "session_id": session }))
        .await?;
    bench
        .summary(&task, "the queue to go on", |s| {
            s["queued_prompt_count"].is_null()
                && s["foreground_activity"].is_null()
                && s["primary_session"]["state"] == "WAITING_FOR_INPUT"
        })
        .await?;
    let transcript = bench.transcript(&session).await?;
    assert!(answers(&transcript).ends_with("and on"), "{transcript:#?}");
    let summary = bench.settled(&task).await?;
    assert!(
        summary["active_error"].is_null(),
        "a stop is no error: {summary}"
    );
    bench.server.stop().await
}

/// Several permissions at once each get the answer chosen for them; a second answer reaches nobody (C03, C04).
async fn parallel_permissions_each_get_their_own_answer(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Ask", "/permissions 3\n/say done").await?;
    bench.pending(&task).await?;
    let all = |answer: &Value| answer["requests"].as_array().cloned().unwrap_or_default();
    let requests = testkit::waiting::until("three requests", async || {
        let open = all(&bench
            .client
            .request("task.pending", json!({ "task_id": task }))
            .await?);
        Ok((open.len() == 3).then_some(open))
    })
    .await?;
    for (request, kind) in requests
        .iter()
        .zip(["allow_once", "reject_once", "allow_once"])
    {
        bench.answer(request, kind).await?;
        let again = json!({
            "session_id": request["session_id"], "message_id": request["message_id"],
            "pending_id": request["pending_id"], "option_id": request["options"][0]["id"],
        });
        assert_eq!(
            bench.client.refused("permission.respond", again).await?["code"],
            "CONFLICT"
        );
    }
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let transcript = bench.transcript(&session).await?;
    for (request, status) in requests.iter().zip(["approved", "rejected", "approved"]) {
        let row = transcript
            .iter()
            .find(|row| row["id"] == request["message_id"])
            .cloned()
            .unwrap_or_default();
        assert_eq!(
            (&row["status"], &row["delivered"]),
            (&json!(status), &json!(true)),
            "{row}"
        );
    }
    bench.server.stop().await
}

/// An agent that dies in its turn leaves a session error with what it said last; the next prompt starts it anew and
/// its answer clears the error.
async fn an_agent_that_dies_is_an_error_until_it_answers_again(mut bench: Bench) -> Result<()> {
    let task = bench
        .start_task("Die", "/say hm\n/stderr the disk is full\n/exit 7")
        .await?;
    let summary = bench
        .summary(&task, "an error", |s| s["active_error"].is_object())
        .await?;
    let error = &summary["active_error"];
    assert_eq!(error["category"], "agent_exited");
    let preview = text(&error["preview"])?;
    assert!(
        preview.contains("exit code 7") && preview.contains("the disk is full"),
        "{preview}"
    );
    assert!(error["session_id"].is_string());
    let session = bench.session(&task).await?;
    bench.send(&task, &session, "again", "/say better").await?;
    bench
        .summary(&task, "the error to clear", |s| {
            s["active_error"].is_null() && s["foreground_activity"].is_null()
        })
        .await?;
    assert_eq!(answers(&bench.transcript(&session).await?), "hmbetter");
    bench.server.stop().await
}

/// Stopping a session ends its process and leaves the queue to a person; sending one of the queue starts it.
async fn a_stopped_session_leaves_its_queue_to_a_person(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Busy", "/say a\n/sleep 600000").await?;
    bench
        .summary(&task, "work", |s| s["foreground_activity"] == "generating")
        .await?;
    let session = bench.session(&task).await?;
    bench.send(&task, &session, "q-1", "/say b").await?;
    bench
        .client
        .request("session.stop", json!({ "session_id": session }))
        .await?;
    bench
        .summary(&task, "an idle session", |s| {
            s["primary_session"]["state"] == "IDLE" && s["foreground_activity"].is_null()
        })
        .await?;
    bench.server.no_agents_left().await?;
    let queue = bench
        .client
        .request("message.queue.list", json!({ "session_id": session }))
        .await?;
    assert_eq!(queue["messages"][0]["id"], "q-1");
    bench
        .client
        .request(
            "message.resend",
            json!({ "session_id": session, "message_id": "q-1" }),
        )
        .await?;
    bench
        .summary(&task, "the queue to be worked off", |s| {
            s["queued_prompt_count"].is_null()
                && s["primary_session"]["state"] == "WAITING_FOR_INPUT"
        })
        .await?;
    assert_eq!(answers(&bench.transcript(&session).await?), "ab");

    // Deleting while it works, with a queue: the agent ends, nothing starts anew.
    bench.send(&task, &session, "long", "/sleep 600000").await?;
    bench
        .summary(&task, "work", |s| s["foreground_activity"] == "generating")
        .await?;
    bench.send(&task, &session, "never", "/say never").await?;
    bench
        .client
        .request("session.delete", json!({ "session_id": session }))
        .await?;
    bench
        .summary(&task, "no session", |s| s["primary_session"].is_null())
        .await?;
    bench.server.no_agents_left().await?;
    bench.server.stop().await
}

/// A prompt that the agent refuses is an error; trying again on the living agent leaves nothing half way.
async fn trying_again_on_a_living_agent_settles(mut bench: Bench) -> Result<()> {
    let task = bench
        .start_task("Refuse", "/error the model is overloaded")
        .await?;
    let summary = bench
        .summary(&task, "an error", |s| s["active_error"].is_object())
        .await?;
    let stamp = &summary["active_error"]["stamp"];
    let retry = json!({ "task_id": task, "stamp": stamp, "action": "retry_default" });
    bench.client.request("task.recover", retry).await?;
    let settled = bench
        .summary(&task, "the error to go", |s| {
            s["active_error"].is_null() && s["primary_session"]["state"] == "WAITING_FOR_INPUT"
        })
        .await?;
    assert!(settled["foreground_activity"].is_null(), "{settled}");
    assert_eq!(bench.task(&task).await?["state"], "REVIEW");
    bench.server.stop().await
}

/// ERR-04's ground: a launch by hand that works ends the error of the launch that did not.
async fn err_04_a_successful_launch_clears_the_launch_error(mut bench: Bench) -> Result<()> {
    bench.repository.git(&["branch", "-m", "main", "trunk"])?;
    let task = bench.start_task("Lost", "/say hi").await?;
    let summary = bench
        .summary(&task, "a launch error", |s| s["active_error"].is_object())
        .await?;
    assert!(summary["active_error"]["session_id"].is_null(), "{summary}");
    bench.repository.git(&["branch", "-m", "trunk", "main"])?;
    let launch = json!({
        "task_id": task, "client_id": "by-hand", "prompt": "/say hello", "client_message_id": "by-hand-1",
        "environment": "task",
    });
    bench
        .client
        .request("session.launch", launch.clone())
        .await?;
    let summary = bench.settled(&task).await?;
    assert!(summary["active_error"].is_null(), "{summary}");
    // A retried launch gives the same session and sends nothing twice.
    let session = bench.session(&task).await?;
    let again = bench.client.request("session.launch", launch).await?;
    assert_eq!(again["session"]["id"], json!(session));
    assert_eq!(answers(&bench.transcript(&session).await?), "hello");
    bench.server.stop().await
}
