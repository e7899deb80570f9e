//! Cleaning up after a session whose row cannot be read (ERR-08).
//!
//! What an error, a process's end or a start-up must leave true does not depend on what the row said: the turn is over,
//! nothing works, no process is noted, the error stands. So when reading it fails all of that is written unread. Only a
//! session that is not there any more needs none of it.

use crate::orchestrator::Orchestrator;
use crate::turns as turn_rules;
use model::error::ActiveError;
use model::ids::{SessionId, TaskId};
use model::message::RequestStatus;
use model::session::SessionState;
use model::turn::TurnOutcome;
use store::error::{Result, StoreError};
use store::{executions, recovery, requests, sessions, turns};

/// Whether the rows are there and hold something that this program does not know: waiting does not help, and it is no
/// reason to leave a session as if its agent still worked.
pub(crate) const fn is_unreadable(error: &StoreError) -> bool {
    matches!(error, StoreError::Corrupt { .. })
}

impl Orchestrator {
    /// Ends everything of a session without reading its row: open turns with `outcome`, permissions, activity, the
    /// noted process, RUNNING and STARTING. Stores `error`, if there is one. Safe to repeat.
    pub(crate) async fn clean_up_unread(
        &self,
        session_id: &SessionId,
        task_id: &TaskId,
        outcome: TurnOutcome,
        error: Option<&ActiveError>,
    ) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let now = tx.now();
        for turn in recovery::open_turns(&mut tx, session_id).await? {
            turns::complete(&mut tx, &turn.id, outcome, now).await?;
        }
        requests::end_permissions(&mut tx, session_id, RequestStatus::Expired, now).await?;
        executions::remove(&mut tx, session_id).await?;
        sessions::set_activity(&mut tx, session_id, None, 0).await?;
        let route = match sessions::route(&mut tx, session_id).await {
            Ok(route) => route,
            Err(StoreError::NotFound { .. }) => return Ok(()), // gone: dropping the transaction undoes the rest
            Err(error) => return Err(error),
        };
        let state = if route.acp_session_id.is_some() {
            SessionState::WaitingForInput
        } else {
            SessionState::Created
        };
        sessions::set_state(&mut tx, session_id, state).await?;
        tx.touch(task_id);
        self.commit(tx).await?;
        if let Some(error) = error {
            // By itself: an error that is not taken must not undo the cleaning up.
            let mut tx = self.inner.store.write().await?;
            sessions::set_error(&mut tx, session_id, error).await?;
            tx.touch(task_id);
            self.commit(tx).await?;
        }
        self.tell_what_can_be_read(session_id).await
    }

    /// What was just written may have repaired the row: then it is told, and its task comes to rest with it.
    async fn tell_what_can_be_read(&self, session_id: &SessionId) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        match turn_rules::rest(&mut tx, session_id).await {
            Ok(()) => self.commit(tx).await,
            Err(error) if is_unreadable(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
