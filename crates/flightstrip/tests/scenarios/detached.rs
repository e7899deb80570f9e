//! A question that nobody waits for any more: it stays open while its turn is the current one, its answer becomes a
//! prompt, and until that is under way nothing is lost. Answers in these tests end with a directive, so that what the
//! agent says shows what reached it, and how often.

use crate::questions::{
    answer, asked, asks, open, profile, refused, rejection, respond, row, says, says_one_of,
    set_args, start_with, words,
};
use crate::support::{Bench, text};
use anyhow::Result;
use serde_json::{Value, json};
use tempfile::TempDir;

testkit::on_every_engine!(crate::support::Bench =>
    s_16_a_newer_turn_supersedes_a_detached_question_for_good,
    pen_03_a_late_answer_becomes_one_prompt,
    pen_04_a_resumed_agent_leaves_its_question_open,
    an_answer_during_the_turn_goes_before_the_queue,
    pen_03_an_answer_that_was_not_sent_can_be_given_again,
    pen_03_a_restart_before_the_attempt_makes_the_question_pending_again,
    stop_releases_the_agent_and_leaves_the_question,
    a_declined_detached_question_starts_nothing,
);

const GAVE_UP: &str = "the call failed: gave up waiting for the answer";

/// What a call is told whose turn is stopped.
const NOBODY_ANSWERED: &str = "Nobody has answered yet. The question stays open, and the answer will come as a message. \
     Do what does not depend on it, then end your turn.";

/// A gate that a test opens by making its file.
struct Gate(TempDir);

impl Gate {
    fn new() -> Result<Self> {
        Ok(Self(tempfile::tempdir()?))
    }

    fn path(&self) -> String {
        self.0.path().join("open").to_string_lossy().into_owned()
    }

    fn open(&self) -> Result<()> {
        Ok(std::fs::write(self.0.path().join("open"), "")?)
    }
}

/// Starts a task whose agent asks, gives up and ends its turn; gives the task and the open bundle.
async fn detached(bench: &mut Bench, profile: Option<&str>) -> Result<(String, Vec<Value>)> {
    let gate = Gate::new()?;
    let prompt = format!("/ask-until {} Which?", gate.path());
    let task = match profile {
        Some(profile) => start_with(bench, profile, "Detach", &prompt).await?,
        None => bench.start_task("Detach", &prompt).await?,
    };
    let bundle = asked(bench, &task).await?;
    gate.open()?;
    bench
        .summary(&task, "the turn to end", |s| {
            s["primary_session"]["state"] == "WAITING_FOR_INPUT"
                && s["foreground_activity"].is_null()
        })
        .await?;
    asks(bench, &task, Some("clarification")).await?;
    Ok((task, bundle))
}

/// S-16, PEN-02, PEN-04, PEN-08.
async fn s_16_a_newer_turn_supersedes_a_detached_question_for_good(mut bench: Bench) -> Result<()> {
    let (task, bundle) = detached(&mut bench, None).await?;
    let session = text(&bundle[0]["session_id"])?;
    bench.send(&task, &session, "m-2", "/say newer").await?;
    let row_says = asks(&mut bench, &task, None).await?;
    assert!(row_says["pending_since"].is_null(), "{row_says}");
    bench.settled(&task).await?;
    says(&mut bench, &session, &format!("{GAVE_UP}newer")).await?;
    for late in [
        answer(&bundle, &[words("late\n/say wrong")]),
        rejection(&bundle),
    ] {
        let (code, message) = refused(&mut bench, &late).await?;
        assert_eq!(code, "CONFLICT");
        assert!(message.contains("newer message"), "{message}");
    }
    let kept = row(&mut bench, &bundle[0]).await?;
    assert_eq!(
        kept["status"], "pending",
        "history is not rewritten: {kept}"
    );

    // Neither the end of a later turn, nor a deleted one, nor a restart arms it again.
    bench.send(&task, &session, "m-3", "/say and more").await?;
    says(&mut bench, &session, &format!("{GAVE_UP}newerand more")).await?;
    bench.settled(&task).await?;
    for id in ["m-2", "m-3"] {
        let delete = json!({ "session_id": session, "message_id": id });
        bench.client.request("message.delete", delete).await?;
    }
    bench.server.stop().await?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    let summary = bench.task(&task).await?["status_summary"].clone();
    assert!(summary["pending_action"].is_null(), "{summary}");
    assert!(open(&mut bench, &task).await?.is_empty());
    bench.server.stop().await
}

/// PEN-03, PEN-05.
async fn pen_03_a_late_answer_becomes_one_prompt(mut bench: Bench) -> Result<()> {
    let (task, bundle) = detached(&mut bench, None).await?;
    let session = text(&bundle[0]["session_id"])?;
    let late = answer(&bundle, &[words("blue\n/say heard")]);
    respond(&mut bench, &late).await?;
    assert_eq!(refused(&mut bench, &late).await?.0, "CONFLICT");
    says(&mut bench, &session, &format!("{GAVE_UP}heard")).await?;
    bench.settled(&task).await?;
    let kept = row(&mut bench, &bundle[0]).await?;
    assert_eq!(
        (&kept["status"], &kept["delivered"]),
        (&json!("answered"), &json!(true))
    );
    let transcript = bench.transcript(&session).await?;
    let prompts = transcript.iter().filter(|row| row["author"] == "user");
    assert_eq!(
        prompts.count(),
        1,
        "the answers are no message of the person"
    );
    bench.server.stop().await
}

/// PEN-04, S-06: killed while its agent waits; then opened, which only makes a lifecycle turn.
async fn pen_04_a_resumed_agent_leaves_its_question_open(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Ask", "/ask Which?").await?;
    let bundle = asked(&mut bench, &task).await?;
    let session = text(&bundle[0]["session_id"])?;
    bench.server.kill().await?;
    bench.server.no_agents_left().await?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    let before = asks(&mut bench, &task, Some("clarification")).await?;
    let subscribe = json!({ "session_id": session });
    bench.client.request("session.subscribe", subscribe).await?;
    testkit::waiting::until("the agent to be back", async || {
        let resumed = !bench.server.agent_processes()?.is_empty();
        let summary = bench.task(&task).await?["status_summary"].clone();
        assert_eq!(
            summary["pending_action"], "clarification",
            "it flickers: {summary}"
        );
        let waits = summary["primary_session"]["state"] == "WAITING_FOR_INPUT";
        Ok((resumed && waits).then_some(()))
    })
    .await?;
    let after = asks(&mut bench, &task, Some("clarification")).await?;
    assert_eq!(after["pending_since"], before["pending_since"]);
    assert_eq!(after["last_activity_at"], before["last_activity_at"]);
    respond(&mut bench, &answer(&bundle, &[words("blue\n/say heard")])).await?;
    says(&mut bench, &session, "heard").await?;
    asks(&mut bench, &task, None).await?;
    bench.server.stop().await
}

async fn an_answer_during_the_turn_goes_before_the_queue(mut bench: Bench) -> Result<()> {
    let (gate, end) = (Gate::new()?, Gate::new()?);
    let prompt = format!(
        "/ask-until {} Which?\n/wait-file {}\n/say ended",
        gate.path(),
        end.path()
    );
    let task = bench.start_task("Later", &prompt).await?;
    let bundle = asked(&mut bench, &task).await?;
    let session = text(&bundle[0]["session_id"])?;
    bench.send(&task, &session, "q-1", "/say queued").await?;
    gate.open()?;
    says(&mut bench, &session, GAVE_UP).await?;
    respond(&mut bench, &answer(&bundle, &[words("blue\n/say heard")])).await?;
    let summary = asks(&mut bench, &task, None).await?;
    assert_eq!(summary["foreground_activity"], "generating", "{summary}");
    end.open()?;
    says(&mut bench, &session, &format!("{GAVE_UP}endedheardqueued")).await?;
    bench.settled(&task).await?;
    bench.server.stop().await
}

/// PEN-03: the agent cannot be started, so nothing was attempted.
async fn pen_03_an_answer_that_was_not_sent_can_be_given_again(mut bench: Bench) -> Result<()> {
    let scripted = profile(&mut bench, "scripted", &[]).await?;
    let (task, bundle) = detached(&mut bench, Some(&scripted)).await?;
    let session = text(&bundle[0]["session_id"])?;
    let stop = json!({ "session_id": session });
    bench.client.request("session.stop", stop).await?;
    bench.server.no_agents_left().await?;
    set_args(&mut bench, &scripted, &["--exit-at-once", "3"]).await?;
    let blue = answer(&bundle, &[words("blue\n/say heard")]);
    respond(&mut bench, &blue).await?;
    let summary = bench
        .summary(&task, "the failed start", |s| s["active_error"].is_object())
        .await?;
    assert_eq!(
        summary["active_error"]["category"], "agent_exited",
        "{summary}"
    );
    let summary = asks(&mut bench, &task, Some("clarification")).await?;
    assert_ne!(summary["primary_session"]["state"], "STARTING", "{summary}");
    let kept = row(&mut bench, &bundle[0]).await?;
    assert_eq!(kept["status"], "pending", "{kept}");
    assert!(kept["metadata"]["answer"].is_null(), "{kept}");
    set_args(&mut bench, &scripted, &[]).await?;
    respond(&mut bench, &blue).await?;
    says(&mut bench, &session, &format!("{GAVE_UP}heard")).await?;
    asks(&mut bench, &task, None).await?;
    bench.server.stop().await
}

/// PEN-03, REC-01: killed between the reservation and the attempt.
async fn pen_03_a_restart_before_the_attempt_makes_the_question_pending_again(
    mut bench: Bench,
) -> Result<()> {
    let scripted = profile(&mut bench, "scripted", &[]).await?;
    let (task, bundle) = detached(&mut bench, Some(&scripted)).await?;
    let session = text(&bundle[0]["session_id"])?;
    let stop = json!({ "session_id": session });
    bench.client.request("session.stop", stop).await?;
    bench.server.no_agents_left().await?;
    set_args(&mut bench, &scripted, &["--no-initialize"]).await?;
    let blue = answer(&bundle, &[words("blue\n/say heard")]);
    respond(&mut bench, &blue).await?;
    let summary = asks(&mut bench, &task, None).await?;
    assert_eq!(summary["primary_session"]["state"], "STARTING", "{summary}");
    bench.server.kill().await?;
    bench.server.no_agents_left().await?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    let summary = asks(&mut bench, &task, Some("clarification")).await?;
    assert_ne!(summary["primary_session"]["state"], "STARTING", "{summary}");
    let kept = row(&mut bench, &bundle[0]).await?;
    assert_eq!(kept["status"], "pending", "{kept}");
    set_args(&mut bench, &scripted, &[]).await?;
    respond(&mut bench, &blue).await?;
    says(&mut bench, &session, &format!("{GAVE_UP}heard")).await?;
    bench.server.stop().await
}

async fn stop_releases_the_agent_and_leaves_the_question(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Stop", "/ask Which?").await?;
    let bundle = asked(&mut bench, &task).await?;
    let session = text(&bundle[0]["session_id"])?;
    let stop = json!({ "session_id": session });
    bench.client.request("agent.cancel", stop).await?;
    bench.settled(&task).await?;
    let summary = asks(&mut bench, &task, Some("clarification")).await?;
    assert!(summary["active_error"].is_null(), "{summary}");
    respond(&mut bench, &answer(&bundle, &[words("blue\n/say heard")])).await?;
    // Stop and the end of the call reach the agent on two ways; it may say something about the call before it stops.
    let gave_up = format!("{GAVE_UP}heard");
    let was_told = format!("{NOBODY_ANSWERED}heard");
    says_one_of(&mut bench, &session, &["heard", &gave_up, &was_told]).await?;
    bench.server.stop().await
}

async fn a_declined_detached_question_starts_nothing(mut bench: Bench) -> Result<()> {
    let (task, bundle) = detached(&mut bench, None).await?;
    let session = text(&bundle[0]["session_id"])?;
    respond(&mut bench, &rejection(&bundle)).await?;
    let summary = asks(&mut bench, &task, None).await?;
    let state = &summary["primary_session"]["state"];
    assert_eq!(state, "WAITING_FOR_INPUT", "{summary}");
    assert_eq!(
        refused(&mut bench, &rejection(&bundle)).await?.0,
        "CONFLICT"
    );
    // A prompt after it is the next thing that the agent hears.
    bench.send(&task, &session, "m-2", "/say next").await?;
    says(&mut bench, &session, &format!("{GAVE_UP}next")).await?;
    bench.server.stop().await
}
