//! Changes models, modes and options, by whichever request the agent understands.

use crate::connection::AgentConnection;
use crate::error::AgentError;
use crate::replies::ReplyUse;
use crate::settings::{SessionSettings, SettingRequest};
use model::agent::AgentSettings;
use model::bounds;
use serde_json::Value;

impl AgentConnection {
    /// Chooses a model.
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] when the agent offers no choice; otherwise as any request.
    pub async fn set_model(&self, model: &str) -> Result<AgentSettings, AgentError> {
        let setting = self.inner.shared.settings().set_model(model);
        let setting = setting.ok_or(AgentError::Unsupported {
            what: "choosing a model",
        })?;
        self.set(setting, |settings| settings.model_is(model)).await
    }

    /// Chooses a mode.
    ///
    /// # Errors
    /// As [`Self::set_model`].
    pub async fn set_mode(&self, mode: &str) -> Result<AgentSettings, AgentError> {
        let setting = self.inner.shared.settings().set_mode(mode);
        let setting = setting.ok_or(AgentError::Unsupported {
            what: "choosing a mode",
        })?;
        self.set(setting, |settings| {
            settings.mode_is(mode);
        })
        .await
    }

    /// Sets one of the other options.
    ///
    /// # Errors
    /// As any request.
    pub async fn set_option(&self, option: &str, value: &str) -> Result<AgentSettings, AgentError> {
        let setting = self.inner.shared.settings().set_option(option, value);
        self.set(setting, |settings| settings.option_is(option, value))
            .await
    }

    async fn set(
        &self,
        mut setting: SettingRequest,
        accepted: impl FnOnce(&mut SessionSettings),
    ) -> Result<AgentSettings, AgentError> {
        let session = self.session()?;
        if let Some(params) = setting.params.as_object_mut() {
            params.insert("sessionId".to_owned(), Value::String(session));
        }
        let call = (setting.method, setting.params);
        let result = self
            .ask(call, ReplyUse::Settings, bounds::AGENT_REQUEST_TIMEOUT)
            .await?;
        let mut settings = self.inner.shared.settings();
        if result.get("configOptions").is_none() {
            accepted(&mut settings);
        }
        Ok(settings.current().clone())
    }
}
