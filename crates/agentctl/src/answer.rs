//! Reads what an agent answers: errors, and the end of a prompt.

use crate::error::AgentError;
use crate::event::{PromptEnd, StopReason};
use crate::message::{AUTH_REQUIRED, RpcError};
use serde_json::Value;

/// The reply to one of our requests as an error of ours.
pub(crate) fn rpc_error(method: &'static str, error: RpcError) -> AgentError {
    match error.code {
        AUTH_REQUIRED => AgentError::AuthRequired {
            message: error.message,
        },
        code => AgentError::Rpc {
            method,
            code,
            message: error.message,
        },
    }
}

/// Reads the result of a prompt. A result that says nothing is a turn that ended well.
pub(crate) fn read_prompt_end(result: &Value) -> PromptEnd {
    let word = result
        .get("stopReason")
        .and_then(Value::as_str)
        .unwrap_or("end_turn");
    PromptEnd {
        stop_reason: StopReason::from_wire(word),
        text: result_text(result),
        total_tokens: result.pointer("/usage/totalTokens").and_then(Value::as_u64),
    }
}

/// Text inside a reply: plain, or as content blocks.
fn result_text(result: &Value) -> Option<String> {
    let content = result
        .get("content")
        .or_else(|| result.pointer("/message/content"));
    let text = match (result.get("text"), content) {
        (Some(Value::String(text)), _) | (None, Some(Value::String(text))) => text.clone(),
        (_, Some(Value::Array(blocks))) => blocks
            .iter()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect(),
        (_, Some(block)) => block.get("text").and_then(Value::as_str)?.to_owned(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_prompts_result_is_read_tolerantly() {
        let check = |result: Value, reason: StopReason, text: Option<&str>| {
            let end = read_prompt_end(&result);
            assert_eq!(
                (end.stop_reason, end.text.as_deref()),
                (reason, text),
                "{result}"
            );
        };
        check(Value::Null, StopReason::EndTurn, None);
        check(
            json!({ "stopReason": "refusal", "text": "no" }),
            StopReason::Refusal,
            Some("no"),
        );
        check(
            json!({ "stopReason": "nap", "text": "" }),
            StopReason::Other("nap".into()),
            None,
        );
        let blocks = json!([{ "type": "text", "text": "a" }, { "type": "image" }, { "type": "text", "text": "b" }]);
        check(
            json!({ "content": blocks }),
            StopReason::EndTurn,
            Some("ab"),
        );
        check(
            json!({ "message": { "content": { "text": "c" } } }),
            StopReason::EndTurn,
            Some("c"),
        );
    }

    #[test]
    fn a_wanted_sign_in_is_told_from_other_errors() {
        let error = |code| {
            rpc_error(
                "session/new",
                RpcError {
                    code,
                    message: "m".into(),
                },
            )
        };
        assert_eq!(
            error(AUTH_REQUIRED),
            AgentError::AuthRequired {
                message: "m".into()
            }
        );
        let other = AgentError::Rpc {
            method: "session/new",
            code: -1,
            message: "m".into(),
        };
        assert_eq!(error(-1), other);
    }
}
