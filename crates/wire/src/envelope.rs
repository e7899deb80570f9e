//! One JSON object per text frame, both ways.

use model::clock::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of this contract. A client that was built for another one reloads its page.
pub const PROTOCOL: u32 = 1;

/// The WebSocket subprotocol; the secret travels as the second offered one and is never echoed.
pub const SUBPROTOCOL: &str = "flightstrip.v1";

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub enum FrameType {
    /// From a client; wants one response or error.
    Request,
    /// The answer to a request.
    Response,
    /// Unasked, from the server.
    Notification,
    /// The answer to a request that failed, or to a frame that was none.
    Error,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Frame {
    /// Chosen by the client, echoed by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: FrameType,
    /// What it is about.
    pub action: String,
    /// What the action carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub enum ErrorCode {
    /// The frame or its payload is not what the action takes.
    BadRequest,
    /// The payload has the right shape and a wrong value.
    ValidationError,
    /// No such thing, or none that this person may know of.
    NotFound,
    /// Not signed in.
    Unauthorized,
    /// Signed in and not allowed.
    Forbidden,
    /// It contradicts what is already so.
    Conflict,
    /// This version has no such action.
    UnknownAction,
    /// A bound is reached; later it works.
    Busy,
    /// The server failed.
    InternalError,
}

/// Whether trying again makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub enum Retry {
    /// The same request will fail again.
    Never,
    /// Safe at once, with the same client id.
    SameId,
    /// Safe after something has changed.
    Later,
}

/// The payload of an error frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct ErrorPayload {
    /// Why, for programs.
    pub code: ErrorCode,
    /// What happened, to what, and what to do: for people.
    pub message: String,
    /// More, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether trying again makes sense.
    pub retry: Retry,
}

/// Close codes beyond the standard ones.
pub mod close {
    /// The peer does not read: a response could not be queued (API-05).
    pub const CONTROL_OVERFLOW: u16 = 4001;
    /// Too slow, too much, or dead: reconnect and list.
    pub const RESYNC: u16 = 4002;
    /// The sign-in ended.
    pub const SIGNED_OUT: u16 = 4003;
    /// The frame is too large.
    pub const TOO_LARGE: u16 = 1009;
    /// The server restarts.
    pub const RESTARTING: u16 = 1012;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_keeps_its_wire_names() {
        let frame: Frame = serde_json::from_str(r#"{"id":"1","type":"request","action":"ping"}"#)
            .expect("a frame");
        assert_eq!(frame.kind, FrameType::Request);
        assert_eq!(
            serde_json::to_string(&frame).expect("serialises"),
            r#"{"id":"1","type":"request","action":"ping"}"#
        );
    }
}
