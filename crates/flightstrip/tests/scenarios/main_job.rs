//! The main job: tasks in parallel, one asks while another streams, the answer changes a file, a restart loses
//! nothing, the next prompt goes on.

use crate::support::{Bench, answers};
use anyhow::Result;
use serde_json::json;
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    sum_01_the_main_job_end_to_end,
    a_committed_result_is_merged_into_the_base,
    deleting_a_task_asks_about_uncommitted_work,
);

/// SUM-01, SUM-02, GIT-01, API-01: the whole job, seen through the workspace feed alone.
async fn sum_01_the_main_job_end_to_end(mut bench: Bench) -> Result<()> {
    let gate = tempfile::tempdir()?;
    let stream_ends = gate.path().join("go");
    let asks = bench
        .start_task("Add a note", "/say I will write it.\n/permission Write NOTES.md as edit\n/edit NOTES.md one two\n/say Done.")
        .await?;
    let streams = bench
        .start_task(
            "Explain",
            &format!(
                "/say first words \n/wait-file {}\n/say last words",
                stream_ends.display()
            ),
        )
        .await?;

    // One asks while the other works, and both rows say so without any session being opened.
    let request = bench.pending(&asks).await?;
    assert_eq!(request["title"], "Write NOTES.md");
    bench
        .summary(&streams, "the other to work", |s| {
            s["foreground_activity"] == "generating"
        })
        .await?;
    let asking = bench
        .summary(&asks, "still asking", |s| {
            s["pending_action"] == "permission"
        })
        .await?;
    assert_eq!(asking["primary_session"]["state"], "RUNNING");
    assert!(asking["pending_since"].is_string());

    // The answer changes the file, and row totals agree with Changes.
    bench.answer(&request, "allow_once").await?;
    bench.settled(&asks).await?;
    let worktree = bench.worktree(&asks).await?;
    assert_eq!(
        std::fs::read_to_string(worktree.join("NOTES.md"))?.trim_end(),
        "one two"
    );
    let summary = bench
        .summary(&asks, "totals", |s| s["git"]["changed_files"] == 1)
        .await?;
    let task = bench.task(&asks).await?;
    let environment = &task["environments"][0]["id"];
    let changes = bench
        .client
        .request("git.changes", json!({ "task_environment_id": environment }))
        .await?;
    let files = changes["files"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    assert_eq!(files.len(), 1, "{changes}");
    assert_eq!(files[0]["path"], "NOTES.md");
    assert_eq!(summary["git"]["additions"], files[0]["additions"]);
    let diff = json!({ "task_environment_id": environment, "path": "NOTES.md" });
    let diff = bench.client.request("git.diff", diff).await?;
    assert!(
        diff["patch"]
            .as_str()
            .is_some_and(|patch| patch.contains("+one two")),
        "{diff}"
    );

    // Both finish; their tasks are to be reviewed.
    std::fs::write(&stream_ends, "")?;
    bench.settled(&streams).await?;
    for task_id in [&asks, &streams] {
        let task = bench.task(task_id).await?;
        assert_eq!(task["state"], "REVIEW", "{task}");
    }
    let session = bench.session(&streams).await?;
    assert_eq!(
        answers(&bench.transcript(&session).await?),
        "first wordslast words"
    );
    let before = bench.server.get("/api/v1/boot").await?;

    // After a restart everything is still there and true, and the next prompt goes on.
    bench.server.stop().await?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    let after = bench.server.get("/api/v1/boot").await?;
    for (old, new) in tasks(&before).iter().zip(tasks(&after).iter()) {
        assert_eq!(old["title"], new["title"]);
        assert_eq!(old["status_summary"]["git"], new["status_summary"]["git"]);
        assert_eq!(
            old["status_summary"]["last_activity_at"],
            new["status_summary"]["last_activity_at"]
        );
        assert_ne!(new["status_summary"]["primary_session"]["state"], "RUNNING");
    }
    assert_eq!(
        answers(&bench.transcript(&session).await?),
        "first wordslast words"
    );
    bench
        .send(&streams, &session, "m-after", "/say and on")
        .await?;
    bench.settled(&streams).await?;
    until("the next prompt's answer", async || {
        let text = answers(&bench.transcript(&session).await?);
        Ok((text == "first wordslast wordsand on").then_some(()))
    })
    .await?;
    bench.server.stop().await?;
    bench.server.no_agents_left().await
}

fn tasks(boot: &serde_json::Value) -> Vec<serde_json::Value> {
    boot["workspaces"][0]["tasks"]["tasks"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

/// The result can be taken: merged into the base when everything is committed and clean, refused in words when not.
async fn a_committed_result_is_merged_into_the_base(mut bench: Bench) -> Result<()> {
    let task = bench
        .start_task("Write", "/edit NOTES.md hello\n/say done")
        .await?;
    bench.settled(&task).await?;
    let environment = bench.task(&task).await?["environments"][0].clone();
    let repository = &environment["repositories"][0];
    assert!(
        repository["branch"]
            .as_str()
            .is_some_and(|branch| branch == "task/write"),
        "{repository}"
    );
    assert_eq!(repository["base_branch"], "main");
    let merge = json!({ "task_environment_id": environment["id"] });
    let refused = bench
        .client
        .refused("git.merge_into_base", merge.clone())
        .await?;
    assert_eq!(
        (&refused["code"], &refused["details"]["reason"]),
        (&json!("CONFLICT"), &json!("uncommitted_changes"))
    );

    let worktree = bench.worktree(&task).await?;
    testkit::repository::git(&worktree, &["add", "--all"])?;
    testkit::repository::git(&worktree, &["commit", "--quiet", "-m", "notes"])?;
    let merged = bench
        .client
        .request("git.merge_into_base", merge.clone())
        .await?;
    assert_eq!(
        (&merged["outcome"], &merged["base_branch"]),
        (&json!("fast_forward"), &json!("main"))
    );
    assert_eq!(
        bench.repository.git(&["rev-parse", "main"])?,
        merged["head_commit"]
    );
    assert!(
        bench.repository.path()?.join("NOTES.md").is_file(),
        "the base's checkout has it too"
    );
    let again = bench.client.request("git.merge_into_base", merge).await?;
    assert_eq!(again["outcome"], "already_up_to_date");
    // Nothing is left to merge, and the row says so.
    bench
        .summary(&task, "zero totals", |s| {
            s["git"]["changed_files"] == 0 && s["git"]["ahead"] == 0
        })
        .await?;
    bench.server.stop().await
}

/// Deleting a task asks about uncommitted work first; its worktree goes, its branch stays.
async fn deleting_a_task_asks_about_uncommitted_work(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Write", "/edit NOTES.md hello").await?;
    bench.settled(&task).await?;
    let worktree = bench.worktree(&task).await?;
    let refused = bench
        .client
        .refused("task.delete", json!({ "task_id": task }))
        .await?;
    assert_eq!(
        (&refused["code"], &refused["details"]["uncommitted"][0]),
        (&json!("CONFLICT"), &json!("sample"))
    );
    let discard = json!({ "task_id": task, "discard_changes": true });
    bench.client.request("task.delete", discard).await?;
    bench
        .client
        .wait("the deletion", |f| {
            f["action"] == "task.deleted" && f["payload"]["task_id"] == task
        })
        .await?;
    until("the worktree to go", async || {
        Ok((!worktree.exists()).then_some(()))
    })
    .await?;
    assert_eq!(
        bench.repository.git(&[
            "branch",
            "--list",
            "task/write",
            "--format=%(refname:short)"
        ])?,
        "task/write"
    );
    assert_eq!(
        bench
            .client
            .refused("task.get", json!({ "task_id": task }))
            .await?["code"],
        "NOT_FOUND"
    );
    bench.server.stop().await
}
