//! Git of an environment: what changed, a file's diff, taking the result, and one observation that begins now.

use super::access::{Need, Subject, require, require_in};
use super::{Call, Reply, parse};
use crate::refusal::Refusal;
use flow::outbox::keys::Scope;
use model::git::{GitStatus, normalised_repository};
use model::ids::{EnvironmentId, SessionId, TaskId};
use serde_json::Value;
use wire::request::{GitChanges, GitDiff, GitMergeIntoBase, SessionRef};
use wire::response::{GitChangesPage, GitDiffFile, GitMerged};

/// The first page is the stored observation, whose totals the row shows. What it could not hold comes from a listing
/// made now, and says so.
pub(super) async fn changes(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let GitChanges {
        task_environment_id,
        repository,
        cursor,
    } = parse(payload)?;
    let stored = {
        let mut tx = call.api.store.read().await?;
        require_in(
            &mut tx,
            call,
            Subject::Environment(&task_environment_id),
            Need::Read,
        )
        .await?;
        store::snapshots::current(&mut tx, std::slice::from_ref(&task_environment_id)).await?
    };
    let wanted = normalised_repository(repository.as_deref());
    let stored = stored
        .into_iter()
        .map(|snapshot| snapshot.status)
        .find(|status| normalised_repository(status.repository_name.as_deref()) == wanted);
    if cursor.is_none()
        && let Some(page) = stored.and_then(stored_page)
    {
        return Ok(Reply::new(&page));
    }
    let orchestrator = &call.api.orchestrator;
    let (timestamp, page) = orchestrator
        .git_changes(
            &task_environment_id,
            repository.as_deref(),
            cursor.as_deref(),
        )
        .await?;
    Ok(Reply::new(&GitChangesPage {
        timestamp,
        files: page.files,
        cursor: page.next,
        live: true,
    }))
}

/// The stored observation as a page; nothing when it has no details.
fn stored_page(status: GitStatus) -> Option<GitChangesPage> {
    let files = status.files?;
    let cursor = files
        .last()
        .filter(|_| status.truncated)
        .map(|file| file.path.clone());
    Some(GitChangesPage {
        timestamp: status.timestamp,
        files,
        cursor,
        live: false,
    })
}

pub(super) async fn diff(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let GitDiff {
        task_environment_id,
        repository,
        path,
    } = parse(payload)?;
    require(call, Subject::Environment(&task_environment_id), Need::Read).await?;
    let diff = call
        .api
        .orchestrator
        .git_diff(&task_environment_id, repository.as_deref(), &path)
        .await?;
    let skipped = diff.skipped.map(|reason| reason.as_str().to_owned());
    Ok(Reply::new(&GitDiffFile {
        path: diff.path,
        old_path: diff.old_path,
        patch: diff.patch,
        skipped,
    }))
}

pub(super) async fn merge_into_base(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let GitMergeIntoBase {
        task_environment_id,
        repository,
    } = parse(payload)?;
    require(
        call,
        Subject::Environment(&task_environment_id),
        Need::Write,
    )
    .await?;
    let orchestrator = &call.api.orchestrator;
    let (outcome, base_branch, head_commit) = orchestrator
        .merge_into_base(&task_environment_id, repository.as_deref())
        .await?;
    Ok(Reply::new(&GitMerged {
        outcome: outcome.to_owned(),
        base_branch,
        head_commit,
    }))
}

/// Answered at acceptance; refused while too many of this client's are under way. When the observation is done the requester gets the status of every repository, also an
/// unchanged one (API-04).
pub(super) async fn refresh(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let SessionRef { session_id } = parse(payload)?;
    let session = {
        let mut tx = call.api.store.read().await?;
        require_in(&mut tx, call, Subject::Session(&session_id), Need::Read).await?;
        store::sessions::get(&mut tx, &session_id).await?
    };
    if let Some(environment_id) = session.task_environment_id {
        let place = call.client.background().ok_or_else(|| {
            Refusal::busy("Too many refreshes of this client are under way. Try again in a moment.")
        })?;
        let call = call.clone();
        call.api.requests.clone().spawn(async move {
            observe(&call, &session_id, &session.task_id, &environment_id).await;
            drop(place);
        });
    }
    Ok(Reply::done())
}

async fn observe(
    call: &Call,
    session_id: &SessionId,
    task_id: &TaskId,
    environment_id: &EnvironmentId,
) {
    let statuses = match call.api.orchestrator.refresh_git(environment_id).await {
        Ok(statuses) => statuses,
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, environment = %environment_id, "a refresh failed");
            return;
        }
    };
    let open = Scope::Session(session_id.clone());
    for status in &statuses {
        let (key, version, frame) =
            call.api
                .hub
                .git_state(session_id, task_id, environment_id, status);
        call.client.push(|outbox| {
            // Whoever asks without having the session open is answered too, and hears nothing else of it.
            let scope = if outbox.is_joined(&open) {
                &open
            } else {
                &Scope::User
            };
            outbox.push_state(scope, key, version, frame)
        });
    }
}
