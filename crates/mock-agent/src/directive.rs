//! The directives a prompt may hold, one per line.
//!
//! ```text
//! /say TEXT                /think TEXT             /stream N BYTES [DELAY_MS]   /thoughts N BYTES
//! /tool KIND TITLE         /plan a; b; c           /usage                       /subagent start|end NAME
//! /permission TITLE [as execute|edit]              /permissions N
//! /edit PATH TEXT          /append PATH TEXT       /delete PATH                 /run COMMAND
//! /commit MESSAGE          /sleep MS               /wait-file PATH              /title TEXT
//! /noise TEXT              /unknown-update         /late TEXT                   /request METHOD
//! /stderr TEXT             /error MESSAGE          /exit CODE                   /crash TEXT
//! /hang                    /ignore-eof             /after
//! /ask TEXT [| OPTION]…    /ask {arguments}        /ask-until PATH TEXT [| OPTION]…
//! /elicit TEXT [| OPTION]… /elicit {requestedSchema}
//! ```
//!
//! What follows `/after` is done after the reply to the prompt, as helpers in the background do. `/ask` calls the tool
//! `ask_user` of the first MCP server and says its answer; `/ask-until` gives up when the file exists.
//!
//! A rejected `/permission` skips the directive after it. In TEXT, `\n` stands for a line break.

use serde_json::{Value, json};
use std::time::Duration;

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// Answer text, in one chunk.
    Say(String),
    /// Reasoning, in one chunk.
    Think(String),
    /// Many chunks of answer text, see [`stream_chunk`].
    Stream {
        /// How many.
        count: usize,
        /// Bytes of each.
        bytes: usize,
        /// Pause before each.
        delay: Duration,
    },
    /// Many chunks of reasoning.
    Thoughts {
        /// How many.
        count: usize,
        /// Bytes of each.
        bytes: usize,
    },
    /// A tool call that begins and ends.
    Tool {
        /// The protocol's word.
        kind: String,
        /// For people.
        title: String,
    },
    /// Ask, then go on; when refused, skip the next directive.
    Permission {
        /// For people.
        title: String,
        /// The kind of the tool call.
        kind: String,
    },
    /// Ask this many questions at once.
    Permissions(usize),
    /// Write a file of the worktree.
    Edit {
        /// Relative to the worktree.
        path: String,
        /// Its new text.
        text: String,
    },
    /// Add to a file of the worktree.
    Append {
        /// Relative to the worktree.
        path: String,
        /// What is added.
        text: String,
    },
    /// Delete a file of the worktree.
    Delete(String),
    /// Run a shell command in the worktree.
    Run(String),
    /// Commit everything in the worktree.
    Commit(String),
    /// Show a plan.
    Plan(Vec<String>),
    /// Do nothing for a while.
    Sleep(Duration),
    /// Go on when this file exists.
    WaitFile(String),
    /// Name the conversation.
    Title(String),
    /// Begin a subagent.
    SubagentStart(String),
    /// End a subagent.
    SubagentEnd(String),
    /// Report usage.
    Usage,
    /// Print a line that is no message.
    Noise(String),
    /// Send an update of a kind nobody knows.
    UnknownUpdate,
    /// Send text after the reply to the prompt.
    Late(String),
    /// Ask the client for a method and say what it answered.
    Request(String),
    /// Write to stderr.
    Stderr(String),
    /// Answer the prompt with an error.
    Error(String),
    /// End the process with this code.
    Exit(i32),
    /// Write to stderr and abort.
    Crash(String),
    /// Never end, not even when cancelled.
    Hang,
    /// Stay alive when stdin ends.
    IgnoreEof,
    /// Reply to the prompt now; do the rest afterwards.
    After,
    /// Ask a person through the client's MCP tool, with these arguments, and say the answer.
    Ask {
        /// The arguments of the tool.
        arguments: Value,
        /// Give up when this file exists.
        until: Option<String>,
    },
    /// Ask a person by a form with this schema, and say the answer.
    Elicit(Value),
}

/// The directives of a prompt; `None` when it holds none. Lines that are no directive are ignored then.
#[must_use]
pub fn parse(prompt: &str) -> Option<Vec<Directive>> {
    let directives: Vec<_> = prompt
        .lines()
        .filter_map(|line| parse_line(line.trim()))
        .collect();
    (!directives.is_empty()).then_some(directives)
}

fn parse_line(line: &str) -> Option<Directive> {
    let (word, rest) = line
        .strip_prefix('/')?
        .split_once(' ')
        .unwrap_or((line.get(1..)?, ""));
    let rest = rest.trim();
    let text = || rest.replace("\\n", "\n");
    let millis = |text: Option<&str>| {
        text.and_then(|text| text.parse().ok())
            .map(Duration::from_millis)
    };
    let mut words = rest.split_ascii_whitespace();
    let mut number = || words.next()?.parse::<usize>().ok();
    Some(match word {
        "say" => Directive::Say(text()),
        "think" => Directive::Think(text()),
        "stream" => Directive::Stream {
            count: number()?,
            bytes: number()?,
            delay: millis(rest.split_ascii_whitespace().nth(2)).unwrap_or_default(),
        },
        "thoughts" => Directive::Thoughts {
            count: number()?,
            bytes: number()?,
        },
        "tool" => {
            let (kind, title) = rest.split_once(' ')?;
            Directive::Tool {
                kind: kind.to_owned(),
                title: title.to_owned(),
            }
        }
        "permission" => {
            let (title, kind) = rest.rsplit_once(" as ").unwrap_or((rest, "execute"));
            Directive::Permission {
                title: title.to_owned(),
                kind: kind.to_owned(),
            }
        }
        "permissions" => Directive::Permissions(number()?),
        "edit" | "append" => {
            let (path, content) = rest.split_once(' ').unwrap_or((rest, ""));
            let (path, text) = (path.to_owned(), content.replace("\\n", "\n"));
            if word == "edit" {
                Directive::Edit { path, text }
            } else {
                Directive::Append { path, text }
            }
        }
        "delete" => Directive::Delete(rest.to_owned()),
        "run" => Directive::Run(rest.to_owned()),
        "commit" => Directive::Commit(rest.to_owned()),
        "plan" => Directive::Plan(rest.split(';').map(|step| step.trim().to_owned()).collect()),
        "sleep" => Directive::Sleep(millis(Some(rest))?),
        "wait-file" => Directive::WaitFile(rest.to_owned()),
        "title" => Directive::Title(rest.to_owned()),
        "subagent" => match rest.split_once(' ')? {
            ("start", name) => Directive::SubagentStart(name.to_owned()),
            ("end", name) => Directive::SubagentEnd(name.to_owned()),
            _ => return None,
        },
        "usage" => Directive::Usage,
        "noise" => Directive::Noise(rest.to_owned()),
        "unknown-update" => Directive::UnknownUpdate,
        "late" => Directive::Late(text()),
        "request" => Directive::Request(rest.to_owned()),
        "stderr" => Directive::Stderr(text()),
        "error" => Directive::Error(rest.to_owned()),
        "exit" => Directive::Exit(rest.parse().ok()?),
        "crash" => Directive::Crash(text()),
        "hang" => Directive::Hang,
        "ignore-eof" => Directive::IgnoreEof,
        "after" => Directive::After,
        "ask" => Directive::Ask {
            arguments: ask_arguments(rest),
            until: None,
        },
        "ask-until" => {
            let (path, rest) = rest.split_once(' ')?;
            Directive::Ask {
                arguments: ask_arguments(rest),
                until: Some(path.to_owned()),
            }
        }
        "elicit" => Directive::Elicit(form_schema(rest)),
        _ => return None,
    })
}

/// A question in words, its options behind bars; or the arguments themselves.
fn ask_arguments(rest: &str) -> Value {
    if let Ok(arguments @ Value::Object(_)) = serde_json::from_str(rest) {
        return arguments;
    }
    let mut parts = rest.split('|').map(str::trim);
    let text = parts.next().unwrap_or_default();
    let options: Vec<_> = parts.map(|label| json!({ "label": label })).collect();
    if options.is_empty() {
        json!({ "questions": [{ "text": text }] })
    } else {
        json!({ "questions": [{ "text": text, "options": options }] })
    }
}

/// A form of one field, its choices behind bars; or the schema itself.
fn form_schema(rest: &str) -> Value {
    if let Ok(schema @ Value::Object(_)) = serde_json::from_str(rest) {
        return schema;
    }
    let mut parts = rest.split('|').map(str::trim);
    let title = parts.next().unwrap_or_default();
    let choices: Vec<_> = parts.collect();
    let mut field = json!({ "type": "string", "title": title });
    if let (false, Some(field)) = (choices.is_empty(), field.as_object_mut()) {
        field.insert("enum".to_owned(), json!(choices));
    }
    json!({ "type": "object", "properties": { "choice": field }, "required": ["choice"] })
}

/// The text of chunk `index` of `/stream` and `/thoughts`: exactly `bytes` bytes of ASCII, different for each index,
/// so that a test can tell what is missing, doubled or out of order.
#[must_use]
pub fn stream_chunk(index: usize, bytes: usize) -> String {
    let mut chunk = format!("{index:08} ");
    let letters = ('a'..='z').cycle().skip(index % 26);
    chunk.extend(letters.take(bytes.saturating_sub(chunk.len() + 1)));
    chunk.truncate(bytes.saturating_sub(1));
    if 0 < bytes {
        chunk.push('\n');
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_told_from_talk() {
        assert_eq!(parse("please fix the tests"), None);
        assert_eq!(parse("/unheard-of thing"), None);
        let found = parse(
            "do this:\n /say a\\nb\n/permission Run it all as edit\n/stream 3 20 5\n/plan a; b\n/hang",
        );
        let expected = [
            Directive::Say("a\nb".into()),
            Directive::Permission {
                title: "Run it all".into(),
                kind: "edit".into(),
            },
            Directive::Stream {
                count: 3,
                bytes: 20,
                delay: Duration::from_millis(5),
            },
            Directive::Plan(vec!["a".into(), "b".into()]),
            Directive::Hang,
        ];
        assert_eq!(found.as_deref(), Some(expected.as_slice()));
    }

    #[test]
    fn chunks_have_their_size_and_their_number() {
        assert_eq!(stream_chunk(7, 20), "00000007 hijklmnopq\n");
        assert_eq!(stream_chunk(7, 200).len(), 200);
        assert_eq!(stream_chunk(7, 3), "00\n");
        assert_eq!(stream_chunk(7, 0), "");
    }
}
