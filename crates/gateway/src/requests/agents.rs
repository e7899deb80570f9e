//! Agents that this version knows, and how they are started.

use super::access::{Need, Subject, require};
use super::{Call, Reply, parse};
use crate::refusal::Refusal;
use orchestrator::profiles::ProfileFields;
use serde_json::Value;
use wire::request::{AgentProfileCreate, AgentProfileFields, AgentProfileRef, AgentProfileUpdate};
use wire::response::KnownAgents;

pub(super) fn known(call: &Call) -> Reply {
    Reply::new(&KnownAgents {
        agents: call.api.orchestrator.known_agents(),
    })
}

pub(super) async fn create_profile(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let AgentProfileCreate {
        workspace_id,
        fields: wanted,
    } = parse(payload)?;
    require(call, Subject::Workspace(&workspace_id), Need::Write).await?;
    Ok(Reply::new(
        &call
            .api
            .orchestrator
            .create_profile(&workspace_id, fields(wanted))
            .await?,
    ))
}

pub(super) async fn update_profile(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let AgentProfileUpdate {
        agent_profile_id,
        fields: wanted,
    } = parse(payload)?;
    require(call, Subject::AgentProfile(&agent_profile_id), Need::Write).await?;
    Ok(Reply::new(
        &call
            .api
            .orchestrator
            .update_profile(&agent_profile_id, fields(wanted))
            .await?,
    ))
}

pub(super) async fn delete_profile(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let AgentProfileRef { agent_profile_id } = parse(payload)?;
    require(call, Subject::AgentProfile(&agent_profile_id), Need::Write).await?;
    call.api
        .orchestrator
        .delete_profile(&agent_profile_id)
        .await?;
    Ok(Reply::done())
}

fn fields(wanted: AgentProfileFields) -> ProfileFields {
    let AgentProfileFields {
        name,
        command,
        args,
        env,
        default_mode,
        default_model,
    } = wanted;
    ProfileFields {
        name,
        command,
        args,
        env,
        default_mode,
        default_model,
    }
}
