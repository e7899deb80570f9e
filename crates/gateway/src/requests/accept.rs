//! From a text frame to a running request, and from its outcome to a frame.
//!
//! Requests of one connection run at once, up to [`bounds::INFLIGHT_REQUESTS`], but for those that have to keep an order
//! among each other ([`Lanes`]). Room for the answer is promised before the work begins, and the promise is kept even
//! when the work panics.

use super::lanes::{Lanes, Place};
use super::{Call, Reply, dispatch};
use crate::api::Api;
use crate::client::Client;
use crate::frame::OutFrame;
use crate::refusal::Refusal;
use model::bounds;
use serde_json::Value;
use std::sync::Arc;
use wire::action::request as action;
use wire::envelope::FrameType;

/// What error frames name when the request's own action could not be read.
const NO_ACTION: &str = "error";

/// A request as read from a frame.
#[derive(Debug)]
struct Request {
    id: Option<String>,
    action: String,
    payload: Value,
}

/// The promise of an answer. Dropped unanswered, the client gets an error instead of waiting for ever.
struct Promise {
    api: Arc<Api>,
    client: Arc<Client>,
    id: Option<String>,
    action: String,
    room: usize,
    kept: bool,
}

impl Promise {
    fn keep(mut self, outcome: Result<Reply, Refusal>) {
        self.answer(outcome);
    }

    fn answer(&mut self, outcome: Result<Reply, Refusal>) {
        self.kept = true;
        let now = self.api.store.now();
        let id = self.id.as_deref();
        let (frame, opens) = match outcome {
            Ok(reply) => {
                let frame = OutFrame::response(id, &self.action, &reply.payload, now)
                    .teaching(reply.lessons);
                (frame, reply.opens)
            }
            Err(refusal) => (
                OutFrame::error(id, &self.action, refusal.payload(), now),
                None,
            ),
        };
        self.client.push(|outbox| {
            outbox.release_control(self.room);
            outbox.push_acknowledgement(frame, opens)
        });
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if !self.kept {
            tracing::error!(client = self.client.id.0, action = %self.action, "a request ended without an answer");
            self.answer(Err(Refusal::internal()));
        }
    }
}

/// Takes a text frame.
pub(crate) fn text(api: &Arc<Api>, client: &Arc<Client>, lanes: &mut Lanes, text: &str) {
    match read(text) {
        Ok(request) => start(api, client, lanes, request),
        Err((id, refusal)) => refuse(api, client, id.as_deref(), NO_ACTION, &refusal),
    }
}

/// Takes a binary frame: there are none in this protocol.
pub(crate) fn binary(api: &Api, client: &Client) {
    let refusal = Refusal::bad_request("Frames are JSON objects in text; this one was binary.");
    refuse(api, client, None, NO_ACTION, &refusal);
}

fn refuse(api: &Api, client: &Client, id: Option<&str>, action: &str, refusal: &Refusal) {
    let frame = OutFrame::error(id, action, refusal.payload(), api.store.now());
    client.push(|outbox| outbox.push_control(frame));
}

/// Reads a frame. What is wrong is answered under the id it came with, as far as one can be made out.
fn read(text: &str) -> Result<Request, (Option<String>, Refusal)> {
    let bad = |id: Option<String>, message: &str| Err((id, Refusal::bad_request(message)));
    let Ok(Value::Object(mut frame)) = serde_json::from_str(text) else {
        return bad(None, "A frame is one JSON object.");
    };
    let id = match frame.remove("id") {
        None => None,
        Some(Value::String(id)) if id.len() <= bounds::ID_BYTES => Some(id),
        Some(_) => return bad(None, "A frame's id is a text of at most 256 bytes."),
    };
    let kind = frame
        .remove("type")
        .and_then(|kind| serde_json::from_value::<FrameType>(kind).ok());
    if kind != Some(FrameType::Request) {
        return bad(id, "Only frames of type \"request\" are taken.");
    }
    let Some(Value::String(action)) = frame.remove("action") else {
        return bad(id, "A request names its action.");
    };
    let payload = frame
        .remove("payload")
        .unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    Ok(Request {
        id,
        action,
        payload,
    })
}

fn start(api: &Arc<Api>, client: &Arc<Client>, lanes: &mut Lanes, request: Request) {
    let Request {
        id,
        action,
        payload,
    } = request;
    if !wire::action::REQUESTS.contains(&action.as_str()) {
        let named = model::text::cut(&action, bounds::ID_BYTES);
        return refuse(
            api,
            client,
            id.as_deref(),
            named,
            &Refusal::unknown_action(),
        );
    }
    let room = room_for(&action);
    let promised = client.outbox(|outbox| {
        let free = outbox.in_flight() < bounds::INFLIGHT_REQUESTS;
        if free {
            outbox.reserve_control(room);
        }
        free
    });
    if !promised {
        let refusal = Refusal::busy("Too many requests of this connection are under way.");
        return refuse(api, client, id.as_deref(), &action, &refusal);
    }
    let promise = Promise {
        api: Arc::clone(api),
        client: Arc::clone(client),
        id,
        action: action.clone(),
        room,
        kept: false,
    };
    let mut turn = match lanes.enter(&action, &payload) {
        Place::Free => None,
        Place::In(turn) => Some(turn),
        Place::Full => {
            let message =
                "Too much is under way for this session; send it again when that is done.";
            return promise.keep(Err(Refusal::busy(message)));
        }
    };
    let call = Call {
        api: Arc::clone(api),
        client: Arc::clone(client),
    };
    api.requests.spawn(async move {
        if let Some(turn) = &mut turn {
            turn.comes().await;
        }
        promise.keep(dispatch(&call, &action, payload).await);
        drop(turn);
    });
}

/// How much room the answer of an action may need: nothing, one thing, or a list of them.
fn room_for(action: &str) -> usize {
    match action {
        action::PING
        | action::CLIENT_HELLO
        | action::WORKSPACE_SUBSCRIBE
        | action::WORKSPACE_UNSUBSCRIBE
        | action::SESSION_SUBSCRIBE
        | action::SESSION_UNSUBSCRIBE
        | action::SESSION_FOCUS
        | action::SESSION_UNFOCUS
        | action::SESSION_GIT_REFRESH
        | action::PERMISSION_RESPOND
        | action::CLARIFICATION_RESPOND
        | action::AGENT_CANCEL => bounds::ANSWER_BYTES,
        action::TASK_LIST
        | action::TASK_PENDING
        | action::SESSION_LIST
        | action::MESSAGE_LIST
        | action::MESSAGE_QUEUE_LIST
        | action::MESSAGE_QUEUE_REORDER
        | action::GIT_CHANGES
        | action::REPOSITORY_INSPECT
        | action::REPOSITORY_SUGGEST
        | action::REPOSITORY_BRANCHES
        | action::AGENT_KNOWN => bounds::LARGE_ANSWER_BYTES,
        _ => bounds::ENTITY_ANSWER_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_frame_is_answered_under_its_id_where_there_is_one() {
        let id = |text: &str| read(text).map(|request| request.id).map_err(|(id, _)| id);
        assert_eq!(id("nonsense"), Err(None));
        assert_eq!(id("[]"), Err(None));
        assert_eq!(
            id(r#"{"id":7,"type":"request","action":"ping"}"#),
            Err(None)
        );
        assert_eq!(id(r#"{"id":"7","action":"ping"}"#), Err(Some("7".into())));
        assert_eq!(
            id(r#"{"id":"7","type":"response","action":"ping"}"#),
            Err(Some("7".into()))
        );
        assert_eq!(id(r#"{"id":"7","type":"request"}"#), Err(Some("7".into())));
        assert_eq!(
            id(r#"{"id":"7","type":"request","action":"ping"}"#),
            Ok(Some("7".into()))
        );
        assert_eq!(
            id(r#"{"type":"request","action":"ping","more":1}"#),
            Ok(None)
        );
    }

    #[test]
    fn slow_requests_do_not_stop_the_reading_of_a_stop_behind_them() {
        let limits = flow::outbox::limits::Limits::default();
        let mut outbox = flow::outbox::Outbox::<OutFrame>::new(limits);
        for _ in 0..bounds::CONTROL_BYTES / bounds::LARGE_ANSWER_BYTES {
            for slow in [
                action::GIT_MERGE_INTO_BASE,
                action::SESSION_STOP,
                action::GIT_DIFF,
            ] {
                outbox.reserve_control(room_for(slow));
            }
        }
        assert!(outbox.has_control_room(bounds::LARGE_ANSWER_BYTES));
    }
}
