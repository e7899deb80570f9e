//! Subscribe, focus, refresh (API-02 … API-04), replay of frames, and who hears what (API-07's core).

use crate::support::{Bench, text};
use anyhow::{Context, Result};
use serde_json::{Value, json};

testkit::on_every_engine!(crate::support::Bench =>
    api_02_api_03_only_a_new_join_brings_a_snapshot,
    api_04_a_refresh_observes_now,
    api_01_rows_are_told_without_any_session,
    an_open_session_is_streamed_as_appends_that_join_to_the_stored_text,
);

/// Notifications of `client` about one session, by action, since the mark.
fn about(bench: &Bench, from: usize, session_id: &str) -> Vec<String> {
    bench.client.notifications[from..]
        .iter()
        .filter(|frame| {
            let payload = &frame["payload"];
            payload["session_id"] == session_id
                || payload["message"]["session_id"] == session_id
                || payload["turn"]["session_id"] == session_id
        })
        .filter_map(|frame| frame["action"].as_str().map(str::to_owned))
        .collect()
}

/// API-02: the full snapshot comes after the acknowledgement of a new join only; a duplicate is only acknowledged.
/// API-03: focus is acknowledged and replays nothing.
async fn api_02_api_03_only_a_new_join_brings_a_snapshot(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Edit", "/edit NOTES.md hello").await?;
    bench.settled(&task).await?;
    bench
        .summary(&task, "totals", |s| s["git"]["changed_files"] == 1)
        .await?;
    let session = bench.session(&task).await?;
    let subscribe = json!({ "session_id": session });

    let mark = bench.client.notifications.len();
    bench
        .client
        .request("session.subscribe", subscribe.clone())
        .await?;
    assert!(
        about(&bench, mark, &session).is_empty(),
        "the acknowledgement comes first"
    );
    for action in [
        "session.git.event",
        "session.available_commands",
        "session.mode_changed",
        "session.models_updated",
        "message.queue.status_changed",
        "session.pending_changed",
    ] {
        bench
            .client
            .wait(action, |f| {
                f["action"] == action && f["payload"]["session_id"] == session
            })
            .await?;
        bench.client.rewind();
    }
    let git = bench
        .client
        .wait("git status", |frame| frame["action"] == "session.git.event")
        .await?;
    assert_eq!(git["payload"]["type"], "status_update");
    assert!(git["payload"]["task_environment_id"].is_string());
    assert_eq!(git["payload"]["status"]["changed_files"], 1);

    // A duplicate subscribe, a focus and an unfocus: acknowledged, nothing replayed. A ping behind each proves that
    // nothing was on its way.
    for action in ["session.subscribe", "session.focus", "session.unfocus"] {
        let mark = bench.client.notifications.len();
        bench.client.request(action, subscribe.clone()).await?;
        bench.client.request("ping", json!({})).await?;
        let replayed: Vec<String> = about(&bench, mark, &session)
            .into_iter()
            .filter(|action| action != "session.git.event" && action != "session.state_changed")
            .collect();
        assert!(replayed.is_empty(), "{action} replayed {replayed:?}");
    }
    bench.server.stop().await
}

/// API-04: a refresh observes now and always answers the one who asked, without focus or membership.
async fn api_04_a_refresh_observes_now(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Edit", "/edit NOTES.md hello").await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let worktree = bench.worktree(&task).await?;
    bench
        .client
        .request("session.subscribe", json!({ "session_id": session }))
        .await?;
    std::fs::write(worktree.join("more.txt"), "one\ntwo\n")?;
    let refresh = json!({ "session_id": session });
    bench
        .client
        .request("session.git.refresh", refresh.clone())
        .await?;
    let two = |frame: &Value| {
        frame["action"] == "session.git.event" && frame["payload"]["status"]["changed_files"] == 2
    };
    bench.client.wait("the new file", two).await?;
    // Again, although nothing changed: the requester still gets its answer.
    bench.client.request("session.git.refresh", refresh).await?;
    bench.client.wait("the unchanged status", two).await?;
    bench
        .summary(&task, "the row to agree", |s| {
            s["git"]["changed_files"] == 2
        })
        .await?;
    bench.server.stop().await
}

/// API-01, WEB-01's ground: a client that opened no session hears rows, and nothing of any transcript.
async fn api_01_rows_are_told_without_any_session(mut bench: Bench) -> Result<()> {
    let task = bench
        .start_task("Stream", "/stream 200 10\n/permission Go on\n/say done")
        .await?;
    let request = bench.pending(&task).await?;
    bench.answer(&request, "allow_once").await?;
    bench.settled(&task).await?;
    let heard: std::collections::BTreeSet<&str> = bench
        .client
        .notifications
        .iter()
        .filter_map(|frame| frame["action"].as_str())
        .collect();
    assert!(heard.contains("task.status_summary.updated"), "{heard:?}");
    let detail = heard.iter().find(|action| {
        action.starts_with("session.message")
            || action.starts_with("session.turn")
            || action.contains("git")
    });
    assert_eq!(detail, None, "{heard:?}");
    let revisions: Vec<i64> = bench
        .client
        .notifications
        .iter()
        .filter(|frame| frame["action"] == "task.status_summary.updated")
        .filter_map(|frame| frame["payload"]["status_summary"]["revision"].as_i64())
        .collect();
    assert!(
        revisions.windows(2).all(|pair| pair[0] < pair[1]),
        "{revisions:?}"
    );
    bench.server.stop().await
}

/// A second client of the same session sees the stream complete, as appends, and the stored text agrees.
async fn an_open_session_is_streamed_as_appends_that_join_to_the_stored_text(
    mut bench: Bench,
) -> Result<()> {
    let gate = tempfile::tempdir()?;
    let go = gate.path().join("go");
    let prompt = format!(
        "/say begin \n/wait-file {}\n/stream 300 7 2\n/say end",
        go.display()
    );
    let task = bench.start_task("Stream", &prompt).await?;
    bench
        .summary(&task, "work", |s| s["foreground_activity"] == "generating")
        .await?;
    let session = bench.session(&task).await?;
    bench
        .client
        .request("session.subscribe", json!({ "session_id": session }))
        .await?;
    let listed = bench.transcript(&session).await?;
    std::fs::write(&go, "")?;
    bench
        .client
        .wait("the turn's end", |f| {
            f["action"] == "session.turn.completed" && f["payload"]["turn"]["session_id"] == session
        })
        .await?;
    let stored = bench.transcript(&session).await?;
    let row = stored
        .iter()
        .find(|m| m["type"] == "message" && m["author"] == "agent")
        .context("no answer")?;
    let held = listed
        .iter()
        .find(|m| m["id"] == row["id"])
        .map(|m| text(&m["content"]))
        .transpose()?;
    let mut held = held.unwrap_or_default();
    let mut revision = 0;
    for frame in &bench.client.notifications {
        let payload = &frame["payload"];
        match frame["action"].as_str() {
            Some("session.message.added") if payload["message"]["id"] == row["id"] => {
                held = text(&payload["message"]["content"])?;
            }
            Some("session.message.appended") if payload["message_id"] == row["id"] => {
                let offset = usize::try_from(payload["offset"].as_u64().context("no offset")?)?;
                let piece = text(&payload["text"])?;
                assert!(
                    offset <= held.len(),
                    "a gap before {offset}, held {}",
                    held.len()
                );
                held.truncate(offset);
                held.push_str(&piece);
                let newer = payload["revision"].as_i64().context("no revision")?;
                assert!(revision < newer, "revisions rise");
                revision = newer;
            }
            _ => {}
        }
    }
    assert_eq!(held, text(&row["content"])?);
    bench.server.stop().await
}
