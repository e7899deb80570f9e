//! From an event to what each subscriber's outbox gets: an occurrence, a state with its key and version, or the key of
//! a message.
//!
//! Versions order values of one key: revisions where the entity has one; for Git status the time the observation began
//! to look. Reports of an agent (models, usage, …) have no revision; the later publication is the newer.
//!
//! Invariant: a frame is serialised once per event, and not at all when nobody listens.
//!
//! Where to read next: `workspace_events` and `session_events` for what each event becomes.

use super::Hub;
use crate::frame::OutFrame;
use flow::outbox::keys::{Scope, StateKey};
use model::event::{Event, EventHub};
use model::ids::{SessionId, WorkspaceId};
use serde::Serialize;
use wire::action::notification as action;

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
            } => self.summary(workspace_id, task_id, summary),
            Event::Session(session) => self.session(session),
            Event::SessionDeleted {
                workspace_id,
                task_id,
                session_id,
            } => {
                self.session_deleted(workspace_id, task_id, session_id);
            }
            Event::MessageAdded(message) => self.message_added(message),
            Event::MessageUpdated(message) => self.message_updated(message),
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
            Event::TurnStarted(turn) => self.turn(turn, action::SESSION_TURN_STARTED),
            Event::TurnCompleted(turn) => self.turn(turn, action::SESSION_TURN_COMPLETED),
            Event::PendingChanged {
                session_id,
                pending_action,
                pending_action_revision,
                resolved,
            } => {
                self.pending_changed(
                    session_id,
                    *pending_action,
                    *pending_action_revision,
                    resolved.as_ref(),
                );
            }
            Event::QuestionsAwaited {
                session_id,
                pending_ids,
            } => {
                self.report(session_id, || {
                    vec![self.awaited_state(session_id, pending_ids)]
                });
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
            Event::Repository(repository) => self.repository(repository),
            Event::RepositoryRemoved {
                workspace_id,
                repository_id,
            } => {
                self.repository_removed(workspace_id, repository_id);
            }
            Event::Workflow(workflow) => self.workflow(workflow),
            Event::AgentProfile(profile) => self.agent_profile(profile),
            Event::AgentProfileRemoved {
                workspace_id,
                agent_profile_id,
            } => {
                self.agent_profile_removed(workspace_id, agent_profile_id);
            }
        }
    }
}

impl Hub {
    pub(super) fn workspace_state<P: Serialize>(
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
    pub(super) fn workspace_occurrence<P: Serialize>(
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

    pub(super) fn session_occurrence(&self, id: &SessionId, frame: impl FnOnce() -> OutFrame) {
        let clients = self.in_session(id);
        if clients.is_empty() {
            return;
        }
        let frame = frame();
        let scope = Scope::Session(id.clone());
        for client in clients {
            client.push(|outbox| outbox.push_occurrence(&scope, frame.clone()));
        }
    }

    pub(super) fn session_states(
        &self,
        id: &SessionId,
        states: impl FnOnce() -> Vec<(StateKey, i64, OutFrame)>,
    ) {
        let clients = self.in_session(id);
        if clients.is_empty() {
            return;
        }
        let scope = Scope::Session(id.clone());
        for (key, version, frame) in states() {
            for client in &clients {
                client
                    .push(|outbox| outbox.push_state(&scope, key.clone(), version, frame.clone()));
            }
        }
    }

    fn report(&self, id: &SessionId, states: impl FnOnce() -> Vec<(StateKey, OutFrame)>) {
        self.session_states(id, || {
            states()
                .into_iter()
                .map(|(key, frame)| (key, UNVERSIONED, frame))
                .collect()
        });
    }
}
