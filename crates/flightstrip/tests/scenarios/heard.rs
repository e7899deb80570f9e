//! The demo agent behind an ear: every line that is written to it is kept, so that a test can count what was sent.

use crate::scripted::Scripted;
use crate::support::{Bench, text};
use anyhow::Result;
use serde_json::{Value, json};

/// The script of an agent that is heard, plus what comes before it starts.
const LISTENING: &str = r#"
export FLIGHTSTRIP_DEMO_STATE="$1/state" FLIGHTSTRIP_DEMO_PACE=0
echo start >> "$1/starts"
while [ -e "$1/closed" ]; do sleep 0.02; done
tee -a "$1/heard" | "$0" demo-agent $(cat "$1/flags" 2>/dev/null)
"#;

/// An agent profile of a bench, and what its agents heard.
pub(crate) struct Heard {
    pub(crate) scripted: Scripted,
    profile_id: String,
}

impl Heard {
    pub(crate) async fn on(bench: &mut Bench) -> Result<Self> {
        let scripted = Scripted::new()?;
        let profile_id = scripted.profile(bench, LISTENING).await?;
        Ok(Self {
            scripted,
            profile_id,
        })
    }

    /// Agents do not introduce themselves until [`Heard::let_in`].
    pub(crate) fn keep_out(&self) -> Result<()> {
        self.scripted.open("closed")
    }

    pub(crate) fn let_in(&self) -> Result<()> {
        Ok(std::fs::remove_file(self.scripted.gate("closed"))?)
    }

    /// Agents take nothing but text.
    pub(crate) fn text_only(&self) -> Result<()> {
        Ok(std::fs::write(self.scripted.gate("flags"), "--text-only")?)
    }

    /// A task that starts with this prompt; gives its id.
    pub(crate) async fn start_task(
        &self,
        bench: &mut Bench,
        title: &str,
        prompt: &str,
    ) -> Result<String> {
        let created = json!({
            "workspace_id": bench.workspace_id, "client_id": title, "title": title,
            "repositories": [{ "repository_id": bench.repository_id }],
            "start_agent": true, "agent_profile_id": self.profile_id, "prompt": prompt,
        });
        let created = bench.client.request("task.create", created).await?;
        text(&created["task"]["id"])
    }

    /// The prompts that were written to agents, oldest first.
    pub(crate) fn prompts(&self) -> Vec<Value> {
        let heard = std::fs::read_to_string(self.scripted.gate("heard")).unwrap_or_default();
        heard
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message["method"] == "session/prompt")
            .map(|message| message["params"]["prompt"].clone())
            .collect()
    }

    /// The texts of these prompts.
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |prompt: &Value| prompt[0]["text"].as_str().unwrap_or_default().to_owned();
        self.prompts().iter().map(text).collect()
    }

    /// How many prompts had exactly this text.
    pub(crate) fn times(&self, text: &str) -> usize {
        self.texts().iter().filter(|heard| *heard == text).count()
    }
}
