//! Lists: what they hold, who may see them, and that they page by bytes.

use crate::server::Server;
use crate::world::World;
use anyhow::Result;
use serde_json::{Value, json};

/// SUM-01.
#[tokio::test]
async fn sum_01_every_task_of_a_list_has_its_summary() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    let page = client
        .request("task.list", json!({ "workspace_id": server.workspace }))
        .await?;
    let task = &page["tasks"][0];
    assert_eq!(task["id"], json!(world.task));
    assert_eq!(
        task["status_summary"]["primary_session"]["state"],
        "CREATED"
    );
    assert!(task["status_summary"]["last_activity_at"].is_string());
    assert_eq!(page.get("cursor"), None);
    let task = client
        .request("task.get", json!({ "task_id": world.task }))
        .await?;
    assert_eq!(
        task["task"]["status_summary"]["primary_session"]["id"],
        json!(world.session)
    );
    let sessions = client
        .request("session.list", json!({ "task_id": world.task }))
        .await?;
    assert_eq!(sessions["sessions"][0]["id"], json!(world.session));
    let pending = client
        .request("task.pending", json!({ "task_id": world.task }))
        .await?;
    assert_eq!(pending["requests"], json!([]));
    Ok(())
}

/// GWY-07.
#[tokio::test]
async fn gwy_07_task_lists_page_by_bytes_and_lose_nothing() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let description = "d".repeat(400 * 1024);
    let mut made = vec![world.task.to_string()];
    for n in 0..5 {
        made.push(
            world
                .add_task(&server, &format!("task {n}"), &description)
                .await?
                .to_string(),
        );
    }
    let mut client = server.client().await?;
    let (mut seen, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let page = client
            .request(
                "task.list",
                json!({ "workspace_id": server.workspace, "cursor": cursor }),
            )
            .await?;
        let tasks = page["tasks"].as_array().cloned().unwrap_or_default();
        assert!(!tasks.is_empty() && tasks.len() <= 3);
        seen.extend(
            tasks
                .iter()
                .map(|task| task["id"].as_str().unwrap_or_default().to_owned()),
        );
        pages += 1;
        cursor = page["cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    made.reverse();
    assert_eq!(seen, made, "newest first");
    assert_eq!(pages, 3);
    let wrong = json!({ "workspace_id": server.workspace, "cursor": "not a cursor" });
    assert_eq!(
        client.refused("task.list", wrong).await?,
        "VALIDATION_ERROR"
    );
    Ok(())
}

#[tokio::test]
async fn transcripts_page_in_both_directions() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    for n in 1..=5 {
        world
            .say(&server, &world.session, &format!("m{n}"), "text")
            .await?;
    }
    let mut client = server.client().await?;
    let mut list = async |payload: Value| -> Result<(Vec<String>, Value, bool)> {
        let mut wanted = json!({ "session_id": world.session, "limit": 2 });
        for (key, value) in payload.as_object().into_iter().flatten() {
            wanted[key] = value.clone();
        }
        let page = client.request("message.list", wanted).await?;
        let ids = page["messages"].as_array().into_iter().flatten();
        let ids = ids
            .map(|message| message["id"].as_str().unwrap_or_default().to_owned())
            .collect();
        Ok((ids, page["cursor"].clone(), page["has_more"] == true))
    };
    let (ids, cursor, more) = list(json!({})).await?;
    assert_eq!((ids, more), (vec!["m4".to_owned(), "m5".to_owned()], true));
    let (ids, cursor, more) = list(json!({ "before": cursor })).await?;
    assert_eq!((ids, more), (vec!["m2".to_owned(), "m3".to_owned()], true));
    let (ids, cursor, more) = list(json!({ "before": cursor })).await?;
    assert_eq!((ids, more), (vec!["m1".to_owned()], false));
    let (ids, _, more) = list(json!({ "after": cursor })).await?;
    assert_eq!((ids, more), (vec!["m2".to_owned(), "m3".to_owned()], true));
    assert_eq!(
        client
            .refused(
                "message.list",
                json!({ "session_id": world.session, "before": 1, "after": 1 })
            )
            .await?,
        "VALIDATION_ERROR"
    );
    Ok(())
}

#[tokio::test]
async fn a_message_of_another_session_is_not_found_under_this_one() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let other = world.add_session(&server).await?;
    world.say(&server, &other, "m1", "text").await?;
    let mut client = server.client().await?;
    let got = client
        .request(
            "message.get",
            json!({ "session_id": other, "message_id": "m1" }),
        )
        .await?;
    assert_eq!(got["message"]["content"], "text");
    for id in ["m1", "made-up", "not an id", ""] {
        let wanted = json!({ "session_id": world.session, "message_id": id });
        assert_eq!(
            client.refused("message.get", wanted).await?,
            "NOT_FOUND",
            "{id}"
        );
    }
    Ok(())
}
