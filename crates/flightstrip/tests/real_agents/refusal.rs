//! An agent that is told no, stopped while it asks, stopped while it writes, and stopped for good.

use crate::agents::requested;
use crate::support::answers;
use crate::workplace::{Workplace, of_type};
use anyhow::{Context, Result};
use serde_json::json;
use testkit::stub_model::script::answer;
use testkit::waiting::until;

/// PEN-01: what a person refuses does not happen, and the session goes on, with each agent that was asked for.
#[tokio::test]
async fn pen_01_real_agents_are_refused_and_stopped() -> Result<()> {
    for name in requested()? {
        refusal(&name)
            .await
            .with_context(|| format!("refusing {name}"))?;
    }
    Ok(())
}

async fn refusal(name: &str) -> Result<()> {
    let mut place = Workplace::new(name).await?;
    let task = place.start_task("Run", "Please RUN the command").await?;
    let request = place.bench.pending(&task).await?;
    let session = place.bench.session(&task).await?;
    place.open(&session).await?;
    place.bench.answer(&request, "reject_once").await?;
    let row = place.bench.settled(&task).await?;
    assert!(row["active_error"].is_null(), "{row}");
    let worktree = place.bench.worktree(&task).await?;
    assert!(!worktree.join("ran.txt").exists(), "it ran all the same");

    stop_while_it_asks(&mut place, &task, &session).await?;
    assert!(!worktree.join("kept.txt").exists(), "it was written");
    let transcript = place.bench.transcript(&session).await?;
    let outcomes: Vec<_> = of_type(&transcript, "permission_request")
        .iter()
        .map(|request| request["status"].clone())
        .collect();
    assert_eq!(outcomes, ["rejected", "cancelled"]);

    // The conversation is none the worse for it.
    place
        .bench
        .send(&task, &session, "m-3", "one question more")
        .await?;
    until("an answer", async || {
        let transcript = place.bench.transcript(&session).await?;
        Ok(answers(&transcript)
            .ends_with(&answer("more"))
            .then_some(()))
    })
    .await?;
    place.bench.settled(&task).await?;
    stop_for_good(&mut place, &task, &session).await
}

/// Stop while a permission is open: the request is answered "cancelled" and the turn settles.
async fn stop_while_it_asks(place: &mut Workplace, task: &str, session: &str) -> Result<()> {
    place
        .bench
        .send(task, session, "m-2", "EDIT kept.txt please")
        .await?;
    place.bench.pending(task).await?;
    let turn = place.cancel(session).await?;
    assert_eq!(turn["outcome"], "cancelled", "{turn}");
    let row = place.bench.settled(task).await?;
    assert!(row["pending_action"].is_null(), "{row}");
    assert!(row["active_error"].is_null(), "{row}");
    Ok(())
}

/// `session.stop` in the middle of an answer ends every process of the agent, while the server runs on.
async fn stop_for_good(place: &mut Workplace, task: &str, session: &str) -> Result<()> {
    place
        .bench
        .send(task, session, "m-4", "once more be SLOW")
        .await?;
    place.generating(task).await?;
    let stopped = json!({ "session_id": session });
    place.bench.client.request("session.stop", stopped).await?;
    place.bench.server.no_agents_left().await?;
    let row = place
        .bench
        .summary(task, "the session to rest", |row| {
            row["foreground_activity"].is_null() && row["primary_session"]["state"] != "RUNNING"
        })
        .await?;
    assert!(row["active_error"].is_null(), "{row}");
    place.bench.server.stop().await
}
