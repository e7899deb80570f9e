//! Whether an agent waits for the answer to its question is told to everybody who looks at the session, as it changes.

use crate::questions::{answer, asked, respond, says, words};
use crate::scripted::Scripted;
use crate::support::{Bench, text};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::client::Client;

testkit::on_every_engine!(crate::support::Bench =>
    pen_03_who_looks_is_told_when_an_agent_stops_waiting,
    pen_03_an_answered_question_is_waited_for_no_more,
    pen_04_after_a_restart_nobody_waits,
    a_stop_ends_the_waiting_of_every_question,
);

/// Waits until a session's questions that an agent waits for are these.
async fn awaits(client: &mut Client, session: &str, wanted: &[&Value]) -> Result<()> {
    let wanted = json!(wanted);
    client
        .wait(&format!("{wanted} to be awaited"), |frame| {
            frame["action"] == "session.questions_awaited"
                && frame["payload"]["session_id"] == session
                && frame["payload"]["pending_ids"] == wanted
        })
        .await
        .map(drop)
}

/// Opens a session.
async fn open(client: &mut Client, session: &str) -> Result<()> {
    let session = json!({ "session_id": session });
    client.request("session.subscribe", session).await.map(drop)
}

/// A task whose agent asks and waits; gives the task, its session and the bundle.
async fn asking(bench: &mut Bench, prompt: &str) -> Result<(String, String, Vec<Value>)> {
    let task = bench.start_task("Ask", prompt).await?;
    let bundle = asked(bench, &task).await?;
    let session = text(&bundle[0]["session_id"])?;
    Ok((task, session, bundle))
}

/// PEN-03: the agent goes on without the answer, while its turn is still open.
async fn pen_03_who_looks_is_told_when_an_agent_stops_waiting(mut bench: Bench) -> Result<()> {
    let gates = Scripted::new()?;
    let prompt = format!(
        "/ask-until {} Which?\n/wait-file {}\n/say ended",
        gates.gate("gave-up").display(),
        gates.gate("end").display()
    );
    let (task, session, bundle) = asking(&mut bench, &prompt).await?;
    let pending = &bundle[0]["pending_id"];
    open(&mut bench.client, &session).await?;
    awaits(&mut bench.client, &session, &[pending]).await?;
    gates.open("gave-up")?;
    awaits(&mut bench.client, &session, &[]).await?;
    // It still works: a session that runs is not one that waits.
    let summary = bench.task(&task).await?["status_summary"].clone();
    assert_eq!(
        (
            &summary["primary_session"]["state"],
            &summary["pending_action"]
        ),
        (&json!("RUNNING"), &json!("clarification")),
        "{summary}"
    );
    // Whoever looks later is told the same.
    let mut late = bench.server.connect().await?;
    open(&mut late, &session).await?;
    awaits(&mut late, &session, &[]).await?;
    gates.open("end")?;
    bench.settled(&task).await?;
    bench.server.stop().await
}

/// PEN-03.
async fn pen_03_an_answered_question_is_waited_for_no_more(mut bench: Bench) -> Result<()> {
    let (task, session, bundle) = asking(&mut bench, "/ask Which?").await?;
    open(&mut bench.client, &session).await?;
    awaits(&mut bench.client, &session, &[&bundle[0]["pending_id"]]).await?;
    respond(&mut bench, &answer(&bundle, &[words("blue")])).await?;
    awaits(&mut bench.client, &session, &[]).await?;
    bench.settled(&task).await?;
    // The next one is told as it comes, to a client that looks already.
    bench.send(&task, &session, "m-2", "/ask And now?").await?;
    let next = asked(&mut bench, &task).await?;
    bench.client.rewind();
    awaits(&mut bench.client, &session, &[&next[0]["pending_id"]]).await?;
    bench.server.stop().await
}

/// PEN-04.
async fn pen_04_after_a_restart_nobody_waits(mut bench: Bench) -> Result<()> {
    let (task, session, bundle) = asking(&mut bench, "/ask Which?").await?;
    open(&mut bench.client, &session).await?;
    awaits(&mut bench.client, &session, &[&bundle[0]["pending_id"]]).await?;
    bench.server.kill().await?;
    bench.server.no_agents_left().await?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    open(&mut bench.client, &session).await?;
    awaits(&mut bench.client, &session, &[]).await?;
    let still = asked(&mut bench, &task).await?;
    assert_eq!(still[0]["pending_id"], bundle[0]["pending_id"]);
    respond(&mut bench, &answer(&still, &[words("blue\n/say heard")])).await?;
    says(&mut bench, &session, "heard").await?;
    bench.server.stop().await
}

async fn a_stop_ends_the_waiting_of_every_question(mut bench: Bench) -> Result<()> {
    let (task, session, bundle) = asking(&mut bench, "/ask Which?").await?;
    open(&mut bench.client, &session).await?;
    awaits(&mut bench.client, &session, &[&bundle[0]["pending_id"]]).await?;
    let stop = json!({ "session_id": session });
    bench.client.request("agent.cancel", stop).await?;
    awaits(&mut bench.client, &session, &[]).await?;
    let summary = bench.settled(&task).await?;
    assert_eq!(summary["pending_action"], "clarification", "{summary}");
    let bundle = bundle.first().context("a question")?;
    let row = crate::questions::row(&mut bench, bundle).await?;
    assert_eq!(row["status"], "pending", "it is open all the same: {row}");
    bench.server.stop().await
}
