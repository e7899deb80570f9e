//! Requests that change something: who may, what is answered, and what others hear of it.

use crate::server::{Server, add_member, add_user};
use crate::world::World;
use anyhow::{Context, Result, ensure};
use model::workspace::Role;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

#[tokio::test]
async fn a_task_is_made_once_changed_moved_and_deleted_and_everybody_hears_of_it() -> Result<()> {
    let server = Server::start().await?;
    World::new(&server).await?;
    let (mut client, mut watcher) = (server.client().await?, server.client().await?);
    watcher
        .request(
            "workspace.subscribe",
            json!({ "workspace_id": server.workspace }),
        )
        .await?;
    let wanted = json!({ "workspace_id": server.workspace, "client_id": "c1", "title": "Fix it" });
    let made = client.request("task.create", wanted.clone()).await?;
    let id = made["task"]["id"].clone();
    assert_eq!(watcher.notified("task.created").await?["task"]["id"], id);
    let again = client.request("task.create", wanted).await?;
    assert_eq!(
        again["task"]["id"], id,
        "a repeated request makes no second task"
    );

    let update = json!({ "task_id": id, "title": "Fix it well", "priority": 3 });
    let updated = client.request("task.update", update).await?;
    assert_eq!(
        (&updated["task"]["title"], &updated["task"]["priority"]),
        (&json!("Fix it well"), &json!(3))
    );
    assert_eq!(
        watcher.notified("task.updated").await?["task"]["title"],
        "Fix it well"
    );
    let archived = client
        .request("task.archive", json!({ "task_id": id }))
        .await?;
    assert!(archived["task"]["archived_at"].is_string());
    let page = client
        .request(
            "task.list",
            json!({ "workspace_id": server.workspace, "archived": true }),
        )
        .await?;
    assert_eq!(page["tasks"][0]["id"], id);
    client
        .request("task.unarchive", json!({ "task_id": id }))
        .await?;
    client
        .request("task.delete", json!({ "task_id": id }))
        .await?;
    assert_eq!(watcher.notified("task.deleted").await?["task_id"], id);
    assert_eq!(
        client.refused("task.get", json!({ "task_id": id })).await?,
        "NOT_FOUND"
    );
    Ok(())
}

#[tokio::test]
async fn bad_values_are_named() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    let (answer, _) = client
        .ask(
            "task.create",
            json!({ "workspace_id": server.workspace, "client_id": "c", "title": "" }),
        )
        .await?;
    assert_eq!(answer["payload"]["code"], "VALIDATION_ERROR");
    let words = answer["payload"]["message"].as_str().context("words")?;
    assert!(words.contains("title") && words.ends_with('.'), "{words}");
    let add = |more: Value| {
        let mut wanted =
            json!({ "task_id": world.task, "session_id": world.session, "content": "hi" });
        for (key, value) in more.as_object().into_iter().flatten() {
            wanted[key] = value.clone();
        }
        wanted
    };
    for wrong in [
        add(json!({})),
        add(json!({ "client_message_id": "a", "message_id": "b" })),
        add(json!({ "client_message_id": "with space" })),
        add(json!({ "client_message_id": "x".repeat(129) })),
    ] {
        assert_eq!(
            client.refused("message.add", wrong.clone()).await?,
            "VALIDATION_ERROR",
            "{wrong}"
        );
    }
    let permission = json!({ "session_id": world.session, "message_id": "m", "pending_id": "p" });
    assert_eq!(
        client.refused("permission.respond", permission).await?,
        "VALIDATION_ERROR"
    );
    Ok(())
}

/// API-06.
#[tokio::test]
async fn api_06_a_prompt_that_is_sent_twice_is_one_message() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    let prompt = json!({
        "task_id": world.task, "session_id": world.session, "client_message_id": "m1", "content": "hello",
    });
    let first = client.request("message.add", prompt).await?;
    let again = json!({
        "task_id": world.task, "session_id": world.session, "message_id": "m1", "content": "something else",
    });
    let second = client.request("message.add", again).await?;
    assert_eq!(second["message"]["content"], "hello");
    assert_eq!(second["message"]["id"], first["message"]["id"]);
    let other = World::new(&server).await?;
    let elsewhere = json!({
        "task_id": other.task, "session_id": other.session, "client_message_id": "m1", "content": "hello",
    });
    assert_eq!(client.refused("message.add", elsewhere).await?, "CONFLICT");
    let crossed = json!({
        "task_id": other.task, "session_id": world.session, "client_message_id": "m2", "content": "hello",
    });
    assert_eq!(client.refused("message.add", crossed).await?, "NOT_FOUND");
    Ok(())
}

#[tokio::test]
async fn viewers_read_and_change_nothing() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let viewer = add_user(&server.store, "viewer").await?;
    add_member(&server.store, &server.workspace, &viewer, Role::Viewer).await?;
    let secret = server.sign_in(&viewer).await?;
    let mut client = server.client_with(&secret).await?;
    let (task, session) = (
        json!({ "task_id": world.task }),
        json!({ "session_id": world.session }),
    );
    client.request("task.get", task.clone()).await?;
    client.request("session.subscribe", session.clone()).await?;
    for (action, payload) in [
        ("task.delete", task.clone()),
        ("task.archive", task),
        ("session.stop", session.clone()),
        ("agent.cancel", session),
        (
            "task.create",
            json!({ "workspace_id": server.workspace, "client_id": "c", "title": "t" }),
        ),
        (
            "repository.suggest",
            json!({ "workspace_id": server.workspace }),
        ),
        (
            "repository.inspect",
            json!({ "workspace_id": server.workspace, "path": "/" }),
        ),
        (
            "git.merge_into_base",
            json!({ "task_environment_id": world.environment }),
        ),
        (
            "message.add",
            json!({ "task_id": world.task, "session_id": world.session, "message_id": "m", "content": "x" }),
        ),
        (
            "message.queue.update",
            json!({ "session_id": world.session, "message_id": "m", "content": "x" }),
        ),
        (
            "message.queue.reorder",
            json!({ "session_id": world.session, "message_ids": [] }),
        ),
        (
            "message.queue.send_now",
            json!({ "session_id": world.session, "message_id": "m" }),
        ),
    ] {
        assert_eq!(
            client.refused(action, payload).await?,
            "FORBIDDEN",
            "{action}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn every_request_that_names_a_foreign_thing_finds_none() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let stranger = add_user(&server.store, "stranger").await?;
    let secret = server.sign_in(&stranger).await?;
    let mut client = server.client_with(&secret).await?;
    // One payload with every field; each action takes what it knows.
    let everything = json!({
        "workspace_id": server.workspace, "task_id": world.task, "session_id": world.session,
        "task_environment_id": world.environment, "repository_id": "r", "agent_profile_id": world.profile,
        "client_id": "c", "client_message_id": "m", "message_id": "m", "pending_id": "p", "option_id": "o",
        "title": "t", "step_id": "s", "stamp": "s", "action": "retry_default", "name": "n", "command": "c",
        "model": "m", "mode": "m", "option": "o", "value": "v", "content": "c", "path": "/",
        "message_ids": ["m"], "attachments": ["a"], "rejected": true,
    });
    let free = [
        "client.hello",
        "ping",
        "agent.known",
        "workspace.unsubscribe",
        "session.unsubscribe",
        "session.unfocus",
    ];
    for action in wire::action::REQUESTS
        .iter()
        .filter(|action| !free.contains(action))
    {
        assert_eq!(
            client.refused(action, everything.clone()).await?,
            "NOT_FOUND",
            "{action}"
        );
    }
    for action in free {
        client.request(action, everything.clone()).await?;
    }
    Ok(())
}

fn git(dir: &Path, arguments: &[&str]) -> Result<()> {
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    let ran = Command::new("git")
        .current_dir(dir)
        .args(identity)
        .args(arguments)
        .output()?;
    ensure!(
        ran.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
    Ok(())
}

#[tokio::test]
async fn a_repository_is_looked_at_and_registered() -> Result<()> {
    let server = Server::start().await?;
    let dir = server.dir.path().join("project");
    std::fs::create_dir(&dir)?;
    git(&dir, &["init", "-q", "-b", "main"])?;
    git(&dir, &["commit", "-q", "--allow-empty", "-m", "first"])?;
    let mut client = server.client().await?;
    let wanted = json!({ "workspace_id": server.workspace, "path": dir });
    let facts = client.request("repository.inspect", wanted.clone()).await?;
    assert_eq!(
        (&facts["name"], &facts["default_branch"]),
        (&json!("project"), &json!("main"))
    );
    let repository = client.request("repository.add", wanted).await?;
    let branches = client
        .request(
            "repository.branches",
            json!({ "repository_id": repository["id"] }),
        )
        .await?;
    assert_eq!(branches["branches"], json!(["main"]));
    let nowhere = json!({ "workspace_id": server.workspace, "path": server.dir.path() });
    assert_eq!(
        client.refused("repository.add", nowhere).await?,
        "VALIDATION_ERROR"
    );
    client
        .request(
            "repository.remove",
            json!({ "repository_id": repository["id"] }),
        )
        .await?;
    Ok(())
}

/// API-04.
#[tokio::test]
async fn api_04_a_refresh_answers_at_once_and_brings_every_status_even_an_unchanged_one()
-> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    world.observe(&server, world.status(&server, 5)).await?;
    let mut client = server.client().await?;
    client
        .request("session.subscribe", json!({ "session_id": world.session }))
        .await?;
    client.notified("session.pending_changed").await?;
    for _ in 0..2 {
        let (answer, before) = client
            .ask(
                "session.git.refresh",
                json!({ "session_id": world.session }),
            )
            .await?;
        assert_eq!(answer["type"], "response");
        assert!(
            before
                .iter()
                .all(|frame| frame["action"] == "session.git.event")
        );
        let event = client.notified("session.git.event").await?;
        assert_eq!(event["status"]["additions"], 5);
    }
    let changes = json!({ "task_environment_id": world.environment });
    assert_eq!(
        client.refused("git.changes", changes).await?,
        "NOT_FOUND",
        "no details and no worktree"
    );
    Ok(())
}
