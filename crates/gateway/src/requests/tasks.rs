//! Tasks: lists and single ones, and what is done to them.

use super::access::{Need, Subject, require, require_in};
use super::{Call, Reply, parse};
use crate::api::Api;
use crate::pages;
use crate::refusal::Refusal;
use model::bounds;
use model::ids::{TaskId, WorkflowId, WorkspaceId};
use model::task::Task;
use serde_json::Value;
use wire::notification::TaskPayload;
use wire::request::{TaskList, TaskRef};
use wire::response::{PendingList, TaskPage};

pub(super) async fn list(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: TaskList = parse(payload)?;
    require(call, Subject::Workspace(&wanted.workspace_id), Need::Read).await?;
    let cursor = wanted.cursor.as_deref().map(TaskId::parse).transpose();
    let cursor = cursor.map_err(|_| Refusal::invalid("That cursor is not one of this list."))?;
    let archived = wanted.archived.unwrap_or(false);
    let page = page(
        &call.api,
        &wanted.workspace_id,
        wanted.workflow_id.as_ref(),
        archived,
        cursor.as_ref(),
    )
    .await?;
    Ok(Reply::new(&page))
}

pub(super) async fn get(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskRef { task_id } = parse(payload)?;
    let task = {
        let mut tx = call.api.store.read().await?;
        require_in(&mut tx, call, Subject::Task(&task_id), Need::Read).await?;
        store::tasks::get(&mut tx, &task_id).await?
    };
    let mut tasks = vec![task];
    hydrate(&call.api, &mut tasks).await;
    let task = tasks.pop().ok_or_else(|| Refusal::not_found("task"))?;
    Ok(Reply::new(&TaskPayload { task }))
}

pub(super) async fn pending(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskRef { task_id } = parse(payload)?;
    let mut tx = call.api.store.read().await?;
    require_in(&mut tx, call, Subject::Task(&task_id), Need::Read).await?;
    let requests = store::requests::of_task(&mut tx, &task_id).await?;
    Ok(Reply::new(&PendingList { requests }))
}

/// One page of a workspace's tasks with their summaries (SUM-01), by rows and by bytes.
pub(crate) async fn page(
    api: &Api,
    workspace_id: &WorkspaceId,
    workflow_id: Option<&WorkflowId>,
    archived: bool,
    cursor: Option<&TaskId>,
) -> Result<TaskPage, Refusal> {
    let (mut tasks, mut more) = {
        let mut tx = api.store.read().await?;
        let limit = bounds::TASK_PAGE_ROWS;
        let mut ids = store::tasks::page(
            &mut tx,
            workspace_id,
            workflow_id,
            archived,
            cursor,
            limit + 1,
        )
        .await?;
        let more = limit < ids.len();
        ids.truncate(limit);
        (store::tasks::load(&mut tx, &ids).await?, more)
    };
    hydrate(api, &mut tasks).await;
    let fitting = pages::fitting(&tasks);
    more |= fitting < tasks.len();
    tasks.truncate(fitting);
    let cursor = tasks
        .last()
        .filter(|_| more)
        .map(|task| task.id.to_string());
    Ok(TaskPage { tasks, cursor })
}

/// Derives, in one batch, the summaries of tasks that have no readable one. On failure they stay as they are.
async fn hydrate(api: &Api, tasks: &mut [Task]) {
    let lacks = |task: &&mut Task| {
        task.status_summary
            .as_ref()
            .is_none_or(|summary| summary.payload.last_activity_at.is_none())
    };
    let ids: Vec<TaskId> = tasks
        .iter_mut()
        .filter(lacks)
        .map(|task| task.id.clone())
        .collect();
    if ids.is_empty() {
        return;
    }
    let mut projected = api.projector.project(&ids).await;
    for task in tasks {
        if let Some(summary) = projected.summaries.remove(&task.id) {
            task.status_summary = Some(summary);
        }
    }
}
