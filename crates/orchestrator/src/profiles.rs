//! Agent profiles, and the agents found on this machine.

use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::tasks::check_title;
use model::agent::{AgentProfile, KnownAgent};
use model::bounds;
use model::event::Event;
use model::ids::{AgentProfileId, WorkspaceId};
use std::collections::BTreeMap;
use store::profiles;

/// How an agent is started.
#[derive(Clone, Debug)]
pub struct ProfileFields {
    /// What people call it.
    pub name: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to its environment.
    pub env: BTreeMap<String, String>,
    /// The mode set after start.
    pub default_mode: Option<String>,
    /// The model set after start.
    pub default_model: Option<String>,
}

impl ProfileFields {
    fn into_profile(self, id: AgentProfileId, workspace_id: WorkspaceId) -> Result<AgentProfile> {
        let command = self.command.trim();
        if command.is_empty() || command.chars().any(char::is_control) {
            return Err(CommandError::invalid(
                "the command is empty or not one line",
            ));
        }
        if bounds::PROFILE_ENTRIES < self.args.len() || bounds::PROFILE_ENTRIES < self.env.len() {
            return Err(CommandError::Invalid(format!(
                "a profile has at most {} arguments and variables",
                bounds::PROFILE_ENTRIES
            )));
        }
        if self
            .env
            .keys()
            .any(|name| name.is_empty() || name.contains(['=', '\0']))
        {
            return Err(CommandError::invalid(
                "a variable's name is empty or has a = in it",
            ));
        }
        let holds_nul = |text: &String| text.contains('\0');
        if self.args.iter().any(holds_nul) || self.env.values().any(holds_nul) {
            return Err(CommandError::invalid(
                "arguments and variables cannot hold a NUL character",
            ));
        }
        let chosen =
            |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        Ok(AgentProfile {
            id,
            workspace_id,
            revision: 1,
            name: check_title(&self.name, "name")?.to_owned(),
            command: command.to_owned(),
            args: self.args,
            env: self.env,
            default_mode: chosen(self.default_mode),
            default_model: chosen(self.default_model),
        })
    }
}

impl Orchestrator {
    /// Makes a profile.
    ///
    /// # Errors
    /// `Invalid` naming the wrong field.
    pub async fn create_profile(
        &self,
        workspace_id: &WorkspaceId,
        fields: ProfileFields,
    ) -> Result<AgentProfile> {
        let profile = fields.into_profile(AgentProfileId::generate(), workspace_id.clone())?;
        let mut tx = self.inner.store.write().await?;
        let now = tx.now();
        profiles::insert(&mut tx, &profile, now).await?;
        tx.emit(Event::AgentProfile(profile.clone().into()));
        self.commit(tx).await?;
        Ok(profile)
    }

    /// Replaces a profile; sessions use it from their agent's next start on.
    ///
    /// # Errors
    /// `Invalid` naming the wrong field.
    pub async fn update_profile(
        &self,
        id: &AgentProfileId,
        fields: ProfileFields,
    ) -> Result<AgentProfile> {
        let mut tx = self.inner.store.write().await?;
        let stored = profiles::get(&mut tx, id)
            .await?
            .ok_or(CommandError::NotFound("agent profile"))?;
        let profile = fields.into_profile(id.clone(), stored.workspace_id)?;
        profiles::replace(&mut tx, &profile).await?;
        let stored = profiles::get(&mut tx, id)
            .await?
            .ok_or(CommandError::NotFound("agent profile"))?;
        tx.emit(Event::AgentProfile(stored.clone().into()));
        self.commit(tx).await?;
        Ok(stored)
    }

    /// Deletes a profile.
    ///
    /// # Errors
    /// `Conflict` while a session uses it.
    pub async fn delete_profile(&self, id: &AgentProfileId) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let stored = profiles::get(&mut tx, id)
            .await?
            .ok_or(CommandError::NotFound("agent profile"))?;
        if profiles::in_use(&mut tx, id).await? {
            return Err(CommandError::conflict(
                "sessions use this agent; delete them first",
            ));
        }
        profiles::remove(&mut tx, id).await?;
        tx.emit(Event::AgentProfileRemoved {
            workspace_id: stored.workspace_id,
            agent_profile_id: id.clone(),
        });
        Ok(self.commit(tx).await?)
    }

    /// Agents that this version knows, found ones first.
    #[must_use]
    pub fn known_agents(&self) -> Vec<KnownAgent> {
        agentctl::known::discover(&self.inner.config.search_path)
    }
}
