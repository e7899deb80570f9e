//! The queue of a session: looked at and edited.

use super::access::{Need, Subject, require, require_in};
use super::messages::{answer, existing, to_change};
use super::{Call, Reply, parse};
use crate::pages;
use crate::refusal::Refusal;
use model::bounds;
use model::message::Message;
use serde_json::Value;
use wire::request::{QueueReorder, QueueUpdate, SessionRef};
use wire::response::QueueList;

pub(super) async fn list(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    let mut tx = call.api.store.read().await?;
    require_in(&mut tx, call, Subject::Session(&session_id), Need::Read).await?;
    let messages = store::messages::queue(&mut tx, &session_id).await?;
    Ok(page(messages))
}

fn page(messages: Vec<Message>) -> Reply {
    let messages = messages.into_iter().map(queued).collect();
    Reply::new(&QueueList { messages })
}

/// A row of the queue. The list has no cursor, so each row is cut to its share of a page (GWY-07).
pub(super) fn queued(mut message: Message) -> Message {
    let content = std::mem::take(&mut message.content);
    let was_cut = std::mem::replace(&mut message.content_truncated, true);
    // Everything else of the row, its mark, and the comma behind it.
    let around = pages::wire_bytes(&message).saturating_add(1);
    let fitting = pages::fitting_text(&content, bounds::QUEUED_ROW_BYTES.saturating_sub(around));
    message.content_truncated = was_cut || fitting.len() < content.len();
    message.content = fitting.to_owned();
    message
}

pub(super) async fn update(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: QueueUpdate = parse(payload)?;
    let message_id = existing(&wanted.message_id)?;
    let session_id = wanted.session_id;
    require(call, Subject::Session(&session_id), Need::Write).await?;
    let orchestrator = &call.api.orchestrator;
    let message = orchestrator
        .rewrite_queued(&session_id, &message_id, &wanted.content)
        .await?;
    Ok(answer(&message))
}

pub(super) async fn reorder(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: QueueReorder = parse(payload)?;
    let order = wanted.message_ids.iter().map(|id| existing(id));
    let order = order.collect::<Result<Vec<_>, _>>()?;
    let session_id = wanted.session_id;
    require(call, Subject::Session(&session_id), Need::Write).await?;
    let orchestrator = &call.api.orchestrator;
    Ok(page(orchestrator.reorder_queue(&session_id, &order).await?))
}

pub(super) async fn send_now(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let (session_id, message_id) = to_change(call, payload).await?;
    let orchestrator = &call.api.orchestrator;
    Ok(answer(
        &orchestrator.send_now(&session_id, &message_id).await?,
    ))
}

pub(super) async fn remove(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let (session_id, message_id) = to_change(call, payload).await?;
    let orchestrator = &call.api.orchestrator;
    orchestrator.remove_queued(&session_id, &message_id).await?;
    Ok(Reply::done())
}
