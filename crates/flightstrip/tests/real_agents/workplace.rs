//! A server with a repository and a profile of one real agent, and what both tests ask of it.

use crate::agents::RealAgent;
use crate::support::{Bench, text};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::store::Engine;
use testkit::stub_model::StubModel;

/// Where one real agent works.
pub(crate) struct Workplace {
    pub(crate) bench: Bench,
    pub(crate) model: StubModel,
    pub(crate) agent: RealAgent,
    profile_id: String,
}

impl Workplace {
    /// Starts a model and a server, and registers the agent.
    pub(crate) async fn new(name: &str) -> Result<Self> {
        let model = StubModel::start().await?;
        let agent = RealAgent::prepare(name, &model.url())?;
        let mut bench = Bench::on(Engine::Sqlite).await?;
        let profile = agent.profile(&bench.workspace_id);
        let profile = bench
            .client
            .request("agent_profile.create", profile)
            .await?;
        Ok(Self {
            bench,
            model,
            profile_id: text(&profile["id"])?,
            agent,
        })
    }

    /// Makes a task that this agent starts on; gives its id.
    pub(crate) async fn start_task(&mut self, title: &str, prompt: &str) -> Result<String> {
        let task = json!({
            "workspace_id": self.bench.workspace_id,
            "client_id": format!("task-{}", title.replace(' ', "-")),
            "title": title,
            "repositories": [{ "repository_id": self.bench.repository_id }],
            "agent_profile_id": self.profile_id,
            "start_agent": true,
            "prompt": prompt,
        });
        text(&self.bench.client.request("task.create", task).await?["task"]["id"])
    }

    /// Waits until the agent of this task writes an answer.
    pub(crate) async fn generating(&mut self, task_id: &str) -> Result<Value> {
        self.bench
            .summary(task_id, "the agent to write", |summary| {
                summary["foreground_activity"] == "generating"
            })
            .await
    }

    /// Stops the turn of the last prompt of a session that this client has subscribed to; gives the settled turn.
    pub(crate) async fn cancel(&mut self, session_id: &str) -> Result<Value> {
        let transcript = self.bench.transcript(session_id).await?;
        let prompt = transcript.iter().rfind(|row| row["author"] == "user");
        let turn_id = prompt.context("no prompt")?["turn_id"].clone();
        let session = json!({ "session_id": session_id });
        self.bench.client.request("agent.cancel", session).await?;
        let frame = self
            .bench
            .client
            .wait("the turn's end", |frame| {
                frame["action"] == "session.turn.completed"
                    && frame["payload"]["turn"]["id"] == turn_id
            })
            .await?;
        Ok(frame["payload"]["turn"].clone())
    }

    /// Opens the detail of a session.
    pub(crate) async fn open(&mut self, session_id: &str) -> Result<()> {
        let session = json!({ "session_id": session_id });
        self.bench
            .client
            .request("session.subscribe", session)
            .await
            .map(drop)
    }
}

/// The rows of one type in a transcript.
pub(crate) fn of_type<'a>(transcript: &'a [Value], kind: &str) -> Vec<&'a Value> {
    transcript
        .iter()
        .filter(|message| message["type"] == kind)
        .collect()
}
