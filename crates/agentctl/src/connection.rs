//! The handle on one agent, and how a connection begins and ends.
//!
//! [`AgentConnection::start`] launches a process; [`AgentConnection::attach`] speaks over any pair of pipes (tests, and
//! agents that are not processes of this machine). Either way four parts run until the end: the reader, the writer, the
//! keeper of stderr and the one that waits for the process. One task owns them and pushes the last event.
//!
//! Invariants: dropping the last handle, or the [`AgentEvents`], ends the agent; every request but the prompt has a
//! deadline; no lock is held across an `await`.

pub mod choosing;
pub mod opening;

use crate::answer::rpc_error;
use crate::counters::ConnectionCounters;
use crate::elicitation::{self, ElicitationAnswer};
use crate::error::AgentError;
use crate::event::{
    AgentExit, ExitHow, PermissionAnswer, PermissionDelivery, PermissionTicket, PromptId,
};
use crate::handoff::{AgentEvents, handoff};
use crate::info::AgentInfo;
use crate::life::{Life, no_process, run};
use crate::message::{notification_line, request_line, result_line};
use crate::outgoing::{Outgoing, outgoing};
use crate::process::{AgentCommand, AgentProcess, LaunchContext, ProcessIdentity, launch};
use crate::reader::Reader;
use crate::replies::{Replies, ReplyUse};
use crate::request::{self, Call, PromptPart, permission_result};
use crate::state::Shared;
use crate::update::UpdateReader;
use flow::gate::FlowGate;
use model::agent::AgentSettings;
use model::bounds;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A handle on one agent. Clones speak to the same one; the last one dropped ends it.
#[derive(Clone, Debug)]
pub struct AgentConnection {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    outgoing: Outgoing,
    cwd: PathBuf,
    identity: Option<ProcessIdentity>,
    ended: watch::Receiver<Option<AgentExit>>,
    ending: CancellationToken,
    _end_on_drop: DropGuard,
}

impl AgentConnection {
    /// Starts the agent and introduces us to it.
    ///
    /// # Errors
    /// What [`launch`] gives; [`AgentError::ExitedAtOnce`], [`AgentError::InitializeTimeout`],
    /// [`AgentError::LineTooLong`], [`AgentError::Rpc`] or [`AgentError::Protocol`] while introducing. The process has
    /// ended when an error is returned.
    pub async fn start(
        command: &AgentCommand,
        context: &LaunchContext,
    ) -> Result<(Self, AgentEvents), AgentError> {
        let (process, pipes) = launch(command, context)?;
        Self::open(
            pipes.stdout,
            pipes.stdin,
            command.cwd.clone(),
            Some(process),
        )
        .await
    }

    /// Introduces us to an agent at the other end of two pipes. `cwd` is the folder its sessions work in.
    ///
    /// # Errors
    /// As [`Self::start`], from the introduction on.
    pub async fn attach(
        from_agent: impl AsyncRead + Send + Unpin + 'static,
        to_agent: impl AsyncWrite + Send + Unpin + 'static,
        cwd: PathBuf,
    ) -> Result<(Self, AgentEvents), AgentError> {
        Self::open(from_agent, to_agent, cwd, None).await
    }

    async fn open(
        from_agent: impl AsyncRead + Send + Unpin + 'static,
        to_agent: impl AsyncWrite + Send + Unpin + 'static,
        cwd: PathBuf,
        process: Option<AgentProcess>,
    ) -> Result<(Self, AgentEvents), AgentError> {
        let ending = CancellationToken::new();
        let (outgoing, lines) = outgoing(ending.clone());
        let (handoff, events) = handoff(FlowGate::for_agent());
        let shared = Arc::new(Shared::default());
        let identity = process.as_ref().map(AgentProcess::identity);
        let (end, ended) = watch::channel(None);
        let reader = Reader {
            shared: Arc::clone(&shared),
            handoff,
            outgoing: outgoing.clone(),
            updates: UpdateReader::default(),
        };
        let life = Life {
            lines,
            to_agent,
            process,
            ending: ending.clone(),
            end,
        };
        tokio::spawn(run(reader, BufReader::new(from_agent), life));
        let inner = Inner {
            shared,
            outgoing,
            cwd,
            identity,
            ended,
            _end_on_drop: ending.clone().drop_guard(),
            ending,
        };
        let connection = Self {
            inner: Arc::new(inner),
        };
        match connection.introduce().await {
            Ok(info) => {
                connection.inner.shared.introduced(info);
                Ok((connection, events))
            }
            Err(error) => {
                // Nobody will read the events; a reader that waits for room must not keep the process alive.
                drop(events);
                let exit = connection.stop().await;
                let fault = connection.inner.shared.fault();
                Err(fault.unwrap_or_else(|| at_start(error, exit)))
            }
        }
    }

    async fn introduce(&self) -> Result<AgentInfo, AgentError> {
        let result = self
            .ask(
                request::initialize(),
                ReplyUse::Caller,
                bounds::AGENT_START_TIMEOUT,
            )
            .await?;
        match result.get("protocolVersion").and_then(Value::as_u64) {
            Some(1) => Ok(AgentInfo::read(&result)),
            Some(other) => Err(AgentError::Protocol {
                reason: format!("it speaks version {other}, not 1"),
            }),
            None => Err(AgentError::Protocol {
                reason: "its introduction names no version".to_owned(),
            }),
        }
    }

    /// Who the agent is and what it can do.
    #[must_use]
    pub fn info(&self) -> &AgentInfo {
        self.inner
            .shared
            .info()
            .expect("a connection is handed out only after the introduction")
    }

    /// The process group, for a later [`crate::leftover::end_leftover_group`]; `None` without a process.
    #[must_use]
    pub fn process(&self) -> Option<ProcessIdentity> {
        self.inner.identity
    }

    /// What became of the agent's lines so far.
    #[must_use]
    pub fn counters(&self) -> ConnectionCounters {
        *self.inner.shared.counters()
    }

    /// The current models, modes and options.
    #[must_use]
    pub fn settings(&self) -> AgentSettings {
        self.inner.shared.settings().current().clone()
    }

    /// Hands a prompt to the agent. Its end comes as [`crate::event::AgentEvent::PromptEnded`], always, even when the agent dies.
    ///
    /// # Errors
    /// [`AgentError::NoSession`], [`AgentError::NotReading`] or [`AgentError::Gone`]; then no end will come.
    pub fn send_prompt(
        &self,
        prompt: PromptId,
        content: Vec<PromptPart>,
    ) -> Result<(), AgentError> {
        let (method, params) = request::prompt(&self.session()?, content);
        // Registered and queued under one lock: the end of the connection sees both or neither.
        let mut replies = self.inner.shared.replies();
        let id = replies.ask_prompt(prompt)?;
        self.inner
            .outgoing
            .send(request_line(id, method, &params))
            .inspect_err(|_| replies.forget(id))
    }

    /// Asks the agent to end the current prompt. Open permission requests must be answered as well, see
    /// [`Self::cancel_open_permissions`]: some agents wait for it.
    ///
    /// # Errors
    /// [`AgentError::NoSession`], [`AgentError::NotReading`] or [`AgentError::Gone`].
    pub fn cancel(&self) -> Result<(), AgentError> {
        let (method, params) = request::cancel(&self.session()?);
        self.inner.outgoing.send(notification_line(method, &params))
    }

    /// Answers one permission request; only the first answer is sent.
    pub fn answer_permission(
        &self,
        ticket: PermissionTicket,
        answer: PermissionAnswer,
    ) -> PermissionDelivery {
        if self.inner.ended.borrow().is_some() {
            return PermissionDelivery::Gone;
        }
        let Some(id) = self.inner.shared.permissions().take(ticket) else {
            return PermissionDelivery::AlreadyAnswered;
        };
        self.deliver(&id, &permission_result(answer))
    }

    /// Answers one elicitation; only the first answer is sent.
    pub fn answer_elicitation(
        &self,
        ticket: PermissionTicket,
        answer: ElicitationAnswer,
    ) -> PermissionDelivery {
        if self.inner.ended.borrow().is_some() {
            return PermissionDelivery::Gone;
        }
        let Some(id) = self.inner.shared.elicitations().take(ticket) else {
            return PermissionDelivery::AlreadyAnswered;
        };
        self.deliver(&id, &elicitation::result(answer))
    }

    fn deliver(&self, id: &Value, result: &Value) -> PermissionDelivery {
        match self.inner.outgoing.send(result_line(id, result)) {
            Ok(()) => PermissionDelivery::Delivered,
            Err(_) => PermissionDelivery::Gone,
        }
    }

    /// Answers every open permission request with "cancelled"; the requests that were open, oldest first.
    pub fn cancel_open_permissions(&self) -> Vec<PermissionTicket> {
        let open = self.inner.shared.permissions().take_all();
        open.into_iter()
            .map(|(ticket, id)| {
                // An agent that does not take the answer does not wait for it either.
                let _ = self.deliver(&id, &permission_result(PermissionAnswer::Cancelled));
                ticket
            })
            .collect()
    }

    /// Ends the agent: its input is closed; if it does not end, its group gets TERM, then KILL. Safe to call twice.
    pub async fn stop(&self) -> AgentExit {
        self.inner.ending.cancel();
        self.ended().await
    }

    /// Waits for the end without asking for it.
    pub async fn ended(&self) -> AgentExit {
        let mut ended = self.inner.ended.clone();
        let exit = ended
            .wait_for(Option::is_some)
            .await
            .map(|exit| exit.clone());
        // The sender goes only after it has sent, unless the runtime itself is shutting down.
        exit.ok()
            .flatten()
            .unwrap_or_else(|| no_process(ExitHow::Asked))
    }

    fn session(&self) -> Result<String, AgentError> {
        self.inner
            .shared
            .session()
            .clone()
            .ok_or(AgentError::NoSession)
    }

    async fn ask(
        &self,
        call: Call,
        reply_use: ReplyUse,
        limit: Duration,
    ) -> Result<Value, AgentError> {
        self.ask_prepared(call, reply_use, limit, |_, _| ()).await
    }

    async fn ask_prepared(
        &self,
        (method, params): Call,
        reply_use: ReplyUse,
        limit: Duration,
        prepare: impl FnOnce(&mut Replies, u64),
    ) -> Result<Value, AgentError> {
        let (id, answer) = {
            let mut replies = self.inner.shared.replies();
            let (id, answer) = replies.ask(reply_use)?;
            prepare(&mut replies, id);
            self.inner
                .outgoing
                .send(request_line(id, method, &params))
                .inspect_err(|_| replies.forget(id))?;
            (id, answer)
        };
        match timeout(limit, answer).await {
            Ok(Ok(answer)) => answer.map_err(|error| rpc_error(method, error)),
            Ok(Err(_)) => Err(AgentError::Gone),
            Err(_) => {
                self.inner.shared.replies().give_up(id);
                Err(AgentError::RequestTimeout { method })
            }
        }
    }
}

/// What an error during the introduction means, now that the process has ended.
fn at_start(error: AgentError, exit: AgentExit) -> AgentError {
    match error {
        AgentError::Gone => AgentError::ExitedAtOnce {
            status: exit.status,
            stderr_tail: exit.stderr_tail,
        },
        AgentError::RequestTimeout { .. } => AgentError::InitializeTimeout,
        other => other,
    }
}
