//! A server with a registered repository, and the requests that every scenario makes.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::client::Client;
use testkit::repository::Repository;
use testkit::server::Server;
use testkit::store::Engine;

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_flightstrip");

/// A server, a client that is subscribed to its workspace, and a registered repository.
pub(crate) struct Bench {
    pub(crate) server: Server,
    pub(crate) client: Client,
    pub(crate) repository: Repository,
    pub(crate) workspace_id: String,
    pub(crate) repository_id: String,
}

impl Bench {
    /// Starts everything, on this engine.
    pub(crate) async fn on(engine: Engine) -> Result<Self> {
        Self::with(Server::start_on(engine, BINARY, &[], &[]).await?).await
    }

    /// Sets up on a running server.
    pub(crate) async fn with(server: Server) -> Result<Self> {
        let boot = server.get("/api/v1/boot").await?;
        let workspace_id = text(&boot["workspaces"][0]["workspace"]["id"])?;
        let repository = Repository::new()?;
        let mut client = server.connect().await?;
        client
            .request(
                "workspace.subscribe",
                json!({ "workspace_id": workspace_id }),
            )
            .await?;
        let path = repository.path()?;
        let added = json!({ "workspace_id": workspace_id, "path": path, "name": "sample" });
        let added = client.request("repository.add", added).await?;
        let repository_id = text(&added["id"])?;
        Ok(Self {
            server,
            client,
            repository,
            workspace_id,
            repository_id,
        })
    }

    /// Connects again, after a restart.
    pub(crate) async fn reconnect(&mut self) -> Result<()> {
        self.client = self.server.connect().await?;
        let subscribe = json!({ "workspace_id": self.workspace_id });
        self.client
            .request("workspace.subscribe", subscribe)
            .await?;
        Ok(())
    }

    /// Makes a task on the repository that starts with this prompt; gives its id.
    pub(crate) async fn start_task(&mut self, title: &str, prompt: &str) -> Result<String> {
        let created = json!({
            "workspace_id": self.workspace_id,
            "client_id": format!("test-{}", title.replace(' ', "-")),
            "title": title,
            "repositories": [{ "repository_id": self.repository_id }],
            "start_agent": true,
            "prompt": prompt,
        });
        text(&self.client.request("task.create", created).await?["task"]["id"])
    }

    /// The task as it is now.
    pub(crate) async fn task(&mut self, task_id: &str) -> Result<Value> {
        Ok(self
            .client
            .request("task.get", json!({ "task_id": task_id }))
            .await?["task"]
            .clone())
    }

    /// Waits until the task's summary satisfies `wanted`; gives it.
    pub(crate) async fn summary(
        &mut self,
        task_id: &str,
        what: &str,
        mut wanted: impl FnMut(&Value) -> bool,
    ) -> Result<Value> {
        let stored = self.task(task_id).await?;
        if wanted(&stored["status_summary"]) {
            return Ok(stored["status_summary"].clone());
        }
        // Frames that nobody waited for yet may be older than what was just read.
        let held = stored["status_summary"]["revision"].as_i64();
        let frame = self
            .client
            .wait(what, |frame| {
                frame["action"] == "task.status_summary.updated"
                    && frame["payload"]["task_id"] == task_id
                    && held < frame["payload"]["status_summary"]["revision"].as_i64()
                    && wanted(&frame["payload"]["status_summary"])
            })
            .await?;
        Ok(frame["payload"]["status_summary"].clone())
    }

    /// Waits until the task's primary session is settled, with nothing pending.
    pub(crate) async fn settled(&mut self, task_id: &str) -> Result<Value> {
        self.summary(task_id, "the turn to settle", |summary| {
            summary["primary_session"]["state"] == "WAITING_FOR_INPUT"
                && summary["foreground_activity"].is_null()
        })
        .await
    }

    /// The first session of a task; waits for it.
    pub(crate) async fn session(&mut self, task_id: &str) -> Result<String> {
        let summary = self
            .summary(task_id, "a session", |summary| {
                summary["primary_session"]["id"].is_string()
            })
            .await?;
        text(&summary["primary_session"]["id"])
    }

    /// The whole transcript of a session.
    pub(crate) async fn transcript(&mut self, session_id: &str) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        let mut after = 0;
        loop {
            let page = json!({ "session_id": session_id, "after": after, "limit": 200 });
            let page = self.client.request("message.list", page).await?;
            all.extend(
                page["messages"]
                    .as_array()
                    .context("no messages")?
                    .iter()
                    .cloned(),
            );
            if page["has_more"] != true {
                return Ok(all);
            }
            after = all
                .last()
                .and_then(|message| message["seq"].as_i64())
                .context("no seq")?;
        }
    }

    /// Waits until the task asks for a permission; gives the request.
    pub(crate) async fn pending(&mut self, task_id: &str) -> Result<Value> {
        self.summary(task_id, "a permission", |summary| {
            summary["pending_action"] == "permission"
        })
        .await?;
        let pending = self
            .client
            .request("task.pending", json!({ "task_id": task_id }))
            .await?;
        Ok(pending["requests"][0].clone())
    }

    /// Answers a request with the option of this kind.
    pub(crate) async fn answer(&mut self, request: &Value, kind: &str) -> Result<Value> {
        let options = request["options"].as_array().context("no options")?;
        let option = options
            .iter()
            .find(|option| option["kind"] == kind)
            .context("no such option")?;
        let answer = json!({
            "session_id": request["session_id"],
            "message_id": request["message_id"],
            "pending_id": request["pending_id"],
            "option_id": option["id"],
        });
        self.client.request("permission.respond", answer).await
    }

    /// Sends a prompt with this id; gives the stored row.
    pub(crate) async fn send(
        &mut self,
        task_id: &str,
        session_id: &str,
        id: &str,
        content: &str,
    ) -> Result<Value> {
        let message = json!({
            "task_id": task_id, "session_id": session_id, "client_message_id": id, "content": content,
        });
        Ok(self.client.request("message.add", message).await?["message"].clone())
    }

    /// The worktree of a task's first repository.
    pub(crate) async fn worktree(&mut self, task_id: &str) -> Result<std::path::PathBuf> {
        let task = self.task(task_id).await?;
        let path = text(&task["environments"][0]["repositories"][0]["worktree_path"])?;
        Ok(path.into())
    }
}

/// A JSON text.
pub(crate) fn text(value: &Value) -> Result<String> {
    value
        .as_str()
        .map(str::to_owned)
        .with_context(|| format!("no text: {value}"))
}

/// The texts of an agent's answers in a transcript, joined.
pub(crate) fn answers(transcript: &[Value]) -> String {
    transcript
        .iter()
        .filter(|message| message["author"] == "agent" && message["type"] == "message")
        .filter_map(|message| message["content"].as_str())
        .collect()
}
