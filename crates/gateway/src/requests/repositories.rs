//! Registered repositories, and folders that might become some.

use super::access::{Need, Subject, require};
use super::{Call, Reply, parse};
use crate::refusal::Refusal;
use serde_json::Value;
use wire::request::{
    RepositoryAdd, RepositoryInspect, RepositoryRef, RepositoryRemove, RepositoryUpdate,
    WorkspaceRef,
};
use wire::response::{BranchList, RepositoryFacts, RepositorySuggestions};

/// Looks at a folder of the server: only for who may register it.
pub(super) async fn inspect(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let RepositoryInspect { workspace_id, path } = parse(payload)?;
    require(call, Subject::Workspace(&workspace_id), Need::Write).await?;
    let facts = call.api.orchestrator.inspect_repository(&path).await?;
    let name = facts
        .top_level
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    Ok(Reply::new(&RepositoryFacts {
        path: facts.top_level.to_string_lossy().into_owned(),
        name,
        default_branch: facts.default_branch,
        branches: facts
            .branches
            .into_iter()
            .map(|branch| branch.name)
            .collect(),
        is_empty: facts.is_empty,
    }))
}

pub(super) async fn suggest(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let WorkspaceRef { workspace_id } = parse(payload)?;
    require(call, Subject::Workspace(&workspace_id), Need::Write).await?;
    let paths = call
        .api
        .orchestrator
        .suggest_repositories(&workspace_id)
        .await?;
    Ok(Reply::new(&RepositorySuggestions { paths }))
}

pub(super) async fn branches(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let RepositoryRef { repository_id } = parse(payload)?;
    require(call, Subject::Repository(&repository_id), Need::Read).await?;
    let (default_branch, branches) = call
        .api
        .orchestrator
        .repository_branches(&repository_id)
        .await?;
    Ok(Reply::new(&BranchList {
        default_branch,
        branches,
    }))
}

pub(super) async fn add(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let RepositoryAdd {
        workspace_id,
        path,
        name,
        default_branch,
    } = parse(payload)?;
    require(call, Subject::Workspace(&workspace_id), Need::Write).await?;
    let orchestrator = &call.api.orchestrator;
    let repository = orchestrator
        .add_repository(
            &workspace_id,
            &path,
            name.as_deref(),
            default_branch.as_deref(),
        )
        .await?;
    Ok(Reply::new(&repository))
}

pub(super) async fn update(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let RepositoryUpdate {
        repository_id,
        name,
        default_branch,
    } = parse(payload)?;
    require(call, Subject::Repository(&repository_id), Need::Write).await?;
    let orchestrator = &call.api.orchestrator;
    let repository = orchestrator
        .update_repository(&repository_id, name.as_deref(), default_branch.as_deref())
        .await?;
    Ok(Reply::new(&repository))
}

pub(super) async fn remove(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let RepositoryRemove { repository_id } = parse(payload)?;
    require(call, Subject::Repository(&repository_id), Need::Write).await?;
    call.api
        .orchestrator
        .remove_repository(&repository_id)
        .await?;
    Ok(Reply::done())
}
