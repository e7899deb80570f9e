//! What is known about particular agents: how they are started, and how they differ where the protocol leaves room.
//!
//! Two tables. [`known_agents`] says how an agent is found and started, before it runs. [`traits_of`] says how a running
//! one behaves, by the name it gave in `initialize`: a profile may run any program, so the two are not joined by the
//! command. An agent in neither table works; it gets the cautious defaults of [`AgentTraits::UNKNOWN`].

use crate::program::find_program;
use model::agent::KnownAgent;
use serde_json::Value;
use std::ffi::OsStr;

/// How a running agent behaves where agents differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentTraits {
    /// The mode that asks a person before edits and commands; `None` when its own configuration decides. A profile
    /// may override it.
    pub asking_mode: Option<&'static str>,
    /// Which of its tool calls are subagents.
    pub subagents: SubagentRule,
    /// It answers `session/load` first and replays the history afterwards.
    pub replays_after_reply: bool,
}

/// How a tool call that is a subagent is told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubagentRule {
    /// No tool call counts as one.
    None,
    /// The string at this JSON pointer of the update is one of these.
    Named {
        /// Where the tool's name stands.
        pointer: &'static str,
        /// The names of subagent tools.
        names: &'static [&'static str],
    },
    /// Something other than null stands at this JSON pointer of the update.
    Present {
        /// The mark.
        pointer: &'static str,
    },
}

impl AgentTraits {
    /// The defaults for an agent nobody described.
    pub const UNKNOWN: Self = Self {
        asking_mode: None,
        subagents: SubagentRule::None,
        replays_after_reply: false,
    };
}

impl SubagentRule {
    /// Whether this update is about a subagent.
    #[must_use]
    pub fn matches(self, update: &Value) -> bool {
        match self {
            Self::None => false,
            Self::Named { pointer, names } => update
                .pointer(pointer)
                .and_then(Value::as_str)
                .is_some_and(|name| names.contains(&name)),
            Self::Present { pointer } => {
                update.pointer(pointer).is_some_and(|mark| !mark.is_null())
            }
        }
    }
}

/// What is known about the agent that calls itself `name`.
#[must_use]
pub fn traits_of(name: &str) -> AgentTraits {
    let name = name.to_lowercase();
    TRAITS
        .iter()
        .find(|(part, _)| name.contains(part))
        .map_or(AgentTraits::UNKNOWN, |(_, traits)| *traits)
}

/// By a part of the agent's own name, lower case.
const TRAITS: &[(&str, AgentTraits)] = &[
    (
        "claude",
        AgentTraits {
            asking_mode: Some("default"),
            subagents: SubagentRule::Named {
                pointer: "/_meta/claudeCode/toolName",
                names: &["Task", "Agent"],
            },
            replays_after_reply: false,
        },
    ),
    // Its default mode lets a second model decide instead of the person.
    (
        "codex",
        AgentTraits {
            asking_mode: Some("read-only"),
            ..AgentTraits::UNKNOWN
        },
    ),
    (
        "gemini",
        AgentTraits {
            asking_mode: Some("default"),
            replays_after_reply: true,
            ..AgentTraits::UNKNOWN
        },
    ),
    (
        "opencode",
        AgentTraits {
            subagents: SubagentRule::Present {
                pointer: "/rawInput/subagent_type",
            },
            ..AgentTraits::UNKNOWN
        },
    ),
    (
        "flightstrip-demo",
        AgentTraits {
            asking_mode: Some("ask"),
            subagents: SubagentRule::Present {
                pointer: "/_meta/flightstrip/subagent",
            },
            replays_after_reply: false,
        },
    ),
];

struct Launch {
    id: &'static str,
    name: &'static str,
    /// Programs that start it, the preferred one first.
    programs: &'static [&'static str],
    args: &'static [&'static str],
    install_hint: &'static str,
}

const LAUNCHES: &[Launch] = &[
    Launch {
        id: "claude",
        name: "Claude Code",
        programs: &["claude-agent-acp", "claude-code-acp"],
        args: &[],
        install_hint: "npm install -g @agentclientprotocol/claude-agent-acp",
    },
    Launch {
        id: "codex",
        name: "Codex",
        programs: &["codex-acp"],
        args: &[],
        install_hint: "npm install -g @agentclientprotocol/codex-acp",
    },
    Launch {
        id: "gemini",
        name: "Gemini CLI",
        programs: &["gemini"],
        args: &["--acp"],
        install_hint: "npm install -g @google/gemini-cli",
    },
    Launch {
        id: "opencode",
        name: "opencode",
        programs: &["opencode"],
        args: &["acp"],
        install_hint: "npm install -g opencode-ai",
    },
];

/// The agents flightstrip knows how to start, none of them looked for.
#[must_use]
pub fn known_agents() -> Vec<KnownAgent> {
    LAUNCHES
        .iter()
        .map(|launch| launch.with_program(None))
        .collect()
}

/// The same agents, each marked with whether one of its programs is on this `PATH`. Touches the file system.
#[must_use]
pub fn discover(path_var: &OsStr) -> Vec<KnownAgent> {
    let installed = |program: &&&str| find_program(program, path_var).is_some();
    LAUNCHES
        .iter()
        .map(|launch| launch.with_program(launch.programs.iter().find(installed).copied()))
        .collect()
}

impl Launch {
    fn with_program(&self, found: Option<&str>) -> KnownAgent {
        let command = found
            .or_else(|| self.programs.first().copied())
            .unwrap_or_default();
        KnownAgent {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            command: command.to_owned(),
            args: self.args.iter().map(|arg| (*arg).to_owned()).collect(),
            installed: found.is_some(),
            install_hint: self.install_hint.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn traits_follow_the_name_an_agent_gives() {
        assert_eq!(
            traits_of("@zed-industries/claude-agent-acp").asking_mode,
            Some("default")
        );
        assert_eq!(
            traits_of("@agentclientprotocol/codex-acp").asking_mode,
            Some("read-only")
        );
        assert_eq!(traits_of("OpenCode").asking_mode, None);
        assert!(traits_of("gemini-cli").replays_after_reply);
        assert_eq!(traits_of("my-agent"), AgentTraits::UNKNOWN);
    }

    #[test]
    fn subagents_are_told_by_the_agents_own_marks() {
        let task = json!({ "_meta": { "claudeCode": { "toolName": "Task" } }, "rawInput": { "subagent_type": "x" } });
        assert!(traits_of("claude").subagents.matches(&task));
        assert!(traits_of("opencode").subagents.matches(&task));
        assert!(!traits_of("someone").subagents.matches(&task));
        assert!(
            !traits_of("claude")
                .subagents
                .matches(&json!({ "_meta": { "claudeCode": { "toolName": "Bash" } } }))
        );
    }

    #[test]
    fn an_agent_is_installed_when_one_of_its_programs_is_on_the_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("claude-code-acp");
        std::fs::write(&program, "#!/bin/sh\n").expect("written");
        std::fs::write(folder.path().join("gemini"), "not executable").expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("set");
        let found = discover(folder.path().as_os_str());
        let installed: Vec<_> = found.iter().filter(|agent| agent.installed).collect();
        assert_eq!(installed.len(), 1);
        assert_eq!(
            (installed[0].id.as_str(), installed[0].command.as_str()),
            ("claude", "claude-code-acp")
        );
        assert!(known_agents().iter().all(|agent| !agent.installed));
    }
}
