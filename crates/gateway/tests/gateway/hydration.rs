//! Boot and lists show what the database says, and repair the summaries that say otherwise (PEN-07, SUM-04).

use crate::server::{Client, Server};
use crate::world::World;
use anyhow::{Context, Result, ensure};
use model::ids::{MessageId, PendingId, SessionId, TaskId, TurnId};
use model::message::{Author, MessageType};
use model::session::SessionState;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use store::messages::{self, NewMessage, Place};
use store::sessions::{self, NewSession};
use store::sql::{Statement, sql};
use store::turns::{self, NewTurn};
use wire::action::notification as action;

testkit::on_every_engine!(crate::server::Server =>
    s_17_a_question_that_is_none_any_more_goes_from_list_and_boot,
    pen_07_a_task_that_cannot_be_derived_shows_its_stored_summary,
    sum_04_a_list_without_any_summary_shows_the_same_again,
    c02_blocked_tasks_show_that_they_are_blocked_before_anybody_opens_one,
    c06_looking_at_tasks_moves_none_of_them,
    pst_04_a_list_takes_as_many_statements_for_500_tasks_as_for_one,
);

/// What a new task's session waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    Nothing,
    Permission,
    Question,
}

/// Changes the database as no function of the store does.
async fn tamper(server: &Server, statement: Statement) -> Result<u64> {
    let mut tx = server.store.write().await?;
    let changed = tx.execute(statement).await?;
    let _ = tx.commit().await?;
    Ok(changed)
}

/// A task whose agent stopped in its first turn, asking for something or for nothing.
async fn stopped_task(
    server: &Server,
    world: &World,
    title: &str,
    asks: Asks,
) -> Result<(TaskId, SessionId)> {
    let task = world.add_task(server, title, "").await?;
    let (session, turn) = (SessionId::generate(), TurnId::generate());
    let mut tx = server.store.write().await?;
    let now = tx.now();
    let new = NewSession {
        id: &session,
        task_id: &task,
        environment_id: None,
        client_id: session.as_str(),
        agent_profile_id: &world.profile,
        name: "Agent",
        own_environment: false,
    };
    sessions::insert(&mut tx, &new, now).await?;
    turns::insert(&mut tx, &turn, &session, NewTurn::ForMessage, now).await?;
    sessions::set_state(&mut tx, &session, SessionState::WaitingForInput).await?;
    let kind = match asks {
        Asks::Permission => Some(MessageType::PermissionRequest),
        Asks::Question => Some(MessageType::ClarificationRequest),
        Asks::Nothing => None,
    };
    if let Some(kind) = kind {
        let row = NewMessage {
            id: &MessageId::generate(),
            session_id: &session,
            task_id: &task,
            turn_id: Some(&turn),
            author: Author::Agent,
            kind,
            content: "May I?",
            metadata: &json!({}),
            pending_id: Some(&PendingId::generate()),
            streaming: false,
        };
        messages::insert(&mut tx, &row, Place::Transcript, now).await?;
    }
    tx.touch(&task);
    let _ = tx.commit().await?;
    Ok((task, session))
}

/// The summaries of a list's tasks, by task.
fn summaries(page: &Value) -> Result<BTreeMap<String, Map<String, Value>>> {
    let tasks = page["tasks"].as_array().context("a list of tasks")?;
    tasks
        .iter()
        .map(|task| {
            let summary = task["status_summary"].as_object().context("a summary")?;
            let id = task["id"].as_str().context("an id")?;
            Ok((id.to_owned(), summary.clone()))
        })
        .collect()
}

/// What they mean: without revision and time of projection.
fn meanings(page: &Value) -> Result<BTreeMap<String, Map<String, Value>>> {
    let mut all = summaries(page)?;
    for summary in all.values_mut() {
        ensure!(summary.remove("revision").is_some() && summary.remove("updated_at").is_some());
    }
    Ok(all)
}

async fn list(server: &Server, client: &mut Client) -> Result<Value> {
    let wanted = json!({ "workspace_id": server.workspace });
    client.request("task.list", wanted).await
}

/// The first page of tasks of a boot answer.
async fn boot(server: &Server) -> Result<Value> {
    let bearer = format!("Bearer {}", server.sign_in(&server.user).await?);
    let headers = [("authorization", bearer.as_str())];
    let answer = server.http("GET", "/api/v1/boot", &headers, "").await?;
    ensure!(answer.status == 200, "boot: {answer:?}");
    let boot: Value = serde_json::from_str(&answer.body)?;
    Ok(boot["workspaces"][0]["tasks"].clone())
}

/// What is stored about a task.
async fn stored(server: &Server, task: &TaskId) -> Result<Value> {
    let mut tx = server.store.read().await?;
    let mut found = store::summaries::of_tasks(&mut tx, std::slice::from_ref(task)).await?;
    Ok(serde_json::to_value(found.remove(task).context("a row")?)?)
}

/// The stored row of this task says that it waits for an answer; nothing marks it as old.
async fn pretend_question(server: &Server, task: &TaskId) -> Result<i64> {
    let mut row = stored(server, task).await?;
    let revision = row["revision"].as_i64().context("a revision")?;
    row["pending_action"] = json!("clarification");
    row["pending_since"] = json!(server.store.now());
    let summary: model::summary::TaskStatusSummary = serde_json::from_value(row)?;
    let update = sql("UPDATE task_status_summaries SET payload = $2 WHERE task_id = $1");
    let update = update
        .bind(task)
        .bind(serde_json::to_string(&summary.payload)?);
    ensure!(tamper(server, update).await? == 1);
    Ok(revision)
}

/// S-17, PEN-07.
async fn s_17_a_question_that_is_none_any_more_goes_from_list_and_boot(
    server: Server,
) -> Result<()> {
    let world = World::new(&server).await?;
    let (task, _) = stopped_task(&server, &world, "asked once", Asks::Nothing).await?;
    let (other, _) = stopped_task(&server, &world, "asks", Asks::Question).await?;
    let (mut client, mut watcher) = (server.client().await?, server.client().await?);
    let before = list(&server, &mut client).await?;
    let wanted = json!({ "workspace_id": server.workspace });
    watcher.request("workspace.subscribe", wanted).await?;

    for by_boot in [false, true] {
        let old = pretend_question(&server, &task).await?;
        let page = if by_boot {
            boot(&server).await?
        } else {
            list(&server, &mut client).await?
        };
        let shown = &summaries(&page)?[task.as_str()];
        assert_eq!(shown.get("pending_action"), None);
        assert!(old < shown["revision"].as_i64().context("a revision")?);
        assert_eq!(stored(&server, &task).await?, Value::Object(shown.clone()));
        assert_eq!(meanings(&page)?, meanings(&before)?, "nothing else changed");
        let told = watcher
            .notified(action::TASK_STATUS_SUMMARY_UPDATED)
            .await?;
        assert_eq!(told["task_id"], json!(task));
        assert_eq!(told["status_summary"], Value::Object(shown.clone()));
        // The row beside it is true, and keeps its revision.
        assert_eq!(
            summaries(&page)?[other.as_str()],
            summaries(&before)?[other.as_str()]
        );
    }
    // The same by `task.get`; of the other no word was said meanwhile.
    pretend_question(&server, &task).await?;
    let got = client
        .request("task.get", json!({ "task_id": task }))
        .await?;
    assert_eq!(got["task"]["status_summary"].get("pending_action"), None);
    let told = watcher
        .notified(action::TASK_STATUS_SUMMARY_UPDATED)
        .await?;
    assert_eq!(told["status_summary"], got["task"]["status_summary"]);
    Ok(())
}

/// PEN-07, REC-03.
async fn pen_07_a_task_that_cannot_be_derived_shows_its_stored_summary(
    server: Server,
) -> Result<()> {
    let world = World::new(&server).await?;
    let (broken, session) = stopped_task(&server, &world, "broken", Asks::Nothing).await?;
    let (whole, _) = stopped_task(&server, &world, "whole", Asks::Permission).await?;
    let mut client = server.client().await?;
    list(&server, &mut client).await?;
    for task in [&broken, &whole] {
        pretend_question(&server, task).await?;
    }
    let before = stored(&server, &broken).await?;
    let damage = sql("UPDATE task_sessions SET state = 'DREAMING' WHERE id = $1");
    tamper(&server, damage.bind(&session)).await?;
    for page in [list(&server, &mut client).await?, boot(&server).await?] {
        let shown = summaries(&page)?;
        assert_eq!(Value::Object(shown[broken.as_str()].clone()), before);
        assert_eq!(shown[whole.as_str()]["pending_action"], "permission");
    }
    Ok(())
}

/// SUM-04, SUM-10.
async fn sum_04_a_list_without_any_summary_shows_the_same_again(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    for asks in [Asks::Nothing, Asks::Permission, Asks::Question] {
        stopped_task(&server, &world, "a task", asks).await?;
    }
    let mut client = server.client().await?;
    let before = list(&server, &mut client).await?;
    for by_boot in [false, true] {
        let spoil = sql("DELETE FROM task_status_summaries");
        assert_eq!(tamper(&server, spoil).await?, 4);
        let again = if by_boot {
            boot(&server).await?
        } else {
            list(&server, &mut client).await?
        };
        assert_eq!(meanings(&again)?, meanings(&before)?);
    }
    Ok(())
}

/// C02, the server's part: what boot and lists say, before and after a restart, with no session opened.
async fn c02_blocked_tasks_show_that_they_are_blocked_before_anybody_opens_one(
    server: Server,
) -> Result<()> {
    let world = World::new(&server).await?; // T1
    let mut tasks = vec![world.task.clone()];
    for n in 2..=27 {
        let asks = match n {
            9 => Asks::Question,
            10 => Asks::Permission,
            _ => Asks::Nothing,
        };
        tasks.push(
            stopped_task(&server, &world, &format!("T{n}"), asks)
                .await?
                .0,
        );
    }
    let expected = |n: usize| match n {
        9 => json!("clarification"),
        10 => json!("permission"),
        _ => Value::Null,
    };
    let check = |page: &Value| -> Result<()> {
        let shown = summaries(page)?;
        assert_eq!(shown.len(), 27);
        for (task, n) in tasks.iter().zip(1..) {
            let pending = shown[task.as_str()].get("pending_action").cloned();
            assert_eq!(pending.unwrap_or_default(), expected(n), "T{n}");
            let state = &shown[task.as_str()]["primary_session"]["state"];
            assert_eq!(
                *state,
                if n == 1 {
                    "CREATED"
                } else {
                    "WAITING_FOR_INPUT"
                },
                "T{n}"
            );
        }
        Ok(())
    };
    let first = boot(&server).await?;
    check(&first)?;
    let (mut client, mut watcher) = (server.client().await?, server.client().await?);
    let wanted = json!({ "workspace_id": server.workspace });
    watcher.request("workspace.subscribe", wanted).await?;
    for _ in 0..10 {
        let page = list(&server, &mut client).await?;
        check(&page)?;
        assert_eq!(summaries(&page)?, summaries(&first)?, "no revision changes");
    }
    // Ten lists told nobody anything: the next frame is the answer to the next request.
    let (_, before) = watcher.ask("ping", json!({})).await?;
    assert_eq!(before, Vec::<Value>::new());
    drop((client, watcher));

    let server = server.restarted().await?;
    let again = boot(&server).await?;
    check(&again)?;
    assert_eq!(summaries(&again)?, summaries(&first)?, "nor by a restart");
    let mut client = server.client().await?;
    check(&list(&server, &mut client).await?)
}

/// C06, SUM-08: opening, focusing, listing, and what Git says move no task; a prompt does.
async fn c06_looking_at_tasks_moves_none_of_them(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    for n in 1..5 {
        stopped_task(&server, &world, &format!("task {n}"), Asks::Nothing).await?;
    }
    let mut client = server.client().await?;
    let activity = |page: &Value| -> Result<BTreeMap<String, Value>> {
        let shown = summaries(page)?.into_iter();
        Ok(shown
            .map(|(id, summary)| (id, summary["last_activity_at"].clone()))
            .collect())
    };
    let before = activity(&list(&server, &mut client).await?)?;
    for look in [
        "session.subscribe",
        "session.focus",
        "session.unfocus",
        "session.unsubscribe",
    ] {
        let session = json!({ "session_id": world.session });
        client.request(look, session).await?;
    }
    let wanted = json!({ "workspace_id": server.workspace });
    client.request("workspace.subscribe", wanted).await?;
    world.observe(&server, world.status(&server, 7)).await?;
    let touch = sql("UPDATE tasks SET authority_seq = authority_seq + 1");
    tamper(&server, touch).await?;
    for page in [list(&server, &mut client).await?, boot(&server).await?] {
        assert_eq!(activity(&page)?, before);
    }

    let prompt = json!({
        "task_id": world.task, "session_id": world.session, "client_message_id": "m1", "content": "go",
    });
    let sent = client.request("message.add", prompt.clone()).await?;
    let moved = activity(&list(&server, &mut client).await?)?;
    for (id, at) in &moved {
        if *id == world.task.to_string() {
            assert_eq!(*at, sent["message"]["created_at"]);
            assert!(before[id].as_str() < at.as_str(), "later as text is later");
        } else {
            assert_eq!(*at, before[id]);
        }
    }
    client.request("message.add", prompt).await?;
    let again = activity(&list(&server, &mut client).await?)?;
    assert_eq!(again, moved, "a retry is no second prompt");
    Ok(())
}

/// PST-04.
async fn pst_04_a_list_takes_as_many_statements_for_500_tasks_as_for_one(
    server: Server,
) -> Result<()> {
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    let mut counts = Vec::new();
    let mut made = 1;
    for size in [1, 50, 500] {
        while made < size {
            if made % 20 == 0 {
                stopped_task(&server, &world, "asks", Asks::Question).await?;
            } else {
                world.add_task(&server, "a task", "").await?;
            }
            made += 1;
        }
        list(&server, &mut client).await?; // makes the summaries
        let before = server.store.statements();
        assert_eq!(summaries(&list(&server, &mut client).await?)?.len(), size);
        counts.push(server.store.statements() - before);
    }
    assert_eq!(counts, [counts[0]; 3], "statements at 1, 50 and 500 tasks");
    assert!(counts[0] <= 6, "with the one that authorizes: {counts:?}");
    Ok(())
}
