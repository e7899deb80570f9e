//! The MCP sessions of one agent process: how many may be open, and which one makes room for another.
//!
//! A session is as long as the process, because an agent may work for hours before it asks anything. Clients that open
//! one per question and never end it are common, so the session that was idle the longest makes room; its client, if it
//! is there still, is told 404 and opens another, as MCP asks of it. One with a request under way stays.

use model::bounds;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The open sessions and their use.
#[derive(Clone, Default)]
pub(super) struct Sessions {
    pub(super) open: Arc<LocalSessionManager>,
    uses: Arc<Mutex<Uses>>,
}

#[derive(Default)]
struct Uses {
    /// By session; one that is not here is being opened or closed.
    sessions: HashMap<SessionId, Use>,
    /// Requests that may open a session and have not been answered.
    opening: usize,
    /// Counts uses, so that they have an order.
    turn: u64,
}

struct Use {
    under_way: usize,
    /// The count when it was last in use.
    last: u64,
}

/// One request, from before it is handled until its response has ended.
pub(super) struct InUse {
    sessions: Sessions,
    /// The session it belongs to; none while it opens one.
    id: Option<SessionId>,
}

impl Sessions {
    pub(super) fn new(open: LocalSessionManager) -> Self {
        Self {
            open: Arc::new(open),
            uses: Arc::default(),
        }
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request of an open session, or of one that does not exist, which is refused later.
    pub(super) fn request(&self, id: &str) -> Option<InUse> {
        let mut uses = self.uses();
        let id = uses.sessions.get_key_value(id)?.0.clone();
        let used = uses.sessions.get_mut(&id)?;
        used.under_way += 1;
        Some(InUse {
            sessions: self.clone(),
            id: Some(id),
        })
    }

    /// A request that may open a session; none when [`bounds::MCP_SESSIONS`] are in use.
    pub(super) async fn opening(&self) -> Option<InUse> {
        let (admitted, idle) = {
            // Held together, so that none is forgotten that opens meanwhile. One that is open and not yet answered counts
            // twice for that moment: rather one too few than one too many.
            let open = self.open.sessions.read().await;
            self.uses().admit(self, &open)?
        };
        if let Some(idle) = idle {
            // It is out of the list whatever its worker says about its end.
            let _ = self.open.close_session(&idle).await;
        }
        Some(admitted)
    }
}

impl Uses {
    fn admit<T>(
        &mut self,
        all: &Sessions,
        open: &HashMap<SessionId, T>,
    ) -> Option<(InUse, Option<SessionId>)> {
        self.sessions.retain(|id, _| open.contains_key(id));
        let idle = if open.len() + self.opening < bounds::MCP_SESSIONS {
            None
        } else {
            let idle = self.sessions.iter().filter(|(_, used)| used.under_way == 0);
            let longest = idle.min_by_key(|(_, used)| used.last)?.0.clone();
            self.sessions.remove(&longest);
            Some(longest)
        };
        self.opening += 1;
        let admitted = InUse {
            sessions: all.clone(),
            id: None,
        };
        Some((admitted, idle))
    }
}

impl InUse {
    /// What it opened, as its answer says.
    pub(super) fn opened(&mut self, id: &str) {
        if self.id.is_some() {
            return;
        }
        let id = SessionId::from(id);
        let mut uses = self.sessions.uses();
        uses.opening = uses.opening.saturating_sub(1);
        let used = Use {
            under_way: 1,
            last: 0,
        };
        uses.sessions.insert(id.clone(), used);
        drop(uses);
        self.id = Some(id);
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut uses = self.sessions.uses();
        let Some(id) = &self.id else {
            uses.opening = uses.opening.saturating_sub(1);
            return;
        };
        uses.turn += 1;
        let last = uses.turn;
        if let Some(used) = uses.sessions.get_mut(id) {
            used.under_way = used.under_way.saturating_sub(1);
            used.last = last;
        }
    }
}
