//! What the handle of a connection and its reader both touch.
//!
//! Invariant: each lock is held for a few lines, never across an `await`, and never two at a time.

use crate::counters::ConnectionCounters;
use crate::error::AgentError;
use crate::info::AgentInfo;
use crate::known::AgentTraits;
use crate::permissions::OpenPermissions;
use crate::replies::Replies;
use crate::settings::SessionSettings;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The state of one connection.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    replies: Mutex<Replies>,
    permissions: Mutex<OpenPermissions>,
    /// Elicitations that nobody has answered yet.
    elicitations: Mutex<OpenPermissions>,
    settings: Mutex<SessionSettings>,
    counters: Mutex<ConnectionCounters>,
    /// The open session's id.
    session: Mutex<Option<String>>,
    info: OnceLock<AgentInfo>,
    /// Why the reader gave up, should it be the agent's fault.
    fault: OnceLock<AgentError>,
}

impl Shared {
    pub(crate) fn replies(&self) -> MutexGuard<'_, Replies> {
        lock(&self.replies)
    }

    pub(crate) fn permissions(&self) -> MutexGuard<'_, OpenPermissions> {
        lock(&self.permissions)
    }

    pub(crate) fn elicitations(&self) -> MutexGuard<'_, OpenPermissions> {
        lock(&self.elicitations)
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, SessionSettings> {
        lock(&self.settings)
    }

    pub(crate) fn counters(&self) -> MutexGuard<'_, ConnectionCounters> {
        lock(&self.counters)
    }

    /// Whether `params` name another session than the open one.
    pub(crate) fn is_foreign(&self, params: &Value) -> bool {
        let open = lock(&self.session);
        match (
            open.as_deref(),
            params.get("sessionId").and_then(Value::as_str),
        ) {
            (Some(open), Some(named)) => open != named,
            _ => false,
        }
    }

    pub(crate) fn blame(&self, fault: AgentError) {
        self.fault.get_or_init(|| fault);
    }

    pub(crate) fn fault(&self) -> Option<AgentError> {
        self.fault.get().cloned()
    }

    pub(crate) fn session(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.session)
    }

    pub(crate) fn introduced(&self, info: AgentInfo) {
        self.info.get_or_init(|| info);
    }

    pub(crate) fn info(&self) -> Option<&AgentInfo> {
        self.info.get()
    }

    pub(crate) fn traits(&self) -> AgentTraits {
        self.info
            .get()
            .map_or(AgentTraits::UNKNOWN, |info| info.traits)
    }
}

/// No code panics while holding one of these locks; should one, the data is still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
