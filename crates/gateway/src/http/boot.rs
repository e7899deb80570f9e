//! `GET /api/v1/boot`: everything the first screen needs, in one answer.

use super::refused;
use super::sign_in::{self, Signed};
use crate::api::Api;
use crate::refusal::Refusal;
use crate::requests::tasks::list;
use axum::Json;
use axum::extract::Extension;
use axum::response::{IntoResponse, Response};
use projector::running::hydrating::patience;
use std::sync::Arc;
use wire::envelope::PROTOCOL;
use wire::http::{Boot, WorkspaceBoot};

/// Answers, and notes that the secret is in use.
pub(super) async fn boot(
    Extension(api): Extension<Arc<Api>>,
    Extension(signed): Extension<Signed>,
) -> Response {
    if let Err(error) = sign_in::touch(&api, &signed).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the use of a secret could not be noted"
        );
    }
    match load(&api, &signed).await {
        Ok(boot) => Json(boot).into_response(),
        Err(refusal) => refused(&refusal),
    }
}

async fn load(api: &Api, signed: &Signed) -> Result<Boot, Refusal> {
    let mut tx = api.store.read().await?;
    let user = store::workspaces::user(&mut tx, &signed.user_id).await?;
    let user = user.ok_or_else(|| Refusal::not_found("person"))?;
    let mut found = Vec::new();
    for (workspace, role) in store::workspaces::of_user(&mut tx, &user.id).await? {
        let workflows = store::workspaces::workflows(&mut tx, &workspace.id).await?;
        let repositories = store::repositories::of_workspace(&mut tx, &workspace.id).await?;
        let agent_profiles = store::profiles::of_workspace(&mut tx, &workspace.id).await?;
        found.push((workspace, role, workflows, repositories, agent_profiles));
    }
    drop(tx);
    let until = patience(); // one answer, one wait, however many workspaces
    let mut workspaces = Vec::with_capacity(found.len());
    for (workspace, role, workflows, repositories, agent_profiles) in found {
        let tasks = list::first_page(api, &workspace.id, until).await?;
        workspaces.push(WorkspaceBoot {
            workspace,
            role,
            workflows,
            repositories,
            agent_profiles,
            tasks,
        });
    }
    Ok(Boot {
        server_generation: api.server_generation.clone(),
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        user,
        workspaces,
        known_agents: api.orchestrator.known_agents(),
    })
}
