//! Which sessions have an owner.
//!
//! A session that is being closed (deleted, or archived with its task) admits no owner: whoever closes it holds a
//! [`Closing`] until the change is committed. Pokes that come meanwhile are remembered, so that nothing is forgotten
//! when the session goes on after all.

use crate::runtime::pokes::{Handle, Poke};
use model::ids::{PendingId, SessionId};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The owners by session; cloning it is cheap.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    handles: HashMap<SessionId, Arc<Handle>>,
    /// Sessions that are being closed, and whether somebody wanted something of them meanwhile.
    closing: HashMap<SessionId, bool>,
}

/// While this is held its session admits no owner.
#[derive(Debug)]
pub(crate) struct Closing {
    registry: Registry,
    id: SessionId,
}

impl Closing {
    /// Ends it; says whether the session was poked meanwhile.
    pub(crate) fn finish(self) -> bool {
        self.registry
            .state()
            .closing
            .get(&self.id)
            .copied()
            .unwrap_or(false)
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.registry.state().closing.remove(&self.id);
    }
}

/// An owner's presence in the registry: it ends with the owner, even if that panics.
#[derive(Debug)]
pub(crate) struct Presence {
    registry: Registry,
    id: SessionId,
    pub(crate) handle: Arc<Handle>,
}

impl Presence {
    /// An owner without work leaves, unless it was poked meanwhile.
    pub(crate) fn retire(&self) -> bool {
        let mut state = self.registry.state();
        if !self.handle.peek().is_empty() {
            return false;
        }
        state.forget(&self.id, &self.handle);
        true
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.handle.has_process.store(false, Ordering::SeqCst);
        self.registry.state().forget(&self.id, &self.handle);
        self.handle.ended.cancel();
    }
}

impl State {
    fn forget(&mut self, id: &SessionId, handle: &Arc<Handle>) {
        if self
            .handles
            .get(id)
            .is_some_and(|known| Arc::ptr_eq(known, handle))
        {
            self.handles.remove(id);
        }
    }
}

impl Registry {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pokes the owner, if there is one.
    pub(crate) fn poke(&self, id: &SessionId, poke: Poke) {
        if let Some(handle) = self.state().handles.get(id) {
            handle.poke(poke);
        }
    }

    /// Pokes the owner; without one, gives the presence of the owner that the caller must start.
    pub(crate) fn poke_or_admit(&self, id: &SessionId, poke: Poke) -> Option<Presence> {
        let mut state = self.state();
        if let Some(wanted) = state.closing.get_mut(id) {
            *wanted = true;
            return None;
        }
        if let Some(handle) = state.handles.get(id) {
            handle.poke(poke);
            return None;
        }
        let handle = Arc::new(Handle::default());
        handle.poke(poke);
        state.handles.insert(id.clone(), Arc::clone(&handle));
        Some(Presence {
            registry: self.clone(),
            id: id.clone(),
            handle,
        })
    }

    /// Whether the session's agent process lives.
    pub(crate) fn has_process(&self, id: &SessionId) -> bool {
        self.state()
            .handles
            .get(id)
            .is_some_and(|handle| handle.has_process.load(Ordering::SeqCst))
    }

    /// The session's owner, if it has one.
    pub(crate) fn handle(&self, id: &SessionId) -> Option<Arc<Handle>> {
        self.state().handles.get(id).cloned()
    }

    /// Whether somebody waits for the answer to this bundle of questions.
    pub(crate) fn is_attached(&self, id: &SessionId, pending_id: &PendingId) -> bool {
        self.handle(id)
            .is_some_and(|handle| handle.questions.is_attached(pending_id))
    }

    /// The bundles of questions whose answers somebody waits for.
    pub(crate) fn awaited(&self, id: &SessionId) -> Vec<PendingId> {
        self.handle(id)
            .map(|handle| handle.questions.awaited())
            .unwrap_or_default()
    }

    /// Notes an option for a live agent; says whether there is one.
    pub(crate) fn wish(&self, id: &SessionId, option: &str, value: &str) -> bool {
        let state = self.state();
        let handle = state
            .handles
            .get(id)
            .filter(|handle| handle.has_process.load(Ordering::SeqCst));
        if let Some(handle) = handle {
            handle.wish(option, value);
        }
        handle.is_some()
    }

    /// Ends the session's process, waits for its owner to end, and admits no other until the guard goes.
    pub(crate) async fn close(&self, id: &SessionId) -> Closing {
        let handle = {
            let mut state = self.state();
            state.closing.insert(id.clone(), false);
            state.handles.get(id).cloned()
        };
        let closing = Closing {
            registry: self.clone(),
            id: id.clone(),
        };
        if let Some(handle) = handle {
            handle.poke(Poke::Stop);
            handle.ended.cancelled().await;
        }
        closing
    }

    /// Whether the session is being closed.
    pub(crate) fn is_closing(&self, id: &SessionId) -> bool {
        self.state().closing.contains_key(id)
    }

    /// Waits until no owner is left; the caller has told them to end.
    pub(crate) async fn all_ended(&self) {
        loop {
            let one = self.state().handles.values().next().cloned();
            let Some(one) = one else { return };
            one.ended.cancelled().await;
        }
    }
}
