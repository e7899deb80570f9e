//! The states of one session as frames: what a live event publishes and what a new subscriber is sent are the same.

use super::Hub;
use crate::frame::OutFrame;
use flow::outbox::keys::StateKey;
use model::agent::{AgentCommandInfo, AgentSettings, AgentUsage};
use model::git::GitStatus;
use model::ids::{EnvironmentId, PendingId, SessionId, TaskId};
use wire::action::notification as action;
use wire::notification as payload;

impl Hub {
    pub(crate) fn queue_state(&self, session_id: &SessionId, count: u32) -> (StateKey, OutFrame) {
        let body = payload::QueueStatusChanged {
            session_id: session_id.clone(),
            queued_prompt_count: count,
        };
        (
            StateKey::Queue,
            self.notification(action::MESSAGE_QUEUE_STATUS_CHANGED, &body),
        )
    }

    pub(crate) fn settings_states(
        &self,
        session_id: &SessionId,
        settings: &AgentSettings,
    ) -> Vec<(StateKey, OutFrame)> {
        let models = payload::ModelsUpdated {
            session_id: session_id.clone(),
            models: settings.models.clone(),
            current_model: settings.current_model.clone(),
            options: settings.options.clone(),
        };
        let mode = payload::ModeChanged {
            session_id: session_id.clone(),
            modes: settings.modes.clone(),
            current_mode: settings.current_mode.clone(),
        };
        vec![
            (
                StateKey::Models,
                self.notification(action::SESSION_MODELS_UPDATED, &models),
            ),
            (
                StateKey::Mode,
                self.notification(action::SESSION_MODE_CHANGED, &mode),
            ),
        ]
    }

    pub(crate) fn commands_state(
        &self,
        session_id: &SessionId,
        commands: &[AgentCommandInfo],
    ) -> (StateKey, OutFrame) {
        let body = payload::AvailableCommands {
            session_id: session_id.clone(),
            commands: commands.to_vec(),
        };
        (
            StateKey::Commands,
            self.notification(action::SESSION_AVAILABLE_COMMANDS, &body),
        )
    }

    pub(crate) fn usage_state(
        &self,
        session_id: &SessionId,
        usage: &AgentUsage,
    ) -> (StateKey, OutFrame) {
        let body = payload::UsageUpdated {
            session_id: session_id.clone(),
            usage: usage.clone(),
        };
        (
            StateKey::Usage,
            self.notification(action::SESSION_USAGE_UPDATED, &body),
        )
    }

    pub(crate) fn awaited_state(
        &self,
        session_id: &SessionId,
        pending_ids: &[PendingId],
    ) -> (StateKey, OutFrame) {
        let body = payload::QuestionsAwaited {
            session_id: session_id.clone(),
            pending_ids: pending_ids.to_vec(),
        };
        (
            StateKey::Questions,
            self.notification(action::SESSION_QUESTIONS_AWAITED, &body),
        )
    }

    /// Git status of one repository on its way to one open session. Of two observations that began at the same time
    /// the one with details is newer.
    pub(crate) fn git_state(
        &self,
        session_id: &SessionId,
        task_id: &TaskId,
        environment_id: &EnvironmentId,
        status: &GitStatus,
    ) -> (StateKey, i64, OutFrame) {
        let key = StateKey::GitStatus(environment_id.clone(), status.repository_name.clone());
        let version = status
            .timestamp
            .as_micros()
            .saturating_mul(2)
            .saturating_add(i64::from(status.files.is_some()));
        let body = payload::GitEvent {
            kind: payload::GitEventType::StatusUpdate,
            session_id: session_id.clone(),
            task_id: task_id.clone(),
            task_environment_id: environment_id.clone(),
            status: status.clone(),
        };
        (
            key,
            version,
            self.notification(action::SESSION_GIT_EVENT, &body),
        )
    }
}
