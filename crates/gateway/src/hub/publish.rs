//! From an event to what each subscriber's outbox gets: an occurrence, a state with its key and version, or the key of
//! a message.
//!
//! Versions order values of one key: revisions where the entity has one; for Git status the time the observation began
//! to look. Reports of an agent (models, usage, …) have no revision; the later publication is the newer.
//!
//! Invariant: a frame is serialised once per event, and not at all when nobody listens.

use super::Hub;
use crate::client::Client;
use crate::frame::{self, OutFrame};
use flow::outbox::keys::{Scope, StateKey};
use model::clock::Timestamp;
use model::event::{Event, EventHub, TaskChange};
use model::git::{GitStatus, MeasureFailure};
use model::ids::{EnvironmentId, MessageId, SessionId, TaskId, WorkspaceId};
use model::message::Message;
use model::session::Session;
use model::task::Task;
use serde::Serialize;
use std::sync::Arc;
use wire::action::notification as action;
use wire::notification as payload;

/// The version of states that have none: a later publication replaces an earlier one.
pub(crate) const UNVERSIONED: i64 = 0;

impl EventHub for Hub {
    fn publish(&self, event: &Event) {
        match event {
            Event::Task { change, task } => self.task(*change, task),
            Event::TaskDeleted {
                workspace_id,
                task_id,
            } => self.task_deleted(workspace_id, task_id),
            Event::Summary {
                workspace_id,
                task_id,
                summary,
            } => {
                let body = payload::StatusSummaryUpdated {
                    task_id: task_id.clone(),
                    workspace_id: workspace_id.clone(),
                    status_summary: (**summary).clone(),
                };
                let key = StateKey::Summary(task_id.clone());
                self.workspace_state(
                    workspace_id,
                    &key,
                    summary.revision,
                    action::TASK_STATUS_SUMMARY_UPDATED,
                    &body,
                );
            }
            Event::Session(session) => self.session(session),
            Event::SessionDeleted {
                workspace_id,
                task_id,
                session_id,
            } => {
                self.session_deleted(workspace_id, task_id, session_id);
            }
            Event::MessageAdded(message) => self.message_added(message),
            Event::MessageUpdated(message) => {
                self.live().forget(&message.id);
                self.poke_message(&message.session_id, &message.id, true);
            }
            Event::MessageAppended {
                session_id,
                message_id,
                offset,
                text,
                revision,
            } => {
                self.live().append(message_id, *offset, text, *revision);
                self.poke_message(session_id, message_id, false);
            }
            Event::MessageDeleted {
                session_id,
                message_id,
            } => self.message_deleted(session_id, message_id),
            Event::TurnStarted(turn) => {
                let body = payload::TurnPayload {
                    turn: (**turn).clone(),
                };
                self.session_occurrence(&turn.session_id, action::SESSION_TURN_STARTED, &body);
            }
            Event::TurnCompleted(turn) => {
                let body = payload::TurnPayload {
                    turn: (**turn).clone(),
                };
                self.session_occurrence(&turn.session_id, action::SESSION_TURN_COMPLETED, &body);
            }
            Event::PendingChanged {
                session_id,
                pending_action,
                pending_action_revision,
                resolved,
            } => {
                let body = payload::PendingChanged {
                    session_id: session_id.clone(),
                    pending_action: *pending_action,
                    pending_action_revision: *pending_action_revision,
                    resolved: resolved.clone(),
                };
                self.session_occurrence(session_id, action::SESSION_PENDING_CHANGED, &body);
            }
            Event::Queue { session_id, count } => {
                self.report(session_id, || vec![self.queue_state(session_id, *count)]);
            }
            Event::Settings {
                session_id,
                settings,
            } => {
                self.report(session_id, || self.settings_states(session_id, settings));
            }
            Event::Commands {
                session_id,
                commands,
            } => {
                self.report(session_id, || {
                    vec![self.commands_state(session_id, commands)]
                });
            }
            Event::Usage { session_id, usage } => {
                self.report(session_id, || vec![self.usage_state(session_id, usage)]);
            }
            Event::GitStatus {
                environment_id,
                status,
            } => self.git_status(environment_id, status),
            Event::GitMeasureFailed {
                environment_id,
                repository_name,
                at,
                reason,
            } => {
                self.git_measure_failed(environment_id, repository_name.as_deref(), *at, *reason);
            }
            Event::Repository(repository) => {
                let key = StateKey::Repository(repository.id.clone());
                let (id, revision) = (&repository.workspace_id, repository.revision);
                self.workspace_state(
                    id,
                    &key,
                    revision,
                    action::REPOSITORY_UPDATED,
                    &**repository,
                );
            }
            Event::RepositoryRemoved {
                workspace_id,
                repository_id,
            } => {
                let gone = [StateKey::Repository(repository_id.clone())];
                let body = payload::RepositoryRemoved {
                    workspace_id: workspace_id.clone(),
                    repository_id: repository_id.clone(),
                };
                self.workspace_occurrence(workspace_id, &gone, action::REPOSITORY_REMOVED, &body);
            }
            Event::Workflow(workflow) => {
                let key = StateKey::Workflow(workflow.id.clone());
                let (id, revision) = (&workflow.workspace_id, workflow.revision);
                self.workspace_state(id, &key, revision, action::WORKFLOW_UPDATED, &**workflow);
            }
            Event::AgentProfile(profile) => {
                let key = StateKey::AgentProfile(profile.id.clone());
                let (id, revision) = (&profile.workspace_id, profile.revision);
                self.workspace_state(
                    id,
                    &key,
                    revision,
                    action::AGENT_PROFILE_UPDATED,
                    &**profile,
                );
            }
            Event::AgentProfileRemoved {
                workspace_id,
                agent_profile_id,
            } => {
                let gone = [StateKey::AgentProfile(agent_profile_id.clone())];
                let body = payload::AgentProfileRemoved {
                    workspace_id: workspace_id.clone(),
                    agent_profile_id: agent_profile_id.clone(),
                };
                self.workspace_occurrence(
                    workspace_id,
                    &gone,
                    action::AGENT_PROFILE_REMOVED,
                    &body,
                );
            }
        }
    }
}

impl Hub {
    fn workspace_state<P: Serialize>(
        &self,
        id: &WorkspaceId,
        key: &StateKey,
        version: i64,
        action: &str,
        payload: &P,
    ) {
        let clients = self.in_workspace(id);
        if clients.is_empty() {
            return;
        }
        let frame = self.notification(action, payload);
        let scope = Scope::Workspace(id.clone());
        for client in clients {
            client.push(|outbox| outbox.push_state(&scope, key.clone(), version, frame.clone()));
        }
    }

    /// `gone`: waiting states of what this occurrence ends.
    fn workspace_occurrence<P: Serialize>(
        &self,
        id: &WorkspaceId,
        gone: &[StateKey],
        action: &str,
        payload: &P,
    ) {
        let clients = self.in_workspace(id);
        if clients.is_empty() {
            return;
        }
        let frame = self.notification(action, payload);
        let scope = Scope::Workspace(id.clone());
        for client in clients {
            client.push(|outbox| {
                for key in gone {
                    outbox.withdraw(&scope, key);
                }
                outbox.push_occurrence(&scope, frame.clone())
            });
        }
    }

    fn session_occurrence<P: Serialize>(&self, id: &SessionId, action: &str, payload: &P) {
        let clients = self.in_session(id);
        if !clients.is_empty() {
            push_to_session(id, &clients, &self.notification(action, payload));
        }
    }

    fn report(&self, id: &SessionId, states: impl FnOnce() -> Vec<(StateKey, OutFrame)>) {
        let clients = self.in_session(id);
        if clients.is_empty() {
            return;
        }
        let scope = Scope::Session(id.clone());
        for (key, frame) in states() {
            for client in &clients {
                client.push(|outbox| {
                    outbox.push_state(&scope, key.clone(), UNVERSIONED, frame.clone())
                });
            }
        }
    }

    fn task(&self, change: TaskChange, task: &Arc<Task>) {
        let body = payload::TaskPayload {
            task: (**task).clone(),
        };
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

    fn task_deleted(&self, workspace_id: &WorkspaceId, task_id: &TaskId) {
        for session_id in self.open_sessions_of(task_id) {
            self.write().close_session(&session_id);
            self.change_focus(|focus| focus.end_session(&session_id));
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

    fn session(&self, session: &Arc<Session>) {
        let environment_id = session.task_environment_id.as_ref();
        self.write().bind(&session.id, environment_id);
        self.change_focus(|focus| focus.bind(&session.id, environment_id));
        let body = payload::SessionPayload {
            session: (**session).clone(),
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

    fn session_deleted(
        &self,
        workspace_id: &WorkspaceId,
        task_id: &TaskId,
        session_id: &SessionId,
    ) {
        self.write().close_session(session_id);
        self.change_focus(|focus| focus.end_session(session_id));
        let gone = [StateKey::Session(session_id.clone())];
        let body = payload::SessionDeleted {
            workspace_id: workspace_id.clone(),
            task_id: task_id.clone(),
            session_id: session_id.clone(),
        };
        self.workspace_occurrence(workspace_id, &gone, action::SESSION_DELETED, &body);
    }

    fn message_added(&self, message: &Message) {
        let clients = self.in_session(&message.session_id);
        if clients.is_empty() {
            return;
        }
        let body = payload::MessagePayload {
            message: frame::public(message).into_owned(),
        };
        let frame = self
            .notification(action::SESSION_MESSAGE_ADDED, &body)
            .teaching([frame::lesson(message)]);
        push_to_session(&message.session_id, &clients, &frame);
    }

    fn message_deleted(&self, session_id: &SessionId, message_id: &MessageId) {
        self.live().forget(message_id);
        let clients = self.in_session(session_id);
        for client in &clients {
            client.outbox(|outbox| outbox.withdraw_message(session_id, message_id));
        }
        if !clients.is_empty() {
            let body = payload::MessageDeleted {
                session_id: session_id.clone(),
                message_id: message_id.clone(),
            };
            push_to_session(
                session_id,
                &clients,
                &self.notification(action::SESSION_MESSAGE_DELETED, &body),
            );
        }
    }

    /// Queues the key of a message: its frame is built when it is written.
    fn poke_message(&self, session_id: &SessionId, message_id: &MessageId, whole: bool) {
        for client in self.in_session(session_id) {
            client.push(|outbox| outbox.push_message(session_id, message_id, whole));
        }
    }

    fn git_status(&self, environment_id: &EnvironmentId, status: &GitStatus) {
        for (session_id, task_id) in self.in_environment(environment_id) {
            let (key, version, frame) =
                self.git_state(&session_id, &task_id, environment_id, status);
            let scope = Scope::Session(session_id.clone());
            for client in self.in_session(&session_id) {
                client
                    .push(|outbox| outbox.push_state(&scope, key.clone(), version, frame.clone()));
            }
        }
    }

    fn git_measure_failed(
        &self,
        environment_id: &EnvironmentId,
        repository_name: Option<&str>,
        at: Timestamp,
        reason: MeasureFailure,
    ) {
        let sessions = self.in_environment(environment_id);
        if sessions.is_empty() {
            return;
        }
        let body = payload::GitMeasureFailed {
            task_environment_id: environment_id.clone(),
            repository_name: repository_name.map(str::to_owned),
            at,
            reason_code: reason,
        };
        let frame = self.notification(action::SESSION_GIT_MEASURE_FAILED, &body);
        let key =
            StateKey::GitMeasureFailed(environment_id.clone(), repository_name.map(str::to_owned));
        for (session_id, _) in sessions {
            let scope = Scope::Session(session_id.clone());
            for client in self.in_session(&session_id) {
                client.push(|outbox| {
                    outbox.push_state(&scope, key.clone(), at.as_micros(), frame.clone())
                });
            }
        }
    }

    /// Open sessions of an environment, each with its task.
    fn in_environment(&self, id: &EnvironmentId) -> Vec<(SessionId, TaskId)> {
        let registry = self.read();
        registry
            .in_environment(id)
            .map(|(session_id, session)| (session_id.clone(), session.task_id.clone()))
            .collect()
    }
}

fn push_to_session(id: &SessionId, clients: &[Arc<Client>], frame: &OutFrame) {
    let scope = Scope::Session(id.clone());
    for client in clients {
        client.push(|outbox| outbox.push_occurrence(&scope, frame.clone()));
    }
}
