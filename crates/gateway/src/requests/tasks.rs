//! Tasks: lists and single ones, and what is done to them.

use super::access::{Need, Subject, require, require_in};
use super::{Call, Reply, parse};
use crate::api::Api;
use crate::pages;
use crate::refusal::Refusal;
use model::bounds;
use model::ids::{TaskId, WorkflowId, WorkspaceId};
use model::task::Task;
use orchestrator::tasks::{CreateTask, StartAgent};
use projector::running::hydrating::patience;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use store::hydration::{self, Doubts};
use store::sql::Link;
use tokio::time::Instant;
use wire::notification::TaskPayload;
use wire::request::{
    EnvironmentChoice, TaskCreate, TaskDelete, TaskDismissError, TaskList, TaskMove, TaskRecover,
    TaskRef, TaskUpdate,
};
use wire::response::{PendingList, TaskPage};

pub(super) async fn list(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: TaskList = parse(payload)?;
    require(call, Subject::Workspace(&wanted.workspace_id), Need::Read).await?;
    let cursor = wanted.cursor.as_deref().map(TaskId::parse).transpose();
    let cursor = cursor.map_err(|_| Refusal::invalid("That cursor is not one of this list."))?;
    let archived = wanted.archived.unwrap_or(false);
    let (tasks, more) = rows(
        &call.api,
        &wanted.workspace_id,
        wanted.workflow_id.as_ref(),
        archived,
        cursor.as_ref(),
        patience(),
    )
    .await?;
    let written = pages::written(&tasks);
    let last = written.len().checked_sub(1).and_then(|at| tasks.get(at));
    let cursor = last
        .filter(|_| more || written.len() < tasks.len())
        .map(|task| task.id.as_str());
    Ok(Reply::new(&WrittenPage {
        tasks: &written,
        cursor,
    }))
}

/// A [`TaskPage`] whose rows are text already.
#[derive(Serialize)]
struct WrittenPage<'a> {
    tasks: &'a [Box<RawValue>],
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
}

pub(super) async fn get(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskRef { task_id } = parse(payload)?;
    let page = {
        let mut tx = call.api.store.read().await?;
        require_in(&mut tx, call, Subject::Task(&task_id), Need::Read).await?;
        read(&mut tx, std::slice::from_ref(&task_id)).await?
    };
    let mut tasks = hydrated(&call.api, page, patience()).await;
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

/// The first page of a workspace's tasks, by rows and by bytes (GWY-07).
pub(crate) async fn first_page(
    api: &Api,
    workspace_id: &WorkspaceId,
    until: Instant,
) -> Result<TaskPage, Refusal> {
    let (mut tasks, more) = rows(api, workspace_id, None, false, None, until).await?;
    let fitting = pages::fitting(&tasks);
    let more = more || fitting < tasks.len();
    tasks.truncate(fitting);
    let last = tasks.last().filter(|_| more);
    let cursor = last.map(|task| task.id.to_string());
    Ok(TaskPage { tasks, cursor })
}

/// The tasks that a page begins with, with their summaries (SUM-01), and whether there are more: a constant number of
/// statements, whatever they hold (PST-04). Summaries are brought up to date until `until`; later, stored ones are
/// shown. Not all need fit into the page.
async fn rows(
    api: &Api,
    workspace_id: &WorkspaceId,
    workflow_id: Option<&WorkflowId>,
    archived: bool,
    cursor: Option<&TaskId>,
    until: Instant,
) -> Result<(Vec<Task>, bool), Refusal> {
    let (found, more) = {
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
        (read(&mut tx, &ids).await?, more)
    };
    Ok((hydrated(api, found, until).await, more))
}

/// Tasks with their stored summaries, and which of these are doubted.
struct Found {
    tasks: Vec<Task>,
    doubts: Doubts,
}

/// Reads tasks in one snapshot, in the order of `ids`.
async fn read(link: &mut Link, ids: &[TaskId]) -> Result<Found, Refusal> {
    let listed = store::tasks::load_listed(link, ids).await?;
    // The last statement of its transaction: one that fails leaves it unusable.
    let open = match hydration::open_requests(link, ids).await {
        Ok(open) => Some(open),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "what tasks wait for could not be read; lists show what is stored"
            );
            None
        }
    };
    let doubts = hydration::doubts(&listed, open.as_ref());
    let tasks = listed.into_iter().map(|listed| listed.task).collect();
    Ok(Found { tasks, doubts })
}

/// Replaces the doubted summaries by newer ones where that succeeds (PEN-07).
async fn hydrated(api: &Api, found: Found, until: Instant) -> Vec<Task> {
    let Found { mut tasks, doubts } = found;
    if doubts.is_empty() {
        return tasks;
    }
    let mut summaries = api.projector.hydrate(doubts, until).await;
    for task in &mut tasks {
        if let Some(summary) = summaries.remove(&task.id) {
            task.status_summary = Some(summary);
        }
    }
    tasks
}

pub(super) async fn create(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: TaskCreate = parse(payload)?;
    require(call, Subject::Workspace(&wanted.workspace_id), Need::Write).await?;
    let start = wanted.start_agent.then_some(StartAgent {
        agent_profile_id: wanted.agent_profile_id,
        prompt: wanted.prompt,
    });
    let new = CreateTask {
        workspace_id: wanted.workspace_id,
        client_id: wanted.client_id,
        title: wanted.title,
        description: wanted.description.unwrap_or_default(),
        workflow_id: wanted.workflow_id,
        step_id: wanted.step_id,
        repositories: wanted
            .repositories
            .into_iter()
            .map(|choice| (choice.repository_id, choice.base_branch))
            .collect(),
        inherit_environment: wanted.environment == EnvironmentChoice::Inherit,
        parent_id: wanted.parent_id,
        start,
    };
    Ok(answer(call.api.orchestrator.create_task(new).await?))
}

pub(super) async fn update(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskUpdate {
        task_id,
        title,
        description,
        state,
        priority,
    } = parse(payload)?;
    require(call, Subject::Task(&task_id), Need::Write).await?;
    let (title, description) = (title.as_deref(), description.as_deref());
    Ok(answer(
        call.api
            .orchestrator
            .update_task(&task_id, title, description, state, priority)
            .await?,
    ))
}

pub(super) async fn move_to(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskMove {
        task_id,
        step_id,
        position,
    } = parse(payload)?;
    require(call, Subject::Task(&task_id), Need::Write).await?;
    Ok(answer(
        call.api
            .orchestrator
            .move_task(&task_id, &step_id, position)
            .await?,
    ))
}

pub(super) async fn set_archived(
    call: &Call,
    payload: Value,
    archived: bool,
) -> Result<Reply, Refusal> {
    let TaskRef { task_id } = parse(payload)?;
    require(call, Subject::Task(&task_id), Need::Write).await?;
    Ok(answer(
        call.api
            .orchestrator
            .set_task_archived(&task_id, archived)
            .await?,
    ))
}

pub(super) async fn delete(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskDelete {
        task_id,
        discard_changes,
    } = parse(payload)?;
    require(call, Subject::Task(&task_id), Need::Write).await?;
    call.api
        .orchestrator
        .delete_task(&task_id, discard_changes)
        .await?;
    Ok(Reply::done())
}

pub(super) async fn dismiss_error(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskDismissError { task_id, stamp } = parse(payload)?;
    require(call, Subject::Task(&task_id), Need::Write).await?;
    call.api
        .orchestrator
        .dismiss_error(&task_id, &stamp)
        .await?;
    Ok(Reply::done())
}

pub(super) async fn recover(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskRecover {
        task_id,
        stamp,
        action,
        base_branch,
    } = parse(payload)?;
    require(call, Subject::Task(&task_id), Need::Write).await?;
    call.api
        .orchestrator
        .recover_task(&task_id, &stamp, action, base_branch.as_deref())
        .await?;
    Ok(Reply::done())
}

fn answer(task: Task) -> Reply {
    Reply::new(&TaskPayload { task })
}
