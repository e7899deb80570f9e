//! Sessions: their list, and what is done to them.

use super::access::{Need, Subject, require_in};
use super::{Call, Reply, parse};
use crate::refusal::Refusal;
use serde_json::Value;
use wire::request::TaskRef;
use wire::response::SessionList;

pub(super) async fn list(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskRef { task_id } = parse(payload)?;
    let mut tx = call.api.store.read().await?;
    require_in(&mut tx, call, Subject::Task(&task_id), Need::Read).await?;
    let sessions = store::sessions::of_task(&mut tx, &task_id).await?;
    Ok(Reply::new(&SessionList { sessions }))
}
