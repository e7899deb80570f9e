//! Gemini's `generateContent`: what is read of a request, and how an answer is written. No I/O.

use super::script::{Asked, Step, Tool, drip, pieces};
use serde_json::{Value, json};

/// What gemini-cli wants when it asks itself, in JSON, who speaks next or which model to take.
const ASIDE: &str = r#"{"reasoning":"as scripted","next_speaker":"user","model_choice":"flash"}"#;

/// What a request asks.
pub(super) fn read(request: &Value) -> Asked {
    let mut asked = Asked::default();
    for content in request["contents"].as_array().into_iter().flatten() {
        if content["role"] != "user" {
            continue;
        }
        let parts = content["parts"].as_array().map_or(&[][..], Vec::as_slice);
        let response = parts
            .iter()
            .find(|part| part["functionResponse"].is_object());
        if let Some(part) = response {
            asked.tool_answered = true;
            asked.tool_said = match &part["functionResponse"]["response"] {
                Value::Null => String::new(),
                response => response.to_string(),
            };
            continue;
        }
        let text: Vec<&str> = parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect();
        let before = std::mem::replace(&mut asked.prompt, text.join(" "));
        asked.earlier.push(before);
        asked.tool_answered = false;
    }
    asked.earlier.retain(|text| !text.is_empty());
    for group in request["tools"].as_array().into_iter().flatten() {
        let declared = group["functionDeclarations"].as_array();
        asked
            .tools
            .extend(declared.into_iter().flatten().filter_map(tool));
    }
    asked
}

fn tool(declaration: &Value) -> Option<Tool> {
    let schema = match &declaration["parametersJsonSchema"] {
        Value::Null => &declaration["parameters"],
        schema => schema,
    };
    Some(Tool {
        name: declaration["name"].as_str()?.to_owned(),
        schema: schema.clone(),
    })
}

/// The data of the events that say one step, text without end left out.
pub(super) fn events(step: &Step) -> Vec<Value> {
    match step {
        Step::Think(text) => pieces(text)
            .map(|piece| chunk(&json!({ "text": piece, "thought": true }), None))
            .collect(),
        Step::Say(text) => pieces(text)
            .map(|piece| chunk(&json!({ "text": piece }), None))
            .collect(),
        Step::Call { tool, arguments } => {
            let call = json!({ "functionCall": { "name": tool, "args": arguments } });
            vec![chunk(&call, None)]
        }
        Step::Drip => Vec::new(),
    }
}

/// The data of one event of text without end.
pub(super) fn dripping(number: u64) -> Value {
    chunk(&json!({ "text": drip(number) }), None)
}

/// The event that ends an answer.
pub(super) fn ending() -> Value {
    chunk(&json!({ "text": "" }), Some("STOP"))
}

/// An answer that is not streamed: only side questions are asked so.
pub(super) fn whole() -> Value {
    chunk(&json!({ "text": ASIDE }), Some("STOP"))
}

fn chunk(part: &Value, finish_reason: Option<&str>) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": [part] } });
    if let Some(reason) = finish_reason {
        candidate["finishReason"] = json!(reason);
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120 },
        "modelVersion": "stub-1",
    })
}
