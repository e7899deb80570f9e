//! What scenarios about questions need beside the bench: agents by profile, open questions, answers.

use crate::support::{Bench, text};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::waiting::until;

/// Makes a profile of the scripted agent with these flags; gives its id.
pub(crate) async fn profile(bench: &mut Bench, name: &str, args: &[&str]) -> Result<String> {
    let fields = json!({
        "workspace_id": bench.workspace_id, "name": name, "command": model::agent::DEMO_COMMAND, "args": args,
    });
    text(&bench.client.request("agent_profile.create", fields).await?["id"])
}

/// Changes the flags of a profile.
pub(crate) async fn set_args(bench: &mut Bench, profile: &str, args: &[&str]) -> Result<()> {
    let fields = json!({
        "agent_profile_id": profile, "name": "scripted", "command": model::agent::DEMO_COMMAND, "args": args,
    });
    bench.client.request("agent_profile.update", fields).await?;
    Ok(())
}

/// Makes a task that an agent of this profile starts on; gives its id.
pub(crate) async fn start_with(
    bench: &mut Bench,
    profile: &str,
    title: &str,
    prompt: &str,
) -> Result<String> {
    let created = json!({
        "workspace_id": bench.workspace_id, "client_id": title, "title": title, "prompt": prompt,
        "repositories": [{ "repository_id": bench.repository_id }], "start_agent": true,
        "agent_profile_id": profile,
    });
    let created = bench.client.request("task.create", created).await?;
    text(&created["task"]["id"])
}

/// Waits until the task's row asks for this, or for nothing.
pub(crate) async fn asks(bench: &mut Bench, task: &str, what: Option<&str>) -> Result<Value> {
    let wanted = json!(what);
    let words = format!("a row that asks for {what:?}");
    bench
        .summary(task, &words, |s| s["pending_action"] == wanted)
        .await
}

/// What the row's menu lists, oldest first.
pub(crate) async fn open(bench: &mut Bench, task: &str) -> Result<Vec<Value>> {
    let pending = json!({ "task_id": task });
    let pending = bench.client.request("task.pending", pending).await?;
    let mut requests = pending["requests"].as_array().context("no list")?.clone();
    requests.reverse();
    Ok(requests)
}

/// Waits for a question of the task; gives the questions of its bundle.
pub(crate) async fn asked(bench: &mut Bench, task: &str) -> Result<Vec<Value>> {
    asks(bench, task, Some("clarification")).await?;
    open(bench, task).await
}

/// The answer to a bundle.
pub(crate) fn answer(bundle: &[Value], answers: &[Value]) -> Value {
    let mut all = Vec::new();
    for (question, answer) in bundle.iter().zip(answers) {
        let mut answer = answer.clone();
        answer["message_id"] = question["message_id"].clone();
        all.push(answer);
    }
    let mut payload = reference(bundle);
    payload["answers"] = json!(all);
    payload
}

/// That a bundle is declined.
pub(crate) fn rejection(bundle: &[Value]) -> Value {
    let mut payload = reference(bundle);
    payload["rejected"] = json!(true);
    payload
}

fn reference(bundle: &[Value]) -> Value {
    let first = bundle.first().cloned().unwrap_or_default();
    json!({
        "session_id": first["session_id"], "message_id": first["message_id"],
        "pending_id": first["pending_id"],
    })
}

/// An option as the answer.
pub(crate) fn option(id: &str) -> Value {
    json!({ "selected": [id] })
}

/// The person's own words as the answer.
pub(crate) fn words(text: &str) -> Value {
    json!({ "text": text })
}

/// Answers a bundle.
pub(crate) async fn respond(bench: &mut Bench, payload: &Value) -> Result<Value> {
    let payload = payload.clone();
    bench.client.request("clarification.respond", payload).await
}

/// Tries to answer; gives the code with which it is refused, and the reason.
pub(crate) async fn refused(bench: &mut Bench, payload: &Value) -> Result<(String, String)> {
    let payload = payload.clone();
    let error = bench
        .client
        .refused("clarification.respond", payload)
        .await?;
    Ok((text(&error["code"])?, text(&error["message"])?))
}

/// The row of a request as the transcript has it now.
pub(crate) async fn row(bench: &mut Bench, request: &Value) -> Result<Value> {
    let wanted =
        json!({ "session_id": request["session_id"], "message_id": request["message_id"] });
    Ok(bench.client.request("message.get", wanted).await?["message"].clone())
}

/// Waits until what the agent said in this session is `wanted`.
pub(crate) async fn says(bench: &mut Bench, session: &str, wanted: &str) -> Result<()> {
    says_one_of(bench, session, &[wanted]).await
}

/// As [`says`], where the agent may take more than one way.
pub(crate) async fn says_one_of(bench: &mut Bench, session: &str, wanted: &[&str]) -> Result<()> {
    let mut said = String::new();
    let heard = until("the agent to say it", async || {
        // A call that is given up ends in one of two ways for its client, whichever it notices first.
        said = crate::support::answers(&bench.transcript(session).await?).replace(
            "the stream of events ended without an answer",
            "gave up waiting for the answer",
        );
        Ok(wanted.contains(&said.as_str()).then_some(()))
    })
    .await;
    heard.with_context(|| format!("it said {said:?}, not {wanted:?}"))
}
