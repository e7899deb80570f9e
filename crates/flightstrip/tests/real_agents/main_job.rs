//! Two tasks of one agent: one asks while the other streams, the answer changes a file, the other is stopped, a restart
//! loses nothing, and the next prompt goes on with the same conversation.

use crate::agents::requested;
use crate::support::answers;
use crate::workplace::{Workplace, of_type};
use anyhow::{Context, Result};
use serde_json::json;
use testkit::stub_model::script::{EDIT_TEXT, answer};
use testkit::waiting::until;

/// SUM-01, SUM-02, GIT-01, PEN-01: the main job, with each agent that was asked for.
#[tokio::test]
async fn sum_01_the_main_job_with_real_agents() -> Result<()> {
    for name in requested()? {
        main_job(&name)
            .await
            .with_context(|| format!("the main job with {name}"))?;
    }
    Ok(())
}

async fn main_job(name: &str) -> Result<()> {
    let mut place = Workplace::new(name).await?;
    let asks = place
        .start_task("Add notes", "THINK first then EDIT notes.txt please")
        .await?;
    let streams = place
        .start_task("Explain", "Explain everything, be SLOW")
        .await?;
    permission_from_the_row(&mut place, &asks, &streams).await?;
    totals_agree(&mut place, &asks).await?;
    stop_settles(&mut place, &streams).await?;
    restart_and_go_on(&mut place, &asks).await?;
    place.bench.server.stop().await?;
    place.bench.server.no_agents_left().await
}

/// No session was opened: the row alone says what is needed, and it is answered from there.
async fn permission_from_the_row(place: &mut Workplace, asks: &str, streams: &str) -> Result<()> {
    place.generating(streams).await?;
    let request = place.bench.pending(asks).await?;
    let worktree = place.bench.worktree(asks).await?;
    assert!(!worktree.join("notes.txt").exists(), "it did not wait");
    let title = request["title"].as_str().unwrap_or_default();
    assert!(title.contains("notes.txt"), "{request}");
    let row = place.generating(streams).await?;
    assert!(row["pending_action"].is_null(), "{row}");
    place.bench.answer(&request, "allow_once").await?;
    place.bench.settled(asks).await?;
    let written = std::fs::read_to_string(worktree.join("notes.txt"))?;
    assert_eq!(written.trim_end(), EDIT_TEXT.trim_end());
    Ok(())
}

/// The row's totals are those of Changes, and the diff is there.
async fn totals_agree(place: &mut Workplace, task_id: &str) -> Result<()> {
    let summary = place
        .bench
        .summary(task_id, "totals", |summary| {
            summary["git"]["changed_files"] == 1
        })
        .await?;
    let task = place.bench.task(task_id).await?;
    assert_eq!(task["state"], "REVIEW", "{task}");
    let environment = json!({ "task_environment_id": task["environments"][0]["id"] });
    let client = &mut place.bench.client;
    let changes = client.request("git.changes", environment.clone()).await?;
    let file = &changes["files"][0];
    assert_eq!(file["path"], "notes.txt", "{changes}");
    assert_eq!(file["additions"], 2, "{changes}");
    assert_eq!(summary["git"]["additions"], file["additions"]);
    assert_eq!(summary["git"]["deletions"], 0);
    let mut diff = environment;
    diff["path"] = json!("notes.txt");
    let diff = client.request("git.diff", diff).await?;
    let patch = diff["patch"].as_str().unwrap_or_default();
    assert!(patch.contains("+second line"), "{diff}");
    Ok(())
}

/// Stop ends an answer without end: the turn is cancelled, and the agent gave its model up.
async fn stop_settles(place: &mut Workplace, task_id: &str) -> Result<()> {
    let session_id = place.bench.session(task_id).await?;
    place.open(&session_id).await?;
    let turn = place.cancel(&session_id).await?;
    assert_eq!(turn["outcome"], "cancelled", "{turn}");
    let summary = place.bench.settled(task_id).await?;
    assert!(summary["active_error"].is_null(), "{summary}");
    let transcript = place.bench.transcript(&session_id).await?;
    assert!(answers(&transcript).starts_with("drip0 drip1 "));
    until("the model to be given up", async || {
        Ok((place.model.given_up() > 0).then_some(()))
    })
    .await
}

/// After a restart everything is there and true; the next prompt continues the conversation, and nothing that the
/// agent repeats of it reaches the transcript.
async fn restart_and_go_on(place: &mut Workplace, task_id: &str) -> Result<()> {
    let session_id = place.bench.session(task_id).await?;
    let before_row = place.bench.settled(task_id).await?;
    let before = place.bench.transcript(&session_id).await?;
    assert!(!of_type(&before, "thought").is_empty(), "{before:?}");
    let requests = of_type(&before, "permission_request");
    assert_eq!(requests.len(), 1, "{before:?}");
    assert_eq!(requests[0]["status"], "approved");

    place.bench.server.stop().await?;
    place.bench.server.no_agents_left().await?;
    place.agent.age_sessions()?;
    place.bench.server.launch().await?;
    place.bench.reconnect().await?;

    let after = place.bench.task(task_id).await?;
    let row = &after["status_summary"];
    assert_eq!(row["git"], before_row["git"]);
    assert_eq!(row["last_activity_at"], before_row["last_activity_at"]);
    assert_ne!(row["primary_session"]["state"], "RUNNING");
    assert_eq!(place.bench.transcript(&session_id).await?, before);

    place
        .bench
        .send(task_id, &session_id, "m-after", "and now go on")
        .await?;
    let wanted = format!("{}{}", answers(&before), answer("on"));
    until("the next prompt's answer", async || {
        let transcript = place.bench.transcript(&session_id).await?;
        Ok((answers(&transcript) == wanted).then_some(()))
    })
    .await?;
    place.bench.settled(task_id).await?;
    let resumed = place.bench.transcript(&session_id).await?;
    assert_eq!(resumed.get(..before.len()), Some(&before[..]));
    let prompts = resumed.iter().filter(|row| row["author"] == "user").count();
    assert_eq!(prompts, 2, "{resumed:?}");
    let asked = place.model.asked("and now go on").context("not asked")?;
    assert!(
        asked.earlier.iter().any(|text| text.contains("notes.txt")),
        "the agent forgot what it was asked first: {:?}",
        asked.earlier
    );
    Ok(())
}
