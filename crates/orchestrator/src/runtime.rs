//! The owner of a live session: one task per session with work, created under a registry lock, so that two clients
//! opening the same session start exactly one agent.
//!
//! It owns the agent connection, the coalescer, the tool rows and the open permissions. Commands reach it as pokes,
//! one flag per kind; what is to be done stands in the database. It reads the agent's events in the order of the
//! agent's lines, writes them, and only then frees their places in the hand-off: a stalled database stops the reading,
//! the gate closes, the agent's pipe fills, and memory stays flat (STR-04).
//!
//! Invariant: draining events never waits for a reply of the agent.
//! Invariant: one prompt is under way at a time, whatever the agent would accept.
//!
//! Where to read next: [`start`] for bringing an agent up, [`stream`] for text, [`tools`] for tool calls,
//! [`requests`] for permissions, [`settle`] for every way a turn ends.

mod live;
pub mod pokes;
mod prompt;
pub(crate) mod questions;
pub mod registry;
mod requests;
mod rows;
mod serve;
mod settle;
mod start;
mod stream;
mod tool_call;
mod tools;

use crate::appender::patiently;
use crate::environments::StartFailure;
use crate::orchestrator::Orchestrator;
use crate::runtime::live::{Live, OpenTurn};
use crate::runtime::pokes::{Handle, Poke};
use crate::runtime::registry::Presence;
use agentctl::event::AgentEvent;
use futures_util::future::BoxFuture;
use model::bounds;
use model::ids::{SessionId, TaskId};
use model::session::Session;
use model::turn::TurnOutcome;
use std::sync::Arc;
use std::time::Duration;
use store::error::StoreError;
use store::tx::WriteTx;
use tokio::time::Instant;

/// The state of one session's owner.
pub(crate) struct Runtime {
    pub(crate) o: Orchestrator,
    pub(crate) session_id: SessionId,
    pub(crate) task_id: TaskId,
    pub(crate) handle: Arc<Handle>,
    /// The process is to end: the queue waits for a person.
    pub(crate) stopping: bool,
    /// The process, while there is one.
    pub(crate) live: Option<Live>,
    /// The conversational turn that was written to the agent and is not settled.
    pub(crate) turn: Option<OpenTurn>,
    pub(crate) rows: rows::Rows,
    pub(crate) epoch: Instant,
}

impl Orchestrator {
    /// Tells a session's owner that there is something to do; starts the owner when there is none.
    pub(crate) fn poke(&self, session: &Session, poke: Poke) {
        let Some(presence) = self.inner.registry.poke_or_admit(&session.id, poke) else {
            return;
        };
        let runtime = Runtime {
            o: self.clone(),
            session_id: session.id.clone(),
            task_id: session.task_id.clone(),
            handle: Arc::clone(&presence.handle),
            stopping: false,
            live: None,
            turn: None,
            rows: rows::Rows::default(),
            epoch: Instant::now(),
        };
        self.inner.tasks.spawn(runtime.run(presence));
    }

    /// Commits what a session's owner is to carry out, and tells it whatever came of that: a commit whose answer was lost
    /// may have happened all the same. A poke carries no truth, so one too many does nothing.
    pub(crate) async fn commit_and_poke(
        &self,
        tx: WriteTx,
        session: &Session,
        poke: Poke,
    ) -> store::error::Result<()> {
        let committed = self.commit(tx).await;
        self.poke(session, poke);
        committed
    }

    /// Pokes an owner that exists; without one there is nothing to do.
    pub(crate) fn poke_live(&self, session: &Session, poke: Poke) {
        self.inner.registry.poke(&session.id, poke);
    }
}

/// What the loop woke up for.
enum Woken {
    Poked,
    Shutdown,
    Deadline,
    Event(Option<Box<agentctl::handoff::Delivered>>),
}

impl Runtime {
    async fn run(mut self, presence: Presence) {
        loop {
            if self.o.inner.shutdown.is_cancelled() {
                self.shut_down().await;
                break;
            }
            let pokes = self.handle.take();
            if !pokes.is_empty() {
                self.serve(pokes).await;
                continue;
            }
            if self.live.is_none() {
                if presence.retire() {
                    break;
                }
                continue;
            }
            match self.wake().await {
                Woken::Poked | Woken::Shutdown => {}
                Woken::Deadline => self.on_deadline().await,
                Woken::Event(Some(delivered)) => {
                    self.on_event(delivered.event.clone()).await;
                    drop(delivered); // only now is its place in the hand-off free
                }
                Woken::Event(None) => self.on_gone().await,
            }
        }
        drop(presence);
    }

    async fn wake(&mut self) -> Woken {
        let deadline = self.next_deadline();
        let has_room = self.rows.coalescer.has_room();
        let Some(live) = &mut self.live else {
            return Woken::Poked;
        };
        tokio::select! {
            biased;
            () = self.o.inner.shutdown.cancelled() => Woken::Shutdown,
            () = self.handle.poked() => Woken::Poked,
            () = tokio::time::sleep_until(deadline) => Woken::Deadline,
            event = live.events.next(), if has_room => Woken::Event(event.map(Box::new)),
        }
    }

    /// Time since this owner began; what the plain-data parts count in.
    pub(crate) fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn next_deadline(&self) -> Instant {
        let flush = self.rows.next_due().map(|due| self.epoch + due);
        let cancel = self.turn.as_ref().and_then(|turn| turn.cancel_deadline);
        let idle = self.idle_at();
        let far = Instant::now() + bounds::AGENT_IDLE;
        [flush, cancel, idle]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(far)
    }

    async fn on_deadline(&mut self) {
        let now = Instant::now();
        if self
            .rows
            .next_due()
            .is_some_and(|due| self.epoch + due <= now)
        {
            self.flush_window().await;
        }
        if self
            .turn
            .as_ref()
            .and_then(|turn| turn.cancel_deadline)
            .is_some_and(|at| at <= now)
        {
            self.end_ignored_cancel().await;
        }
        if self.idle_at().is_some_and(|at| at <= now) {
            self.stop_process().await;
        }
    }

    /// When the process may be stopped for being idle; never while it waits for a person.
    fn idle_at(&self) -> Option<Instant> {
        let busy = self.turn.is_some() || self.handle.questions.any_attached();
        let live = self.live.as_ref();
        live.and_then(|live| live.idle_at(busy, &self.rows))
    }

    async fn on_event(&mut self, event: AgentEvent) {
        if let Some(live) = &mut self.live {
            live.last_event = Instant::now();
        }
        match event {
            AgentEvent::Text {
                kind,
                protocol_id,
                text,
            } => self.on_text(kind, protocol_id, &text).await,
            AgentEvent::ToolCall(update) => self.on_tool_call(update).await,
            AgentEvent::Plan(entries) => self.on_plan(entries).await,
            AgentEvent::Permission {
                ticket,
                tool_call,
                options,
            } => {
                self.on_permission(ticket, tool_call, options).await;
            }
            AgentEvent::PermissionWithdrawn { ticket } => self.on_withdrawn(ticket).await,
            AgentEvent::Elicitation { ticket, form } => self.on_elicitation(ticket, form).await,
            AgentEvent::ElicitationWithdrawn { ticket } => {
                self.on_elicitation_withdrawn(ticket).await;
            }
            AgentEvent::Settings(settings) => self.keep_settings(settings).await,
            AgentEvent::Commands(commands) => self.keep_commands(commands).await,
            AgentEvent::Usage(usage) => self.keep_usage(usage).await,
            AgentEvent::Unknown { kind, raw } => self.on_unknown(&kind, &raw).await,
            AgentEvent::PromptEnded { prompt, result } => {
                self.on_prompt_ended(&prompt, result).await
            }
            AgentEvent::Exited(exit) => self.on_exited(exit).await,
            // The person's words are stored already; the agent's name for the conversation is not shown.
            AgentEvent::UserEcho | AgentEvent::Title(_) => {}
        }
    }

    /// Carries a write of this session through: a database that takes no writes is waited for. What it refuses for good
    /// is logged once; the caller goes on with what is true in memory.
    pub(crate) async fn persist<'a, T>(
        &self,
        what: &'static str,
        attempt: impl Fn() -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync,
    ) -> Option<T> {
        match patiently(&self.o.inner.shutdown, &attempt).await {
            Ok(value) => Some(value),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(session = %self.session_id, what, error, "a session's write failed");
                None
            }
        }
    }

    /// As [`Runtime::persist`], for what must be true afterwards whatever the session's row says: when it cannot be
    /// read the cleaning up goes on unread, with this outcome and error; when it is gone there is nothing to do
    /// (ERR-08).
    pub(crate) async fn persist_ending<'a, T>(
        &self,
        what: &'static str,
        outcome: TurnOutcome,
        failure: Option<&StartFailure>,
        attempt: impl Fn() -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync,
    ) -> Option<T> {
        let error = match patiently(&self.o.inner.shutdown, &attempt).await {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        if matches!(error, StoreError::NotFound { .. }) {
            tracing::info!(session = %self.session_id, what, "a session that is gone needs no cleaning up");
            return None;
        }
        {
            let cause = &error as &dyn std::error::Error;
            tracing::error!(session = %self.session_id, what, error = cause, "a session could not be read; it is cleaned up unread");
        }
        let active = failure
            .map(|failure| failure.record(self.session_id.as_str(), self.o.inner.store.now()));
        self.persist(what, || {
            Box::pin(self.o.clean_up_unread(
                &self.session_id,
                &self.task_id,
                outcome,
                active.as_ref(),
            ))
        })
        .await;
        None
    }
}
