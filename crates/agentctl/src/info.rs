//! What an agent said about itself in `initialize`.

use crate::known::{self, AgentTraits};
use serde_json::Value;

/// The agent at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentInfo {
    /// Its own name, e.g. `gemini-cli`; empty when it gave none.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its version; empty when it gave none.
    pub version: String,
    /// It can load an earlier session (and replays its history).
    pub load_session: bool,
    /// It can resume an earlier session.
    pub resume: bool,
    /// Prompts may hold images.
    pub image: bool,
    /// Prompts may hold files' contents.
    pub embedded_context: bool,
    /// It connects to MCP servers over HTTP.
    pub mcp_http: bool,
    /// Ways to sign in.
    pub auth_methods: Vec<AuthMethod>,
    /// What is known about this agent.
    pub traits: AgentTraits,
}

/// One way to sign in to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthMethod {
    /// The agent's id for it.
    pub id: String,
    /// How it is shown.
    pub name: String,
    /// A sentence about it, often the command to run.
    pub description: Option<String>,
}

impl AgentInfo {
    /// Reads the result of `initialize`. Whatever is missing counts as "cannot".
    #[must_use]
    pub fn read(result: &Value) -> Self {
        let text = |pointer: &str| {
            result
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let can = |pointer: &str| match result.pointer(pointer) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(_) => true,
        };
        let name = text("/agentInfo/name");
        let title = text("/agentInfo/title");
        Self {
            title: if title.is_empty() {
                name.clone()
            } else {
                title
            },
            version: text("/agentInfo/version"),
            load_session: can("/agentCapabilities/loadSession"),
            resume: can("/agentCapabilities/sessionCapabilities/resume"),
            image: can("/agentCapabilities/promptCapabilities/image"),
            embedded_context: can("/agentCapabilities/promptCapabilities/embeddedContext"),
            mcp_http: can("/agentCapabilities/mcpCapabilities/http"),
            auth_methods: result
                .get("authMethods")
                .and_then(Value::as_array)
                .map(|methods| methods.iter().filter_map(AuthMethod::read).collect())
                .unwrap_or_default(),
            traits: known::traits_of(&name),
            name,
        }
    }

    /// Whether an earlier session can be continued in a new process.
    #[must_use]
    pub const fn resumable(&self) -> bool {
        self.resume || self.load_session
    }
}

impl AuthMethod {
    fn read(method: &Value) -> Option<Self> {
        let id = method.get("id")?.as_str()?.to_owned();
        let text = |key: &str| method.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            name: text("name").unwrap_or_else(|| id.clone()),
            description: text("description"),
            id,
        })
    }
}
