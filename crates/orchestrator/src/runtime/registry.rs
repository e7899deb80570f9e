//! Which sessions have an owner.

use crate::runtime::pokes::{Handle, Poke};
use model::ids::SessionId;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The owners by session.
#[derive(Debug, Default)]
pub struct Registry {
    handles: Mutex<HashMap<SessionId, Arc<Handle>>>,
}

impl Registry {
    fn handles(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Handle>>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pokes the owner, if there is one.
    pub(crate) fn poke(&self, id: &SessionId, poke: Poke) {
        if let Some(handle) = self.handles().get(id) {
            handle.poke(poke);
        }
    }

    /// Pokes the owner; without one, gives the handle of the owner that the caller must start.
    pub(crate) fn poke_or_admit(&self, id: &SessionId, poke: Poke) -> Option<Arc<Handle>> {
        let mut handles = self.handles();
        if let Some(handle) = handles.get(id) {
            handle.poke(poke);
            return None;
        }
        let handle = Arc::new(Handle::default());
        handle.poke(poke);
        handles.insert(id.clone(), Arc::clone(&handle));
        Some(handle)
    }

    /// An owner without work leaves, unless it was poked meanwhile.
    pub(crate) fn retire(&self, id: &SessionId, handle: &Arc<Handle>) -> bool {
        let mut handles = self.handles();
        if !handle.peek().is_empty() {
            return false;
        }
        if handles
            .get(id)
            .is_some_and(|known| Arc::ptr_eq(known, handle))
        {
            handles.remove(id);
        }
        true
    }

    /// An owner has ended.
    pub(crate) fn ended(&self, id: &SessionId, handle: &Arc<Handle>) {
        let mut handles = self.handles();
        if handles
            .get(id)
            .is_some_and(|known| Arc::ptr_eq(known, handle))
        {
            handles.remove(id);
        }
        handle.ended.cancel();
    }

    /// Whether the session's agent process lives.
    pub(crate) fn has_process(&self, id: &SessionId) -> bool {
        self.handles()
            .get(id)
            .is_some_and(|handle| handle.has_process.load(Ordering::SeqCst))
    }

    /// Notes an option for a live agent; says whether there is one.
    pub(crate) fn wish(&self, id: &SessionId, option: &str, value: &str) -> bool {
        let handles = self.handles();
        let Some(handle) = handles
            .get(id)
            .filter(|h| h.has_process.load(Ordering::SeqCst))
        else {
            return false;
        };
        handle.wish(option, value);
        true
    }

    /// Ends the session's process and waits for its owner to end.
    pub(crate) async fn stop_and_wait(&self, id: &SessionId) {
        let handle = self.handles().get(id).cloned();
        if let Some(handle) = handle {
            handle.poke(Poke::Stop);
            handle.ended.cancelled().await;
        }
    }

    /// Waits until no owner is left; the caller has told them to end.
    pub(crate) async fn all_ended(&self) {
        loop {
            let one = self.handles().values().next().cloned();
            let Some(one) = one else { return };
            one.ended.cancelled().await;
        }
    }
}
