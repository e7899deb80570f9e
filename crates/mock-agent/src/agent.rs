//! The reading thread: takes requests in, answers what can be answered at once, starts a thread per prompt.

use crate::demo;
use crate::directive;
use crate::introduction;
use crate::mailbox::Mailbox;
use crate::mcp::{self, Server};
use crate::options::Options;
use crate::peer::Peer;
use crate::script;
use crate::session::{MODELS, MODES, Session};
use crate::turn::{End, Turn};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The agent process.
pub struct Agent {
    pub(crate) options: Options,
    pub(crate) peer: Peer,
    pub(crate) mailbox: Mailbox,
    pub(crate) ignore_eof: AtomicBool,
    last_tool: AtomicU64,
    sessions: Mutex<HashMap<String, Open>>,
}

struct Open {
    session: Session,
    busy: bool,
    /// The MCP servers on offer; never kept, they may hold secrets.
    servers: Vec<Server>,
}

const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;
const NOT_FOUND: i64 = -32_002;
const REFUSED: i64 = -32_603;

impl Agent {
    /// An agent that writes to `output`.
    pub fn new(options: Options, output: impl Write + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            ignore_eof: AtomicBool::new(options.ignore_eof),
            options,
            peer: Peer::new(output),
            mailbox: Mailbox::default(),
            last_tool: AtomicU64::new(0),
            sessions: Mutex::default(),
        })
    }

    /// Serves the client until `input` ends; for ever when told to ignore that.
    pub fn serve(self: &Arc<Self>, input: impl BufRead) {
        if self.options.noise {
            self.peer.raw("starting up (this line is not a message)");
        }
        for line in input.lines() {
            let Ok(line) = line else { break };
            if let Ok(message) = serde_json::from_str::<Value>(&line) {
                self.take(&message);
            }
        }
        while self.ignore_eof.load(Ordering::SeqCst) {
            thread::park();
        }
    }

    fn take(self: &Arc<Self>, message: &Value) {
        let params = message.get("params").unwrap_or(&Value::Null);
        match (
            message.get("method").and_then(Value::as_str),
            message.get("id"),
        ) {
            (Some("session/prompt"), Some(id)) => self.prompt(id, params),
            (Some("initialize"), Some(_)) if self.options.no_initialize => {}
            (Some(method), Some(id)) => match self.answer(method, params) {
                Ok(result) => {
                    self.peer.reply(id, &result);
                    self.after(method, params, &result);
                }
                Err((code, text)) => self.peer.fail(id, code, &text),
            },
            (Some("session/cancel"), None) => self.mailbox.cancel(session_id(params)),
            (None, Some(id)) => {
                if let Some(id) = id.as_u64() {
                    self.mailbox.answer(id, message.clone());
                }
            }
            _ => {}
        }
    }

    fn answer(&self, method: &str, params: &Value) -> Result<Value, (i64, String)> {
        match method {
            "initialize" => Ok(introduction::of(&self.options)),
            "authenticate" | "logout" => Ok(json!({})),
            "session/new" => Ok(self.new_session(params)),
            "session/load" if self.options.keeps_sessions() => self.continue_session(params, true),
            "session/resume" if self.options.keeps_sessions() && !self.options.no_resume => {
                self.continue_session(params, false)
            }
            "session/set_mode" => self.choose(params, "modeId", &MODES, |session, mode| {
                session.mode = mode
            }),
            "session/set_model" => self.choose(params, "modelId", &MODELS, |session, model| {
                session.model = model
            }),
            "session/close" => {
                self.sessions().remove(session_id(params));
                Ok(json!({}))
            }
            _ => Err((METHOD_NOT_FOUND, format!("no such method: {method}"))),
        }
    }

    fn new_session(&self, params: &Value) -> Value {
        let cwd = params.get("cwd").and_then(Value::as_str).unwrap_or(".");
        let id = self.fresh_id();
        let session = Session::new(id.clone(), PathBuf::from(cwd));
        self.keep(&session);
        let mut result = session.report();
        self.sessions().insert(
            id.clone(),
            Open {
                session,
                busy: false,
                servers: mcp::servers(params),
            },
        );
        if let Some(result) = result.as_object_mut() {
            result.insert("sessionId".to_owned(), Value::String(id));
        }
        result
    }

    /// An id no earlier process used: what the kept sessions and the open ones leave free.
    fn fresh_id(&self) -> String {
        let sessions = self.sessions();
        let taken = |id: &String| {
            sessions.contains_key(id)
                || self
                    .options
                    .state
                    .as_deref()
                    .is_some_and(|state| Session::load(state, id).is_some())
        };
        let process = std::process::id();
        let ids = (1..).map(|number: u64| format!("demo-{process}-{number}"));
        ids.into_iter().find(|id| !taken(id)).unwrap_or_default()
    }

    fn continue_session(&self, params: &Value, replay: bool) -> Result<Value, (i64, String)> {
        let id = session_id(params);
        let state = self.options.state.as_deref().unwrap_or(Path::new(""));
        let session = Session::load(state, id)
            .ok_or_else(|| (NOT_FOUND, format!("no such session: {id}")))?;
        if replay {
            for update in &session.history {
                self.peer.update(id, update);
            }
        }
        let report = session.report();
        self.sessions().insert(
            id.to_owned(),
            Open {
                session,
                busy: false,
                servers: mcp::servers(params),
            },
        );
        Ok(report)
    }

    fn choose(
        &self,
        params: &Value,
        key: &str,
        choices: &[(&str, &str, &str)],
        set: impl FnOnce(&mut Session, String),
    ) -> Result<Value, (i64, String)> {
        let choice = params.get(key).and_then(Value::as_str).unwrap_or_default();
        if !choices.iter().any(|(id, ..)| *id == choice) {
            return Err((INVALID_PARAMS, format!("no such choice: {choice}")));
        }
        let mut sessions = self.sessions();
        let open = sessions
            .get_mut(session_id(params))
            .ok_or((NOT_FOUND, "no such session".to_owned()))?;
        set(&mut open.session, choice.to_owned());
        Ok(json!({}))
    }

    /// What follows an answer.
    fn after(&self, method: &str, params: &Value, result: &Value) {
        if !matches!(method, "session/new" | "session/load" | "session/resume") {
            return;
        }
        let id = result
            .get("sessionId")
            .and_then(Value::as_str)
            .unwrap_or(session_id(params));
        self.peer.update(id, &introduction::commands());
    }

    fn prompt(self: &Arc<Self>, id: &Value, params: &Value) {
        let session = session_id(params).to_owned();
        {
            let mut sessions = self.sessions();
            match sessions.get_mut(&session) {
                None => return self.peer.fail(id, NOT_FOUND, "no such session"),
                Some(open) if open.busy => {
                    return self.peer.fail(id, REFUSED, "a prompt is running");
                }
                Some(open) => open.busy = true,
            }
        }
        self.mailbox.begin_turn(&session);
        let (agent, id, text) = (Arc::clone(self), id.clone(), prompt_text(params));
        thread::spawn(move || agent.run_turn(&session, &id, &text));
    }

    fn run_turn(self: &Arc<Self>, session: &str, id: &Value, text: &str) {
        let turn = Turn::new(Arc::clone(self), session);
        turn.remember(&json!({
            "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": text },
        }));
        let script = self.options.script.as_deref().unwrap_or(text);
        let (end, late) = match directive::parse(script) {
            Some(directives) => script::run(&turn, directives),
            None => (demo::run(&turn, text), Vec::new()),
        };
        let kept = self.sessions().get_mut(session).map(|open| {
            open.busy = false;
            open.session.clone()
        });
        if let Some(kept) = kept {
            self.keep(&kept);
        }
        match end {
            End::Done => self.peer.reply(
                id,
                &json!({ "stopReason": "end_turn", "usage": turn.usage() }),
            ),
            End::Cancelled => self.peer.reply(id, &json!({ "stopReason": "cancelled" })),
            End::Failed(message) => self.peer.fail(id, REFUSED, &message),
        }
        // What comes after the reply has no end to tell.
        script::run(&turn, late);
    }

    fn keep(&self, session: &Session) {
        let Some(state) = self
            .options
            .state
            .as_deref()
            .filter(|_| self.options.keeps_sessions())
        else {
            return;
        };
        if let Err(error) = session.save(state) {
            // Nobody is left to tell when stderr is closed.
            let _ = writeln!(
                std::io::stderr(),
                "mock-agent: the session cannot be kept: {error}"
            );
        }
    }

    pub(crate) fn fresh_tool_id(&self) -> String {
        format!(
            "call-{}-{}",
            std::process::id(),
            self.last_tool.fetch_add(1, Ordering::Relaxed) + 1
        )
    }

    /// Looks at, or changes, a session; `None` when it was closed.
    pub(crate) fn with_session<T>(
        &self,
        id: &str,
        look: impl FnOnce(&mut Session) -> T,
    ) -> Option<T> {
        self.sessions()
            .get_mut(id)
            .map(|open| look(&mut open.session))
    }

    /// The MCP servers that the client offered to a session.
    pub(crate) fn servers(&self, id: &str) -> Vec<Server> {
        let sessions = self.sessions();
        let open = sessions.get(id);
        open.map(|open| open.servers.clone()).unwrap_or_default()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn session_id(params: &Value) -> &str {
    params
        .get("sessionId")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The text parts of a prompt, one per line.
fn prompt_text(params: &Value) -> String {
    let parts = params
        .get("prompt")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let texts: Vec<_> = parts
        .iter()
        .filter_map(|part| part.get("text").and_then(Value::as_str))
        .collect();
    texts.join("\n")
}
