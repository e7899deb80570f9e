//! Bad input: a clear error at the right place, never a panic, a hang or lost text.

use crate::support::{Bench, text};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::client::Client;
use testkit::http;

testkit::on_every_engine!(crate::support::Bench =>
    a_malformed_frame_gets_an_error_and_the_connection_stays,
    a_made_up_id_is_not_found,
    folders_and_paths_are_checked,
    s_08_a_missing_base_branch_is_a_launch_error_that_can_be_repaired,
    agents_that_do_not_start_are_errors_and_the_prompt_is_kept,
    noise_on_stdout_is_skipped,
    an_agent_that_never_answers_can_be_stopped,
    c25_a_page_of_another_origin_gets_nothing,
    a_deleted_worktree_is_an_error_that_can_be_repaired,
);

async fn create(bench: &mut Bench, id: &str, more: Value) -> Result<String> {
    let mut task = json!({
        "workspace_id": bench.workspace_id, "client_id": id, "title": id, "prompt": "/say hi", "start_agent": true,
        "repositories": [{ "repository_id": bench.repository_id }],
    });
    for (name, value) in more.as_object().context("an object")? {
        task[name] = value.clone();
    }
    text(&bench.client.request("task.create", task).await?["task"]["id"])
}

async fn profile(bench: &mut Bench, command: &str, args: &[&str]) -> Result<String> {
    let profile = json!({
        "workspace_id": bench.workspace_id, "name": "Odd", "command": command, "args": args, "env": {},
    });
    text(
        &bench
            .client
            .request("agent_profile.create", profile)
            .await?["id"],
    )
}

/// A malformed frame and an unknown action are answered; the connection stays.
async fn a_malformed_frame_gets_an_error_and_the_connection_stays(mut bench: Bench) -> Result<()> {
    for (frame, code) in [
        ("this is no JSON", "BAD_REQUEST"),
        (r#"{"id":"a","type":"request"}"#, "BAD_REQUEST"),
        (
            r#"{"id":"b","type":"notification","action":"x"}"#,
            "BAD_REQUEST",
        ),
    ] {
        let mark = bench.client.notifications.len();
        bench.client.send_text(frame).await?;
        bench.client.request("ping", json!({})).await?;
        let answer = bench.client.notifications[mark..]
            .iter()
            .find(|f| f["type"] == "error")
            .cloned();
        let answer = match answer {
            Some(answer) => answer,
            None => {
                bench
                    .client
                    .answer(if frame.contains("\"a\"") { "a" } else { "b" })
                    .await?
            }
        };
        assert_eq!(answer["payload"]["code"], code, "{frame}: {answer}");
        assert!(
            answer["payload"]["message"]
                .as_str()
                .is_some_and(|m| !m.is_empty())
        );
    }
    assert_eq!(
        bench.client.refused("task.explode", json!({})).await?["code"],
        "UNKNOWN_ACTION"
    );
    let wrong = bench
        .client
        .refused("task.get", json!({ "task_id": 5 }))
        .await?;
    assert_eq!(wrong["code"], "BAD_REQUEST");
    bench.server.stop().await
}

/// A foreign id and a made-up one are told apart by nothing.
async fn a_made_up_id_is_not_found(mut bench: Bench) -> Result<()> {
    for (action, payload) in [
        ("task.get", json!({ "task_id": "nope" })),
        ("task.delete", json!({ "task_id": "nope" })),
        ("session.subscribe", json!({ "session_id": "nope" })),
        ("message.list", json!({ "session_id": "nope" })),
        ("git.changes", json!({ "task_environment_id": "nope" })),
        ("repository.branches", json!({ "repository_id": "nope" })),
        ("workspace.subscribe", json!({ "workspace_id": "nope" })),
        ("agent.cancel", json!({ "session_id": "nope" })),
    ] {
        let error = bench.client.refused(action, payload).await?;
        assert_eq!(error["code"], "NOT_FOUND", "{action}: {error}");
    }
    bench.server.stop().await
}

/// Folders that are no repositories, and paths that lead out of a worktree.
async fn folders_and_paths_are_checked(mut bench: Bench) -> Result<()> {
    let plain = tempfile::tempdir()?;
    for (path, says) in [
        (
            plain.path().to_string_lossy().into_owned(),
            "not a Git repository",
        ),
        ("/does/not/exist".to_owned(), "does not exist"),
        ("relative/path".to_owned(), "full path"),
    ] {
        let add = json!({ "workspace_id": bench.workspace_id, "path": path });
        for action in ["repository.add", "repository.inspect"] {
            let error = bench.client.refused(action, add.clone()).await?;
            assert_eq!(error["code"], "VALIDATION_ERROR", "{error}");
            assert!(text(&error["message"])?.contains(says), "{error}");
        }
    }
    let task = bench.start_task("Edit", "/edit NOTES.md hello").await?;
    bench.settled(&task).await?;
    let environment = bench.task(&task).await?["environments"][0]["id"].clone();
    for path in ["../../etc/passwd", "/etc/passwd", "a/../../b", ""] {
        let diff = json!({ "task_environment_id": environment, "path": path });
        let error = bench.client.refused("git.diff", diff).await?;
        assert_eq!(error["code"], "VALIDATION_ERROR", "{path}: {error}");
    }
    bench.server.stop().await
}

/// S-08's ground: a base branch that is not there is a launch error on the row, without a session; picking another
/// repairs it.
async fn s_08_a_missing_base_branch_is_a_launch_error_that_can_be_repaired(
    mut bench: Bench,
) -> Result<()> {
    let repository = bench.repository_id.clone();
    let base =
        json!({ "repositories": [{ "repository_id": repository, "base_branch": "release/9" }] });
    let task = create(&mut bench, "lost", base).await?;
    let summary = bench
        .summary(&task, "a launch error", |s| s["active_error"].is_object())
        .await?;
    let error = summary["active_error"].clone();
    assert_eq!(error["category"], "base_branch_missing");
    assert!(
        error["session_id"].is_null() && summary["primary_session"].is_null(),
        "{summary}"
    );
    assert!(text(&error["preview"])?.contains("release/9"));
    assert_eq!(
        error["task_repository_id"],
        bench.task(&task).await?["repositories"][0]["id"]
    );
    assert_eq!(bench.task(&task).await?["state"], "TODO");
    let recover = json!({
        "task_id": task, "stamp": error["stamp"], "action": "pick_base_branch", "base_branch": "main",
    });
    bench.client.request("task.recover", recover).await?;
    let summary = bench.settled(&task).await?;
    assert!(summary["active_error"].is_null(), "{summary}");
    bench.server.stop().await
}

/// Agents that cannot be started, or end at once, are session errors on the row that say what to do; the prompt is
/// kept as undelivered and can be sent again.
async fn agents_that_do_not_start_are_errors_and_the_prompt_is_kept(
    mut bench: Bench,
) -> Result<()> {
    for (id, command, args, category, says) in [
        (
            "missing",
            "no-such-agent-program",
            &[][..],
            "agent_unavailable",
            "was not found",
        ),
        (
            "ends",
            "flightstrip:demo-agent",
            &["--exit-at-once", "3"][..],
            "agent_exited",
            "exit code 3",
        ),
        (
            "noise",
            "/bin/echo",
            &["hello"][..],
            "agent_exited",
            "ended while starting",
        ),
    ] {
        let profile = profile(&mut bench, command, args).await?;
        let task = create(&mut bench, id, json!({ "agent_profile_id": profile })).await?;
        let summary = bench
            .summary(&task, "an error", |s| s["active_error"].is_object())
            .await?;
        let error = &summary["active_error"];
        assert_eq!(error["category"], category, "{error}");
        assert!(text(&error["preview"])?.contains(says), "{error}");
        assert_eq!(summary["primary_session"]["state"], "CREATED", "{summary}");
        assert_eq!(bench.task(&task).await?["state"], "TODO");
        let session = bench.session(&task).await?;
        let transcript = bench.transcript(&session).await?;
        assert_eq!(
            transcript[0]["disposition"], "undelivered",
            "{transcript:#?}"
        );
    }
    bench.server.stop().await
}

/// An agent that prints noise works all the same.
async fn noise_on_stdout_is_skipped(mut bench: Bench) -> Result<()> {
    let profile = profile(&mut bench, "flightstrip:demo-agent", &["--noise"]).await?;
    let noisy = json!({ "agent_profile_id": profile, "prompt": "/noise what is this\n/say hi" });
    let task = create(&mut bench, "noisy", noisy).await?;
    let summary = bench.settled(&task).await?;
    assert!(summary["active_error"].is_null(), "{summary}");
    let session = bench.session(&task).await?;
    assert_eq!(
        crate::support::answers(&bench.transcript(&session).await?),
        "hi"
    );
    bench.server.stop().await
}

/// An agent that never answers is waited for no longer than a person waits: stopping it settles at once.
async fn an_agent_that_never_answers_can_be_stopped(mut bench: Bench) -> Result<()> {
    let profile = profile(&mut bench, "flightstrip:demo-agent", &["--no-initialize"]).await?;
    let task = create(&mut bench, "mute", json!({ "agent_profile_id": profile })).await?;
    let starting = |s: &Value| s["primary_session"]["state"] == "STARTING";
    bench.summary(&task, "a start", starting).await?;
    let session = bench.session(&task).await?;
    bench
        .client
        .request("session.stop", json!({ "session_id": session }))
        .await?;
    bench
        .summary(&task, "the start to end", |s| {
            s["primary_session"]["state"] == "CREATED"
        })
        .await?;
    assert_eq!(bench.task(&task).await?["state"], "TODO");
    bench.server.stop().await?;
    bench.server.no_agents_left().await
}

/// C25: a page of another origin, a foreign host name, and a caller without the secret get nothing.
async fn c25_a_page_of_another_origin_gets_nothing(bench: Bench) -> Result<()> {
    let port = bench.server.port();
    let bearer = format!("Bearer {}", bench.server.secret());
    let own = format!("http://127.0.0.1:{port}");
    let cases: &[(&[(&str, &str)], bool)] = &[
        (&[("Authorization", &bearer), ("Origin", &own)], true),
        (
            &[("Authorization", &bearer), ("Origin", "https://evil.test")],
            false,
        ),
        (
            &[("Authorization", &bearer), ("Host", "rebind.test")],
            false,
        ),
        (&[("Origin", &own)], false),
        (&[("Authorization", "Bearer wrong")], false),
    ];
    for (headers, allowed) in cases {
        let answer = http::send(port, "GET", "/api/v1/boot", headers, "").await?;
        assert_eq!(
            answer.status == 200,
            *allowed,
            "{headers:?}: {}",
            answer.status
        );
        assert_eq!(answer.body.contains("workspaces"), *allowed, "{headers:?}");
    }
    assert!(Client::connect_quietly(port, "wrong").await.is_err());
    // The code was used; it opens nothing any more, and neither it nor the secret stands in the log.
    let again = json!({ "code": bench.server.code() }).to_string();
    let kind = [("Content-Type", "application/json")];
    let answer = http::send(port, "POST", "/api/v1/sign-in", &kind, &again).await?;
    assert_eq!(answer.status, 401, "{answer:?}");
    let mut server = bench.server;
    server.stop().await?;
    let log = server.log();
    assert!(
        !log.contains(server.code()) && !log.contains(server.secret()),
        "{log}"
    );
    Ok(())
}

/// A worktree that somebody deleted is an error of the session; trying again goes on in a new one.
async fn a_deleted_worktree_is_an_error_that_can_be_repaired(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Gone", "/edit NOTES.md hello").await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    bench
        .client
        .request("session.stop", json!({ "session_id": session }))
        .await?;
    bench
        .summary(&task, "an idle session", |s| {
            s["primary_session"]["state"] == "IDLE"
        })
        .await?;
    std::fs::remove_dir_all(bench.worktree(&task).await?)?;
    bench
        .send(&task, &session, "m-1", "/permission Go on\n/say still here")
        .await?;
    let summary = bench
        .summary(&task, "an error", |s| s["active_error"].is_object())
        .await?;
    let error = &summary["active_error"];
    assert_eq!(error["category"], "workspace_missing", "{error}");
    let retry = json!({ "task_id": task, "stamp": error["stamp"], "action": "retry_default" });
    bench.client.request("task.recover", retry).await?;
    let request = bench.pending(&task).await?;
    let summary = bench
        .summary(&task, "no error", |s| s["active_error"].is_null())
        .await?;
    assert_eq!(summary["pending_action"], "permission");
    bench.answer(&request, "allow_once").await?;
    bench.settled(&task).await?;
    assert_eq!(
        crate::support::answers(&bench.transcript(&session).await?),
        "still here"
    );
    bench.server.stop().await
}
