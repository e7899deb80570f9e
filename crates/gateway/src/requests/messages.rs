//! Transcripts, prompts, and the queue.

use super::access::{Need, Subject, require_in};
use super::{Call, Reply, parse};
use crate::frame;
use crate::pages;
use crate::refusal::Refusal;
use model::bounds;
use model::ids::MessageId;
use model::message::Message;
use serde_json::Value;
use store::messages::Window;
use wire::notification::MessagePayload;
use wire::request::{MessageList, MessageRef, SessionRef};
use wire::response::{MessagePage, QueueList};

pub(super) async fn list(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: MessageList = parse(payload)?;
    let window = match (wanted.before, wanted.after) {
        (None, None) => Window::Newest,
        (Some(seq), None) => Window::Before(seq),
        (None, Some(seq)) => Window::After(seq),
        (Some(_), Some(_)) => {
            return Err(Refusal::invalid(
                "A page lies before or after a message, not both.",
            ));
        }
    };
    let limit = wanted.limit.map_or(bounds::MESSAGE_PAGE_ROWS, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    });
    let limit = limit.clamp(1, bounds::MESSAGE_PAGE_ROWS_MAX);
    let (rows, more) = {
        let mut tx = call.api.store.read().await?;
        require_in(
            &mut tx,
            call,
            Subject::Session(&wanted.session_id),
            Need::Read,
        )
        .await?;
        store::messages::list(&mut tx, &wanted.session_id, window, limit).await?
    };
    let page = cut(public(rows), more, window);
    let lessons = page.messages.iter().map(frame::lesson).collect();
    Ok(Reply {
        lessons,
        ..Reply::new(&page)
    })
}

/// Cuts a window to a page. It goes on from its far end: the oldest row, or the newest when it looks forward.
fn cut(mut messages: Vec<Message>, mut more: bool, window: Window) -> MessagePage {
    let forward = matches!(window, Window::After(_));
    let fitting = if forward {
        pages::fitting(&messages)
    } else {
        pages::fitting(messages.iter().rev())
    };
    more |= fitting < messages.len();
    if forward {
        messages.truncate(fitting);
    } else {
        messages.drain(..messages.len().saturating_sub(fitting));
    }
    let far = if forward {
        messages.last()
    } else {
        messages.first()
    };
    let cursor = far.and_then(|message| message.seq);
    MessagePage {
        messages,
        cursor,
        has_more: more,
    }
}

pub(super) async fn get(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let MessageRef {
        session_id,
        message_id,
    } = parse(payload)?;
    let message_id = existing(&message_id)?;
    let mut tx = call.api.store.read().await?;
    require_in(&mut tx, call, Subject::Session(&session_id), Need::Read).await?;
    let message = store::messages::get(&mut tx, &message_id).await?;
    let message = message.filter(|message| message.session_id == session_id);
    let message = message.ok_or_else(|| Refusal::not_found("message"))?;
    let lessons = vec![frame::lesson(&message)];
    let body = MessagePayload {
        message: frame::public(&message).into_owned(),
    };
    Ok(Reply {
        lessons,
        ..Reply::new(&body)
    })
}

pub(super) async fn queue(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    let mut tx = call.api.store.read().await?;
    require_in(&mut tx, call, Subject::Session(&session_id), Need::Read).await?;
    let messages = public(store::messages::queue(&mut tx, &session_id).await?);
    Ok(Reply::new(&QueueList { messages }))
}

/// Reads the id of a message that must exist; a text that is no id names none.
pub(super) fn existing(id: &str) -> Result<MessageId, Refusal> {
    MessageId::from_client(id).map_err(|_| Refusal::not_found("message"))
}

fn public(messages: Vec<Message>) -> Vec<Message> {
    messages
        .into_iter()
        .map(|message| frame::public(&message).into_owned())
        .collect()
}

#[cfg(test)]
mod tests;
