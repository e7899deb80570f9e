//! The first workspace of a server, so that a newcomer can start at once.

use crate::error::Result;
use crate::orchestrator::Orchestrator;
use model::agent::{AgentProfile, DEMO_COMMAND};
use model::ids::{AgentProfileId, StepId, UserId, WorkflowId, WorkspaceId};
use model::workspace::{Step, User, Workflow, Workspace};
use std::collections::BTreeMap;
use store::tx::WriteTx;
use store::{profiles, workspaces};

impl Orchestrator {
    /// The server's owner; on a new server they are made, with a workspace, the default board, and a profile for
    /// every agent found on this machine, the demo agent last.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn ensure_owner(&self) -> Result<User> {
        let mut tx = self.inner.store.write().await?;
        if let Some(owner) = workspaces::first_user(&mut tx).await? {
            return Ok(owner);
        }
        let now = tx.now();
        let owner = User {
            id: UserId::generate(),
            name: "Owner".to_owned(),
        };
        workspaces::insert_user(&mut tx, &owner, now).await?;
        let workspace = Workspace {
            id: WorkspaceId::generate(),
            revision: 1,
            name: "Home".to_owned(),
            created_at: now,
        };
        workspaces::insert(&mut tx, &workspace, &owner.id).await?;
        workspaces::insert_workflow(&mut tx, &default_workflow(&workspace.id), 0).await?;
        self.first_profiles(&mut tx, &workspace.id).await?;
        self.commit(tx).await?;
        Ok(owner)
    }

    async fn first_profiles(&self, tx: &mut WriteTx, workspace_id: &WorkspaceId) -> Result<()> {
        let found = self
            .known_agents()
            .into_iter()
            .filter(|agent| agent.installed);
        let demo = ("Demo agent".to_owned(), DEMO_COMMAND.to_owned(), Vec::new());
        let all = found
            .map(|agent| (agent.name, agent.command, agent.args))
            .chain([demo]);
        for (name, command, args) in all {
            let profile = AgentProfile {
                id: AgentProfileId::generate(),
                workspace_id: workspace_id.clone(),
                revision: 1,
                name,
                command,
                args,
                env: BTreeMap::new(),
                default_mode: None,
                default_model: None,
            };
            // Their order is the order in which they are stored; the first is the default.
            let now = self.inner.store.now();
            profiles::insert(tx, &profile, now).await?;
        }
        Ok(())
    }
}

/// Backlog, In progress, Review, Done; turns move a task between the middle two.
fn default_workflow(workspace_id: &WorkspaceId) -> Workflow {
    let [backlog, progress, review, done] = std::array::from_fn(|_| StepId::generate());
    let step =
        |id: &StepId, name: &str, position, start: Option<&StepId>, complete: Option<&StepId>| {
            Step {
                id: id.clone(),
                name: name.to_owned(),
                position,
                on_turn_start: start.cloned(),
                on_turn_complete: complete.cloned(),
            }
        };
    Workflow {
        id: WorkflowId::generate(),
        workspace_id: workspace_id.clone(),
        revision: 1,
        name: "Board".to_owned(),
        steps: vec![
            step(&backlog, "Backlog", 0, Some(&progress), None),
            step(&progress, "In progress", 1, None, Some(&review)),
            step(&review, "Review", 2, Some(&progress), None),
            step(&done, "Done", 3, None, None),
        ],
    }
}
