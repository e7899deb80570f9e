//! A server that is killed in each window of a send: what becomes of the prompt is known, and it is sent once or
//! visibly not.

use crate::attachments::{fetch, upload};
use crate::heard::Heard;
use crate::support::{BINARY, Bench};
use anyhow::Result;
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;
use testkit::server::Server;
use testkit::store::Engine;
use testkit::waiting::until;

testkit::on_every_engine!(testkit::store::Engine =>
    api_06_killed_before_commit_nothing_was_accepted,
    api_06_killed_after_commit_it_waits_for_a_person,
    api_06_killed_before_the_attempt_it_waits_for_a_person,
    api_06_killed_after_the_attempt_it_stays_uncertain,
    api_06_killed_after_the_write_it_stays_uncertain,
    api_06_killed_while_the_agent_starts_it_waits_for_a_person,
);

/// Where the message's row is stored.
const STORED: &str = "INSERT INTO task_session_messages";
/// Where its turn is marked as attempted.
const ATTEMPTED: &str = "SET prompt_dispatch_attempted = $2, prompt_dispatch_pending";

/// A settled session of an agent that is heard, on a server that can be stopped at one moment.
struct Window {
    bench: Bench,
    heard: Heard,
    folder: TempDir,
    task: String,
    session: String,
    file: String,
}

impl Window {
    async fn open(engine: Engine, moment: &str, fragment: &str) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("window-").tempdir()?;
        let armed = folder.path().join("armed");
        let halt = format!("{moment} {} {fragment}", armed.display());
        let env = [(store::faults::halt::VARIABLE, halt.as_str())];
        let mut bench = Bench::with(Server::start_on(engine, BINARY, &[], &env).await?).await?;
        let heard = Heard::on(&mut bench).await?;
        let task = heard.start_task(&mut bench, "Window", "/say hello").await?;
        bench.settled(&task).await?;
        let session = bench.session(&task).await?;
        let file = upload(&bench.server, &task, "note.txt", "text/plain", b"a note").await?;
        Ok(Self {
            bench,
            heard,
            folder,
            task,
            session,
            file,
        })
    }

    fn armed(&self) -> PathBuf {
        self.folder.path().join("armed")
    }

    fn message(&self, content: &str) -> Value {
        json!({
            "task_id": self.task, "session_id": self.session, "client_message_id": "m-1", "content": content,
            "attachments": [self.file],
        })
    }

    /// Sends a prompt with a file, waits until the moment is reached, and kills the server there.
    async fn send_into(&mut self, content: &str) -> Result<()> {
        std::fs::write(self.armed(), "")?;
        let message = self.message(content);
        self.bench.client.send("message.add", message).await?;
        let reached = store::faults::halt::reached(&self.armed());
        until("the moment", async || Ok(reached.exists().then_some(()))).await?;
        std::fs::remove_file(self.armed())?;
        self.restart().await
    }

    async fn restart(&mut self) -> Result<()> {
        self.bench.server.kill().await?;
        self.bench.server.no_agents_left().await?;
        self.bench.server.launch().await?;
        self.bench.reconnect().await
    }

    async fn row(&mut self) -> Result<Value> {
        let wanted = json!({ "session_id": self.session, "message_id": "m-1" });
        let row = self.bench.client.request("message.get", wanted).await?["message"].clone();
        assert_eq!(row["attachments"][0]["id"], json!(self.file), "{row}");
        assert_eq!(row["attachments"].as_array().map_or(0, Vec::len), 1);
        Ok(row)
    }

    /// A retry, as a page makes it: the stored row comes back and nothing is sent.
    async fn retry(&mut self) -> Result<Value> {
        let before = self.heard.texts();
        let message = self.message("something else");
        let row = self.bench.client.request("message.add", message).await?["message"].clone();
        assert_eq!(row["id"], "m-1");
        assert_eq!(self.heard.texts(), before);
        Ok(row)
    }

    /// A person sends it again; afterwards it was written this often in all.
    async fn resend(&mut self, content: &str, times: usize) -> Result<()> {
        let again = json!({ "session_id": self.session, "message_id": "m-1" });
        self.bench.client.request("message.resend", again).await?;
        until("the prompt at the agent", async || {
            Ok((self.heard.times(content) == times).then_some(()))
        })
        .await?;
        self.bench.settled(&self.task).await?;
        assert_eq!(self.row().await?["disposition"], "dispatched");
        assert_eq!(self.heard.times(content), times);
        let whole = fetch(&self.bench.server, &self.file).await?;
        assert_eq!(whole.bytes, b"a note");
        self.bench.server.stop().await
    }

    /// It waits at the head of the queue, unsent; a retry changes nothing; a person starts it.
    async fn waits_for_a_person(mut self, content: &str) -> Result<()> {
        let row = self.row().await?;
        assert_eq!(row["disposition"], "queued", "{row}");
        let task = self.bench.task(&self.task).await?;
        assert_eq!(task["status_summary"]["queued_prompt_count"], 1, "{task}");
        assert_eq!(self.retry().await?["disposition"], "queued");
        assert_eq!(self.heard.times(content), 0);
        self.resend(content, 1).await
    }

    /// Nobody knows; it is not sent by itself, not even when its agent is back; a person sends it again.
    async fn stays_uncertain(mut self, content: &str, written: usize) -> Result<()> {
        let row = self.row().await?;
        assert_eq!(row["disposition"], "uncertain", "{row}");
        assert_eq!(self.retry().await?["disposition"], "uncertain");
        let open = json!({ "session_id": self.session });
        self.bench.client.request("session.subscribe", open).await?;
        until("the resumed agent", async || {
            Ok((!self.bench.server.agent_processes()?.is_empty()).then_some(()))
        })
        .await?;
        self.bench.settled(&self.task).await?;
        assert_eq!(self.row().await?["disposition"], "uncertain");
        assert_eq!(self.heard.times(content), written);
        std::fs::write(self.folder.path().join("go"), "")?;
        self.resend(content, written + 1).await
    }
}

/// API-06, C15: nothing was accepted, so nothing is there; the retry is the first to own the id and the file.
async fn api_06_killed_before_commit_nothing_was_accepted(engine: Engine) -> Result<()> {
    let mut window = Window::open(engine, "before-commit", STORED).await?;
    window.send_into("/say once").await?;
    let session = window.session.clone();
    let rows = window.bench.transcript(&session).await?;
    assert!(rows.iter().all(|row| row["id"] != "m-1"), "{rows:?}");
    let message = window.message("/say once");
    window.bench.client.request("message.add", message).await?;
    let task = window.task.clone();
    window.bench.settled(&task).await?;
    assert_eq!(window.row().await?["disposition"], "dispatched");
    assert_eq!(window.heard.times("/say once"), 1);
    window.bench.server.stop().await
}

/// API-06, C15.
async fn api_06_killed_after_commit_it_waits_for_a_person(engine: Engine) -> Result<()> {
    let mut window = Window::open(engine, "after-commit", STORED).await?;
    window.send_into("/say once").await?;
    window.waits_for_a_person("/say once").await
}

/// API-06, C15.
async fn api_06_killed_before_the_attempt_it_waits_for_a_person(engine: Engine) -> Result<()> {
    let mut window = Window::open(engine, "statement", ATTEMPTED).await?;
    window.send_into("/say once").await?;
    window.waits_for_a_person("/say once").await
}

/// API-06: the turn is marked and not a byte was written.
async fn api_06_killed_after_the_attempt_it_stays_uncertain(engine: Engine) -> Result<()> {
    let mut window = Window::open(engine, "after-commit", ATTEMPTED).await?;
    window.send_into("/say once").await?;
    window.stays_uncertain("/say once", 0).await
}

/// API-06: the agent has it and has said nothing.
async fn api_06_killed_after_the_write_it_stays_uncertain(engine: Engine) -> Result<()> {
    let mut window = Window::open(engine, "statement", "never").await?;
    let go = window.folder.path().join("go");
    let content = format!("/wait-file {}\n/say done", go.display());
    let message = window.message(&content);
    window.bench.client.request("message.add", message).await?;
    until("the prompt at the agent", async || {
        Ok((window.heard.times(&content) == 1).then_some(()))
    })
    .await?;
    window.restart().await?;
    window.stays_uncertain(&content, 1).await
}

/// API-06, C15: accepted by a session whose agent is only just starting.
async fn api_06_killed_while_the_agent_starts_it_waits_for_a_person(engine: Engine) -> Result<()> {
    let mut window = Window::open(engine, "statement", "never").await?;
    let stop = json!({ "session_id": window.session });
    window.bench.client.request("session.stop", stop).await?;
    window.bench.server.no_agents_left().await?;
    window.heard.keep_out()?;
    let starts = window.heard.scripted.starts();
    let message = window.message("/say once");
    let row = window.bench.client.request("message.add", message).await?["message"].clone();
    assert_eq!(row["disposition"], "sending", "{row}");
    until("the agent's start", async || {
        Ok((starts < window.heard.scripted.starts()).then_some(()))
    })
    .await?;
    window.restart().await?;
    window.heard.let_in()?;
    window.waits_for_a_person("/say once").await
}
