//! The envelope: what is malformed gets an error, not a closed connection, unless it is too large.

use crate::server::Server;
use anyhow::Result;
use futures_util::SinkExt;
use serde_json::json;
use tokio_tungstenite::tungstenite::{Error, Message};

#[tokio::test]
async fn a_malformed_frame_is_answered_and_the_connection_goes_on() -> Result<()> {
    let server = Server::start().await?;
    let mut client = server.client().await?;
    for text in [
        "",
        "nonsense",
        "[1]",
        r#"{"type":"request"}"#,
        r#"{"type":"response","action":"ping"}"#,
        "{\"id\":1}",
    ] {
        client.send_text(text).await?;
        let answer = client.next().await?;
        assert_eq!(answer["type"], "error", "{text}");
        assert_eq!(answer["payload"]["code"], "BAD_REQUEST", "{text}");
        assert_eq!(answer["payload"]["retry"], "never");
    }
    client.socket.send(Message::binary(vec![1, 2, 3])).await?;
    assert_eq!(client.next().await?["payload"]["code"], "BAD_REQUEST");
    client
        .send_text(
            r#"{"id":"a","type":"request","action":"task.list","payload":{"workspace_id":7}}"#,
        )
        .await?;
    let answer = client.next().await?;
    assert_eq!(
        (&answer["id"], &answer["payload"]["code"]),
        (&json!("a"), &json!("BAD_REQUEST"))
    );
    client.request("ping", json!({})).await?;
    Ok(())
}

#[tokio::test]
async fn an_unknown_action_is_named_as_such() -> Result<()> {
    let server = Server::start().await?;
    let mut client = server.client().await?;
    let (answer, _) = client.ask("task.explode", json!({})).await?;
    assert_eq!(answer["type"], "error");
    assert_eq!(answer["action"], "task.explode");
    assert_eq!(answer["payload"]["code"], "UNKNOWN_ACTION");
    Ok(())
}

#[tokio::test]
async fn a_frame_that_is_too_large_closes_with_1009() -> Result<()> {
    let server = Server::start().await?;
    let mut client = server.client().await?;
    client
        .send_text(&"x".repeat(model::bounds::INBOUND_FRAME_BYTES + 1))
        .await?;
    assert_eq!(client.closed().await?, 1009);
    Ok(())
}

#[tokio::test]
async fn foreign_and_made_up_ids_are_told_apart_by_nobody() -> Result<()> {
    let server = Server::start().await?;
    let stranger = crate::server::add_user(&server.store, "stranger").await?;
    let foreign = crate::server::add_workspace(&server.store, "theirs", &stranger).await?;
    let mut client = server.client().await?;
    let mut answers = Vec::new();
    for id in [foreign.to_string(), "made-up".to_owned()] {
        let (answer, _) = client
            .ask("task.list", json!({ "workspace_id": id }))
            .await?;
        assert_eq!(answer["payload"]["code"], "NOT_FOUND");
        answers.push(answer["payload"].clone());
        assert_eq!(
            client
                .refused("workspace.subscribe", json!({ "workspace_id": id }))
                .await?,
            "NOT_FOUND"
        );
    }
    assert_eq!(answers.first(), answers.last());
    for action in ["task.get", "task.pending", "session.list"] {
        assert_eq!(
            client
                .refused(action, json!({ "task_id": "made-up" }))
                .await?,
            "NOT_FOUND",
            "{action}"
        );
    }
    for action in [
        "session.subscribe",
        "session.focus",
        "message.list",
        "message.queue.list",
    ] {
        assert_eq!(
            client
                .refused(action, json!({ "session_id": "made-up" }))
                .await?,
            "NOT_FOUND",
            "{action}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn one_client_too_many_is_refused_before_the_upgrade() -> Result<()> {
    let server = Server::start().await?;
    let secret = server.sign_in(&server.user).await?;
    let mut clients = Vec::new();
    for _ in 0..crate::server::CLIENTS {
        clients.push(server.client_with(&secret).await?);
    }
    let protocols = format!("flightstrip.v1, {secret}");
    match server
        .upgrade(&[("sec-websocket-protocol", &protocols)])
        .await?
    {
        Err(Error::Http(response)) => assert_eq!(response.status(), 503),
        other => panic!("not refused: {:?}", other.err()),
    }
    clients.clear();
    server.without_clients().await?;
    server.client_with(&secret).await?;
    Ok(())
}
