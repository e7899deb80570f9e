//! Case C23: killed with turns open. What rows say when the server is back, before and after, and what then starts.

use crate::remains::{Orphan, Starting};
use crate::scripted::Scripted;
use crate::support::{Bench, answers, text};
use anyhow::{Context, Result, ensure};
use model::ids::{EnvironmentId, ExecutionId, InstanceId, SessionId, TaskId};
use model::session::SessionState;
use model::task::TaskState;
use serde_json::{Value, json};
use store::executions::{self, Execution};
use store::sql::sql;
use store::tasks::LaunchIntent;
use store::{sessions, tasks};
use testkit::client::Client;
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    c23_rows_are_true_before_the_server_is_ready_and_one_agent_starts,
    s_06_opening_a_task_after_a_restart_is_no_activity,
    rec_01_a_launch_that_the_end_interrupted_is_an_error_that_can_be_tried_again,
);

async fn start(bench: &mut Bench, profile: &str, title: &str, prompt: &str) -> Result<String> {
    let created = json!({
        "workspace_id": bench.workspace_id, "client_id": title, "title": title, "prompt": prompt,
        "repositories": [{ "repository_id": bench.repository_id }], "start_agent": true,
        "agent_profile_id": profile,
    });
    let created = bench.client.request("task.create", created).await?;
    text(&created["task"]["id"])
}

async fn generating(bench: &mut Bench, task: &str, subagents: u64) -> Result<Value> {
    bench
        .summary(task, "work", |s| {
            s["foreground_activity"] == "generating" && s["active_subagent_count"] == subagents
        })
        .await
}

fn generation(client: &Client) -> Result<String> {
    let mut told = client.notifications.iter();
    let hello = told.find(|frame| frame["action"] == "hello");
    text(&hello.context("no hello")?["payload"]["server_generation"])
}

async fn summary(bench: &mut Bench, task: &str) -> Result<Value> {
    Ok(bench.task(task).await?["status_summary"].clone())
}

/// What the case finds in the database beside what the server itself left there.
async fn plant(bench: &Bench, orphan: &Orphan, [two, three, six]: [&Value; 3]) -> Result<()> {
    let store = bench.server.open_store().await?;
    let mut tx = store.write().await?;
    let now = tx.now();
    // S2's agent runs on, and its pipe is gone.
    let execution = Execution {
        id: ExecutionId::generate(),
        session_id: SessionId::parse(&text(&two["status_summary"]["primary_session"]["id"])?)?,
        environment_id: EnvironmentId::parse(&text(&two["environments"][0]["id"])?)?,
        pid: i64::from(orphan.pid()),
        process_started: orphan.started()?,
        instance_id: InstanceId::generate(),
    };
    executions::insert(&mut tx, &execution, now).await?;
    // S3 is starting, and no process was noted for it.
    let id = SessionId::parse(&text(&three["status_summary"]["primary_session"]["id"])?)?;
    sessions::set_acp_session(&mut tx, &id, None).await?;
    sessions::set_state(&mut tx, &id, SessionState::Starting).await?;
    executions::remove(&mut tx, &id).await?;
    // T6 has no summary.
    let delete = sql("DELETE FROM task_status_summaries WHERE task_id = $1");
    tx.execute(delete.bind(text(&six["id"])?)).await?;
    let _ = tx.commit().await?; // nobody runs who could be told
    Ok(())
}

/// While the database takes no writes a starting server shows nothing that is not true yet: it says that it starts.
async fn nothing_is_listed_before_readiness(bench: &Bench) -> Result<()> {
    let store = bench.server.open_store().await?;
    let held = store.write().await?;
    let starting = Starting::on(bench)?;
    let mut listed = None;
    until("the starting server to listen", async || {
        listed = starting.status(bench, "/api/v1/boot").await;
        Ok(listed.map(drop))
    })
    .await?;
    assert_eq!(listed, Some(503));
    assert_eq!(starting.status(bench, "/readyz").await, Some(503));
    assert_eq!(starting.status(bench, "/livez").await, Some(200));
    let refused = Client::connect_quietly(starting.port, bench.server.secret()).await;
    ensure!(refused.is_err(), "a list could be asked for");
    drop(held);
    Ok(())
}

/// C23, S-25, REC-01, REC-02.
async fn c23_rows_are_true_before_the_server_is_ready_and_one_agent_starts(
    mut bench: Bench,
) -> Result<()> {
    let scripted = Scripted::new()?;
    let profile = scripted.faulty(&mut bench).await?;
    let busy = "/say I work\n/subagent start a\n/subagent start b\n/sleep 600000";
    let one = start(&mut bench, &profile, "T1", busy).await?;
    let two = start(&mut bench, &profile, "T2", "/say I work\n/sleep 600000").await?;
    let three = start(&mut bench, &profile, "T3", "/say done").await?;
    let four = start(&mut bench, &profile, "T4", "/permission Run it").await?;
    let five = start(&mut bench, &profile, "T5", "/edit NOTES.md one\n/say done").await?;
    let six = start(&mut bench, &profile, "T6", "/edit NOTES.md one\n/say done").await?;
    for settled in [&three, &five, &six] {
        bench.settled(settled).await?;
    }
    for edited in [&five, &six] {
        let measured = |s: &Value| s["git"]["additions"] == 1;
        bench.summary(edited, "its totals", measured).await?;
    }
    let request = bench.pending(&four).await?;
    generating(&mut bench, &one, 2).await?;
    let working = |s: &Value| s["foreground_activity"] == "generating";
    bench.summary(&two, "work", working).await?;

    bench.server.kill().await?;
    bench.server.no_agents_left().await?;
    // What the rows say now is what the last server left: read where nobody repairs it.
    let before = Before::read(&bench, [&one, &two, &three, &four, &five, &six]).await?;
    assert_eq!(before.summary(&one)["foreground_activity"], "generating");
    assert_eq!(before.summary(&one)["active_subagent_count"], 2);
    let mut orphan = Orphan::start()?;
    let planted = [&two, &three, &six].map(|task| before.task(task));
    plant(&bench, &orphan, planted).await?;
    nothing_is_listed_before_readiness(&bench).await?;
    let starts = scripted.starts();
    let old = generation(&bench.client)?;

    bench.server.launch().await?;
    assert!(orphan.ended()?, "never two agents in one environment");
    // The very first answers, of the page's boot and of a list.
    let boot = bench.server.get("/api/v1/boot").await?;
    let mut first = bench.server.connect().await?;
    assert_ne!(
        generation(&first)?,
        old,
        "a page learns that this is another run"
    );
    assert_eq!(boot["server_generation"], json!(generation(&first)?));
    bench.reconnect().await?;
    for task in [&one, &two] {
        let now = summary(&mut bench, task).await?;
        assert_eq!(
            now["primary_session"]["state"], "WAITING_FOR_INPUT",
            "{now}"
        );
        assert!(now["foreground_activity"].is_null(), "{now}");
        assert!(now["active_subagent_count"].is_null(), "{now}");
        assert!(revision(before.summary(task)) < revision(&now), "{now}");
    }
    let now = summary(&mut bench, &three).await?;
    assert_eq!(now["primary_session"]["state"], "CREATED", "{now}");
    let now = summary(&mut bench, &four).await?;
    assert!(
        now["pending_action"].is_null(),
        "nobody could take the answer"
    );
    let options = request["options"].as_array().context("no options")?;
    let late = json!({
        "session_id": request["session_id"], "message_id": request["message_id"],
        "pending_id": request["pending_id"], "option_id": options[0]["id"],
    });
    let late = bench.client.refused("permission.respond", late).await?;
    assert_eq!(late["code"], "CONFLICT", "{late}");
    let now = summary(&mut bench, &five).await?;
    assert_eq!(&now, before.summary(&five), "what was true stays as it is");
    let now = summary(&mut bench, &six).await?;
    assert_eq!(facts(&now), facts(before.summary(&six)), "rebuilt");

    // Two clients open T1 at the same moment, and a message is sent.
    let mut second = bench.server.connect().await?;
    let session = text(&before.summary(&one)["primary_session"]["id"])?;
    let open = json!({ "session_id": session });
    let asked = first.send("session.subscribe", open.clone()).await?;
    let also = second.send("session.subscribe", open).await?;
    assert_eq!(first.answer(&asked).await?["type"], "response");
    assert_eq!(second.answer(&also).await?["type"], "response");
    bench
        .send(&one, &session, "go-on", "/say still here")
        .await?;
    until("the answer", async || {
        let said = answers(&bench.transcript(&session).await?);
        Ok((said == "I workstill here").then_some(()))
    })
    .await?;
    bench.settled(&one).await?;
    let transcript = bench.transcript(&session).await?;
    let sent = transcript.iter().find(|row| row["id"] == "go-on");
    assert_eq!(sent.context("the message")?["disposition"], "dispatched");
    assert_eq!(scripted.starts(), starts + 1, "exactly one agent");
    bench.server.stop().await
}

/// Tasks as the database holds them while no server runs.
struct Before(Vec<Value>);

impl Before {
    async fn read(bench: &Bench, ids: [&str; 6]) -> Result<Self> {
        let store = bench.server.open_store().await?;
        let mut tx = store.read().await?;
        let ids: Vec<TaskId> = ids
            .iter()
            .map(|id| TaskId::parse(id))
            .collect::<Result<_, _>>()?;
        let tasks = tasks::load(&mut tx, &ids).await?;
        let tasks = tasks.iter().map(serde_json::to_value);
        Ok(Self(tasks.collect::<Result<_, _>>()?))
    }

    fn task(&self, id: &str) -> &Value {
        let found = self.0.iter().find(|task| task["id"] == id);
        found.unwrap_or(&Value::Null)
    }

    fn summary(&self, id: &str) -> &Value {
        &self.task(id)["status_summary"]
    }
}

fn revision(summary: &Value) -> Option<i64> {
    summary["revision"].as_i64()
}

/// A summary without the words about its making.
fn facts(summary: &Value) -> Value {
    let mut facts = summary.clone();
    if let Some(facts) = facts.as_object_mut() {
        facts.retain(|name, _| name != "revision" && name != "updated_at");
    }
    facts
}

/// S-06, SUM-08.
async fn s_06_opening_a_task_after_a_restart_is_no_activity(mut bench: Bench) -> Result<()> {
    let scripted = Scripted::new()?;
    let profile = scripted.faulty(&mut bench).await?;
    let task = start(&mut bench, &profile, "Idle", "/say done").await?;
    bench.settled(&task).await?;
    bench.server.stop().await?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    let before = summary(&mut bench, &task).await?;
    assert!(before["last_activity_at"].is_string(), "{before}");
    let starts = scripted.starts();
    let session = text(&before["primary_session"]["id"])?;
    let open = json!({ "session_id": session });
    bench.client.request("session.subscribe", open).await?;
    until("the resumed agent to be ready", async || {
        let store = bench.server.open_store().await?;
        let mut tx = store.read().await?;
        let query = sql("SELECT count(*) AS n FROM task_session_turns
                         WHERE lifecycle_only AND completed_at IS NOT NULL");
        let ended = tx.one(query, "turns").await?.int("n")?;
        Ok((ended == 1).then_some(()))
    })
    .await?;
    bench.settled(&task).await?;
    let after = summary(&mut bench, &task).await?;
    assert_eq!(scripted.starts(), starts + 1, "it was resumed");
    assert_eq!(after["last_activity_at"], before["last_activity_at"]);
    assert_eq!(bench.task(&task).await?["state"], "REVIEW");
    bench.server.stop().await
}

/// REC-01, ERR-04. The intent of an auto-start outlives the server that was carrying it out.
async fn rec_01_a_launch_that_the_end_interrupted_is_an_error_that_can_be_tried_again(
    mut bench: Bench,
) -> Result<()> {
    let created = json!({
        "workspace_id": bench.workspace_id, "client_id": "begun", "title": "Begun",
        "repositories": [{ "repository_id": bench.repository_id }],
    });
    let created = bench.client.request("task.create", created).await?;
    let task = text(&created["task"]["id"])?;
    bench.server.kill().await?;
    // What `task.create` commits when an agent is to start, and no more.
    let store = bench.server.open_store().await?;
    let mut tx = store.write().await?;
    let id = TaskId::parse(&task)?;
    let intent = LaunchIntent {
        agent_profile_id: None,
        prompt: "/say hi".to_owned(),
    };
    tasks::set_launch_intent(&mut tx, &id, Some(&intent)).await?;
    let now = tx.now();
    tasks::set_state(&mut tx, &id, TaskState::Scheduling, now).await?;
    let _ = tx.commit().await?; // nobody runs who could be told
    drop(store);

    bench.server.launch().await?;
    bench.reconnect().await?;
    let begun = bench.task(&task).await?;
    assert_eq!(begun["state"], "TODO", "{begun}");
    let error = &begun["status_summary"]["active_error"];
    assert_eq!(error["category"], "generic_launch_failure", "{begun}");
    assert_eq!(error["recovery_actions"], json!(["retry_default"]));
    let retry = json!({ "task_id": task, "stamp": error["stamp"], "action": "retry_default" });
    bench.client.request("task.recover", retry).await?;
    let summary = bench.settled(&task).await?;
    assert!(summary["active_error"].is_null(), "{summary}");
    let session = bench.session(&task).await?;
    assert_eq!(answers(&bench.transcript(&session).await?), "hi");
    bench.server.stop().await
}
