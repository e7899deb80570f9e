//! API-02, API-03, API-07: a snapshot on a new join only, after its acknowledgement; focus replays nothing; nobody
//! hears of what they did not open.

use crate::server::Server;
use crate::world::World;
use anyhow::Result;
use model::event::{Event, EventHub};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn api_02_a_new_join_gets_its_acknowledgement_and_then_the_snapshot() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    world.observe(&server, world.status(&server, 7)).await?;
    let mut client = server.client().await?;
    let session = json!({ "session_id": world.session });
    let (answer, before) = client.ask("session.subscribe", session.clone()).await?;
    assert_eq!((&answer["type"], before.len()), (&json!("response"), 0));
    let mut actions = Vec::new();
    while actions.last().map(String::as_str) != Some("session.pending_changed") {
        let frame = client.next().await?;
        if frame["action"] == "session.git.event" {
            let payload = &frame["payload"];
            assert_eq!(payload["task_environment_id"], json!(world.environment));
            assert_eq!(payload["status"]["additions"], 7);
            assert_eq!(payload["type"], "status_update");
        }
        actions.push(frame["action"].as_str().unwrap_or_default().to_owned());
    }
    assert_eq!(
        actions,
        [
            "session.state_changed",
            "session.git.event",
            "session.available_commands",
            "session.models_updated",
            "session.mode_changed",
            "message.queue.status_changed",
            "session.questions_awaited",
            "session.pending_changed",
        ]
    );
    let (_, before) = client.ask("session.subscribe", session.clone()).await?;
    assert_eq!(before, Vec::<serde_json::Value>::new());
    let (_, between) = client.ask("ping", json!({})).await?;
    assert_eq!(
        between,
        Vec::<serde_json::Value>::new(),
        "a duplicate only acknowledges"
    );
    Ok(())
}

#[tokio::test]
async fn api_03_focus_acknowledges_and_replays_nothing() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    for action in [
        "session.focus",
        "session.focus",
        "session.unfocus",
        "session.unfocus",
    ] {
        client
            .request(action, json!({ "session_id": world.session }))
            .await?;
    }
    let (_, between) = client.ask("ping", json!({})).await?;
    assert_eq!(between, Vec::<serde_json::Value>::new());
    Ok(())
}

#[tokio::test]
async fn subscriptions_take_effect_in_the_order_in_which_they_were_sent() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    let session = json!({ "session_id": world.session });
    for _ in 0..10 {
        client.send("session.subscribe", session.clone()).await?;
        client.send("session.unsubscribe", session.clone()).await?;
    }
    client.request("session.unsubscribe", session).await?;
    world.say(&server, &world.session, "m1", "hello").await?;
    let (_, between) = client.ask("ping", json!({})).await?;
    assert!(
        between
            .iter()
            .all(|frame| frame["action"] != "session.message.added"),
        "{between:?}"
    );
    Ok(())
}

#[tokio::test]
async fn api_07_detail_goes_only_to_who_opened_it() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let other = world.add_session(&server).await?;
    let mut client = server.client().await?;
    client
        .request(
            "workspace.subscribe",
            json!({ "workspace_id": server.workspace }),
        )
        .await?;
    client
        .request("session.subscribe", json!({ "session_id": other }))
        .await?;
    client.notified("session.pending_changed").await?;
    world
        .say(&server, &world.session, "m1", "not for you")
        .await?;
    world.say(&server, &other, "m2", "for you").await?;
    let added = client.notified("session.message.added").await?;
    assert_eq!(added["message"]["id"], "m2");
    let (_, between) = client.ask("ping", json!({})).await?;
    assert_eq!(between, Vec::<serde_json::Value>::new());
    Ok(())
}

#[tokio::test]
async fn git_status_reaches_every_open_session_of_its_environment() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let sibling = world.add_session(&server).await?;
    let mut client = server.client().await?;
    client
        .request("session.subscribe", json!({ "session_id": sibling }))
        .await?;
    client.notified("session.pending_changed").await?;
    let status = Arc::new(world.status(&server, 3));
    server.hub.publish(&Event::GitStatus {
        environment_id: world.environment.clone(),
        status,
    });
    let event = client.notified("session.git.event").await?;
    assert_eq!(
        event["session_id"],
        json!(sibling),
        "the open session is the route"
    );
    assert_eq!(event["task_environment_id"], json!(world.environment));
    Ok(())
}

#[tokio::test]
async fn a_membership_that_ends_ends_what_it_showed() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    client
        .request(
            "workspace.subscribe",
            json!({ "workspace_id": server.workspace }),
        )
        .await?;
    client
        .request("session.subscribe", json!({ "session_id": world.session }))
        .await?;
    client.notified("session.pending_changed").await?;
    server.hub.revoke(&server.workspace, &server.user);
    world.say(&server, &world.session, "m1", "secret").await?;
    let task = {
        let mut tx = server.store.read().await?;
        store::tasks::get(&mut tx, &world.task).await?
    };
    server.hub.publish(&Event::Task {
        change: model::event::TaskChange::Updated,
        task: Arc::new(task),
    });
    let (_, between) = client.ask("ping", json!({})).await?;
    assert_eq!(between, Vec::<serde_json::Value>::new());
    Ok(())
}
