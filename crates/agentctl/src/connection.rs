//! The handle on one agent, and how a connection begins and ends.
//!
//! [`AgentConnection::start`] launches a process; [`AgentConnection::attach`] speaks over any pair of pipes (tests, and
//! agents that are not processes of this machine). Either way four parts run until the end: the reader, the writer, the
//! keeper of stderr and the one that waits for the process. One task owns them and pushes the last event.
//!
//! Invariants: dropping the last handle, or the [`AgentEvents`], ends the agent; every request but the prompt has a
//! deadline; no lock is held across an `await`.

use crate::error::AgentError;
use crate::event::{
    AgentExit, ExitHow, PermissionAnswer, PermissionDelivery, PermissionTicket, PromptId,
};
use crate::handoff::{AgentEvents, handoff};
use crate::info::AgentInfo;
use crate::known::AgentTraits;
use crate::message::{notification_line, request_line, result_line};
use crate::outgoing::{Outgoing, OutgoingLines, outgoing};
use crate::permissions::OpenPermissions;
use crate::process::{AgentCommand, AgentProcess, LaunchContext, ProcessIdentity, launch};
use crate::reader::{ConnectionCounters, Reader, Stopped, rpc_error};
use crate::replies::{Replies, ReplyUse};
use crate::request::{self, Call, McpServer, PromptPart, permission_result};
use crate::settings::{SessionSettings, SettingRequest};
use crate::update::UpdateReader;
use flow::gate::FlowGate;
use model::agent::{AgentCommandInfo, AgentSettings};
use model::bounds;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
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
    session: Mutex<Option<String>>,
    ended: watch::Receiver<Option<AgentExit>>,
    ending: CancellationToken,
    _end_on_drop: DropGuard,
}

/// What the handle and the reader both touch. Each lock is held for a few lines.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    replies: Mutex<Replies>,
    permissions: Mutex<OpenPermissions>,
    settings: Mutex<SessionSettings>,
    counters: Mutex<ConnectionCounters>,
    info: OnceLock<AgentInfo>,
    /// Why the reader gave up, should it be the agent's fault.
    fault: OnceLock<AgentError>,
}

/// A session that was opened or continued.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedSession {
    /// The agent's id of it; keep it to continue the session in a later process.
    pub acp_session_id: String,
    /// Models, modes and options now.
    pub settings: AgentSettings,
    /// Slash commands, when they were reported while history was replayed; else they come as an event.
    pub commands: Option<Vec<AgentCommandInfo>>,
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
            session: Mutex::new(None),
            ended,
            _end_on_drop: ending.clone().drop_guard(),
            ending,
        };
        let connection = Self {
            inner: Arc::new(inner),
        };
        match connection.introduce().await {
            Ok(info) => {
                connection.inner.shared.info.get_or_init(|| info);
                Ok((connection, events))
            }
            Err(error) => {
                // Nobody will read the events; a reader that waits for room must not keep the process alive.
                drop(events);
                let exit = connection.stop().await;
                let fault = connection.inner.shared.fault.get().cloned();
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
            .info
            .get()
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

    /// Opens a new session.
    ///
    /// # Errors
    /// [`AgentError::AuthRequired`] when a person must sign in first; otherwise as any request.
    pub async fn new_session(&self, mcp: &[McpServer]) -> Result<OpenedSession, AgentError> {
        let call = request::new_session(&self.inner.cwd, mcp);
        let result = self
            .ask(call, ReplyUse::Settings, bounds::AGENT_START_TIMEOUT)
            .await?;
        let Some(id) = result.get("sessionId").and_then(Value::as_str) else {
            return Err(AgentError::Protocol {
                reason: "a new session without an id".to_owned(),
            });
        };
        Ok(self.opened(id, None))
    }

    /// Continues an earlier session: by `session/resume` when the agent can, else by `session/load`. The history that
    /// the agent repeats reaches nobody.
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] when the agent can do neither; otherwise as any request. After an error the
    /// connection can still open a new session.
    pub async fn load_session(
        &self,
        acp_session_id: &str,
        mcp: &[McpServer],
    ) -> Result<OpenedSession, AgentError> {
        let info = self.info();
        let call = match (info.resume, info.load_session) {
            (true, _) => request::resume_session(acp_session_id, &self.inner.cwd, mcp),
            (false, true) => request::load_session(acp_session_id, &self.inner.cwd, mcp),
            (false, false) => {
                return Err(AgentError::Unsupported {
                    what: "continuing a session",
                });
            }
        };
        let late_replay = info.traits.replays_after_reply;
        let prepare = move |replies: &mut Replies, id| {
            replies.expect_replay(id);
            if late_replay {
                replies.hold_replay();
            }
        };
        let answer = self
            .ask_prepared(
                call,
                ReplyUse::Settings,
                bounds::AGENT_START_TIMEOUT,
                prepare,
            )
            .await;
        if late_replay && answer.is_ok() {
            self.wait_for_quiet().await;
        }
        let commands = self.inner.shared.replies().end_replay();
        let result = answer?;
        let id = result
            .get("sessionId")
            .and_then(Value::as_str)
            .unwrap_or(acp_session_id);
        Ok(self.opened(id, commands))
    }

    /// Waits until no replayed line has come for [`bounds::REPLAY_QUIET`].
    async fn wait_for_quiet(&self) {
        loop {
            let before = self.inner.shared.replies().replayed();
            sleep(bounds::REPLAY_QUIET).await;
            if self.inner.shared.replies().replayed() == before {
                return;
            }
        }
    }

    fn opened(&self, id: &str, commands: Option<Vec<AgentCommandInfo>>) -> OpenedSession {
        *lock(&self.inner.session) = Some(id.to_owned());
        OpenedSession {
            acp_session_id: id.to_owned(),
            settings: self.settings(),
            commands,
        }
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
        self.deliver(&id, answer)
    }

    fn deliver(&self, id: &Value, answer: PermissionAnswer) -> PermissionDelivery {
        match self
            .inner
            .outgoing
            .send(result_line(id, &permission_result(answer)))
        {
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
                let _ = self.deliver(&id, PermissionAnswer::Cancelled);
                ticket
            })
            .collect()
    }

    /// Chooses a model.
    ///
    /// # Errors
    /// [`AgentError::Unsupported`] when the agent offers no choice; otherwise as any request.
    pub async fn set_model(&self, model: &str) -> Result<AgentSettings, AgentError> {
        let setting = self.inner.shared.settings().set_model(model);
        let setting = setting.ok_or(AgentError::Unsupported {
            what: "choosing a model",
        })?;
        self.set(setting, |settings| settings.model_is(model)).await
    }

    /// Chooses a mode.
    ///
    /// # Errors
    /// As [`Self::set_model`].
    pub async fn set_mode(&self, mode: &str) -> Result<AgentSettings, AgentError> {
        let setting = self.inner.shared.settings().set_mode(mode);
        let setting = setting.ok_or(AgentError::Unsupported {
            what: "choosing a mode",
        })?;
        self.set(setting, |settings| {
            settings.mode_is(mode);
        })
        .await
    }

    /// Sets one of the other options.
    ///
    /// # Errors
    /// As any request.
    pub async fn set_option(&self, option: &str, value: &str) -> Result<AgentSettings, AgentError> {
        let setting = self.inner.shared.settings().set_option(option, value);
        self.set(setting, |settings| settings.option_is(option, value))
            .await
    }

    async fn set(
        &self,
        mut setting: SettingRequest,
        accepted: impl FnOnce(&mut SessionSettings),
    ) -> Result<AgentSettings, AgentError> {
        let session = self.session()?;
        if let Some(params) = setting.params.as_object_mut() {
            params.insert("sessionId".to_owned(), Value::String(session));
        }
        let call = (setting.method, setting.params);
        let result = self
            .ask(call, ReplyUse::Settings, bounds::AGENT_REQUEST_TIMEOUT)
            .await?;
        let mut settings = self.inner.shared.settings();
        if result.get("configOptions").is_none() {
            accepted(&mut settings);
        }
        Ok(settings.current().clone())
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
        lock(&self.inner.session)
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

/// What [`run`] needs beside the reader.
struct Life<W> {
    lines: OutgoingLines,
    to_agent: W,
    process: Option<AgentProcess>,
    ending: CancellationToken,
    end: watch::Sender<Option<AgentExit>>,
}

/// One connection's life: writes, reads to the end, sees the process to its end, says so.
async fn run(
    mut reader: Reader,
    input: impl AsyncBufRead + Unpin,
    life: Life<impl AsyncWrite + Unpin>,
) {
    let Life {
        lines,
        to_agent,
        process,
        ending,
        end,
    } = life;
    let has_process = process.is_some();
    let exited = CancellationToken::new();
    let waiting = async {
        let exit = match process {
            Some(process) => process.see_to_its_end(ending.clone()).await,
            None => {
                ending.cancelled().await;
                no_process(ExitHow::Unasked)
            }
        };
        exited.cancel();
        ending.cancel();
        end.send_replace(Some(exit.clone()));
        exit
    };
    let reading = async {
        let stopped = reader.read_all(input, &exited).await;
        if has_process && matches!(stopped, Stopped::EndOfOutput) {
            // The shim keeps the pipe open as long as it lives, so the exit follows at once and tells more.
            let _ = timeout(bounds::STDIN_CLOSE_GRACE, exited.cancelled()).await;
        }
        let asked = ending.is_cancelled();
        ending.cancel();
        (stopped, asked)
    };
    let (mut exit, (stopped, asked), ()) = tokio::join!(waiting, reading, lines.write_to(to_agent));
    if let Stopped::Fault(fault) = stopped {
        exit.fault = Some(fault);
    }
    if !has_process && asked {
        exit.how = ExitHow::Asked;
    }
    reader.finish(exit);
}

fn no_process(how: ExitHow) -> AgentExit {
    AgentExit {
        status: None,
        stderr_tail: String::new(),
        how,
        fault: None,
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

impl Shared {
    pub(crate) fn replies(&self) -> MutexGuard<'_, Replies> {
        lock(&self.replies)
    }

    pub(crate) fn permissions(&self) -> MutexGuard<'_, OpenPermissions> {
        lock(&self.permissions)
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, SessionSettings> {
        lock(&self.settings)
    }

    pub(crate) fn counters(&self) -> MutexGuard<'_, ConnectionCounters> {
        lock(&self.counters)
    }

    pub(crate) fn blame(&self, fault: AgentError) {
        self.fault.get_or_init(|| fault);
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
