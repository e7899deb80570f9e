//! May this person do this to that thing: the one question of authorization (law 8).
//!
//! The workspace that owns the id decides. Someone who is no member of it is told that there is no such thing, in the
//! same words as for an id that nobody has.

use super::Call;
use crate::refusal::Refusal;
use model::ids::{AgentProfileId, EnvironmentId, RepositoryId, SessionId, TaskId, WorkspaceId};
use model::workspace::Role;
use store::scope;
use store::sql::Link;

/// What a request is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    Workspace(&'a WorkspaceId),
    Task(&'a TaskId),
    Session(&'a SessionId),
    Environment(&'a EnvironmentId),
    Repository(&'a RepositoryId),
    AgentProfile(&'a AgentProfileId),
}

/// What is to be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Every member may.
    Read,
    /// Viewers may not.
    Write,
}

impl Subject<'_> {
    /// How a person calls it.
    const fn noun(self) -> &'static str {
        match self {
            Self::Workspace(_) => "workspace",
            Self::Task(_) => "task",
            Self::Session(_) => "session",
            Self::Environment(_) => "environment",
            Self::Repository(_) => "repository",
            Self::AgentProfile(_) => "agent profile",
        }
    }

    async fn workspace(self, link: &mut Link) -> store::error::Result<Option<WorkspaceId>> {
        match self {
            Self::Workspace(id) => Ok(Some(id.clone())),
            Self::Task(id) => scope::of_task(link, id).await,
            Self::Session(id) => scope::of_session(link, id).await,
            Self::Environment(id) => scope::of_environment(link, id).await,
            Self::Repository(id) => scope::of_repository(link, id).await,
            Self::AgentProfile(id) => scope::of_profile(link, id).await,
        }
    }
}

/// Lets the caller through, with their role, or refuses.
pub(crate) async fn require(
    call: &Call,
    subject: Subject<'_>,
    need: Need,
) -> Result<Role, Refusal> {
    let mut tx = call.api.store.read().await?;
    require_in(&mut tx, call, subject, need).await
}

/// As [`require`], within a read that goes on.
pub(crate) async fn require_in(
    link: &mut Link,
    call: &Call,
    subject: Subject<'_>,
    need: Need,
) -> Result<Role, Refusal> {
    let not_found = || Refusal::not_found(subject.noun());
    let workspace_id = subject.workspace(link).await?.ok_or_else(not_found)?;
    let role = store::workspaces::role(link, &workspace_id, &call.client.user_id)
        .await?
        .ok_or_else(not_found)?;
    if need == Need::Write && !role.may_write() {
        return Err(Refusal::forbidden());
    }
    Ok(role)
}
