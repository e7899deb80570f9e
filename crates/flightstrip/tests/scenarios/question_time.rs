//! A question that nobody answers in time: the agent goes on without the answer, and the question stays open.

use crate::questions::{answer, asked, asks, refused, respond, row, says, words};
use crate::scripted::Scripted;
use crate::support::{BINARY, Bench, text};
use anyhow::Result;
use serde_json::{Value, json};
use testkit::server::Server;
use testkit::store::Engine;
use testkit::waiting::until;

testkit::on_every_engine!(testkit::store::Engine =>
    pen_03_after_its_time_a_call_returns_and_the_question_stays,
    pen_04_what_is_sent_after_its_time_supersedes_the_question,
    an_answer_in_time_goes_to_the_call,
);

/// What a call is told whose time is over.
const NOBODY_ANSWERED: &str = "Nobody has answered yet. The question stays open, and the answer will come as a message. \
     Do what does not depend on it, then end your turn.";

/// A server whose agents wait for an answer so long.
async fn bench(engine: Engine, wait_ms: &str) -> Result<Bench> {
    let env = [
        ("FLIGHTSTRIP_QUESTION_WAIT_MS", wait_ms),
        ("FLIGHTSTRIP_LOG", "info,orchestrator=debug"),
    ];
    Bench::with(Server::start_on(engine, BINARY, &[], &env).await?).await
}

/// A question whose time is over while the turn that asked it goes on; gives the task and the bundle.
async fn timed_out(bench: &mut Bench, gates: &Scripted) -> Result<(String, Vec<Value>)> {
    let prompt = format!(
        "/ask Which?\n/wait-file {}\n/say ended",
        gates.gate("end").display()
    );
    let task = bench.start_task("Ask", &prompt).await?;
    let bundle = asked(bench, &task).await?;
    let session = text(&bundle[0]["session_id"])?;
    says(bench, &session, NOBODY_ANSWERED).await?;
    let why = until("the end of the waiting in the log", async || {
        let log = bench.server.log();
        let line = log
            .lines()
            .find(|line| line.contains("a question is detached"));
        Ok(line.map(str::to_owned))
    })
    .await?;
    assert!(why.contains("time") && why.contains(&session), "{why}");
    let summary = asks(bench, &task, Some("clarification")).await?;
    assert_eq!(
        summary["primary_session"]["state"], "RUNNING",
        "the turn goes on: {summary}"
    );
    Ok((task, bundle))
}

/// PEN-03: pending as before, not expired; the late answer becomes one prompt when the turn has ended.
async fn pen_03_after_its_time_a_call_returns_and_the_question_stays(engine: Engine) -> Result<()> {
    let (mut bench, gates) = (bench(engine, "200").await?, Scripted::new()?);
    let (task, bundle) = timed_out(&mut bench, &gates).await?;
    let session = text(&bundle[0]["session_id"])?;
    let subscribe = json!({ "session_id": session });
    bench.client.request("session.subscribe", subscribe).await?;
    let told = bench
        .client
        .wait("what is waited for", |frame| {
            frame["action"] == "session.questions_awaited"
        })
        .await?;
    assert_eq!(told["payload"]["pending_ids"], json!([]));
    let open = row(&mut bench, &bundle[0]).await?;
    assert_eq!(open["status"], "pending", "{open}");
    assert!(open["delivered"].is_null(), "{open}");

    let late = answer(&bundle, &[words("blue\n/say heard")]);
    respond(&mut bench, &late).await?;
    assert_eq!(refused(&mut bench, &late).await?.0, "CONFLICT");
    gates.open("end")?;
    says(
        &mut bench,
        &session,
        &format!("{NOBODY_ANSWERED}endedheard"),
    )
    .await?;
    bench.settled(&task).await?;
    let kept = row(&mut bench, &bundle[0]).await?;
    assert_eq!(
        (&kept["status"], &kept["delivered"]),
        (&json!("answered"), &json!(true))
    );
    bench.server.stop().await
}

/// PEN-04.
async fn pen_04_what_is_sent_after_its_time_supersedes_the_question(engine: Engine) -> Result<()> {
    let (mut bench, gates) = (bench(engine, "200").await?, Scripted::new()?);
    let (task, bundle) = timed_out(&mut bench, &gates).await?;
    let session = text(&bundle[0]["session_id"])?;
    gates.open("end")?;
    bench.settled(&task).await?;
    bench.send(&task, &session, "m-2", "/say newer").await?;
    asks(&mut bench, &task, None).await?;
    says(
        &mut bench,
        &session,
        &format!("{NOBODY_ANSWERED}endednewer"),
    )
    .await?;
    let late = answer(&bundle, &[words("late")]);
    assert_eq!(refused(&mut bench, &late).await?.0, "CONFLICT");
    bench.server.stop().await
}

/// The other side of the bound: what comes before it is over is the call's own answer.
async fn an_answer_in_time_goes_to_the_call(engine: Engine) -> Result<()> {
    let mut bench = bench(engine, "600000").await?;
    let task = bench.start_task("Ask", "/ask Which?").await?;
    let bundle = asked(&mut bench, &task).await?;
    respond(&mut bench, &answer(&bundle, &[words("blue")])).await?;
    bench.settled(&task).await?;
    let session = text(&bundle[0]["session_id"])?;
    let said = crate::support::answers(&bench.transcript(&session).await?);
    assert!(said.contains("blue"), "{said}");
    assert!(!bench.server.log().contains("a question is detached"));
    bench.server.stop().await
}
