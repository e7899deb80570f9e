//! Turns one `session/update` into events.
//!
//! Reads the raw JSON rather than the schema's types: real agents send fields and kinds that a schema lacks, and
//! values that it refuses (`used: null`), and none of that may cost a line. What is not understood becomes
//! [`AgentEvent::Unknown`] with the update whole.
//!
//! State kept here is only what spans lines of one agent: the held half of a character and the current settings.

use crate::event::{AgentEvent, PlanEntry, TextKind, ToolStatus};
use crate::known::SubagentRule;
use crate::settings::SessionSettings;
use crate::surrogates::{SurrogateJoiner, TextPiece};
use crate::text::Piece;
use crate::tool_call::read_tool_call;
use model::agent::{AgentCommandInfo, AgentUsage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// What became of an update.
#[derive(Debug, PartialEq)]
pub enum Read {
    /// These events, in order.
    Events(Vec<AgentEvent>),
    /// Nothing to tell: an empty chunk, a report without news.
    Nothing,
}

/// Reads the updates of one agent.
#[derive(Debug, Default)]
pub struct UpdateReader {
    joiner: SurrogateJoiner,
}

impl UpdateReader {
    /// Reads `params` of a `session/update`. `with_halves` is the line itself when a string in it has half a character
    /// at its edge (see [`crate::text`]).
    pub fn read(
        &mut self,
        params: &Value,
        with_halves: Option<&str>,
        subagents: SubagentRule,
        settings: &mut SessionSettings,
    ) -> Read {
        let update = params.get("update").unwrap_or(&Value::Null);
        let kind = update
            .get("sessionUpdate")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let event = match kind {
            "agent_message_chunk" => return self.chunk(TextKind::Message, update, with_halves),
            "agent_thought_chunk" => return self.chunk(TextKind::Thought, update, with_halves),
            "user_message_chunk" => Some(AgentEvent::UserEcho),
            "tool_call" | "tool_call_update" => {
                read_tool_call(update, subagents).map(AgentEvent::ToolCall)
            }
            "plan" => read_plan(update).map(AgentEvent::Plan),
            "available_commands_update" => read_commands(update).map(AgentEvent::Commands),
            "usage_update" => read_usage(update).map(AgentEvent::Usage),
            "current_mode_update" => match update.get("currentModeId").and_then(Value::as_str) {
                Some(mode) if settings.mode_is(mode) => {
                    Some(AgentEvent::Settings(settings.current().clone()))
                }
                Some(_) => return Read::Nothing,
                None => None,
            },
            "config_option_update" => match settings.take_in(update) {
                true => Some(AgentEvent::Settings(settings.current().clone())),
                false => return Read::Nothing,
            },
            "session_info_update" => match update.get("title").and_then(Value::as_str) {
                Some(title) => Some(AgentEvent::Title(title.to_owned())),
                None => return Read::Nothing,
            },
            _ => None,
        };
        let event = event.unwrap_or_else(|| AgentEvent::Unknown {
            kind: kind.to_owned(),
            raw: update.clone(),
        });
        // A new row ends a stretch of text; progress does not: it may come between two chunks of a message.
        let barrier = kind == "tool_call"
            || matches!(&event, AgentEvent::ToolCall(call) if call.status.is_some_and(ToolStatus::is_terminal));
        let flushed = if barrier { self.flush() } else { None };
        Read::Events(flushed.into_iter().chain([event]).collect())
    }

    /// What must be delivered before a barrier: half a character that lost its other half.
    pub fn flush(&mut self) -> Option<AgentEvent> {
        self.joiner.flush().map(text_event)
    }

    fn chunk(&mut self, kind: TextKind, update: &Value, with_halves: Option<&str>) -> Read {
        let Some(text) = chunk_text(update) else {
            let word = update
                .get("sessionUpdate")
                .and_then(Value::as_str)
                .unwrap_or_default();
            return Read::Events(vec![AgentEvent::Unknown {
                kind: word.to_owned(),
                raw: update.clone(),
            }]);
        };
        let piece = with_halves
            .and_then(raw_chunk_text)
            .unwrap_or_else(|| Piece::whole(text));
        let protocol_id = update
            .get("messageId")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let pieces = self.joiner.join(kind, protocol_id, piece);
        if pieces.is_empty() {
            Read::Nothing
        } else {
            Read::Events(pieces.into_iter().map(text_event).collect())
        }
    }
}

fn text_event(piece: TextPiece) -> AgentEvent {
    AgentEvent::Text {
        kind: piece.kind,
        protocol_id: piece.protocol_id,
        text: piece.text,
    }
}

fn chunk_text(update: &Value) -> Option<String> {
    let content = update.get("content")?;
    let text = |key: &str| content.get(key).and_then(Value::as_str);
    match text("type")? {
        "text" => text("text").map(str::to_owned),
        "resource_link" => Some(format!(
            "[{}]({})",
            text("name").unwrap_or("link"),
            text("uri")?
        )),
        _ => None,
    }
}

/// The chunk's text with its halves, from the line as it came.
fn raw_chunk_text(line: &str) -> Option<Piece> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        update: Update<'a>,
    }
    #[derive(Deserialize)]
    struct Update<'a> {
        #[serde(borrow)]
        content: Content<'a>,
    }
    #[derive(Deserialize)]
    struct Content<'a> {
        #[serde(borrow)]
        text: &'a RawValue,
    }
    let line: Line<'_> = serde_json::from_str(line).ok()?;
    Some(Piece::decode(line.params.update.content.text.get()))
}

fn read_plan(update: &Value) -> Option<Vec<PlanEntry>> {
    let entry = |entry: &Value| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        let status = text("status").unwrap_or_else(|| "pending".to_owned());
        Some(PlanEntry {
            content: text("content")?,
            status,
            priority: text("priority"),
        })
    };
    Some(
        update
            .get("entries")?
            .as_array()?
            .iter()
            .filter_map(entry)
            .collect(),
    )
}

/// The slash commands of an `available_commands_update`.
#[must_use]
pub fn read_commands(update: &Value) -> Option<Vec<AgentCommandInfo>> {
    let command = |command: &Value| {
        let text = |pointer: &str| {
            command
                .pointer(pointer)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let description = text("/description").unwrap_or_default();
        Some(AgentCommandInfo {
            name: text("/name")?,
            description,
            hint: text("/input/hint"),
        })
    };
    Some(
        update
            .get("availableCommands")?
            .as_array()?
            .iter()
            .filter_map(command)
            .collect(),
    )
}

/// Agents send `used: null` when they do not know yet.
fn read_usage(update: &Value) -> Option<AgentUsage> {
    let amount = update
        .pointer("/cost/amount")
        .and_then(Value::as_f64)
        .filter(|amount| *amount > 0.0);
    let currency = update
        .pointer("/cost/currency")
        .and_then(Value::as_str)
        .unwrap_or("USD");
    Some(AgentUsage {
        used: update.get("used").and_then(Value::as_u64).unwrap_or(0),
        size: update.get("size")?.as_u64()?,
        cost: amount.map(|amount| format!("{amount:.4} {currency}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::clean_line;
    use serde_json::json;

    fn read(reader: &mut UpdateReader, line: &str) -> Vec<AgentEvent> {
        let clean = clean_line(line.as_bytes());
        let value: Value = serde_json::from_str(&clean.text).expect("a message");
        let params = value.get("params").expect("params");
        let mut settings = SessionSettings::default();
        match reader.read(
            params,
            clean.with_halves.as_deref(),
            SubagentRule::None,
            &mut settings,
        ) {
            Read::Events(events) => events,
            Read::Nothing => Vec::new(),
        }
    }

    fn chunk(text_literal: &str) -> String {
        format!(
            r#"{{"params":{{"update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":{text_literal}}}}}}}}}"#
        )
    }

    fn text(text: &str) -> AgentEvent {
        AgentEvent::Text {
            kind: TextKind::Message,
            protocol_id: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_character_cut_between_two_lines_arrives_whole() {
        let mut reader = UpdateReader::default();
        assert_eq!(read(&mut reader, &chunk(r#""a\ud83e""#)), [text("a")]);
        assert_eq!(read(&mut reader, &chunk(r#""\udd80b""#)), [text("🦀b")]);
        assert!(read(&mut reader, &chunk(r#""""#)).is_empty());
    }

    #[test]
    fn half_a_character_waits_over_progress_but_not_over_a_barrier() {
        let tool = |status: &str| {
            json!({ "params": { "update": { "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": status } } })
                .to_string()
        };
        let mut reader = UpdateReader::default();
        assert_eq!(read(&mut reader, &chunk(r#""a\ud83e""#)), [text("a")]);
        assert_eq!(read(&mut reader, &tool("in_progress")).len(), 1);
        assert_eq!(read(&mut reader, &chunk(r#""\udd80""#)), [text("🦀")]);
        assert!(read(&mut reader, &chunk(r#""\ud83e""#)).is_empty());
        let events = read(&mut reader, &tool("completed"));
        assert_eq!(events.first(), Some(&text("\u{FFFD}")));
        assert_eq!(events.len(), 2);
    }

    #[test]
    fn what_is_not_understood_is_kept_whole() {
        let mut reader = UpdateReader::default();
        for update in [
            json!({ "sessionUpdate": "hologram", "x": 1 }),
            json!({ "sessionUpdate": "tool_call", "title": "no id" }),
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "image", "data": "" } }),
            json!({}),
        ] {
            let line = json!({ "params": { "update": update } }).to_string();
            let events = read(&mut reader, &line);
            assert!(
                matches!(events.as_slice(), [AgentEvent::Unknown { raw, .. }] if *raw == update),
                "{events:?}"
            );
        }
    }

    #[test]
    fn usage_without_a_number_is_still_usage() {
        let mut reader = UpdateReader::default();
        let line = json!({ "params": { "update": {
            "sessionUpdate": "usage_update", "used": null, "size": 9, "cost": { "amount": 0.5, "currency": "EUR" } } } });
        let usage = AgentUsage {
            used: 0,
            size: 9,
            cost: Some("0.5000 EUR".to_owned()),
        };
        assert_eq!(
            read(&mut reader, &line.to_string()),
            [AgentEvent::Usage(usage)]
        );
    }
}
