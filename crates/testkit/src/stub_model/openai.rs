//! OpenAI's chat completions: what is read of a request, and how an answer is written. No I/O.

use super::script::{Asked, Step, Tool, drip, pieces};
use serde_json::{Value, json};

/// How many characters of a tool's arguments travel in one chunk: few enough that agents must put them together.
const ARGUMENT_CHUNK: usize = 20;

/// What a request asks.
pub(super) fn read(request: &Value) -> Asked {
    let mut asked = Asked::default();
    for message in request["messages"].as_array().into_iter().flatten() {
        match message["role"].as_str() {
            Some("user") => {
                let before = std::mem::replace(&mut asked.prompt, content(&message["content"]));
                asked.earlier.push(before);
                asked.tool_answered = false;
            }
            Some("tool") => {
                asked.tool_answered = true;
                asked.tool_said = content(&message["content"]);
            }
            _ => {}
        }
    }
    asked.earlier.retain(|text| !text.is_empty());
    for tool in request["tools"].as_array().into_iter().flatten() {
        let function = &tool["function"];
        if let Some(name) = function["name"].as_str() {
            asked.tools.push(Tool {
                name: name.to_owned(),
                schema: function["parameters"].clone(),
            });
        }
    }
    asked
}

/// The text of a message: a string, or a list of parts.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join(" "),
        _ => String::new(),
    }
}

/// The data of the events that say one step, text without end left out; `number` makes the id of a call unlike any
/// other.
pub(super) fn events(step: &Step, number: u64) -> Vec<Value> {
    match step {
        Step::Think(text) => pieces(text)
            .map(|piece| chunk(&json!({ "reasoning_content": piece }), None))
            .collect(),
        Step::Say(text) => pieces(text)
            .map(|piece| chunk(&json!({ "content": piece }), None))
            .collect(),
        Step::Call { tool, arguments } => call(tool, &arguments.to_string(), number),
        Step::Drip => Vec::new(),
    }
}

/// The data of one event of text without end.
pub(super) fn dripping(number: u64) -> Value {
    chunk(&json!({ "content": drip(number) }), None)
}

fn call(tool: &str, arguments: &str, number: u64) -> Vec<Value> {
    let opening = json!({ "tool_calls": [{
        "index": 0,
        "id": format!("call_{number}"),
        "type": "function",
        "function": { "name": tool, "arguments": "" },
    }] });
    let mut events = vec![chunk(&opening, None)];
    let characters: Vec<char> = arguments.chars().collect();
    for part in characters.chunks(ARGUMENT_CHUNK) {
        let part: String = part.iter().collect();
        let delta = json!({ "tool_calls": [{ "index": 0, "function": { "arguments": part } }] });
        events.push(chunk(&delta, None));
    }
    events
}

/// The events that end an answer made of these steps, without the closing `[DONE]`.
pub(super) fn ending(steps: &[Step]) -> Vec<Value> {
    let calls = steps.iter().any(|step| matches!(step, Step::Call { .. }));
    let reason = if calls { "tool_calls" } else { "stop" };
    let mut usage = chunk(&json!({}), None);
    usage["choices"] = json!([]);
    usage["usage"] = json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 });
    vec![chunk(&json!({}), Some(reason)), usage]
}

fn chunk(delta: &Value, finish_reason: Option<&str>) -> Value {
    json!({
        "id": "answer",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "stub-1",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish_reason }],
    })
}

/// An answer that is not streamed: only side questions are asked so, hence it is text.
pub(super) fn whole(steps: &[Step]) -> Value {
    let text: String = steps.iter().filter_map(said).collect();
    json!({
        "id": "answer",
        "object": "chat.completion",
        "created": 1,
        "model": "stub-1",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": text },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 },
    })
}

fn said(step: &Step) -> Option<&str> {
    match step {
        Step::Say(text) => Some(text),
        _ => None,
    }
}
