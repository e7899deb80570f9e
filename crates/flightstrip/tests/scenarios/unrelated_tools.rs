//! Case C01 with a real agent: it asks for a permission while other tools of the same session begin and end.

use crate::scripted::Scripted;
use crate::support::{Bench, text};
use anyhow::Result;
use serde_json::{Value, json};
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    s_15_an_unrelated_tool_that_ends_leaves_the_permission_pending,
);

/// Does the steps of the case, each when its gate is opened. Update kinds are the protocol's.
const ASKING: &str = r#"
id() { printf '%s' "$1" | sed 's/.*"id":\([^,}]*\).*/\1/'; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
update() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"one","update":%s}}\n' "$1"; }
gate() { while [ ! -e "$1" ]; do sleep 0.01; done; }
while read -r line; do
  case "$line" in
    *'"initialize"'*) answer "$(id "$line")" '{"protocolVersion":1,"agentCapabilities":{}}' ;;
    *'"session/new"'*) answer "$(id "$line")" '{"sessionId":"one"}' ;;
    *'"session/prompt"'*)
      prompt=$(id "$line")
      update '{"sessionUpdate":"tool_call","toolCallId":"tc1","title":"Run the build","kind":"execute","status":"pending"}'
      update '{"sessionUpdate":"tool_call","toolCallId":"tc2","title":"Write","kind":"edit","status":"pending"}'
      gate "$1/ask"
      printf '{"jsonrpc":"2.0","id":"p1","method":"session/request_permission","params":{"sessionId":"one","toolCall":{"toolCallId":"tc2","title":"Write","kind":"edit"},"options":[{"optionId":"yes","name":"Allow","kind":"allow_once"},{"optionId":"no","name":"Reject","kind":"reject_once"}]}}\n'
      gate "$1/others"
      update '{"sessionUpdate":"tool_call_update","toolCallId":"tc1","status":"completed"}'
      update '{"sessionUpdate":"tool_call","toolCallId":"tr","title":"Read","kind":"read","status":"pending"}'
      update '{"sessionUpdate":"tool_call_update","toolCallId":"tr","status":"completed"}'
      update '{"sessionUpdate":"tool_call","toolCallId":"tf","title":"Fetch","kind":"fetch","status":"failed"}'
      update '{"sessionUpdate":"something_new","status":"approved"}'
      read -r chosen
      gate "$1/end"
      update '{"sessionUpdate":"tool_call_update","toolCallId":"tc2","status":"completed"}'
      answer "$prompt" '{"stopReason":"end_turn"}' ;;
  esac
done
"#;

/// The status of a tool's row, by its title.
async fn tool(bench: &mut Bench, session: &str, title: &str) -> Result<Option<String>> {
    let transcript = bench.transcript(session).await?;
    let row = transcript
        .into_iter()
        .find(|row| row["type"] == "tool_call" && row["content"] == title);
    row.map(|row| text(&row["metadata"]["status"])).transpose()
}

async fn until_tool(bench: &mut Bench, session: &str, title: &str, status: &str) -> Result<()> {
    until("a tool", async || {
        let now = tool(bench, session, title).await?;
        Ok((now.as_deref() == Some(status)).then_some(()))
    })
    .await
}

/// How often what the task asks for changed, from one revision that the client was told to the next.
fn changes_of_the_badge(bench: &Bench, task: &str) -> usize {
    let told = bench.client.notifications.iter();
    let mut told: Vec<&Value> = told
        .filter(|frame| {
            frame["action"] == "task.status_summary.updated" && frame["payload"]["task_id"] == task
        })
        .map(|frame| &frame["payload"]["status_summary"])
        .collect();
    told.sort_by_key(|summary| summary["revision"].as_i64());
    let shown: Vec<&Value> = [&Value::Null]
        .into_iter()
        .chain(told.into_iter().map(|summary| &summary["pending_action"]))
        .collect();
    shown.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// C01, PEN-05, S-15.
async fn s_15_an_unrelated_tool_that_ends_leaves_the_permission_pending(
    mut bench: Bench,
) -> Result<()> {
    let scripted = Scripted::new()?;
    let profile = scripted.profile(&mut bench, ASKING).await?;
    let created = json!({
        "workspace_id": bench.workspace_id, "client_id": "asks", "title": "Asks", "prompt": "go",
        "repositories": [{ "repository_id": bench.repository_id }], "start_agent": true,
        "agent_profile_id": profile,
    });
    let created = bench.client.request("task.create", created).await?;
    let task = text(&created["task"]["id"])?;
    let session = bench.session(&task).await?;
    until_tool(&mut bench, &session, "Run the build", "pending").await?;
    until_tool(&mut bench, &session, "Write", "pending").await?;
    let summary = bench.task(&task).await?["status_summary"].clone();
    assert!(summary["pending_action"].is_null(), "announced: {summary}");

    scripted.open("ask")?;
    let request = bench.pending(&task).await?;
    let armed = bench.task(&task).await?["status_summary"].clone();
    assert_eq!(armed["pending_action"], "permission");
    scripted.open("others")?;
    until_tool(&mut bench, &session, "Run the build", "completed").await?;
    until_tool(&mut bench, &session, "Read", "completed").await?;
    until_tool(&mut bench, &session, "Fetch", "failed").await?;
    until("the unknown update", async || {
        let transcript = bench.transcript(&session).await?;
        let found = transcript.iter().any(|row| row["type"] == "unknown_update");
        Ok(found.then_some(()))
    })
    .await?;
    // A sibling session of the task runs a tool to its end.
    let launch = json!({
        "task_id": task, "client_id": "sibling", "prompt": "/tool read Look", "client_message_id": "sibling-1",
        "environment": "task", "agent_profile_id": default_profile(&bench, &profile).await?,
    });
    let launched = bench.client.request("session.launch", launch).await?;
    let sibling = text(&launched["session"]["id"])?;
    until_tool(&mut bench, &sibling, "Look", "completed").await?;
    let still = bench.task(&task).await?["status_summary"].clone();
    assert_eq!(still["pending_action"], "permission");
    assert_eq!(still["pending_since"], armed["pending_since"]);

    bench.answer(&request, "allow_once").await?;
    let gone = |s: &Value| s["pending_action"].is_null();
    bench.summary(&task, "the badge to go", gone).await?;
    let write = tool(&mut bench, &session, "Write").await?;
    assert_eq!(write.as_deref(), Some("pending"), "allowed is not done");
    scripted.open("end")?;
    until_tool(&mut bench, &session, "Write", "completed").await?;
    bench.settled(&task).await?;
    assert_eq!(changes_of_the_badge(&bench, &task), 2);
    bench.server.stop().await
}

/// A profile of the workspace that is not this one: the demo agent's.
async fn default_profile(bench: &Bench, other: &str) -> Result<Value> {
    let boot = bench.server.get("/api/v1/boot").await?;
    let profiles = boot["workspaces"][0]["agent_profiles"].as_array();
    let found = profiles
        .into_iter()
        .flatten()
        .find(|profile| profile["id"] != other);
    Ok(found.map_or(Value::Null, |profile| profile["id"].clone()))
}
