//! A live agent process, and the turn it works on.

use crate::keys::AgentKey;
use crate::runtime::rows::Rows;
use agentctl::connection::AgentConnection;
use agentctl::event::PermissionTicket;
use agentctl::handoff::AgentEvents;
use model::bounds;
use model::ids::{EnvironmentId, MessageId, TurnId};
use std::collections::{BTreeSet, HashMap};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

/// The process of a session.
pub(crate) struct Live {
    pub(crate) connection: AgentConnection,
    pub(crate) events: AgentEvents,
    pub(crate) environment_id: EnvironmentId,
    /// Its place among the live agents.
    pub(crate) _place: OwnedSemaphorePermit,
    /// By which it may ask; void with the process.
    pub(crate) _key: Option<AgentKey>,
    pub(crate) last_event: Instant,
    /// Whether the agent can continue this session in a later process.
    pub(crate) resumable: bool,
    /// Open permissions by their rows.
    pub(crate) tickets: HashMap<MessageId, PermissionTicket>,
    /// Tool calls that are subagents at work.
    pub(crate) subagents: BTreeSet<String>,
    /// It was asked to end: its exit is no failure.
    pub(crate) stopping: bool,
}

impl Live {
    /// When the process may be stopped for being idle: it can come back, and nothing waits on it.
    pub(crate) fn idle_at(&self, busy: bool, rows: &Rows) -> Option<Instant> {
        let idle = !busy
            && self.resumable
            && self.tickets.is_empty()
            && self.subagents.is_empty()
            && rows.next_due().is_none();
        idle.then(|| self.last_event + bounds::AGENT_IDLE)
    }

    /// Live subagents, as the session row counts them.
    pub(crate) fn subagent_count(&self) -> u32 {
        u32::try_from(self.subagents.len())
            .unwrap_or(bounds::ACTIVE_SUBAGENTS)
            .min(bounds::ACTIVE_SUBAGENTS)
    }
}

/// A conversational turn that was written to the agent.
pub(crate) struct OpenTurn {
    pub(crate) id: TurnId,
    /// Anything came back for it.
    pub(crate) acknowledged: bool,
    /// Answer text came for it.
    pub(crate) answered: bool,
    /// A stop was asked for; when the agent's own time to end is over.
    pub(crate) cancel_deadline: Option<Instant>,
}

impl OpenTurn {
    pub(crate) const fn new(id: TurnId) -> Self {
        Self {
            id,
            acknowledged: false,
            answered: false,
            cancel_deadline: None,
        }
    }
}
