//! Sessions: their list, and what is done to them.

use super::access::{Need, Subject, require, require_in};
use super::{Call, Reply, parse};
use crate::refusal::Refusal;
use model::ids::{MessageId, SessionId};
use model::session::Session;
use orchestrator::launch::LaunchSession;
use serde_json::Value;
use wire::notification::SessionPayload;
use wire::request::{
    LaunchEnvironment, SessionDelete, SessionLaunch, SessionRef, SessionRename, SessionSetMode,
    SessionSetModel, SessionSetOption, TaskRef,
};
use wire::response::SessionList;

pub(super) async fn list(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let TaskRef { task_id } = parse(payload)?;
    let mut tx = call.api.store.read().await?;
    require_in(&mut tx, call, Subject::Task(&task_id), Need::Read).await?;
    let sessions = store::sessions::of_task(&mut tx, &task_id).await?;
    Ok(Reply::new(&SessionList { sessions }))
}

pub(super) async fn launch(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: SessionLaunch = parse(payload)?;
    require(call, Subject::Task(&wanted.task_id), Need::Write).await?;
    let message_id = wanted
        .client_message_id
        .as_deref()
        .map(MessageId::from_client)
        .transpose();
    let message_id =
        message_id.map_err(|error| Refusal::invalid(format!("client_message_id: {error}.")))?;
    let prompt = wanted
        .prompt
        .map(|prompt| (message_id.unwrap_or_else(MessageId::generate), prompt));
    let launch = LaunchSession {
        task_id: wanted.task_id,
        client_id: wanted.client_id,
        agent_profile_id: wanted.agent_profile_id,
        prompt,
        fresh_environment: wanted.environment == LaunchEnvironment::New,
    };
    Ok(answer(call.api.orchestrator.launch_session(launch).await?))
}

pub(super) async fn rename(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRename { session_id, name } = parse(payload)?;
    may_change(call, &session_id).await?;
    Ok(answer(
        call.api
            .orchestrator
            .rename_session(&session_id, &name)
            .await?,
    ))
}

pub(super) async fn set_primary(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    may_change(call, &session_id).await?;
    Ok(answer(
        call.api
            .orchestrator
            .set_primary_session(&session_id)
            .await?,
    ))
}

pub(super) async fn close(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    may_change(call, &session_id).await?;
    Ok(answer(
        call.api.orchestrator.close_session(&session_id).await?,
    ))
}

pub(super) async fn stop(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    may_change(call, &session_id).await?;
    call.api.orchestrator.stop_session(&session_id).await?;
    Ok(Reply::done())
}

pub(super) async fn delete(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    // The worktree belongs to the environment, which the task still binds: nothing uncommitted goes with a session.
    let SessionDelete {
        session_id,
        discard_changes: _,
    } = parse(payload)?;
    may_change(call, &session_id).await?;
    call.api.orchestrator.delete_session(&session_id).await?;
    Ok(Reply::done())
}

pub(super) async fn cancel_turn(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    may_change(call, &session_id).await?;
    call.api.orchestrator.cancel_turn(&session_id).await?;
    Ok(Reply::done())
}

pub(super) async fn set_model(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionSetModel { session_id, model } = parse(payload)?;
    may_change(call, &session_id).await?;
    call.api
        .orchestrator
        .set_session_model(&session_id, &model)
        .await?;
    Ok(Reply::done())
}

pub(super) async fn set_mode(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionSetMode { session_id, mode } = parse(payload)?;
    may_change(call, &session_id).await?;
    call.api
        .orchestrator
        .set_session_mode(&session_id, &mode)
        .await?;
    Ok(Reply::done())
}

pub(super) async fn set_option(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionSetOption {
        session_id,
        option,
        value,
    } = parse(payload)?;
    may_change(call, &session_id).await?;
    call.api
        .orchestrator
        .set_session_option(&session_id, &option, &value)
        .await?;
    Ok(Reply::done())
}

async fn may_change(call: &Call, session_id: &SessionId) -> Result<(), Refusal> {
    require(call, Subject::Session(session_id), Need::Write)
        .await
        .map(drop)
}

fn answer(session: Session) -> Reply {
    Reply::new(&SessionPayload { session })
}
