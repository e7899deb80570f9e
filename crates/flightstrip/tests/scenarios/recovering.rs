//! What is offered against each error really helps: real agents that fail, real repositories that are not as they
//! were.

use crate::scripted::Scripted;
use crate::support::{BINARY, Bench, answers, text};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::repository::Repository;
use testkit::server::Server;

testkit::on_every_engine!(crate::support::Bench =>
    err_02_a_missing_base_is_replaced_in_the_repository_that_the_error_names,
    trying_again_finds_a_renamed_default_branch,
    a_repository_without_a_default_branch_starts_from_the_picked_one,
    a_repository_that_was_away_is_used_when_it_is_back,
    agents_that_could_not_start_get_the_kept_prompt_when_they_can,
    an_agent_that_was_not_there_is_started_once_it_is,
    errors_without_an_action_end_with_the_next_answer,
);

/// Makes a task that starts at once, with more than the usual fields; gives its id.
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

/// Waits for an error of this category; checks what is offered against it.
async fn failed(bench: &mut Bench, task: &str, category: &str, offers: &[&str]) -> Result<Value> {
    let summary = bench
        .summary(task, category, |s| {
            s["active_error"]["category"] == category
        })
        .await?;
    let error = summary["active_error"].clone();
    let offered = error["recovery_actions"].as_array();
    let offered: Vec<&str> = offered
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(offered, offers, "{error}");
    Ok(error)
}

async fn recover(bench: &mut Bench, task: &str, error: &Value, action: &str) -> Result<()> {
    let recover = json!({ "task_id": task, "stamp": error["stamp"], "action": action });
    bench
        .client
        .request("task.recover", recover)
        .await
        .map(drop)
}

async fn pick(bench: &mut Bench, task: &str, error: &Value, branch: &str) -> Result<()> {
    let recover = json!({
        "task_id": task, "stamp": error["stamp"], "action": "pick_base_branch", "base_branch": branch,
    });
    bench
        .client
        .request("task.recover", recover)
        .await
        .map(drop)
}

/// Waits until the error is gone and the agent has answered the kept prompt.
async fn helped(bench: &mut Bench, task: &str) -> Result<()> {
    let what = "the kept prompt to be answered";
    let summary = bench
        .summary(task, what, |s| {
            s["active_error"].is_null() && s["primary_session"]["state"] == "WAITING_FOR_INPUT"
        })
        .await?;
    assert!(summary["foreground_activity"].is_null(), "{summary}");
    let session = bench.session(task).await?;
    let transcript = bench.transcript(&session).await?;
    assert_eq!(answers(&transcript), "hi", "{transcript:#?}");
    let prompts = transcript.iter().filter(|row| row["author"] == "user");
    let sent: Vec<_> = prompts.map(|row| &row["disposition"]).collect();
    assert_eq!(sent, [&json!("dispatched")], "sent once");
    Ok(())
}

/// The branches that the worktrees of a task started from, by display name.
async fn bases(bench: &mut Bench, task: &str) -> Result<Vec<(String, String)>> {
    let task = bench.task(task).await?;
    let made = task["environments"][0]["repositories"].as_array();
    let made = made.context("no environment")?.iter();
    made.map(|one| Ok((text(&one["display_name"])?, text(&one["base_branch"])?)))
        .collect()
}

/// ERR-02, ERR-04. The error names one of two repositories, and only that one is left for its default branch.
async fn err_02_a_missing_base_is_replaced_in_the_repository_that_the_error_names(
    mut bench: Bench,
) -> Result<()> {
    bench.repository.git(&["branch", "stable"])?;
    let second = Repository::new()?;
    let added =
        json!({ "workspace_id": bench.workspace_id, "path": second.path()?, "name": "second" });
    let second_id = bench.client.request("repository.add", added).await?["id"].clone();
    let both = json!({ "repositories": [
        { "repository_id": bench.repository_id, "base_branch": "stable" },
        { "repository_id": second_id, "base_branch": "release/9" },
    ] });
    let task = create(&mut bench, "two", both).await?;
    let offers = ["retry_default", "pick_base_branch"];
    let error = failed(&mut bench, &task, "base_branch_missing", &offers).await?;
    let named = bench.task(&task).await?["repositories"][1]["id"].clone();
    assert_eq!(error["task_repository_id"], named);
    assert!(error["session_id"].is_null(), "{error}");
    let without = json!({ "task_id": task, "stamp": error["stamp"], "action": "pick_base_branch" });
    let refused = bench.client.refused("task.recover", without).await?;
    assert_eq!(refused["code"], "VALIDATION_ERROR", "{refused}");
    recover(&mut bench, &task, &error, "retry_default").await?;
    helped(&mut bench, &task).await?;
    let expected = [("sample", "stable"), ("second", "main")];
    let expected = expected.map(|(name, base)| (name.to_owned(), base.to_owned()));
    assert_eq!(bases(&mut bench, &task).await?, expected);
    bench.server.stop().await
}

/// ERR-04. The default branch was renamed since it was registered: trying again finds the present one.
async fn trying_again_finds_a_renamed_default_branch(mut bench: Bench) -> Result<()> {
    bench.repository.git(&["branch", "-m", "main", "trunk"])?;
    let task = create(&mut bench, "renamed", json!({})).await?;
    let offers = ["retry_default", "pick_base_branch"];
    let error = failed(&mut bench, &task, "base_branch_missing", &offers).await?;
    recover(&mut bench, &task, &error, "retry_default").await?;
    helped(&mut bench, &task).await?;
    let expected = [("sample".to_owned(), "trunk".to_owned())];
    assert_eq!(bases(&mut bench, &task).await?, expected);
    bench.server.stop().await
}

/// ERR-04. A branch that is not there either is the same error anew; one that is there helps.
async fn a_repository_without_a_default_branch_starts_from_the_picked_one(
    mut bench: Bench,
) -> Result<()> {
    let unclear = Repository::new()?;
    unclear.git(&["branch", "-m", "main", "feature"])?;
    unclear.git(&["checkout", "--quiet", "--detach"])?;
    let added =
        json!({ "workspace_id": bench.workspace_id, "path": unclear.path()?, "name": "unclear" });
    let added = bench.client.request("repository.add", added).await?;
    assert!(added["default_branch"].is_null(), "{added}");
    let on_it = json!({ "repositories": [{ "repository_id": added["id"] }] });
    let task = create(&mut bench, "unclear", on_it).await?;
    let offers = ["pick_base_branch"];
    let error = failed(&mut bench, &task, "default_branch_unresolved", &offers).await?;
    let other = json!({ "task_id": task, "stamp": error["stamp"], "action": "retry_default" });
    let refused = bench.client.refused("task.recover", other).await?;
    assert_eq!(refused["code"], "CONFLICT", "{refused}");
    pick(&mut bench, &task, &error, "lost").await?;
    let offers = ["retry_default", "pick_base_branch"];
    let error = failed(&mut bench, &task, "base_branch_missing", &offers).await?;
    pick(&mut bench, &task, &error, "feature").await?;
    helped(&mut bench, &task).await?;
    let expected = [("unclear".to_owned(), "feature".to_owned())];
    assert_eq!(bases(&mut bench, &task).await?, expected);
    bench.server.stop().await
}

/// ERR-04.
async fn a_repository_that_was_away_is_used_when_it_is_back(mut bench: Bench) -> Result<()> {
    let path = bench.repository.path()?;
    let away = path.with_extension("away");
    std::fs::rename(&path, &away)?;
    let task = create(&mut bench, "away", json!({})).await?;
    let offers = ["retry_default"];
    let error = failed(&mut bench, &task, "workspace_invalid", &offers).await?;
    assert!(error["session_id"].is_null(), "{error}");
    // Still away: the same failure again is a new one.
    recover(&mut bench, &task, &error, "retry_default").await?;
    let again = bench
        .summary(&task, "the next failure", |s| {
            s["active_error"].is_object() && s["active_error"]["stamp"] != error["stamp"]
        })
        .await?;
    std::fs::rename(&away, &path)?;
    recover(&mut bench, &task, &again["active_error"], "retry_default").await?;
    helped(&mut bench, &task).await?;
    bench.server.stop().await
}

/// ERR-04. An agent that is installed, repaired or signed in meanwhile gets the prompt that was kept.
async fn agents_that_could_not_start_get_the_kept_prompt_when_they_can(
    mut bench: Bench,
) -> Result<()> {
    let scripted = Scripted::new()?;
    for (mode, category) in [
        ("exits", "agent_exited"),
        ("protocol", "agent_protocol"),
        ("auth", "agent_auth"),
    ] {
        let profile = scripted.faulty(&mut bench).await?;
        scripted.set_mode(mode)?;
        let task = create(&mut bench, mode, json!({ "agent_profile_id": profile })).await?;
        let error = failed(&mut bench, &task, category, &["retry_default"]).await?;
        assert_eq!(error["session_id"], json!(bench.session(&task).await?));
        scripted.set_mode("")?;
        recover(&mut bench, &task, &error, "retry_default").await?;
        helped(&mut bench, &task).await?;
    }
    bench.server.stop().await
}

/// ERR-04.
async fn an_agent_that_was_not_there_is_started_once_it_is(mut bench: Bench) -> Result<()> {
    let mut fields = json!({
        "workspace_id": bench.workspace_id, "name": "Odd", "command": "no-such-agent-program", "args": [], "env": {},
    });
    let profile = bench
        .client
        .request("agent_profile.create", fields.clone())
        .await?["id"]
        .clone();
    let task = create(&mut bench, "absent", json!({ "agent_profile_id": profile })).await?;
    let error = failed(&mut bench, &task, "agent_unavailable", &["retry_default"]).await?;
    fields["command"] = json!("flightstrip:demo-agent");
    fields["agent_profile_id"] = profile;
    bench.client.request("agent_profile.update", fields).await?;
    recover(&mut bench, &task, &error, "retry_default").await?;
    helped(&mut bench, &task).await?;
    bench.server.stop().await
}

/// ERR-04. Knows no database, so one engine will do.
#[tokio::test]
async fn at_the_limit_of_agents_a_stopped_one_makes_room() -> Result<()> {
    let server = Server::start_with(BINARY, &["--max-agents", "1"], &[]).await?;
    let mut bench = Bench::with(server).await?;
    let first = create(&mut bench, "first", json!({})).await?;
    helped(&mut bench, &first).await?;
    let second = create(&mut bench, "second", json!({})).await?;
    let error = failed(&mut bench, &second, "limit_reached", &["retry_default"]).await?;
    let session = bench.session(&first).await?;
    let stop = json!({ "session_id": session });
    bench.client.request("session.stop", stop).await?;
    bench
        .summary(&first, "an idle session", |s| {
            s["primary_session"]["state"] == "IDLE"
        })
        .await?;
    recover(&mut bench, &second, &error, "retry_default").await?;
    helped(&mut bench, &second).await?;
    bench.server.stop().await
}

/// ERR-04. What a person can only change elsewhere offers no action; the next answer ends it.
async fn errors_without_an_action_end_with_the_next_answer(mut bench: Bench) -> Result<()> {
    let scripted = Scripted::new()?;
    for (mode, category) in [("refuses", "agent_refused"), ("long", "line_too_long")] {
        let profile = scripted.faulty(&mut bench).await?;
        scripted.set_mode(mode)?;
        let task = create(&mut bench, mode, json!({ "agent_profile_id": profile })).await?;
        failed(&mut bench, &task, category, &[]).await?;
        let session = bench.session(&task).await?;
        let stop = json!({ "session_id": session });
        bench.client.request("session.stop", stop.clone()).await?;
        bench.server.no_agents_left().await?;
        scripted.set_mode("")?;
        bench.send(&task, &session, mode, "/say better").await?;
        bench
            .summary(&task, "no error", |s| s["active_error"].is_null())
            .await?;
        bench.settled(&task).await?;
        bench.client.request("session.stop", stop).await?;
        bench.server.no_agents_left().await?;
    }
    let task = create(
        &mut bench,
        "used-up",
        json!({ "prompt": "/error your usage limit is reached" }),
    );
    let task = task.await?;
    failed(&mut bench, &task, "usage_limit", &[]).await?;
    let session = bench.session(&task).await?;
    bench
        .send(&task, &session, "tomorrow", "/say better")
        .await?;
    bench
        .summary(&task, "no error", |s| s["active_error"].is_null())
        .await?;
    bench.server.stop().await
}
