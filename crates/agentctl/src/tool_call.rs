//! Reads what a message says about a tool call.
//!
//! Tolerant: a field of an unexpected shape is left out, never the whole call. The same shape comes in three places:
//! `tool_call`, `tool_call_update` and inside a permission request.

use crate::event::{ToolCallUpdate, ToolContent, ToolLocation, ToolStatus};
use crate::known::SubagentRule;
use serde_json::Value;

/// The tool call of `update`; `None` when it has no id.
#[must_use]
pub fn read_tool_call(update: &Value, subagents: SubagentRule) -> Option<ToolCallUpdate> {
    let text = |key: &str| update.get(key).and_then(Value::as_str).map(str::to_owned);
    let raw = |key: &str| update.get(key).filter(|value| !value.is_null()).cloned();
    let list = |key: &str| update.get(key).and_then(Value::as_array);
    Some(ToolCallUpdate {
        id: text("toolCallId")?,
        title: text("title"),
        kind: text("kind"),
        status: update
            .get("status")
            .and_then(Value::as_str)
            .and_then(read_status),
        locations: list("locations").map(|list| list.iter().filter_map(read_location).collect()),
        content: list("content").map(|list| list.iter().map(read_content).collect()),
        raw_input: raw("rawInput"),
        raw_output: raw("rawOutput"),
        subagent: subagents.matches(update),
    })
}

fn read_status(word: &str) -> Option<ToolStatus> {
    match word {
        "pending" => Some(ToolStatus::Pending),
        "in_progress" => Some(ToolStatus::InProgress),
        "completed" => Some(ToolStatus::Completed),
        // The schema has no word for it, but an agent that cancels a call means that nothing more comes.
        "failed" | "cancelled" | "canceled" => Some(ToolStatus::Failed),
        _ => None,
    }
}

fn read_location(location: &Value) -> Option<ToolLocation> {
    let path = location.get("path")?.as_str()?.to_owned();
    Some(ToolLocation {
        path,
        line: location.get("line").and_then(Value::as_u64),
    })
}

fn read_content(content: &Value) -> ToolContent {
    read_text(content)
        .or_else(|| read_diff(content))
        .unwrap_or_else(|| ToolContent::Other {
            raw: content.clone(),
        })
}

fn read_text(content: &Value) -> Option<ToolContent> {
    let text = content.pointer("/content/text")?.as_str()?.to_owned();
    Some(ToolContent::Text { text })
}

fn read_diff(content: &Value) -> Option<ToolContent> {
    let text = |key: &str| content.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(ToolContent::Diff {
        path: text("path")?,
        old_text: text("oldText"),
        new_text: text("newText")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_of_an_odd_shape_is_left_out_not_the_call() {
        let call = read_tool_call(
            &json!({
                "toolCallId": "t", "title": 4, "status": "dreaming", "locations": [{ "path": "a", "line": 3 }, {}],
                "content": [
                    { "type": "content", "content": { "type": "text", "text": "hi" } },
                    { "type": "diff", "path": "a", "oldText": null, "newText": "b" },
                    { "type": "terminal", "terminalId": "x" },
                ],
                "rawInput": null,
            }),
            SubagentRule::None,
        )
        .expect("it has an id");
        assert_eq!(
            (call.title, call.status, call.raw_input),
            (None, None, None)
        );
        assert_eq!(
            call.locations,
            Some(vec![ToolLocation {
                path: "a".into(),
                line: Some(3)
            }])
        );
        assert_eq!(
            call.content.unwrap(),
            [
                ToolContent::Text { text: "hi".into() },
                ToolContent::Diff {
                    path: "a".into(),
                    old_text: None,
                    new_text: "b".into()
                },
                ToolContent::Other {
                    raw: json!({ "type": "terminal", "terminalId": "x" })
                },
            ]
        );
        assert_eq!(
            read_tool_call(&json!({ "title": "no id" }), SubagentRule::None),
            None
        );
    }
}
