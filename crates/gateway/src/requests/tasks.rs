//! Tasks: single ones, and what is done to them.

pub(crate) mod list;

use super::access::{Need, Subject, require, require_in};
use super::{Call, Reply, parse};
use crate::refusal::Refusal;
use model::task::Task;
use orchestrator::tasks::{CreateTask, StartAgent};
use projector::running::hydrating::patience;
use serde_json::Value;
use wire::notification::TaskPayload;
use wire::request::{
    EnvironmentChoice, TaskCreate, TaskDelete, TaskDismissError, TaskMove, TaskRecover, TaskRef,
    TaskUpdate,
};
use wire::response::PendingList;

pub(super) async fn get(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskRef { task_id } = parse(payload)?;
    let page = {
        let mut tx = call.api.store.read().await?;
        require_in(&mut tx, call, Subject::Task(&task_id), Need::Read).await?;
        list::read(&mut tx, std::slice::from_ref(&task_id)).await?
    };
    let (mut tasks, unreadable) = list::hydrated(&call.api, page, patience()).await;
    let task = tasks.pop().ok_or_else(|| match unreadable.as_slice() {
        [] => Refusal::not_found("task"),
        _ => Refusal::internal(), // logged where it was read
    })?;
    Ok(Reply::new(&TaskPayload { task }))
}

pub(super) async fn pending(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskRef { task_id } = parse(payload)?;
    let mut tx = call.api.store.read().await?;
    require_in(&mut tx, call, Subject::Task(&task_id), Need::Read).await?;
    let requests = store::requests::of_task(&mut tx, &task_id).await?;
    Ok(Reply::new(&PendingList { requests }))
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
