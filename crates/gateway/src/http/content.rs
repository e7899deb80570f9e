//! `GET /api/v1/messages/{id}/content`: the whole text of a message whose content was cut for the wire.

use super::refused;
use super::sign_in::Signed;
use crate::api::Api;
use crate::refusal::Refusal;
use axum::extract::{Extension, Path};
use axum::response::{IntoResponse, Response};
use model::ids::MessageId;
use std::sync::Arc;

/// Answers with plain text: nothing in it is interpreted by a browser that opens the address.
pub(super) async fn content(
    Extension(api): Extension<Arc<Api>>,
    Extension(signed): Extension<Signed>,
    Path(id): Path<String>,
) -> Response {
    match load(&api, &signed, &id).await {
        Ok(text) => text.into_response(),
        Err(refusal) => refused(&refusal),
    }
}

async fn load(api: &Api, signed: &Signed, id: &str) -> Result<String, Refusal> {
    let not_found = || Refusal::not_found("message");
    let id = MessageId::from_client(id).map_err(|_| not_found())?;
    let mut tx = api.store.read().await?;
    let message = store::messages::get(&mut tx, &id)
        .await?
        .ok_or_else(not_found)?;
    let workspace_id = store::scope::of_task(&mut tx, &message.task_id)
        .await?
        .ok_or_else(not_found)?;
    let role = store::workspaces::role(&mut tx, &workspace_id, &signed.user_id).await?;
    role.map(|_| message.content).ok_or_else(not_found)
}
