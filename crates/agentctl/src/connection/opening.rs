//! Opens sessions: new ones, and earlier ones whose history must not be told again.
//!
//! Invariant: whatever an agent repeats while it continues a session reaches nobody; commands and settings reported
//! meanwhile are the present, and are handed to the caller.

use crate::connection::AgentConnection;
use crate::error::AgentError;
use crate::replies::{Replies, ReplyUse};
use crate::request::{self, McpServer};
use model::agent::{AgentCommandInfo, AgentSettings};
use model::bounds;
use serde_json::Value;
use tokio::time::sleep;

/// A session that was opened or continued.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedSession {
    /// The agent's id of it; keep it to continue the session in a later process.
    pub acp_session_id: String,
    /// Models, modes and options now.
    pub settings: AgentSettings,
    /// Slash commands, when they were reported while history was replayed; else they come as an event.
    pub commands: Option<Vec<AgentCommandInfo>>,
}

impl AgentConnection {
    /// Opens a new session.
    ///
    /// # Errors
    /// [`AgentError::AuthRequired`] when a person must sign in first; otherwise as any request.
    pub async fn new_session(&self, mcp: &[McpServer]) -> Result<OpenedSession, AgentError> {
        let call = request::new_session(&self.inner.cwd, mcp);
        let result = self
            .ask(call, ReplyUse::Settings, bounds::AGENT_START_TIMEOUT)
            .await?;
        let Some(id) = result.get("sessionId").and_then(Value::as_str) else {
            return Err(AgentError::Protocol {
                reason: "a new session without an id".to_owned(),
            });
        };
        Ok(self.opened(id, None))
    }

    /// Continues an earlier session: by `session/resume` when the agent can, else by `session/load`. The history that
    /// the agent repeats reaches nobody.
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] when the agent can do neither; otherwise as any request. After an error the
    /// connection can still open a new session.
    pub async fn load_session(
        &self,
        acp_session_id: &str,
        mcp: &[McpServer],
    ) -> Result<OpenedSession, AgentError> {
        let info = self.info();
        let call = match (info.resume, info.load_session) {
            (true, _) => request::resume_session(acp_session_id, &self.inner.cwd, mcp),
            (false, true) => request::load_session(acp_session_id, &self.inner.cwd, mcp),
            (false, false) => {
                return Err(AgentError::Unsupported {
                    what: "continuing a session",
                });
            }
        };
        let late_replay = info.traits.replays_after_reply;
        let prepare = move |replies: &mut Replies, id| {
            replies.expect_replay(id);
            if late_replay {
                replies.hold_replay();
            }
        };
        let answer = self
            .ask_prepared(
                call,
                ReplyUse::Settings,
                bounds::AGENT_START_TIMEOUT,
                prepare,
            )
            .await;
        if late_replay && answer.is_ok() {
            self.wait_for_quiet().await;
        }
        let commands = self.inner.shared.replies().end_replay();
        let result = answer?;
        let id = result
            .get("sessionId")
            .and_then(Value::as_str)
            .unwrap_or(acp_session_id);
        Ok(self.opened(id, commands))
    }

    /// Waits until no replayed line has come for [`bounds::REPLAY_QUIET`].
    async fn wait_for_quiet(&self) {
        loop {
            let before = self.inner.shared.replies().replayed();
            sleep(bounds::REPLAY_QUIET).await;
            if self.inner.shared.replies().replayed() == before {
                return;
            }
        }
    }

    fn opened(&self, id: &str, commands: Option<Vec<AgentCommandInfo>>) -> OpenedSession {
        *self.inner.shared.session() = Some(id.to_owned());
        OpenedSession {
            acp_session_id: id.to_owned(),
            settings: self.settings(),
            commands,
        }
    }
}
