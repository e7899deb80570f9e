//! What events of a session's detail become. They go only to clients that opened that session (API-07); Git status goes
//! to every open session of its environment.

use super::Hub;
use crate::frame;
use flow::outbox::keys::StateKey;
use model::clock::Timestamp;
use model::event::ResolvedRequest;
use model::git::{GitStatus, MeasureFailure};
use model::ids::{EnvironmentId, MessageId, SessionId, TaskId};
use model::message::Message;
use model::summary::PendingAction;
use model::turn::Turn;
use wire::action::notification as action;
use wire::notification as payload;

impl Hub {
    pub(super) fn message_added(&self, message: &Message) {
        self.session_occurrence(&message.session_id, || {
            let body = payload::MessagePayload {
                message: frame::public(message).into_owned(),
            };
            self.notification(action::SESSION_MESSAGE_ADDED, &body)
                .teaching([frame::lesson(message)])
        });
    }

    pub(super) fn message_updated(&self, message: &Message) {
        self.live().forget(&message.id);
        self.poke_message(&message.session_id, &message.id, true);
    }

    pub(super) fn message_deleted(&self, session_id: &SessionId, message_id: &MessageId) {
        self.live().forget(message_id);
        for client in self.in_session(session_id) {
            client.outbox(|outbox| outbox.withdraw_message(session_id, message_id));
        }
        self.session_occurrence(session_id, || {
            let body = payload::MessageDeleted {
                session_id: session_id.clone(),
                message_id: message_id.clone(),
            };
            self.notification(action::SESSION_MESSAGE_DELETED, &body)
        });
    }

    /// Queues the key of a message: its frame is built when it is written. `whole`: not only appended to.
    pub(super) fn poke_message(&self, session_id: &SessionId, message_id: &MessageId, whole: bool) {
        for client in self.in_session(session_id) {
            client.push(|outbox| outbox.push_message(session_id, message_id, whole));
        }
    }

    pub(super) fn turn(&self, turn: &Turn, action: &str) {
        self.session_occurrence(&turn.session_id, || {
            self.notification(action, &payload::TurnPayload { turn: turn.clone() })
        });
    }

    pub(super) fn pending_changed(
        &self,
        session_id: &SessionId,
        pending_action: Option<PendingAction>,
        pending_action_revision: i64,
        resolved: Option<&ResolvedRequest>,
    ) {
        self.session_occurrence(session_id, || {
            let body = payload::PendingChanged {
                session_id: session_id.clone(),
                pending_action,
                pending_action_revision,
                resolved: resolved.cloned(),
            };
            self.notification(action::SESSION_PENDING_CHANGED, &body)
        });
    }

    pub(super) fn git_status(&self, environment_id: &EnvironmentId, status: &GitStatus) {
        for (session_id, task_id) in self.in_environment(environment_id) {
            self.session_states(&session_id, || {
                vec![self.git_state(&session_id, &task_id, environment_id, status)]
            });
        }
    }

    pub(super) fn git_measure_failed(
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
            self.session_states(&session_id, || {
                vec![(key.clone(), at.as_micros(), frame.clone())]
            });
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
