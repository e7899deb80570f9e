//! Files: uploaded, claimed once, given to the agent in the form it takes, served inert, and removed with what they
//! belong to.

use crate::heard::Heard;
use crate::support::{Bench, text};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use testkit::http::{self, Answer};
use testkit::server::Server;
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    api_06_a_file_is_claimed_once_by_its_message,
    files_go_into_the_prompt_where_the_agent_takes_them,
    files_stand_in_the_worktree_where_it_does_not,
    a_file_is_served_inert_to_members_only,
    an_upload_is_bounded,
    files_go_with_what_they_belong_to,
);

/// A picture of one dot, as far as its first bytes say.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

async fn post(server: &Server, task: &str, name: &str, kind: &str, bytes: &[u8]) -> Result<Answer> {
    let bearer = format!("Bearer {}", server.secret());
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", kind)];
    let path = format!("/api/v1/attachments?task_id={task}&name={name}");
    http::send(server.port(), "POST", &path, &headers, bytes).await
}

/// Uploads a file for a task; gives its id.
pub(crate) async fn upload(
    server: &Server,
    task: &str,
    name: &str,
    kind: &str,
    bytes: &[u8],
) -> Result<String> {
    let answer = post(server, task, name, kind, bytes).await?;
    ensure!(answer.status == 201, "{answer:?}");
    let answer: Value = serde_json::from_str(&answer.body)?;
    text(&answer["attachment"]["id"])
}

/// Downloads a file.
pub(crate) async fn fetch(server: &Server, id: &str) -> Result<Answer> {
    ask(server, "GET", id).await
}

async fn ask(server: &Server, method: &str, id: &str) -> Result<Answer> {
    let bearer = format!("Bearer {}", server.secret());
    let path = format!("/api/v1/attachments/{id}");
    let headers = [("Authorization", bearer.as_str())];
    http::send(server.port(), method, &path, &headers, "").await
}

fn stored(server: &Server) -> usize {
    let folder = std::fs::read_dir(server.data_dir().join("attachments"));
    folder.map_or(0, Iterator::count)
}

fn message(task: &str, session: &str, id: &str, files: &[&str]) -> Value {
    json!({
        "task_id": task, "session_id": session, "client_message_id": id, "content": "/say seen",
        "attachments": files,
    })
}

/// API-06: a retry claims nothing twice; a claimed, foreign, repeated or made-up file is not there, and a message that
/// names one is not accepted.
async fn api_06_a_file_is_claimed_once_by_its_message(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Files", "/say hello").await?;
    let other = bench.start_task("Other", "/say hello").await?;
    bench.settled(&task).await?;
    bench.settled(&other).await?;
    let session = bench.session(&task).await?;
    let one = upload(&bench.server, &task, "one.txt", "text/plain", b"1").await?;
    let two = upload(&bench.server, &task, "two.txt", "text/plain", b"22").await?;
    let foreign = upload(&bench.server, &other, "three.txt", "text/plain", b"3").await?;
    for files in [
        vec![one.as_str(), foreign.as_str()],
        vec![one.as_str(), "made-up"],
        vec![one.as_str(), one.as_str()],
    ] {
        let refused = message(&task, &session, "m-0", &files);
        let refused = bench.client.refused("message.add", refused).await?;
        assert_eq!(
            (&refused["code"], &refused["message"]),
            (&json!("NOT_FOUND"), &json!("There is no such attachment.")),
        );
    }
    let send = message(&task, &session, "m-1", &[&two, &one]);
    let sent = bench.client.request("message.add", send.clone()).await?["message"].clone();
    let expected = json!([
        { "id": two, "name": "two.txt", "media_type": "text/plain", "size": 2 },
        { "id": one, "name": "one.txt", "media_type": "text/plain", "size": 1 },
    ]);
    assert_eq!(sent["attachments"], expected);
    let again = bench.client.request("message.add", send).await?["message"].clone();
    assert_eq!(again["attachments"], expected);
    let stolen = message(&task, &session, "m-2", &[&one]);
    let stolen = bench.client.refused("message.add", stolen).await?;
    assert_eq!(stolen["code"], "NOT_FOUND");
    let many: Vec<&str> = vec!["x"; 11];
    let many = bench
        .client
        .refused("message.add", message(&task, &session, "m-3", &many))
        .await?;
    assert_eq!(many["code"], "VALIDATION_ERROR");
    bench.settled(&task).await?;
    let rows = bench.transcript(&session).await?;
    let listed = rows.iter().find(|row| row["id"] == "m-1").context("m-1")?;
    assert_eq!(listed["attachments"], expected);
    assert!(
        rows.iter()
            .all(|row| row["id"] == "m-1" || row["attachments"].is_null())
    );

    // Files without a word are a message; a word is asked for otherwise.
    let wordless = upload(&bench.server, &task, "four.txt", "text/plain", b"4").await?;
    let mut send = message(&task, &session, "m-4", &[&wordless]);
    send["content"] = json!("");
    bench.client.request("message.add", send.clone()).await?;
    send["attachments"] = json!([]);
    send["client_message_id"] = json!("m-5");
    let empty = bench.client.refused("message.add", send).await?;
    assert_eq!(empty["code"], "VALIDATION_ERROR");
    bench.server.stop().await
}

async fn send_three(bench: &mut Bench, heard: &Heard) -> Result<(String, Value)> {
    let task = heard.start_task(bench, "Prompt", "/say hello").await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let image = upload(&bench.server, &task, "dot.png", "image/png", PNG).await?;
    let note = upload(
        &bench.server,
        &task,
        "a%20note.md",
        "text/markdown",
        b"# hi",
    )
    .await?;
    let archive = upload(
        &bench.server,
        &task,
        "a.zip",
        "application/zip",
        b"PK\x03\x04",
    )
    .await?;
    let send = message(&task, &session, "m-1", &[&image, &note, &archive]);
    bench.client.request("message.add", send).await?;
    bench.settled(&task).await?;
    let prompts = heard.prompts();
    ensure!(prompts.len() == 2, "{prompts:?}");
    Ok((task, prompts[1].clone()))
}

/// An image and a text are parts of the prompt; a file that is neither stands in the worktree, and Git does not see it.
async fn files_go_into_the_prompt_where_the_agent_takes_them(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    let (task, prompt) = send_three(&mut bench, &heard).await?;
    let words = text(&prompt[0]["text"])?;
    assert!(words.starts_with("/say seen\n\nAttached files"), "{words}");
    assert_eq!(prompt[1]["type"], "image");
    assert_eq!(prompt[1]["mimeType"], "image/png");
    assert_eq!(prompt[1]["data"], "iVBORw0KGgoAAAANSUhEUg==");
    assert_eq!(prompt[2]["type"], "resource");
    assert_eq!(prompt[2]["resource"]["text"], "# hi");
    assert_eq!(prompt[3]["type"], "resource_link");
    let path = words.lines().last().context("no path")?;
    let path = path
        .strip_prefix("- ")
        .and_then(|path| path.strip_suffix(" (application/zip)"))
        .context("no path")?;
    let worktree = bench.worktree(&task).await?;
    assert_eq!(std::fs::read(worktree.join(path))?, b"PK\x03\x04");
    assert_eq!(
        std::fs::read(worktree.join(".flightstrip/.gitignore"))?,
        b"*\n"
    );

    // The agent's own work is all that Changes shows.
    let session = bench.session(&task).await?;
    bench
        .send(&task, &session, "m-2", "/edit NOTES.md one")
        .await?;
    let row = bench
        .summary(&task, "totals", |s| s["git"]["changed_files"] == 1)
        .await?;
    assert_eq!(row["git"]["additions"], 1, "{row}");
    bench.server.stop().await
}

/// An agent that takes nothing but text finds all of them as files.
async fn files_stand_in_the_worktree_where_it_does_not(mut bench: Bench) -> Result<()> {
    let heard = Heard::on(&mut bench).await?;
    heard.text_only()?;
    let (task, prompt) = send_three(&mut bench, &heard).await?;
    let words = text(&prompt[0]["text"])?;
    let worktree = bench.worktree(&task).await?;
    for (line, (name, bytes)) in words.lines().skip(3).zip([
        ("dot.png", PNG),
        ("a note.md", b"# hi".as_slice()),
        ("a.zip", b"PK\x03\x04"),
    ]) {
        let path = line
            .strip_prefix("- ")
            .and_then(|line| line.rsplit_once(" ("))
            .context("no path")?
            .0;
        assert!(path.starts_with(".flightstrip/attachments/") && path.ends_with(name));
        assert_eq!(std::fs::read(worktree.join(path))?, bytes);
    }
    assert_eq!(words.lines().count(), 6, "{words}");
    let links = prompt.as_array().context("no parts")?.iter().skip(1);
    assert!(links.clone().all(|part| part["type"] == "resource_link"));
    assert_eq!(links.count(), 3);

    // What is in the way of a file is an error of the session; nothing was sent, and trying again sends it.
    let ours = worktree.join(".flightstrip");
    std::fs::remove_dir_all(&ours)?;
    std::fs::write(&ours, "in the way")?;
    let session = bench.session(&task).await?;
    let file = upload(&bench.server, &task, "b.zip", "application/zip", b"PK").await?;
    let mut send = message(&task, &session, "m-2", &[&file]);
    send["content"] = json!("/say late");
    bench.client.request("message.add", send).await?;
    let row = bench
        .summary(&task, "an error", |s| s["active_error"].is_object())
        .await?;
    let wanted = json!({ "session_id": session, "message_id": "m-2" });
    let held = bench.client.request("message.get", wanted.clone()).await?;
    assert_eq!(held["message"]["disposition"], "undelivered");
    assert_eq!(heard.prompts().len(), 2);
    std::fs::remove_file(&ours)?;
    let stamp = &row["active_error"]["stamp"];
    let retry = json!({ "task_id": task, "stamp": stamp, "action": "retry_default" });
    bench.client.request("task.recover", retry).await?;
    until("the prompt at the agent", async || {
        Ok((heard.prompts().len() == 3).then_some(()))
    })
    .await?;
    bench.settled(&task).await?;
    let sent = bench.client.request("message.get", wanted).await?;
    assert_eq!(sent["message"]["disposition"], "dispatched");
    bench.server.stop().await
}

/// A page of this origin cannot be made of an uploaded file; without a secret, or with the id of nothing, there is
/// nothing.
async fn a_file_is_served_inert_to_members_only(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Serve", "/say hello").await?;
    let html = b"<script>alert(1)</script>";
    let page = upload(&bench.server, &task, "x.html", "text/html", html).await?;
    let image = upload(&bench.server, &task, "dot.png", "image/png", PNG).await?;
    let answer = fetch(&bench.server, &page).await?;
    assert_eq!(
        (answer.status, answer.bytes.as_slice()),
        (200, html.as_slice())
    );
    for line in [
        "content-type: application/octet-stream",
        "content-disposition: attachment; filename*=utf-8''x.html",
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'; sandbox\r\n",
        "cache-control: no-store",
    ] {
        assert!(answer.head.contains(line), "{line}\n{}", answer.head);
    }
    let answer = fetch(&bench.server, &image).await?;
    assert!(
        answer.head.contains("content-type: image/png"),
        "{}",
        answer.head
    );
    assert_eq!(answer.bytes, PNG);
    let path = format!("/api/v1/attachments/{image}");
    let nobody = http::send(bench.server.port(), "GET", &path, &[], "").await?;
    assert_eq!(nobody.status, 401);
    assert_eq!(fetch(&bench.server, "made-up").await?.status, 404);
    let nowhere = post(&bench.server, "made-up", "x", "text/plain", b"x").await?;
    assert_eq!(nowhere.status, 404);
    bench.server.stop().await
}

/// Ten MiB and not a byte more; twenty waiting files of one task and not one more; one that is taken back makes room.
async fn an_upload_is_bounded(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Bounds", "/say hello").await?;
    let limit = 10 * 1024 * 1024;
    let whole = vec![b'x'; limit];
    let largest = upload(&bench.server, &task, "large.txt", "text/plain", &whole).await?;
    assert_eq!(fetch(&bench.server, &largest).await?.bytes.len(), limit);
    let more = vec![b'x'; limit + 1];
    let refused = post(&bench.server, &task, "larger.txt", "text/plain", &more).await?;
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(refused.body.contains("10 MiB"), "{}", refused.body);
    assert_eq!(stored(&bench.server), 1, "nothing of it is left");
    for n in 1..20 {
        upload(&bench.server, &task, &format!("{n}"), "", b"x").await?;
    }
    let refused = post(&bench.server, &task, "21", "", b"x").await?;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_eq!(ask(&bench.server, "DELETE", &largest).await?.status, 200);
    assert_eq!(ask(&bench.server, "DELETE", &largest).await?.status, 404);
    upload(&bench.server, &task, "21", "", b"x").await?;
    until("the removed file to go", async || {
        Ok((stored(&bench.server) == 20).then_some(()))
    })
    .await?;
    bench.server.stop().await
}

/// With the queued prompt that is taken out, the session, the task; what belongs to nothing goes at the next start.
async fn files_go_with_what_they_belong_to(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Go", "/say hm\n/sleep 600000").await?;
    bench
        .summary(&task, "work", |s| s["foreground_activity"] == "generating")
        .await?;
    let session = bench.session(&task).await?;
    let left = async |server: &Server, files: usize| {
        until("files to go", async || {
            Ok((stored(server) == files).then_some(()))
        })
        .await
    };
    let mut files = Vec::new();
    for n in 0..4 {
        files.push(upload(&bench.server, &task, &format!("{n}"), "", b"x").await?);
    }
    let first = message(&task, &session, "q-0", &[&files[0]]);
    bench.client.request("message.add", first).await?;
    let second = message(&task, &session, "q-1", &[&files[1]]);
    bench.client.request("message.add", second).await?;
    let remove = json!({ "session_id": session, "message_id": "q-0" });
    bench.client.request("message.queue.remove", remove).await?;
    left(&bench.server, 3).await?;
    assert_eq!(fetch(&bench.server, &files[0]).await?.status, 404);
    let delete = json!({ "session_id": session });
    bench.client.request("session.delete", delete).await?;
    left(&bench.server, 2).await?;
    assert_eq!(
        fetch(&bench.server, &files[2]).await?.status,
        200,
        "it waits still"
    );

    // An upload that was cut off, and a file of nobody.
    let folder = bench.server.data_dir().join("attachments");
    std::fs::write(folder.join("cut.part"), "x")?;
    std::fs::write(folder.join("nobody"), "x")?;
    bench.server.kill().await?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    assert_eq!(stored(&bench.server), 2);
    assert_eq!(fetch(&bench.server, &files[3]).await?.status, 200);
    let delete = json!({ "task_id": task, "discard_changes": true });
    bench.client.request("task.delete", delete).await?;
    left(&bench.server, 0).await?;
    assert_eq!(fetch(&bench.server, &files[3]).await?.status, 404);
    bench.server.stop().await
}
