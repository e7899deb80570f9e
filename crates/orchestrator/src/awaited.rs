//! Which questions an agent waits for, told to whoever looks at the session.
//!
//! That a question is open stands in the database; that somebody waits for its answer is known to the session's owner
//! alone and ends with it. Every other open question is *detached*: its answer will be sent as a prompt.
//!
//! Invariant: what is published is the whole list as it is at that moment, and of two that are published the later one
//! was read later. So each change needs to be followed by [`Orchestrator::tell_awaited`], in no particular order.

use crate::orchestrator::Orchestrator;
use model::event::Event;
use model::ids::{PendingId, SessionId};
use std::sync::PoisonError;

impl Orchestrator {
    /// The bundles of a session whose answers an agent waits for now, in the order of their ids; at most
    /// `bounds::OPEN_QUESTIONS`.
    #[must_use]
    pub fn awaited_questions(&self, session_id: &SessionId) -> Vec<PendingId> {
        self.inner.registry.awaited(session_id)
    }

    /// Publishes them, after they changed.
    pub(crate) fn tell_awaited(&self, session_id: &SessionId) {
        let telling = &self.inner.telling_awaited;
        let _turn = telling.lock().unwrap_or_else(PoisonError::into_inner);
        self.inner.publisher.hub.publish(&Event::QuestionsAwaited {
            session_id: session_id.clone(),
            pending_ids: self.awaited_questions(session_id),
        });
    }

    /// Tells it when the answer is dropped.
    pub(crate) fn tell_awaited_later(&self, session_id: &SessionId) -> TellsLater {
        TellsLater {
            orchestrator: self.clone(),
            session_id: session_id.clone(),
        }
    }
}

/// A change of what is waited for that is not over yet.
pub(crate) struct TellsLater {
    orchestrator: Orchestrator,
    session_id: SessionId,
}

impl Drop for TellsLater {
    fn drop(&mut self) {
        self.orchestrator.tell_awaited(&self.session_id);
    }
}
