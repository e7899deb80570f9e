//! From what an agent says about a tool call to what its row holds. Pure.

use agentctl::event::{self, ToolCallUpdate, ToolContent, ToolStatus};
use model::bounds;
use model::message::{FileEdit, PermissionKind, PermissionOption, ToolCall};
use model::text::cut;
use serde_json::Value;

/// Merges an update into a call: absent fields keep their earlier value.
pub(crate) fn merge(call: &mut ToolCall, update: &ToolCallUpdate) {
    word(&update.id).clone_into(&mut call.tool_call_id);
    if let Some(title) = &update.title {
        cut(title, bounds::TOOL_TITLE_BYTES).clone_into(&mut call.title);
    }
    if let Some(kind) = &update.kind {
        word(kind).clone_into(&mut call.kind);
    }
    if let Some(status) = update.status {
        status_word(status).clone_into(&mut call.status);
    } else if call.status.is_empty() {
        "pending".clone_into(&mut call.status);
    }
    if let Some(locations) = &update.locations {
        call.locations = locations
            .iter()
            .take(bounds::TOOL_LOCATIONS)
            .map(|l| word(&l.path).to_owned())
            .collect();
    }
    if let Some(input) = update.raw_input.as_ref().and_then(input_text) {
        call.input = Some(cut(&input, bounds::TOOL_OUTPUT_BYTES).to_owned());
    }
    if let Some(content) = &update.content {
        merge_content(call, content);
    }
    let shows_text = update
        .content
        .iter()
        .flatten()
        .any(|part| matches!(part, ToolContent::Text { .. }));
    if !shows_text && let Some(output) = update.raw_output.as_ref().and_then(output_text) {
        set_output(call, &output);
    }
    call.subagent |= update.subagent;
    if call.title.is_empty() {
        call.title = if call.kind.is_empty() {
            "Tool".to_owned()
        } else {
            call.kind.clone()
        };
    }
}

/// An id, kind or path, cut to what a row holds.
fn word(text: &str) -> &str {
    cut(text, bounds::TOOL_WORD_BYTES)
}

fn merge_content(call: &mut ToolCall, content: &[ToolContent]) {
    let mut texts = Vec::new();
    let mut edits = Vec::new();
    for part in content {
        match part {
            ToolContent::Text { text } => texts.push(text.as_str()),
            ToolContent::Diff {
                path,
                old_text,
                new_text,
            } => edits.push(FileEdit {
                path: word(path).to_owned(),
                old_text: old_text
                    .as_deref()
                    .map(|text| cut(text, bounds::TOOL_EDIT_BYTES).to_owned()),
                new_text: cut(new_text, bounds::TOOL_EDIT_BYTES).to_owned(),
            }),
            ToolContent::Other { .. } => {}
        }
    }
    if !texts.is_empty() {
        set_output(call, &texts.join("\n"));
    }
    if !edits.is_empty() {
        edits.truncate(bounds::TOOL_LOCATIONS);
        call.edits = edits;
    }
}

fn set_output(call: &mut ToolCall, output: &str) {
    let kept = cut(output, bounds::TOOL_OUTPUT_BYTES);
    call.output_truncated = kept.len() < output.len();
    call.output = Some(kept.to_owned());
}

const fn status_word(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Pending => "pending",
        ToolStatus::InProgress => "in_progress",
        ToolStatus::Completed => "completed",
        ToolStatus::Failed => "failed",
    }
}

/// The command, or the whole input in readable JSON.
fn input_text(raw: &Value) -> Option<String> {
    let object = raw.as_object()?;
    for name in ["command", "cmd", "script"] {
        match object.get(name) {
            Some(Value::String(command)) => return Some(command.clone()),
            Some(Value::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                return Some(words.join(" "));
            }
            _ => {}
        }
    }
    let shown: serde_json::Map<String, Value> = object
        .iter()
        .filter(|(name, _)| {
            !matches!(
                name.as_str(),
                "content"
                    | "diff"
                    | "new_string"
                    | "old_string"
                    | "cwd"
                    | "path"
                    | "file_path"
                    | "filePath"
                    | "filepath"
            )
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if shown.is_empty() {
        None
    } else {
        serde_json::to_string_pretty(&shown).ok()
    }
}

fn output_text(raw: &Value) -> Option<String> {
    match raw {
        Value::String(text) => Some(text.clone()),
        Value::Object(object) => {
            let text = ["output", "stdout", "formatted_output", "aggregated_output"];
            text.iter()
                .find_map(|name| object.get(*name)?.as_str().map(str::to_owned))
        }
        _ => None,
    }
}

/// An agent's options in the model's words. One whose id cannot be kept whole cannot be chosen, so it is not offered.
pub(crate) fn options(offered: Vec<event::PermissionOption>) -> Vec<PermissionOption> {
    offered
        .into_iter()
        .filter(|option| option.id.len() <= bounds::OPTION_ID_BYTES)
        .take(bounds::PERMISSION_OPTIONS)
        .map(|option| PermissionOption {
            id: option.id,
            name: word(&option.name).to_owned(),
            kind: match option.kind {
                event::PermissionKind::AllowOnce => PermissionKind::AllowOnce,
                event::PermissionKind::AllowAlways => PermissionKind::AllowAlways,
                event::PermissionKind::RejectOnce => PermissionKind::RejectOnce,
                event::PermissionKind::RejectAlways => PermissionKind::RejectAlways,
            },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_option_whose_id_is_too_long_is_not_offered() {
        let option = |length| event::PermissionOption {
            id: "x".repeat(length),
            name: "Allow".to_owned(),
            kind: event::PermissionKind::AllowOnce,
        };
        let offered = options(vec![
            option(bounds::OPTION_ID_BYTES + 1),
            option(bounds::OPTION_ID_BYTES),
        ]);
        let kept: Vec<_> = offered.iter().map(|option| option.id.len()).collect();
        assert_eq!(kept, [bounds::OPTION_ID_BYTES]);
    }

    #[test]
    fn an_update_keeps_what_it_does_not_say() {
        let mut call = ToolCall::default();
        let first = ToolCallUpdate {
            id: "t1".to_owned(),
            title: Some("Run tests".to_owned()),
            kind: Some("execute".to_owned()),
            raw_input: Some(json!({ "command": "cargo test", "cwd": "/x" })),
            ..ToolCallUpdate::default()
        };
        merge(&mut call, &first);
        assert_eq!(
            (call.status.as_str(), call.input.as_deref()),
            ("pending", Some("cargo test"))
        );
        let end = ToolCallUpdate {
            id: "t1".to_owned(),
            status: Some(ToolStatus::Completed),
            raw_output: Some(json!({ "output": "ok\n" })),
            ..ToolCallUpdate::default()
        };
        merge(&mut call, &end);
        assert!(call.is_terminal());
        assert_eq!(
            (call.title.as_str(), call.output.as_deref()),
            ("Run tests", Some("ok\n"))
        );
    }

    #[test]
    fn output_is_cut_and_says_so() {
        let mut call = ToolCall::default();
        set_output(&mut call, &"x".repeat(bounds::TOOL_OUTPUT_BYTES + 1));
        assert!(call.output_truncated);
        assert_eq!(
            call.output.map(|output| output.len()),
            Some(bounds::TOOL_OUTPUT_BYTES)
        );
    }
}
