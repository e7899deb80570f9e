//! What the agent says about itself: its abilities and its commands.

use crate::options::Options;
use serde_json::{Value, json};

/// The result of `initialize`.
#[must_use]
pub fn of(options: &Options) -> Value {
    let mut abilities = json!({});
    if options.keeps_sessions() && !options.no_resume {
        abilities = json!({ "resume": {}, "close": {} });
    }
    json!({
        "protocolVersion": 1,
        "agentInfo": { "name": "flightstrip-demo", "title": "Demo agent", "version": env!("CARGO_PKG_VERSION") },
        "agentCapabilities": {
            "loadSession": options.keeps_sessions(),
            "promptCapabilities": { "image": !options.text_only, "embeddedContext": !options.text_only },
            "mcpCapabilities": { "http": !options.no_mcp_http, "sse": false },
            "sessionCapabilities": abilities,
        },
        "authMethods": [],
    })
}

/// The update that lists the commands.
#[must_use]
pub fn commands() -> Value {
    let command = |(name, about, hint): &(&str, &str, &str)| json!({ "name": name, "description": about, "input": { "hint": hint } });
    let commands: Vec<_> = COMMANDS.iter().map(command).collect();
    json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands })
}

/// The directives worth offering to a person: name, description, what may follow.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("say", "Answer with a text", "text"),
    ("think", "Think a text", "text"),
    ("plan", "Show a plan", "step; step; step"),
    ("permission", "Ask for permission", "what for"),
    ("edit", "Write a file of the worktree", "path text"),
    ("run", "Run a command in the worktree", "command"),
    ("stream", "Write many chunks", "count bytes delay_ms"),
    ("sleep", "Wait", "milliseconds"),
];
