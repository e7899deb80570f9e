//! Commands on sessions, launching excepted.

use crate::emit;
use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::runtime::pokes::Poke;
use crate::tasks::check_title;
use crate::turn_plan::follow;
use model::event::Event;
use model::ids::SessionId;
use model::session::{Session, SessionState};
use model::turn_machine::input::Input;
use store::tx::WriteTx;
use store::{attachments, sessions, tasks};

impl Orchestrator {
    /// A person opened the session's detail: an agent that could go on is resumed (with a lifecycle turn only).
    ///
    /// # Errors
    /// `NotFound` when the session does not exist.
    pub async fn session_opened(&self, session_id: &SessionId) -> Result<()> {
        let mut tx = self.inner.store.read().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        let resumable = session.state == SessionState::WaitingForInput && session.error.is_none();
        if resumable && !self.inner.registry.has_process(session_id) {
            self.poke(&session, Poke::Open);
        }
        Ok(())
    }

    /// Renames it.
    ///
    /// # Errors
    /// `Invalid` for a bad name.
    pub async fn rename_session(&self, session_id: &SessionId, name: &str) -> Result<Session> {
        let name = check_title(name, "name")?;
        let mut tx = self.inner.store.write().await?;
        sessions::rename(&mut tx, session_id, name).await?;
        self.finish(tx, session_id).await
    }

    /// Makes it the session whose state its task's row shows.
    ///
    /// # Errors
    /// `NotFound` when it does not exist.
    pub async fn set_primary_session(&self, session_id: &SessionId) -> Result<Session> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        sessions::set_primary(&mut tx, &session.task_id, session_id).await?;
        let now = tx.now();
        tasks::raise_activity(&mut tx, &session.task_id, now).await?;
        tx.touch(&session.task_id);
        for other in sessions::of_task(&mut tx, &session.task_id).await? {
            if other.id != *session_id {
                tx.emit(Event::Session(other.into()));
            }
        }
        self.finish(tx, session_id).await
    }

    async fn finish(&self, mut tx: WriteTx, session_id: &SessionId) -> Result<Session> {
        let session = emit::read_session(&mut tx, session_id).await?;
        self.commit(tx).await?;
        Ok((*session).clone())
    }

    /// Chooses a model: kept with the session, and set at once when its agent lives.
    ///
    /// # Errors
    /// `Invalid` when the agent does not offer it.
    pub async fn set_session_model(&self, session_id: &SessionId, model: &str) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        let offered = sessions::report(&mut tx, session_id).await?.settings.models;
        if !offered.is_empty() && !offered.iter().any(|choice| choice.id == model) {
            return Err(CommandError::invalid("the agent does not offer this model"));
        }
        sessions::set_choice(&mut tx, session_id, Some(model), None).await?;
        self.commit(tx).await?;
        self.poke_live(&session, Poke::Settings);
        Ok(())
    }

    /// Chooses a mode: kept with the session, and set at once when its agent lives.
    ///
    /// # Errors
    /// `Invalid` when the agent does not offer it.
    pub async fn set_session_mode(&self, session_id: &SessionId, mode: &str) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        let offered = sessions::report(&mut tx, session_id).await?.settings.modes;
        if !offered.is_empty() && !offered.iter().any(|choice| choice.id == mode) {
            return Err(CommandError::invalid("the agent does not offer this mode"));
        }
        sessions::set_choice(&mut tx, session_id, None, Some(mode)).await?;
        self.commit(tx).await?;
        self.poke_live(&session, Poke::Settings);
        Ok(())
    }

    /// Sets one of the agent's other options; only a live agent has them.
    ///
    /// # Errors
    /// `Invalid` when the agent does not offer it, `Conflict` when no agent lives.
    pub async fn set_session_option(
        &self,
        session_id: &SessionId,
        option: &str,
        value: &str,
    ) -> Result<()> {
        let mut tx = self.inner.store.read().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        let offered = sessions::report(&mut tx, session_id)
            .await?
            .settings
            .options;
        let known = offered.iter().find(|known| known.id == option);
        if !known.is_some_and(|known| known.choices.iter().any(|choice| choice.id == value)) {
            return Err(CommandError::invalid(
                "the agent does not offer this choice",
            ));
        }
        if !self.inner.registry.wish(&session.id, option, value) {
            return Err(CommandError::conflict(
                "the agent is not running; send a message first",
            ));
        }
        self.poke_live(&session, Poke::Settings);
        Ok(())
    }

    /// Ends the turn, then the process. The session can go on later.
    ///
    /// # Errors
    /// `NotFound` when it does not exist.
    pub async fn stop_session(&self, session_id: &SessionId) -> Result<()> {
        let mut tx = self.inner.store.read().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        self.poke_live(&session, Poke::Stop);
        Ok(())
    }

    /// Ends the session for good: COMPLETED, or CANCELLED when a turn was open.
    ///
    /// # Errors
    /// `NotFound` when it does not exist.
    pub async fn close_session(&self, session_id: &SessionId) -> Result<Session> {
        let mut tx = self.inner.store.write().await?;
        let session = sessions::get(&mut tx, session_id).await?;
        if session.state.is_terminal() {
            return Ok(session);
        }
        let facts = self.facts(&mut tx, session_id).await?;
        follow(&mut tx, session_id, &facts, &Input::Closed).await?;
        tx.touch(&session.task_id);
        let closed = self.finish(tx, session_id).await?;
        self.poke_live(&session, Poke::Stop);
        Ok(closed)
    }

    /// Deletes a session with its transcript: its agent is stopped first. Tasks bind environments, so the worktree
    /// and its Git status stay.
    ///
    /// # Errors
    /// `NotFound` when it does not exist.
    pub async fn delete_session(&self, session_id: &SessionId) -> Result<()> {
        let session = {
            let mut tx = self.inner.store.read().await?;
            sessions::get(&mut tx, session_id).await?
        };
        let _closing = self.inner.registry.close(session_id).await;
        let mut tx = self.inner.store.write().await?;
        let files = attachments::of_session(&mut tx, session_id).await?;
        sessions::remove(&mut tx, &session.task_id, session_id).await?;
        tx.touch(&session.task_id);
        tx.emit(Event::SessionDeleted {
            workspace_id: session.workspace_id.clone(),
            task_id: session.task_id.clone(),
            session_id: session_id.clone(),
        });
        for heir in sessions::of_task(&mut tx, &session.task_id).await? {
            if heir.is_primary && session.is_primary {
                tx.emit(Event::Session(heir.into()));
            }
        }
        self.commit(tx).await?;
        self.remove_files(files);
        Ok(())
    }
}
