//! Agents: how one is started, and what a running one says it can do.

use crate::ids::{AgentProfileId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How an agent is started for a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct AgentProfile {
    /// Its id.
    pub id: AgentProfileId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Rises with every change of this row.
    pub revision: i64,
    /// What people call it.
    pub name: String,
    /// The program: a name found on `PATH`, or a path. [`DEMO_COMMAND`] means the built-in demo agent.
    pub command: String,
    /// Its arguments, at most `bounds::PROFILE_ENTRIES`.
    pub args: Vec<String>,
    /// Variables added to the agent's environment, at most `bounds::PROFILE_ENTRIES`.
    pub env: BTreeMap<String, String>,
    /// The mode set after a session is opened; absent: the mode policy of the known agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<String>,
    /// The model set after a session is opened; absent: the agent's own default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_model: Option<String>,
}

/// The command word of the built-in demo agent.
pub const DEMO_COMMAND: &str = "flightstrip:demo-agent";

/// A known agent, found on this machine or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct KnownAgent {
    /// Stable word, e.g. `opencode`.
    pub id: String,
    /// How it is shown.
    pub name: String,
    /// The program that would be started.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Whether the program is on the server's `PATH`.
    pub installed: bool,
    /// How a person installs it.
    pub install_hint: String,
}

/// One choice an agent offers: a model, a mode, or a value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct AgentChoice {
    /// The agent's own id for it.
    pub id: String,
    /// How it is shown.
    pub name: String,
    /// A sentence about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A further setting an agent offers (reasoning effort, …).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct AgentOption {
    /// The agent's own id for it.
    pub id: String,
    /// How it is shown.
    pub name: String,
    /// The agent's word for what it is about, e.g. `thought_level`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The id of the current choice.
    pub current: String,
    /// What may be chosen.
    pub choices: Vec<AgentChoice>,
}

/// What an agent reports about its models, modes and options; kept with the session, so selectors stay while no
/// process lives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct AgentSettings {
    /// Models to choose from; empty: the agent offers none.
    #[serde(default)]
    pub models: Vec<AgentChoice>,
    /// The id of the current model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_model: Option<String>,
    /// Modes to choose from; empty: the agent offers none.
    #[serde(default)]
    pub modes: Vec<AgentChoice>,
    /// The id of the current mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_mode: Option<String>,
    /// Everything else that can be set.
    #[serde(default)]
    pub options: Vec<AgentOption>,
}

/// A slash command an agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct AgentCommandInfo {
    /// Its name without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How full an agent's context is and what it has cost, as the agent says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct AgentUsage {
    /// Tokens in the context now.
    pub used: u64,
    /// Tokens the context holds.
    pub size: u64,
    /// Cost so far, with its currency, e.g. `0.42 USD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}
