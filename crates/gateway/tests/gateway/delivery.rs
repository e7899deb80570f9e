//! What a client is sent while an agent speaks (GWY-01 … GWY-07), and what becomes of one that does not keep up.

use crate::replica::Replica;
use crate::server::{Client, Server};
use crate::world::World;
use anyhow::Result;
use flow::outbox::limits::Limits;
use model::event::{Event, EventHub};
use model::ids::SessionId;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

async fn open(client: &mut Client, session: &SessionId, capabilities: &[&str]) -> Result<()> {
    client
        .request("client.hello", json!({ "capabilities": capabilities }))
        .await?;
    client
        .request("session.subscribe", json!({ "session_id": session }))
        .await?;
    client.notified("session.pending_changed").await?;
    Ok(())
}

#[tokio::test]
async fn appends_carry_only_what_is_missing() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    open(&mut client, &world.session, &["message_append"]).await?;
    let mut message = world.say(&server, &world.session, "m1", "a🦀").await?;
    assert_eq!(
        client.notified("session.message.added").await?["message"]["content"],
        "a🦀"
    );
    world.append(&server, &mut message, 1, "b").await?;
    let appended = client.notified("session.message.appended").await?;
    let expected = json!({
        "session_id": world.session, "message_id": "m1", "offset": 3, "text": "b", "revision": 2,
    });
    assert_eq!(appended, expected);
    Ok(())
}

/// GWY-05.
#[tokio::test]
async fn gwy_05_both_kinds_of_client_end_with_what_the_store_has() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut readers = Vec::new();
    for capabilities in [&["message_append"][..], &[]] {
        let mut client = server.client().await?;
        open(&mut client, &world.session, capabilities).await?;
        readers.push((client, Replica::new(&world.session)));
    }
    let mut message = world.say(&server, &world.session, "m1", "start ").await?;
    for number in 1..=200 {
        world
            .append(&server, &mut message, number, &format!("{number}🦀 "))
            .await?;
    }
    let stored = world.settle(&server, &message.id).await?;
    assert_eq!(stored.content, message.content);
    let texts = BTreeMap::from([("m1".to_owned(), stored.content)]);
    for (client, replica) in &mut readers {
        replica.read_until(client, &texts).await?;
    }
    Ok(())
}

#[tokio::test]
async fn gwy_05_a_client_that_fell_behind_lists_once_and_ends_with_what_the_store_has() -> Result<()>
{
    const MESSAGES: usize = 2 * model::bounds::MESSAGE_STATE_KEYS;
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    open(&mut client, &world.session, &["message_append"]).await?;
    let mut messages = Vec::new();
    for n in 0..MESSAGES {
        messages.push(
            world
                .say(&server, &world.session, &format!("m{n}"), "start ")
                .await?,
        );
    }
    // Nobody reads meanwhile: the way to the client fills up, then its keys, then the oldest of them go.
    let piece = "🦀text ".repeat(5_000);
    for number in 1..=3 {
        for message in &mut messages {
            world.append(&server, message, number, &piece).await?;
        }
    }
    let texts = messages
        .iter()
        .map(|message| (message.id.to_string(), message.content.clone()))
        .collect();
    let mut replica = Replica::new(&world.session);
    replica.read_until(&mut client, &texts).await?;
    assert!(
        0 < replica.resyncs && replica.resyncs < 5,
        "{} resyncs",
        replica.resyncs
    );
    assert!(0 < replica.appends);
    Ok(())
}

#[tokio::test]
async fn a_client_that_comes_late_gets_the_whole_and_then_appends() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut message = world.say(&server, &world.session, "m1", "one ").await?;
    world.append(&server, &mut message, 1, "two ").await?;
    let mut client = server.client().await?;
    open(&mut client, &world.session, &["message_append"]).await?;
    let page = client
        .request("message.list", json!({ "session_id": world.session }))
        .await?;
    assert_eq!(page["messages"][0]["content"], "one two ");
    world.append(&server, &mut message, 2, "three").await?;
    let appended = client.notified("session.message.appended").await?;
    assert_eq!(
        (&appended["offset"], &appended["text"]),
        (&json!(8), &json!("three"))
    );

    let mut unlisted = server.client().await?;
    open(&mut unlisted, &world.session, &["message_append"]).await?;
    world.append(&server, &mut message, 3, "!").await?;
    let updated = unlisted.notified("session.message.updated").await?;
    assert_eq!(updated["message"]["content"], "one two three!");
    Ok(())
}

#[tokio::test]
async fn a_long_content_is_cut_and_says_so() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    open(&mut client, &world.session, &["message_append"]).await?;
    let long = "é".repeat(model::bounds::WIRE_CONTENT_BYTES);
    let mut message = world.say(&server, &world.session, "m1", &long).await?;
    let added = client.notified("session.message.added").await?;
    assert_eq!(added["message"]["content_truncated"], true);
    let cut = added["message"]["content"].as_str().unwrap_or_default();
    assert_eq!(cut.len(), model::bounds::WIRE_CONTENT_BYTES);
    world.append(&server, &mut message, 1, "more").await?;
    let (_, between) = client.ask("ping", json!({})).await?;
    assert_eq!(
        between,
        Vec::<Value>::new(),
        "an append would not fit behind a cut content"
    );
    world.settle(&server, &message.id).await?;
    assert_eq!(
        client.notified("session.message.updated").await?["message"]["content_truncated"],
        true
    );
    Ok(())
}

/// GWY-02.
#[tokio::test]
async fn gwy_02_a_client_that_does_not_keep_up_is_closed_and_not_its_neighbour() -> Result<()> {
    let limits = Limits {
        occurrence_frames: 8,
        ..Limits::default()
    };
    let server = Server::start_with(limits).await?;
    let world = World::new(&server).await?;
    let mut slow = server.client().await?;
    open(&mut slow, &world.session, &[]).await?;
    let turn = Arc::new(model::turn::Turn {
        id: model::ids::TurnId::parse(&"t".repeat(200))?,
        session_id: world.session.clone(),
        revision: 1,
        started_at: server.store.now(),
        completed_at: None,
        outcome: None,
        authoritative: true,
        lifecycle_only: false,
        prompt_dispatch_pending: false,
        prompt_dispatch_attempted: false,
        cancel_requested_at: None,
    });
    // One burst without a pause for the writer: more than fits.
    for _ in 0..9 {
        server.hub.publish(&Event::TurnStarted(Arc::clone(&turn)));
    }
    assert_eq!(slow.closed().await?, 4002);
    server.without_clients().await?;
    let mut back = server.client().await?;
    open(&mut back, &world.session, &[]).await?;
    Ok(())
}

/// API-05.
#[tokio::test]
async fn api_05_a_client_that_sends_and_never_reads_is_not_read_either() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let text = "x".repeat(200 * 1024);
    for n in 0..4 {
        world
            .say(&server, &world.session, &format!("m{n}"), &text)
            .await?;
    }
    let mut client = server.client().await?;
    // Each answer is 800 KB. The control queue holds 8 MiB; only so many requests are taken at once, the others wait in
    // the socket, and every one is answered when the client reads again.
    let mut ids = Vec::new();
    for _ in 0..24 {
        ids.push(
            client
                .send("message.list", json!({ "session_id": world.session }))
                .await?,
        );
    }
    let mut answered = Vec::new();
    while answered.len() < ids.len() {
        let frame = client.next().await?;
        assert_eq!(frame["type"], "response");
        answered.push(frame["id"].as_str().unwrap_or_default().to_owned());
    }
    answered.sort();
    ids.sort();
    assert_eq!(answered, ids);
    Ok(())
}

#[tokio::test]
async fn api_05_an_answer_that_cannot_be_queued_closes_with_4001() -> Result<()> {
    let limits = Limits {
        control_bytes: 2_600_000,
        ..Limits::default()
    };
    let server = Server::start_with(limits).await?;
    let world = World::new(&server).await?;
    // Escaping makes each answer half as large again as what is promised for it, so two do not fit where two were
    // promised: possible only while nothing is written, that is, while this client does not read.
    world
        .say(
            &server,
            &world.session,
            "m1",
            &"\u{1}".repeat(model::bounds::WIRE_CONTENT_BYTES),
        )
        .await?;
    let mut client = server.client().await?;
    for _ in 0..40 {
        client
            .send(
                "message.get",
                json!({ "session_id": world.session, "message_id": "m1" }),
            )
            .await?;
    }
    server.without_clients().await?;
    assert_eq!(client.closed().await?, 4001);
    Ok(())
}

/// GWY-04.
#[tokio::test]
async fn gwy_04_a_response_overtakes_notifications() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    open(&mut client, &world.session, &[]).await?;
    let large = "y".repeat(100 * 1024);
    for n in 0..100 {
        let message = model::message::Message {
            id: model::ids::MessageId::parse(&format!("n{n}"))?,
            ..world_message(&server, &world, &large).await?
        };
        server.hub.publish(&Event::MessageAdded(Arc::new(message)));
    }
    let (_, before) = client.ask("ping", json!({})).await?;
    assert!(
        before.len() < 100,
        "the answer waited behind {} notifications",
        before.len()
    );
    Ok(())
}

async fn world_message(
    server: &Server,
    world: &World,
    text: &str,
) -> Result<model::message::Message> {
    Ok(model::message::Message {
        id: model::ids::MessageId::parse("n")?,
        session_id: world.session.clone(),
        task_id: world.task.clone(),
        turn_id: None,
        seq: Some(1),
        revision: 1,
        author: model::message::Author::Agent,
        kind: model::message::MessageType::Message,
        content: text.to_owned(),
        metadata: Value::Null,
        status: None,
        pending_id: None,
        delivered: None,
        disposition: None,
        queue_position: None,
        streaming: false,
        created_at: server.store.now(),
        updated_at: server.store.now(),
        attachments: Vec::new(),
        content_truncated: false,
    })
}
