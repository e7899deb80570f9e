//! Transcripts, prompts, and the queue.

use super::access::{Need, Subject, require, require_in};
use super::{Call, Reply, parse};
use crate::frame;
use crate::pages;
use crate::refusal::Refusal;
use model::bounds;
use model::ids::{MessageId, SessionId};
use model::message::Message;
use orchestrator::permissions::Decision;
use orchestrator::sends::NewPrompt;
use serde_json::Value;
use store::messages::Window;
use wire::notification::MessagePayload;
use wire::request::{MessageAdd, MessageList, MessageRef, PermissionRespond};
use wire::response::MessagePage;

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

pub(super) async fn add(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: MessageAdd = parse(payload)?;
    let id = match (&wanted.client_message_id, &wanted.message_id) {
        (Some(one), Some(other)) if one != other => {
            return Err(Refusal::invalid(
                "client_message_id and message_id are two names of one field and differ.",
            ));
        }
        (Some(id), _) | (None, Some(id)) => MessageId::from_client(id),
        (None, None) => return Err(Refusal::invalid("A message needs a client_message_id.")),
    };
    let message_id =
        id.map_err(|error| Refusal::invalid(format!("client_message_id: {error}.")))?;
    require(call, Subject::Task(&wanted.task_id), Need::Write).await?;
    let prompt = NewPrompt {
        task_id: wanted.task_id,
        session_id: wanted.session_id,
        message_id,
        content: wanted.content,
        attachments: wanted.attachments,
    };
    Ok(answer(&call.api.orchestrator.add_message(prompt).await?))
}

pub(super) async fn resend(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let (session_id, message_id) = to_change(call, payload).await?;
    Ok(answer(
        &call
            .api
            .orchestrator
            .resend_message(&session_id, &message_id)
            .await?,
    ))
}

pub(super) async fn delete(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let (session_id, message_id) = to_change(call, payload).await?;
    call.api
        .orchestrator
        .delete_message(&session_id, &message_id)
        .await?;
    Ok(Reply::done())
}

pub(super) async fn respond_permission(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: PermissionRespond = parse(payload)?;
    let decision = match (wanted.option_id, wanted.cancelled) {
        (Some(option), false) => Decision::Option(option),
        (None, true) => Decision::Cancelled,
        (Some(_), true) | (None, false) => {
            return Err(Refusal::invalid(
                "A permission is answered with an option_id or with cancelled.",
            ));
        }
    };
    let message_id = existing(&wanted.message_id)?;
    let session_id = wanted.session_id;
    require(call, Subject::Session(&session_id), Need::Write).await?;
    let orchestrator = &call.api.orchestrator;
    orchestrator
        .respond_permission(&session_id, &message_id, &wanted.pending_id, decision)
        .await?;
    Ok(Reply::done())
}

/// A message that the caller may change.
pub(super) async fn to_change(
    call: &Call,
    payload: Value,
) -> Result<(SessionId, MessageId), Refusal> {
    let MessageRef {
        session_id,
        message_id,
    } = parse(payload)?;
    let message_id = existing(&message_id)?;
    require(call, Subject::Session(&session_id), Need::Write).await?;
    Ok((session_id, message_id))
}

/// The answer that is one message.
pub(super) fn answer(message: &Message) -> Reply {
    Reply::new(&MessagePayload {
        message: frame::public(message).into_owned(),
    })
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
