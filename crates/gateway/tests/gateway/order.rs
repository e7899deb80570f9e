//! What one connection sends for one session is carried out in the order in which it was sent, and holds up nothing
//! else.

use crate::server::{Client, Server};
use crate::world::World;
use anyhow::{Context, Result, ensure};
use model::bounds;
use model::ids::SessionId;
use serde_json::{Value, json};
use store::faults::{FaultPoint, Hold};
use testkit::waiting::until;

testkit::on_every_engine!(crate::server::Server =>
    fifty_prompts_sent_at_once_are_stored_in_their_order,
    as_many_prompts_as_the_queue_takes_are_the_first_ones,
    a_prompt_that_is_held_up_holds_up_its_own_session_only,
    more_than_a_lane_takes_is_refused_at_once_and_nobody_elses_request,
    what_edits_the_queue_keeps_the_order_too,
    a_request_that_fails_lets_the_next_one_go,
    what_waits_when_its_connection_goes_is_carried_out_in_order,
    more_than_may_wait_is_refused_as_busy,
);

fn prompt(world: &World, session: &SessionId, id: &str) -> Value {
    json!({ "task_id": world.task, "session_id": session, "client_message_id": id, "content": id })
}

/// Sends without waiting for an answer.
async fn send_all(
    client: &mut Client,
    world: &World,
    session: &SessionId,
    ids: &[&str],
) -> Result<()> {
    for id in ids {
        client
            .send("message.add", prompt(world, session, id))
            .await?;
    }
    Ok(())
}

/// Reads until so many requests are answered; gives the answers in the order in which they came.
async fn answers(client: &mut Client, count: usize) -> Result<Vec<Value>> {
    let mut answers = Vec::new();
    while answers.len() < count {
        let frame = client.next().await?;
        if frame["id"].is_string() {
            answers.push(frame);
        }
    }
    Ok(answers)
}

fn texts<'a>(rows: impl IntoIterator<Item = &'a Value>, field: &str) -> Vec<&'a str> {
    let texts = rows.into_iter().map(|row| row[field].as_str());
    texts.map(|text| text.unwrap_or("no text")).collect()
}

/// A session's prompts as they are listed: those that have left the queue, then the queue.
async fn prompts(client: &mut Client, session: &SessionId) -> Result<Vec<Value>> {
    let wanted = json!({ "session_id": session, "limit": 200 });
    let page = client.request("message.list", wanted.clone()).await?;
    let queue = client.request("message.queue.list", wanted).await?;
    let mut rows = page["messages"].as_array().context("rows")?.clone();
    rows.retain(|row| row["author"] == "user");
    rows.extend(
        queue["messages"]
            .as_array()
            .context("rows")?
            .iter()
            .cloned(),
    );
    Ok(rows)
}

/// A session's prompts in the order in which they were stored, which is the one in which they are listed.
async fn stored(client: &mut Client, session: &SessionId) -> Result<Vec<String>> {
    let rows = prompts(client, session).await?;
    let ages = texts(&rows, "created_at");
    ensure!(ages.is_sorted(), "the older ones come first: {ages:?}");
    Ok(texts(&rows, "id").into_iter().map(str::to_owned).collect())
}

/// The next transaction that begins to read waits; the next request here is the one, because it asks who may first.
fn hold(server: &Server) -> Hold {
    server.store.faults().hold(FaultPoint::BeginRead, 1)
}

async fn fifty_prompts_sent_at_once_are_stored_in_their_order(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let mut sessions = vec![world.session.clone()];
    while sessions.len() < 5 {
        sessions.push(world.add_session(&server).await?);
    }
    let mut client = server.client().await?;
    let ids: Vec<Vec<String>> = (0..sessions.len())
        .map(|session| (10..20).map(|nth| format!("m-{session}-{nth}")).collect())
        .collect();
    // The first is held back, so that without an order every other one of its session goes past it.
    let held = hold(&server);
    for nth in 0..10 {
        for (session, ids) in sessions.iter().zip(&ids) {
            send_all(&mut client, &world, session, &[&ids[nth]]).await?;
        }
    }
    held.reached().await;
    drop(held);
    let answers = answers(&mut client, 50).await?;
    for answer in &answers {
        ensure!(answer["type"] == "response", "{answer}");
    }
    for (session, ids) in sessions.iter().zip(&ids) {
        assert_eq!(stored(&mut client, session).await?, *ids);
        let of_session = answers
            .iter()
            .map(|answer| &answer["payload"]["message"])
            .filter(|message| message["session_id"] == session.as_str());
        assert_eq!(texts(of_session, "id"), *ids, "answered in their order");
    }
    Ok(())
}

async fn as_many_prompts_as_the_queue_takes_are_the_first_ones(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    world.open_turn(&server, &world.session).await?;
    let mut client = server.client().await?;
    let ids: Vec<String> = (10..60).map(|nth| format!("m-{nth}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let held = hold(&server);
    send_all(&mut client, &world, &world.session, &ids).await?;
    held.reached().await;
    drop(held);
    let (taken, refused): (Vec<Value>, Vec<Value>) = answers(&mut client, 50)
        .await?
        .into_iter()
        .partition(|answer| answer["type"] == "response");
    let (first, _) = ids.split_at(bounds::QUEUED_PROMPTS);
    assert_eq!(stored(&mut client, &world.session).await?, first);
    assert_eq!(taken.len(), first.len());
    for answer in refused {
        assert_eq!(answer["payload"]["code"], "BUSY");
    }
    Ok(())
}

async fn a_prompt_that_is_held_up_holds_up_its_own_session_only(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let other = world.add_session(&server).await?;
    let mut client = server.client().await?;
    let held = hold(&server);
    send_all(&mut client, &world, &world.session, &["m-1", "m-2"]).await?;
    held.reached().await;
    // Reads, also of the same session, and another session's prompt are answered before either of the two.
    assert_eq!(
        stored(&mut client, &world.session).await?,
        Vec::<String>::new()
    );
    client
        .request("message.add", prompt(&world, &other, "m-3"))
        .await?;
    assert_eq!(stored(&mut client, &other).await?, ["m-3"]);
    assert_eq!(
        stored(&mut client, &world.session).await?,
        Vec::<String>::new()
    );
    drop(held);
    let answers = answers(&mut client, 2).await?;
    assert_eq!(texts(&answers, "id"), ["r1", "r2"]);
    assert_eq!(stored(&mut client, &world.session).await?, ["m-1", "m-2"]);
    Ok(())
}

/// STR-05's promise on the side of a client: a session that is slow leaves the others of its connection their share.
async fn more_than_a_lane_takes_is_refused_at_once_and_nobody_elses_request(
    server: Server,
) -> Result<()> {
    let world = World::new(&server).await?;
    let other = world.add_session(&server).await?;
    let mut client = server.client().await?;
    let held = hold(&server);
    let ids: Vec<String> = (10..70).map(|nth| format!("m-{nth}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    send_all(&mut client, &world, &world.session, &ids).await?;
    held.reached().await;
    send_all(&mut client, &world, &other, &["m-1"]).await?;
    let refused = ids.len() - bounds::LANE_REQUESTS;
    let (taken, refused): (Vec<Value>, Vec<Value>) = answers(&mut client, refused + 1)
        .await?
        .into_iter()
        .partition(|answer| answer["type"] == "response");
    assert_eq!(taken.len(), 1, "{taken:?}");
    assert_eq!(stored(&mut client, &other).await?, ["m-1"]);
    for answer in refused {
        assert_eq!(answer["payload"]["code"], "BUSY");
    }
    drop(held);
    // Of those in the lane the queue takes as many as it can hold; the first begins a turn.
    let in_lane = answers(&mut client, bounds::LANE_REQUESTS).await?;
    let taken = in_lane
        .iter()
        .filter(|answer| answer["type"] == "response")
        .count();
    let (first, _) = ids.split_at(taken);
    assert!(bounds::QUEUED_PROMPTS <= taken, "{taken}");
    assert_eq!(stored(&mut client, &world.session).await?, first);
    Ok(())
}

async fn what_edits_the_queue_keeps_the_order_too(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    world.open_turn(&server, &world.session).await?;
    let mut client = server.client().await?;
    let held = hold(&server);
    send_all(
        &mut client,
        &world,
        &world.session,
        &["m-1", "m-2", "m-3", "m-4"],
    )
    .await?;
    let session = &world.session;
    let of = |id: &str| json!({ "session_id": session, "message_id": id });
    let words = |text: &str| json!({ "session_id": session, "message_id": "m-3", "content": text });
    let order = |ids: [&str; 4]| json!({ "session_id": session, "message_ids": ids });
    // Each of these is refused, or comes to something else, when it is carried out before the one above it.
    for (action, payload) in [
        ("message.queue.update", words("first words")),
        ("message.queue.update", words("last words")),
        ("message.queue.reorder", order(["m-4", "m-3", "m-2", "m-1"])),
        ("message.queue.reorder", order(["m-2", "m-4", "m-3", "m-1"])),
        ("message.queue.remove", of("m-4")),
        ("message.add", prompt(&world, session, "m-5")),
        ("message.queue.send_now", of("m-3")),
        ("agent.cancel", json!({ "session_id": session })),
        (
            "session.rename",
            json!({ "session_id": session, "name": "one" }),
        ),
        (
            "session.rename",
            json!({ "session_id": session, "name": "two" }),
        ),
    ] {
        client.send(action, payload).await?;
    }
    held.reached().await;
    drop(held);
    let answers = answers(&mut client, 14).await?;
    for answer in &answers {
        ensure!(answer["type"] == "response", "{answer}");
    }
    let sent: Vec<String> = (1..=14).map(|nth| format!("r{nth}")).collect();
    assert_eq!(texts(&answers, "id"), sent);
    let row = client.request("message.get", of("m-3")).await?;
    assert_eq!(row["message"]["content"], "last words");
    let list = json!({ "task_id": world.task });
    let list = client.request("session.list", list).await?;
    assert_eq!(list["sessions"][0]["name"], "two");
    let rows = prompts(&mut client, session).await?;
    assert_eq!(texts(&rows, "id"), ["m-3", "m-2", "m-1", "m-5"]);
    Ok(())
}

async fn a_request_that_fails_lets_the_next_one_go(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    let faults = server.store.faults();
    let held = hold(&server);
    faults.fail(FaultPoint::BeforeCommit, 1);
    let empty = json!({
        "task_id": world.task, "session_id": world.session, "client_message_id": "m-2", "content": " ",
    });
    client
        .send("message.add", prompt(&world, &world.session, "m-1"))
        .await?;
    client.send("message.add", empty).await?;
    let no_message = json!({ "session_id": world.session });
    client.send("message.queue.remove", no_message).await?;
    client
        .send("message.add", prompt(&world, &world.session, "m-4"))
        .await?;
    held.reached().await;
    drop(held);
    let answers = answers(&mut client, 4).await?;
    assert_eq!(texts(&answers, "id"), ["r1", "r2", "r3", "r4"]);
    let codes: Vec<&Value> = answers.iter().map(|a| &a["payload"]["code"]).collect();
    assert_eq!(
        codes,
        [
            &json!("INTERNAL_ERROR"),
            &json!("VALIDATION_ERROR"),
            &json!("BAD_REQUEST"),
            &Value::Null,
        ]
    );
    assert_eq!(faults.take_failed(), [FaultPoint::BeforeCommit]);
    assert_eq!(stored(&mut client, &world.session).await?, ["m-4"]);
    Ok(())
}

async fn what_waits_when_its_connection_goes_is_carried_out_in_order(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    let held = hold(&server);
    let ids = ["m-1", "m-2", "m-3", "m-4", "m-5"];
    send_all(&mut client, &world, &world.session, &ids).await?;
    // Requests are read in order: once this one is answered, all before it have been accepted.
    client.request("ping", json!({})).await?;
    held.reached().await;
    drop(client);
    server.without_clients().await?;
    drop(held);
    let mut client = server.client().await?;
    until("the last one is stored", async || {
        let rows = stored(&mut client, &world.session).await?;
        Ok((rows == ids).then_some(()))
    })
    .await
}

async fn more_than_may_wait_is_refused_as_busy(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    let held = hold(&server);
    // Small answers, so that it is the number that ends and not the room for them.
    for _ in 0..bounds::INFLIGHT_REQUESTS {
        client
            .send("session.focus", json!({ "session_id": world.session }))
            .await?;
    }
    held.reached().await;
    let refused = client.refused("ping", json!({})).await?;
    assert_eq!(refused, "BUSY");
    drop(held);
    let answers = answers(&mut client, bounds::INFLIGHT_REQUESTS).await?;
    assert!(answers.iter().all(|answer| answer["type"] == "response"));
    client.request("ping", json!({})).await?;
    Ok(())
}
