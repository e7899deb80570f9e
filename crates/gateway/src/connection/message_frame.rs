//! The frame of a message state, built when it is written: a suffix of the growing text, or the whole message from the
//! store. So a client that is behind costs a key per message, not a copy.

use crate::client::Client;
use crate::frame::{self, Lesson, OutFrame};
use crate::hub::Hub;
use flow::live_text::Suffix;
use flow::outbox::keys::Held;
use model::ids::{MessageId, SessionId};
use store::error::StoreError;
use store::open::Store;
use wire::action::notification as action;
use wire::notification as payload;

/// The frame that brings a client up to date, or nothing when it is up to date or the message is gone.
///
/// A client that holds a *cut* content gets nothing while the message grows: an append would not fit behind it, and the
/// same cut text again would say nothing new. It gets the message once more when that settles.
///
/// # Errors
/// When the message cannot be read; the client then has to list again.
pub(super) async fn build(
    hub: &Hub,
    store: &Store,
    client: &Client,
    session_id: &SessionId,
    message_id: &MessageId,
    held: Option<Held>,
) -> Result<Option<OutFrame>, StoreError> {
    match held {
        Some(Held::Cut) => return Ok(None),
        Some(Held::Units(from)) if client.takes_appends() => match hub.suffix(message_id, from) {
            Suffix::Nothing => return Ok(None),
            Suffix::Text {
                text,
                end,
                revision,
            } => {
                let body = payload::MessageAppended {
                    session_id: session_id.clone(),
                    message_id: message_id.clone(),
                    offset: from,
                    text,
                    revision,
                };
                let lesson = Lesson {
                    session_id: session_id.clone(),
                    message_id: message_id.clone(),
                    held: Some(Held::Units(end)),
                };
                let frame =
                    OutFrame::notification(action::SESSION_MESSAGE_APPENDED, &body, store.now());
                return Ok(Some(frame.teaching([lesson])));
            }
            Suffix::NotRetained => {}
        },
        Some(Held::Units(_)) | None => {}
    }
    let mut tx = store.read().await?;
    let Some(message) = store::messages::get(&mut tx, message_id).await? else {
        return Ok(None);
    };
    drop(tx);
    let body = payload::MessagePayload {
        message: frame::public(&message).into_owned(),
    };
    let frame = OutFrame::notification(action::SESSION_MESSAGE_UPDATED, &body, store.now());
    Ok(Some(frame.teaching([frame::lesson(&message)])))
}
