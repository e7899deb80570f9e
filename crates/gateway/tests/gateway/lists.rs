//! Lists: what they hold, who may see them, and that they page by bytes.

use crate::server::{Client, Server};
use crate::world::World;
use anyhow::{Context as _, Result, ensure};
use model::bounds;
use model::ids::TaskId;
use serde_json::{Value, json};
use store::sql::{Statement, sql};

testkit::on_every_engine!(crate::server::Server =>
    pen_07_a_task_that_cannot_be_read_is_counted_and_hides_no_other,
    gwy_07_a_page_of_unreadable_tasks_does_not_end_the_list,
);

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

/// Changes the database as no function of the store does.
async fn tamper(server: &Server, statement: Statement) -> Result<()> {
    let mut tx = server.store.write().await?;
    ensure!(0 < tx.execute(statement).await?);
    let _ = tx.commit().await?;
    Ok(())
}

/// What a list says page by page, to its last one: the ids, and how many tasks it could not read.
async fn all_pages(server: &Server, client: &mut Client) -> Result<Vec<(Vec<String>, Value)>> {
    let (mut pages, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let wanted = json!({ "workspace_id": server.workspace, "cursor": cursor });
        let page = client.request("task.list", wanted).await?;
        let tasks = page["tasks"].as_array().context("a list of tasks")?;
        let ids = tasks.iter().filter_map(|task| task["id"].as_str());
        pages.push((ids.map(str::to_owned).collect(), page["unreadable"].clone()));
        cursor = page["cursor"].clone();
        if cursor.is_null() {
            return Ok(pages);
        }
    }
}

/// PEN-07: a failure for one task harms no other, in lists and at boot.
async fn pen_07_a_task_that_cannot_be_read_is_counted_and_hides_no_other(
    server: Server,
) -> Result<()> {
    let world = World::new(&server).await?;
    let mut made = vec![world.task.to_string()];
    for n in 1..=5 {
        // Two fill a page, so the list is cut by bytes beside what is left out.
        let description = "d".repeat(bounds::PAGE_BYTES * 2 / 5);
        let title = format!("task {n}");
        let task = world.add_task(&server, &title, &description).await?;
        made.insert(0, task.to_string());
    }
    let spoil = async |at: usize, state: &str| -> Result<()> {
        let update = sql("UPDATE tasks SET state = $2 WHERE id = $1");
        let task = TaskId::parse(&made[at])?;
        tamper(&server, update.bind(&task).bind(state)).await
    };
    let mut client = server.client().await?;
    let whole = all_pages(&server, &mut client).await?;
    assert!(1 < whole.len() && whole.iter().all(|(_, unreadable)| unreadable.is_null()));
    for damaged in [[0, 3], [2, 5], [1, 2]] {
        for at in damaged {
            spoil(at, "DREAMING").await?;
        }
        let pages = all_pages(&server, &mut client).await?;
        let seen: Vec<&String> = pages.iter().flat_map(|(ids, _)| ids).collect();
        let others: Vec<&String> = (0..made.len())
            .filter(|at| !damaged.contains(at))
            .map(|at| &made[at])
            .collect();
        assert_eq!(seen, others, "{damaged:?}");
        let counted: u64 = pages.iter().filter_map(|(_, count)| count.as_u64()).sum();
        assert_eq!(counted, 2, "each once: {damaged:?}");
        // Whoever asks for such a task itself is not told that there is none.
        let wanted = json!({ "task_id": made[damaged[0]] });
        let code = client.refused("task.get", wanted).await?;
        assert_eq!(code, "INTERNAL_ERROR");
        let bearer = format!("Bearer {}", server.sign_in(&server.user).await?);
        let headers = [("authorization", bearer.as_str())];
        let answer = server.http("GET", "/api/v1/boot", &headers, "").await?;
        let boot: Value = serde_json::from_str(&answer.body)?;
        let first = &boot["workspaces"][0]["tasks"];
        assert_eq!(first["unreadable"], pages[0].1, "{damaged:?}");
        assert_eq!(first["tasks"][0]["id"], json!(others[0]));
        for at in damaged {
            spoil(at, "TODO").await?;
        }
        assert_eq!(all_pages(&server, &mut client).await?, whole);
    }
    Ok(())
}

/// GWY-07.
async fn gwy_07_a_page_of_unreadable_tasks_does_not_end_the_list(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    for _ in 0..bounds::TASK_PAGE_ROWS {
        world.add_task(&server, "a task", "").await?;
    }
    let spoil = sql("UPDATE tasks SET state = 'DREAMING' WHERE id <> $1");
    tamper(&server, spoil.bind(&world.task)).await?;
    let mut client = server.client().await?;
    let pages = all_pages(&server, &mut client).await?;
    let oldest = world.task.to_string();
    let expected = [
        (vec![], json!(bounds::TASK_PAGE_ROWS)),
        (vec![oldest], Value::Null),
    ];
    assert_eq!(pages, expected);
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
