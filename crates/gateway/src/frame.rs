//! Outgoing frames: serialised once, shared by every client they go to.
//!
//! A frame that carries messages also carries what its reader holds of them afterwards ([`Lesson`]); the writer notes
//! it when the frame is written, so what the server believes follows what was really sent.

use axum::extract::ws::Utf8Bytes;
use flow::outbox::keys::Held;
use flow::outbox::limits::Weigh;
use model::bounds;
use model::clock::Timestamp;
use model::ids::{MessageId, SessionId};
use model::message::Message;
use model::text;
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;
use wire::envelope::{ErrorPayload, FrameType};

/// What a client holds of a message once it has read a frame; nothing for a message that will not grow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lesson {
    pub(crate) session_id: SessionId,
    pub(crate) message_id: MessageId,
    pub(crate) held: Option<Held>,
}

/// A finished frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutFrame {
    pub(crate) text: Utf8Bytes,
    pub(crate) lessons: Arc<[Lesson]>,
}

impl Weigh for OutFrame {
    fn weight(&self) -> usize {
        self.text.len()
    }
}

#[derive(Serialize)]
struct Envelope<'a, P: Serialize> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(rename = "type")]
    kind: FrameType,
    action: &'a str,
    payload: &'a P,
    timestamp: Timestamp,
}

impl OutFrame {
    fn build<P: Serialize>(
        id: Option<&str>,
        kind: FrameType,
        action: &str,
        payload: &P,
        now: Timestamp,
    ) -> Self {
        let envelope = Envelope {
            id,
            kind,
            action,
            payload,
            timestamp: now,
        };
        let text = serde_json::to_string(&envelope)
            .expect("wire types have string keys and finite numbers only");
        Self {
            text: text.into(),
            lessons: Arc::default(),
        }
    }

    pub(crate) fn notification<P: Serialize>(action: &str, payload: &P, now: Timestamp) -> Self {
        Self::build(None, FrameType::Notification, action, payload, now)
    }

    pub(crate) fn response<P: Serialize>(
        id: Option<&str>,
        action: &str,
        payload: &P,
        now: Timestamp,
    ) -> Self {
        Self::build(id, FrameType::Response, action, payload, now)
    }

    pub(crate) fn error(
        id: Option<&str>,
        action: &str,
        payload: &ErrorPayload,
        now: Timestamp,
    ) -> Self {
        Self::build(id, FrameType::Error, action, payload, now)
    }

    pub(crate) fn teaching(mut self, lessons: impl IntoIterator<Item = Lesson>) -> Self {
        self.lessons = lessons.into_iter().collect();
        self
    }
}

/// The public form of a message: content beyond [`bounds::WIRE_CONTENT_BYTES`] is cut and marked.
pub(crate) fn public(message: &Message) -> Cow<'_, Message> {
    let cut = text::cut(&message.content, bounds::WIRE_CONTENT_BYTES);
    if cut.len() == message.content.len() {
        return Cow::Borrowed(message);
    }
    Cow::Owned(Message {
        content: cut.to_owned(),
        content_truncated: true,
        ..message.clone()
    })
}

/// What a reader of the public form of `message` holds of it.
pub(crate) fn lesson(message: &Message) -> Lesson {
    let held = message.streaming.then(|| {
        if message.content_truncated || bounds::WIRE_CONTENT_BYTES < message.content.len() {
            Held::Cut
        } else {
            Held::Units(text::utf16_len(&message.content) as u64)
        }
    });
    Lesson {
        session_id: message.session_id.clone(),
        message_id: message.id.clone(),
        held,
    }
}
