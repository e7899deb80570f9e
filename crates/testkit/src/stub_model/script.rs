//! What the stub model answers, as a pure function of what it was asked.
//!
//! The last prompt of a person is searched for whole words in capitals:
//!
//! - `THINK`: reasoning comes before the answer;
//! - `EDIT name`: a file of this name is written by the agent's own tool, relative to where the agent works;
//! - `RUN`: a command is run by the agent's own tool;
//! - `ASK`: the person is asked which colour, by the tool that flightstrip offers;
//! - `SLOW`: text without end, until whoever asked goes away;
//! - none of them: a short answer that names its place in the conversation.
//!
//! Once a tool has answered, the model says so and ends. A request that offers no tools is a side question of the agent
//! (a title, a summary); it gets a short answer whatever it quotes.

use serde_json::{Map, Value, json};

/// What an `EDIT` writes.
pub const EDIT_TEXT: &str = "first line\nsecond line\n";

/// What a `RUN` runs.
pub const RUN_COMMAND: &str = "echo ran > ran.txt";

/// What the model says once a tool has answered.
pub const DONE_TEXT: &str = "The tool has answered. ";

/// What `THINK` puts before the answer.
pub const THOUGHT: &str = "First I consider what was asked. ";

/// What an `ASK` asks.
pub const ASK_TEXT: &str = "Which colour?";

/// Tools that ask a person; agents put the server's name before it, each in its own way.
const ASK_TOOL: &str = "ask_user";

/// Tools that run a command, by the names that agents give them.
const COMMAND_TOOLS: &[&str] = &["bash", "run_shell_command", "shell", "exec_command"];

/// Tools that write a whole file.
const WRITE_TOOLS: &[&str] = &["write", "write_file", "create_file"];

/// A tool that the agent offers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tool {
    pub(super) name: String,
    /// The JSON schema of its arguments.
    pub(super) schema: Value,
}

/// A request of either protocol.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// What the user's side of the conversation said before the last prompt, oldest first.
    pub earlier: Vec<String>,
    /// The last prompt.
    pub prompt: String,
    /// Whether a tool has answered since.
    pub(super) tool_answered: bool,
    /// What the last tool answered.
    pub tool_said: String,
    pub(super) tools: Vec<Tool>,
}

impl Asked {
    /// Whether this is a side question of the agent, not a prompt of a person.
    #[must_use]
    pub fn is_aside(&self) -> bool {
        self.tools.is_empty()
    }
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Reasoning.
    Think(&'static str),
    /// Text.
    Say(String),
    /// A tool is to be called.
    Call { tool: String, arguments: Value },
    /// Text without end.
    Drip,
}

/// The answer to a request.
pub(super) fn plan(asked: &Asked) -> Vec<Step> {
    if asked.is_aside() {
        return vec![Step::Say("A short title".to_owned())];
    }
    if asked.tool_answered {
        return vec![Step::Say(DONE_TEXT.to_owned())];
    }
    let words: Vec<&str> = asked.prompt.split_whitespace().collect();
    let mut steps = Vec::new();
    if words.contains(&"THINK") {
        steps.push(Step::Think(THOUGHT));
    }
    if let Some(file) = word_after(&words, "EDIT") {
        steps.extend(call(asked, WRITE_TOOLS, file));
    } else if words.contains(&"ASK") {
        steps.extend(ask(asked));
    } else if words.contains(&"RUN") {
        steps.extend(call(asked, COMMAND_TOOLS, ""));
    } else if words.contains(&"SLOW") {
        steps.push(Step::Drip);
    } else {
        steps.push(Step::Say(answer(&asked.prompt)));
    }
    steps
}

/// The short answer to a prompt: it quotes the prompt's last word, so that answers can be told apart.
#[must_use]
pub fn answer(prompt: &str) -> String {
    let last = prompt.split_whitespace().next_back().unwrap_or("nothing");
    format!("The stub model answers in several pieces to {last}. ")
}

fn word_after<'a>(words: &[&'a str], word: &str) -> Option<&'a str> {
    let place = words.iter().position(|candidate| *candidate == word)?;
    words.get(place + 1).copied()
}

fn call(asked: &Asked, names: &[&str], file: &str) -> Vec<Step> {
    let offered = names
        .iter()
        .find_map(|name| asked.tools.iter().find(|tool| tool.name == *name));
    let Some(tool) = offered else {
        return vec![Step::Say(
            "None of the tools offered can do it. ".to_owned(),
        )];
    };
    vec![
        Step::Say("I will use a tool. ".to_owned()),
        Step::Call {
            tool: tool.name.clone(),
            arguments: arguments(&tool.schema, file),
        },
    ]
}

fn ask(asked: &Asked) -> Vec<Step> {
    let offered = asked
        .tools
        .iter()
        .find(|tool| tool.name.ends_with(ASK_TOOL));
    let options = [json!({ "label": "Red" }), json!({ "label": "Blue" })];
    offered.map_or_else(
        || vec![Step::Say("Nobody can be asked. ".to_owned())],
        |tool| {
            vec![Step::Call {
                tool: tool.name.clone(),
                arguments: json!({ "questions": [{ "text": ASK_TEXT, "options": options }] }),
            }]
        },
    )
}

/// Arguments that satisfy a tool's schema: what is known by name, and something for whatever else is required.
fn arguments(schema: &Value, file: &str) -> Value {
    let required = |name: &str| {
        schema["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|required| required == name))
    };
    let Some(properties) = schema["properties"].as_object() else {
        return json!({});
    };
    let mut arguments = Map::new();
    for (name, property) in properties {
        let value = match name.as_str() {
            "filePath" | "file_path" | "path" if !file.is_empty() => json!(file),
            "content" | "text" => json!(EDIT_TEXT),
            "command" | "cmd" => json!(RUN_COMMAND),
            _ if !required(name) => continue,
            _ => filler(property),
        };
        arguments.insert(name.clone(), value);
    }
    Value::Object(arguments)
}

fn filler(property: &Value) -> Value {
    match property["type"].as_str() {
        Some("boolean") => json!(false),
        Some("number" | "integer") => json!(1),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("as the stub model wants it"),
    }
}

/// A piece of text without end. No two are equal: gemini-cli takes repetition for a model in a loop, and ends the turn.
pub(super) fn drip(number: u64) -> String {
    format!("drip{number} ")
}

/// A text in the pieces in which it is streamed: words with the space after them.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}
