//! JSON-RPC as agents really write it.
//!
//! Tolerant on purpose where a strict reader would hang or lose something: a reply may carry both `result: null` and
//! `error`, may leave `result` out, and may echo our numeric id as text. What nests too deeply to be read is still
//! answered or taken as a failed answer, as long as its id can be made out. Whatever else is not a message is [`Incoming::Noise`]:
//! it is counted and skipped, and nothing is written to the agent because of it.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// One line of an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// The agent wants an answer.
    Request {
        /// Its id, to be sent back unchanged.
        id: Value,
        /// What it wants.
        method: String,
        /// With what.
        params: Value,
    },
    /// The agent tells something.
    Notification {
        /// What.
        method: String,
        /// The content.
        params: Value,
    },
    /// The agent answers one of our requests.
    Reply {
        /// Our id; `None` when it is none of ours.
        id: Option<u64>,
        /// The answer.
        outcome: Result<Value, RpcError>,
    },
    /// The agent wants an answer, and what it wrote cannot be read, because it nests too deeply for one thing.
    UnreadableRequest {
        /// Its id, to be sent back unchanged.
        id: Value,
    },
    /// Not a message.
    Noise,
}

/// The outer shape of a message. What is inside is skipped, not read, so its depth does not matter.
#[derive(Deserialize)]
struct Shape<'a> {
    id: Value,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
}

/// The error of a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// JSON-RPC error code; 0 when the agent gave none.
    pub code: i64,
    /// The agent's words.
    pub message: String,
}

/// The code for a request that cannot be read.
pub const INVALID_REQUEST: i64 = -32_600;
/// The code for a method that we do not offer.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// The code for a request that cannot be served now.
pub const INTERNAL_ERROR: i64 = -32_603;
/// The code by which an agent asks for a sign-in.
pub const AUTH_REQUIRED: i64 = -32_000;

impl Incoming {
    /// Reads one clean line.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let mut object = match serde_json::from_str(line) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Self::Noise,
            Err(_) => return Self::shallow(line),
        };
        let id = object.remove("id");
        let params = object.remove("params").unwrap_or(Value::Null);
        match (object.remove("method"), id) {
            (Some(Value::String(method)), Some(id)) => Self::Request { id, method, params },
            (Some(Value::String(method)), None) => Self::Notification { method, params },
            (None, Some(id)) => {
                let outcome = match object.remove("error") {
                    None | Some(Value::Null) => Ok(object.remove("result").unwrap_or(Value::Null)),
                    Some(error) => Err(RpcError::read(&error)),
                };
                Self::Reply {
                    id: our_id(&id),
                    outcome,
                }
            }
            _ => Self::Noise,
        }
    }

    /// What can be known of a line whose content cannot be read: enough that neither side waits for ever.
    fn shallow(line: &str) -> Self {
        match serde_json::from_str(line) {
            Ok(Shape {
                id,
                method: Some(_),
            }) => Self::UnreadableRequest { id },
            Ok(Shape { id, method: None }) => Self::Reply {
                id: our_id(&id),
                outcome: Err(RpcError {
                    code: 0,
                    message: "the agent's answer cannot be read".to_owned(),
                }),
            },
            Err(_) => Self::Noise,
        }
    }
}

impl RpcError {
    /// Some agents put the readable part into `data.details` and only "Internal error" into `message`.
    fn read(error: &Value) -> Self {
        let message = error
            .get("message")
            .and_then(Value::as_str)
            .unwrap_or("unknown error");
        let details = error.pointer("/data/details").and_then(Value::as_str);
        Self {
            code: error.get("code").and_then(Value::as_i64).unwrap_or(0),
            message: details.map_or_else(
                || message.to_owned(),
                |details| format!("{message}: {details}"),
            ),
        }
    }
}

fn our_id(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

/// A request of ours.
#[must_use]
pub fn request_line(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// A notification of ours.
#[must_use]
pub fn notification_line(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// Our answer to a request of the agent.
#[must_use]
pub fn result_line(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

/// Our refusal of a request of the agent.
#[must_use]
pub fn error_line(id: &Value, code: i64, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(line: &str) -> (Option<u64>, Result<Value, RpcError>) {
        match Incoming::parse(line) {
            Incoming::Reply { id, outcome } => (id, outcome),
            other => panic!("not a reply: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_message_is_noise() {
        for line in [
            "",
            "hello",
            "17",
            "null",
            "[]",
            "[{\"id\":1,\"method\":\"x\"}]",
            "{}",
            "{\"method\":1}",
            "{\"a\":",
        ] {
            assert_eq!(Incoming::parse(line), Incoming::Noise, "{line}");
        }
    }

    #[test]
    fn replies_are_read_tolerantly() {
        assert_eq!(
            reply(r#"{"id":4,"result":null}"#),
            (Some(4), Ok(Value::Null))
        );
        assert_eq!(reply(r#"{"id":"4"}"#), (Some(4), Ok(Value::Null)));
        assert_eq!(
            reply(r#"{"id":"x","result":1,"error":null}"#),
            (None, Ok(json!(1)))
        );
        let (id, outcome) =
            reply(r#"{"id":4,"result":null,"error":{"code":-32603,"message":"bad"}}"#);
        assert_eq!(
            (id, outcome.unwrap_err().message),
            (Some(4), "bad".to_owned())
        );
        let (_, outcome) = reply(
            r#"{"id":4,"error":{"code":-32603,"message":"Internal error","data":{"details":"why"}}}"#,
        );
        assert_eq!(outcome.unwrap_err().message, "Internal error: why");
    }

    #[test]
    fn requests_keep_their_id_as_it_is() {
        for id in [json!(0), json!("a"), Value::Null] {
            let line = json!({ "id": id, "method": "m" }).to_string();
            assert_eq!(
                Incoming::parse(&line),
                Incoming::Request {
                    id,
                    method: "m".into(),
                    params: Value::Null
                }
            );
        }
    }

    #[test]
    fn what_nests_too_deeply_leaves_nobody_waiting() {
        let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
        assert_eq!(
            Incoming::parse(&format!(r#"{{"id":"a","method":"m","params":{deep}}}"#)),
            Incoming::UnreadableRequest { id: json!("a") }
        );
        let (id, outcome) = reply(&format!(r#"{{"id":4,"result":{deep}}}"#));
        assert_eq!((id, outcome.is_err()), (Some(4), true));
        for line in [
            format!(r#"{{"method":"m","params":{deep}}}"#),
            format!(r#"{{"id":{deep},"method":"m"}}"#),
            deep,
        ] {
            assert_eq!(Incoming::parse(&line), Incoming::Noise);
        }
    }
}
