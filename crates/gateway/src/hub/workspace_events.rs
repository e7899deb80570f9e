//! What events of a workspace become: tasks, summaries, the bounded facts of sessions, and settings.
//!
//! A delete also closes what was open of the deleted thing, and takes back what waits of it.

use super::Hub;
use flow::outbox::keys::StateKey;
use model::agent::AgentProfile;
use model::event::TaskChange;
use model::ids::{AgentProfileId, RepositoryId, SessionId, TaskId, WorkspaceId};
use model::session::Session;
use model::summary::TaskStatusSummary;
use model::task::Task;
use model::workspace::{Repository, Workflow};
use wire::action::notification as action;
use wire::notification as payload;

impl Hub {
    pub(super) fn task(&self, change: TaskChange, task: &Task) {
        let body = payload::TaskPayload { task: task.clone() };
        let action = match change {
            TaskChange::Created => {
                return self.workspace_occurrence(
                    &task.workspace_id,
                    &[],
                    action::TASK_CREATED,
                    &body,
                );
            }
            TaskChange::Updated => action::TASK_UPDATED,
            TaskChange::Moved => action::TASK_MOVED,
            TaskChange::Archived => action::TASK_ARCHIVED,
        };
        let key = StateKey::Task(task.id.clone());
        self.workspace_state(&task.workspace_id, &key, task.revision, action, &body);
    }

    pub(super) fn task_deleted(&self, workspace_id: &WorkspaceId, task_id: &TaskId) {
        for session_id in self.open_sessions_of(task_id) {
            self.close_session(&session_id);
        }
        let gone = [
            StateKey::Task(task_id.clone()),
            StateKey::Summary(task_id.clone()),
        ];
        let body = payload::TaskDeleted {
            workspace_id: workspace_id.clone(),
            task_id: task_id.clone(),
        };
        self.workspace_occurrence(workspace_id, &gone, action::TASK_DELETED, &body);
    }

    pub(super) fn summary(
        &self,
        workspace_id: &WorkspaceId,
        task_id: &TaskId,
        summary: &TaskStatusSummary,
    ) {
        let body = payload::StatusSummaryUpdated {
            task_id: task_id.clone(),
            workspace_id: workspace_id.clone(),
            status_summary: summary.clone(),
        };
        let key = StateKey::Summary(task_id.clone());
        let revision = summary.revision;
        self.workspace_state(
            workspace_id,
            &key,
            revision,
            action::TASK_STATUS_SUMMARY_UPDATED,
            &body,
        );
    }

    pub(super) fn session(&self, session: &Session) {
        let environment_id = session.task_environment_id.as_ref();
        self.write().bind(&session.id, environment_id);
        self.change_focus(|focus| focus.bind(&session.id, environment_id));
        let body = payload::SessionPayload {
            session: session.clone(),
        };
        let key = StateKey::Session(session.id.clone());
        let revision = session.revision;
        self.workspace_state(
            &session.workspace_id,
            &key,
            revision,
            action::SESSION_STATE_CHANGED,
            &body,
        );
    }

    pub(super) fn session_deleted(
        &self,
        workspace_id: &WorkspaceId,
        task_id: &TaskId,
        session_id: &SessionId,
    ) {
        self.close_session(session_id);
        let gone = [StateKey::Session(session_id.clone())];
        let body = payload::SessionDeleted {
            workspace_id: workspace_id.clone(),
            task_id: task_id.clone(),
            session_id: session_id.clone(),
        };
        self.workspace_occurrence(workspace_id, &gone, action::SESSION_DELETED, &body);
    }

    pub(super) fn repository(&self, repository: &Repository) {
        let key = StateKey::Repository(repository.id.clone());
        let (id, revision) = (&repository.workspace_id, repository.revision);
        self.workspace_state(id, &key, revision, action::REPOSITORY_UPDATED, repository);
    }

    pub(super) fn repository_removed(
        &self,
        workspace_id: &WorkspaceId,
        repository_id: &RepositoryId,
    ) {
        let gone = [StateKey::Repository(repository_id.clone())];
        let body = payload::RepositoryRemoved {
            workspace_id: workspace_id.clone(),
            repository_id: repository_id.clone(),
        };
        self.workspace_occurrence(workspace_id, &gone, action::REPOSITORY_REMOVED, &body);
    }

    pub(super) fn workflow(&self, workflow: &Workflow) {
        let key = StateKey::Workflow(workflow.id.clone());
        let (id, revision) = (&workflow.workspace_id, workflow.revision);
        self.workspace_state(id, &key, revision, action::WORKFLOW_UPDATED, workflow);
    }

    pub(super) fn agent_profile(&self, profile: &AgentProfile) {
        let key = StateKey::AgentProfile(profile.id.clone());
        let (id, revision) = (&profile.workspace_id, profile.revision);
        self.workspace_state(id, &key, revision, action::AGENT_PROFILE_UPDATED, profile);
    }

    pub(super) fn agent_profile_removed(
        &self,
        workspace_id: &WorkspaceId,
        agent_profile_id: &AgentProfileId,
    ) {
        let gone = [StateKey::AgentProfile(agent_profile_id.clone())];
        let body = payload::AgentProfileRemoved {
            workspace_id: workspace_id.clone(),
            agent_profile_id: agent_profile_id.clone(),
        };
        self.workspace_occurrence(workspace_id, &gone, action::AGENT_PROFILE_REMOVED, &body);
    }

    fn close_session(&self, session_id: &SessionId) {
        self.write().close_session(session_id);
        self.change_focus(|focus| focus.end_session(session_id));
    }
}
