//! Rows and events as the orchestrator would make them, written straight into the store and the hub.

use crate::server::Server;
use anyhow::Result;
use model::agent::AgentProfile;
use model::event::{Event, EventHub};
use model::git::{GitSnapshot, GitStatus, GitTotals, SnapshotTrigger};
use model::ids::{
    AgentProfileId, EnvironmentId, MessageId, SessionId, SnapshotId, StepId, TaskId, TurnId,
    WorkflowId,
};
use model::message::{Author, Message, MessageType};
use model::text::utf16_len;
use model::workspace::{Step, Workflow};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::messages::{NewMessage, Place};
use store::segments::{self, Segment};
use store::turns::{self, NewTurn};

/// A task with one session in one environment.
pub(crate) struct World {
    pub(crate) task: TaskId,
    pub(crate) session: SessionId,
    pub(crate) environment: EnvironmentId,
    step: (WorkflowId, StepId),
    pub(crate) profile: AgentProfileId,
}

impl World {
    pub(crate) async fn new(server: &Server) -> Result<Self> {
        let (workflow_id, step_id) = (WorkflowId::generate(), StepId::generate());
        let step = Step {
            id: step_id.clone(),
            name: "Doing".to_owned(),
            position: 0,
            on_turn_start: None,
            on_turn_complete: None,
        };
        let workflow = Workflow {
            id: workflow_id.clone(),
            workspace_id: server.workspace.clone(),
            revision: 1,
            name: "Board".to_owned(),
            steps: vec![step],
        };
        let profile = AgentProfile {
            id: AgentProfileId::generate(),
            workspace_id: server.workspace.clone(),
            revision: 1,
            name: "Agent".to_owned(),
            command: "agent".to_owned(),
            args: Vec::new(),
            env: BTreeMap::new(),
            default_mode: None,
            default_model: None,
        };
        let mut tx = server.store.write().await?;
        let now = tx.now();
        store::workspaces::insert_workflow(&mut tx, &workflow, 0).await?;
        store::profiles::insert(&mut tx, &profile, now).await?;
        let environment = EnvironmentId::generate();
        store::environments::insert(&mut tx, &environment, &server.workspace, "/nowhere", now)
            .await?;
        let _ = tx.commit().await?;
        let mut world = Self {
            task: TaskId::generate(),
            session: SessionId::generate(),
            environment,
            step: (workflow_id, step_id),
            profile: profile.id,
        };
        world.task = world.add_task(server, "first", "").await?;
        world.session = world.add_session(server).await?;
        Ok(world)
    }

    pub(crate) async fn add_task(
        &self,
        server: &Server,
        title: &str,
        description: &str,
    ) -> Result<TaskId> {
        let id = TaskId::generate();
        let mut tx = server.store.write().await?;
        let now = tx.now();
        let new = store::tasks::NewTask {
            id: &id,
            workspace_id: &server.workspace,
            workflow_id: &self.step.0,
            step_id: &self.step.1,
            client_id: id.as_str(),
            title,
            description,
            parent_id: None,
        };
        store::tasks::insert(&mut tx, &new, now).await?;
        let _ = tx.commit().await?;
        Ok(id)
    }

    /// One more session of the task, in the same environment.
    pub(crate) async fn add_session(&self, server: &Server) -> Result<SessionId> {
        let id = SessionId::generate();
        let mut tx = server.store.write().await?;
        let now = tx.now();
        let new = store::sessions::NewSession {
            id: &id,
            task_id: &self.task,
            environment_id: Some(&self.environment),
            own_environment: false,
            client_id: id.as_str(),
            agent_profile_id: &self.profile,
            name: "Agent",
        };
        store::sessions::insert(&mut tx, &new, now).await?;
        let _ = tx.commit().await?;
        Ok(id)
    }

    /// A turn whose prompt an agent has, and which nobody ends: what is sent now is queued.
    pub(crate) async fn open_turn(&self, server: &Server, session: &SessionId) -> Result<()> {
        let turn = TurnId::generate();
        let mut tx = server.store.write().await?;
        let now = tx.now();
        turns::insert(&mut tx, &turn, session, NewTurn::ForMessage, now).await?;
        turns::mark_attempted(&mut tx, &turn).await?;
        let _ = tx.commit().await?;
        Ok(())
    }

    /// Adds an agent's message that may grow, and says so.
    pub(crate) async fn say(
        &self,
        server: &Server,
        session: &SessionId,
        id: &str,
        text: &str,
    ) -> Result<Message> {
        let id = MessageId::parse(id)?;
        let new = NewMessage {
            id: &id,
            session_id: session,
            task_id: &self.task,
            turn_id: None,
            author: Author::Agent,
            kind: MessageType::Message,
            content: text,
            metadata: &Value::Null,
            pending_id: None,
            streaming: true,
        };
        let mut tx = server.store.write().await?;
        let now = tx.now();
        store::messages::insert(&mut tx, &new, Place::Transcript, now).await?;
        let message = store::messages::get(&mut tx, &id)
            .await?
            .expect("it was just stored");
        let _ = tx.commit().await?;
        server
            .hub
            .publish(&Event::MessageAdded(Arc::new(message.clone())));
        Ok(message)
    }

    /// Appends to a growing message, and says so.
    pub(crate) async fn append(
        &self,
        server: &Server,
        message: &mut Message,
        number: i64,
        text: &str,
    ) -> Result<()> {
        let segment = Segment {
            message_id: message.id.clone(),
            number,
            text: text.to_owned(),
        };
        let mut tx = server.store.write().await?;
        let _ = segments::append(&mut tx, &segment).await?;
        let _ = tx.commit().await?;
        server.hub.publish(&Event::MessageAppended {
            session_id: message.session_id.clone(),
            message_id: message.id.clone(),
            offset: utf16_len(&message.content) as u64,
            text: text.into(),
            revision: 1 + number,
        });
        message.content.push_str(text);
        Ok(())
    }

    /// Settles a growing message, and says so.
    pub(crate) async fn settle(&self, server: &Server, id: &MessageId) -> Result<Message> {
        let mut tx = server.store.write().await?;
        let now = tx.now();
        segments::fold(&mut tx, id, now).await?;
        let message = store::messages::get(&mut tx, id).await?.expect("it exists");
        let _ = tx.commit().await?;
        server
            .hub
            .publish(&Event::MessageUpdated(Arc::new(message.clone())));
        Ok(message)
    }

    /// What was seen of the root repository.
    pub(crate) fn status(&self, server: &Server, additions: u64) -> GitStatus {
        GitStatus {
            repository_name: None,
            timestamp: server.store.now(),
            branch: Some("work".to_owned()),
            remote_branch: None,
            head_commit: None,
            base_commit: None,
            base_branch: Some("main".to_owned()),
            base_resolvable: true,
            totals: GitTotals {
                additions,
                changed_files: 1,
                ..GitTotals::default()
            },
            files: None,
            truncated: false,
        }
    }

    /// Stores an observation without saying so.
    pub(crate) async fn observe(&self, server: &Server, status: GitStatus) -> Result<()> {
        let snapshot = GitSnapshot {
            id: SnapshotId::generate(),
            environment_id: self.environment.clone(),
            session_id: Some(self.session.clone()),
            triggered_by: SnapshotTrigger::LiveMonitor,
            status,
        };
        let mut tx = server.store.write().await?;
        let _ = store::snapshots::record(&mut tx, &snapshot).await?;
        let _ = tx.commit().await?;
        Ok(())
    }
}
