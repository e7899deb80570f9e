//! One prompt being worked on: everything the agent can say and do within it.
//!
//! Invariant: every wait ends when the client cancels; [`Cancelled`] then travels up with `?`.

use crate::agent::Agent;
use crate::mailbox::Woken;
use crate::worktree;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The client cancels the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// How a turn ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Well.
    Done,
    /// As the client asked.
    Cancelled,
    /// With an error for the client.
    Failed(String),
}

/// What a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Allowed,
    /// Do not.
    Rejected,
}

/// A turn of a session.
pub struct Turn {
    agent: Arc<Agent>,
    session: String,
    cwd: PathBuf,
    /// Characters said, for the usage report.
    said: AtomicU64,
}

/// How often a running command or an awaited file is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Characters a token has, roughly.
const TOKEN: u64 = 4;

impl Turn {
    /// A turn of `session`.
    #[must_use]
    pub fn new(agent: Arc<Agent>, session: &str) -> Self {
        let cwd = agent
            .with_session(session, |session| session.cwd.clone())
            .unwrap_or_default();
        Self {
            agent,
            session: session.to_owned(),
            cwd,
            said: AtomicU64::new(0),
        }
    }

    /// The agent process.
    #[must_use]
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The worktree.
    #[must_use]
    pub const fn cwd(&self) -> &PathBuf {
        &self.cwd
    }

    /// Adds an update to the session's history without sending it.
    pub fn remember(&self, update: &Value) {
        self.agent
            .with_session(&self.session, |session| session.remember(update));
    }

    /// Sends an update and remembers it.
    pub fn update(&self, update: &Value) {
        self.remember(update);
        self.agent.peer.update(&self.session, update);
    }

    /// Answer text.
    pub fn say(&self, text: &str) {
        self.chunk("agent_message_chunk", text);
    }

    /// Reasoning.
    pub fn think(&self, text: &str) {
        self.chunk("agent_thought_chunk", text);
    }

    fn chunk(&self, kind: &str, text: &str) {
        self.said.fetch_add(text.len() as u64, Ordering::Relaxed);
        self.update(&json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } }));
    }

    /// The whole current plan: steps before `done` are completed, the one at `done` is in progress.
    pub fn plan(&self, steps: &[String], done: usize) {
        let entry = |(index, step): (usize, &String)| {
            let status = match index.cmp(&done) {
                std::cmp::Ordering::Less => "completed",
                std::cmp::Ordering::Equal => "in_progress",
                std::cmp::Ordering::Greater => "pending",
            };
            json!({ "content": step, "priority": "medium", "status": status })
        };
        let entries: Vec<_> = steps.iter().enumerate().map(entry).collect();
        self.update(&json!({ "sessionUpdate": "plan", "entries": entries }));
    }

    /// Begins a tool call; its id.
    pub fn begin_tool(&self, kind: &str, title: &str, path: Option<&str>, input: &Value) -> String {
        let id = self.agent.fresh_tool_id();
        let locations: Vec<_> = path
            .iter()
            .map(|path| json!({ "path": self.cwd.join(path).to_string_lossy() }))
            .collect();
        self.update(&json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind, "status": "pending",
            "locations": locations, "rawInput": input,
        }));
        id
    }

    /// A tool call goes on.
    pub fn run_tool(&self, id: &str) {
        self.update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress" }));
    }

    /// A tool call ends.
    pub fn end_tool(&self, id: &str, well: bool, content: &Value) {
        let status = if well { "completed" } else { "failed" };
        self.update(&json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": [content],
        }));
    }

    /// Works on a tool call that has begun; when the turn is cancelled meanwhile, the call ends as failed.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is.
    pub fn within_tool<T>(
        &self,
        id: &str,
        work: impl FnOnce() -> Result<T, Cancelled>,
    ) -> Result<T, Cancelled> {
        work().inspect_err(|_| self.end_tool(id, false, &Self::text_content("cancelled")))
    }

    /// Text as the content of a tool call.
    #[must_use]
    pub fn text_content(text: &str) -> Value {
        json!({ "type": "content", "content": { "type": "text", "text": text } })
    }

    /// A subagent begins.
    pub fn begin_subagent(&self, name: &str) {
        self.update(&json!({
            "sessionUpdate": "tool_call", "toolCallId": format!("subagent-{name}"), "title": name, "kind": "think",
            "status": "in_progress", "_meta": { "flightstrip": { "subagent": name } },
        }));
    }

    /// A subagent ends.
    pub fn end_subagent(&self, name: &str) {
        self.update(&json!({
            "sessionUpdate": "tool_call_update", "toolCallId": format!("subagent-{name}"), "status": "completed",
            "_meta": { "flightstrip": { "subagent": name } },
        }));
    }

    /// Asks about a tool call that has begun. In the automatic mode the answer is yes.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is.
    pub fn ask(&self, tool: &str, kind: &str, title: &str) -> Result<Decision, Cancelled> {
        if self
            .agent
            .with_session(&self.session, |session| !session.asks())
            .unwrap_or(true)
        {
            return Ok(Decision::Allowed);
        }
        let request = self.request_permission(tool, kind, title);
        self.decision(request)
    }

    /// Sends a permission request without waiting; its id.
    #[must_use]
    pub fn request_permission(&self, tool: &str, kind: &str, title: &str) -> u64 {
        let option = |(id, name, kind): (&str, &str, &str)| json!({ "optionId": id, "name": name, "kind": kind });
        let options: Vec<_> = [
            ("allow", "Allow", "allow_once"),
            ("always", "Allow for this session", "allow_always"),
            ("reject", "Reject", "reject_once"),
        ]
        .into_iter()
        .map(option)
        .collect();
        self.agent.peer.request(
            "session/request_permission",
            &json!({
                "sessionId": self.session,
                "toolCall": { "toolCallId": tool, "title": title, "kind": kind, "status": "pending" },
                "options": options,
            }),
        )
    }

    /// Waits for the answer to a permission request. A cancel withdraws it.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is.
    pub fn decision(&self, request: u64) -> Result<Decision, Cancelled> {
        match self.agent.mailbox.wait_for(&self.session, request) {
            Woken::Answer(answer) => {
                let option = answer
                    .pointer("/result/outcome/optionId")
                    .and_then(Value::as_str);
                match option {
                    Some("always") => {
                        self.agent.with_session(&self.session, |session| {
                            session.mode = "auto".to_owned()
                        });
                        self.update(&json!({ "sessionUpdate": "current_mode_update", "currentModeId": "auto" }));
                        Ok(Decision::Allowed)
                    }
                    Some("allow") => Ok(Decision::Allowed),
                    _ => Ok(Decision::Rejected),
                }
            }
            Woken::Cancelled | Woken::TimedOut => {
                self.agent
                    .peer
                    .notify("$/cancel_request", &json!({ "requestId": request }));
                Err(Cancelled)
            }
        }
    }

    /// Sends a request of any method and waits for the whole answer.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is.
    pub fn request(&self, method: &str) -> Result<Value, Cancelled> {
        let id = self.agent.peer.request(
            method,
            &json!({ "sessionId": self.session, "path": "x", "content": "" }),
        );
        match self.agent.mailbox.wait_for(&self.session, id) {
            Woken::Answer(answer) => Ok(answer),
            Woken::Cancelled | Woken::TimedOut => Err(Cancelled),
        }
    }

    /// Asks a person by a form; what the client answered.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is; the form is taken back then.
    pub fn elicit(&self, schema: &Value) -> Result<Value, Cancelled> {
        let id = self.agent.peer.request(
            "elicitation/create",
            &json!({
                "mode": "form", "sessionId": self.session, "message": "Please fill this in",
                "requestedSchema": schema,
            }),
        );
        match self.agent.mailbox.wait_for(&self.session, id) {
            Woken::Answer(answer) => Ok(answer
                .get("result")
                .or_else(|| answer.get("error"))
                .cloned()
                .unwrap_or_default()),
            Woken::Cancelled | Woken::TimedOut => {
                self.agent
                    .peer
                    .notify("$/cancel_request", &json!({ "requestId": id }));
                Err(Cancelled)
            }
        }
    }

    /// Calls a tool of the first MCP server that the client offered, until `given_up`.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is; the call is given up then. Inside: what went wrong.
    pub fn call_tool(
        &self,
        tool: &str,
        arguments: &Value,
        given_up: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Result<Value, String>, Cancelled> {
        let Some(server) = self.agent.servers(&self.session).into_iter().next() else {
            return Ok(Err("the client offers no MCP server".to_owned()));
        };
        let id = self.agent.peer.fresh_id();
        let (agent, session) = (Arc::clone(&self.agent), self.session.clone());
        let (tool, arguments) = (tool.to_owned(), arguments.clone());
        thread::spawn(move || {
            let gone = || {
                let gone = given_up() || agent.mailbox.is_cancelled(&session);
                if gone {
                    // A client that gives up does not wait for what the server says to that.
                    let reason = "gave up waiting for the answer";
                    agent.mailbox.answer(id, json!({ "failed": reason }));
                }
                gone
            };
            let answer = match server.call(&tool, &arguments, gone) {
                Ok(result) => json!({ "result": result }),
                Err(reason) => json!({ "failed": reason }),
            };
            agent.mailbox.answer(id, answer);
        });
        match self.agent.mailbox.wait_for(&self.session, id) {
            Woken::Answer(answer) => Ok(match answer.get("failed").and_then(Value::as_str) {
                Some(reason) => Err(reason.to_owned()),
                None => Ok(answer.get("result").cloned().unwrap_or_default()),
            }),
            Woken::Cancelled | Woken::TimedOut => Err(Cancelled),
        }
    }

    /// Waits a while.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is.
    pub fn pause(&self, duration: Duration) -> Result<(), Cancelled> {
        match self.agent.mailbox.pause(&self.session, duration) {
            Woken::Cancelled => Err(Cancelled),
            _ => Ok(()),
        }
    }

    /// Waits like a person would, scaled by the demo's pace.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is.
    pub fn breathe(&self, millis: u64) -> Result<(), Cancelled> {
        let pace = self.agent.options.pace.clamp(0.0, 100.0);
        self.pause(Duration::from_millis(millis).mul_f64(pace))
    }

    /// Waits until `ready`.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is.
    pub fn wait_until(&self, mut ready: impl FnMut() -> bool) -> Result<(), Cancelled> {
        while !ready() {
            self.pause(LOOK_EVERY)?;
        }
        Ok(())
    }

    /// Runs a shell command in the worktree; whether it ended well, and its output.
    ///
    /// # Errors
    /// [`Cancelled`] when the turn is; the command has been killed then.
    pub fn shell(&self, command: &str) -> Result<(bool, String), Cancelled> {
        let mut running = match worktree::shell(&self.cwd, command) {
            Ok(running) => running,
            Err(error) => return Ok((false, error.to_string())),
        };
        let waited = self.wait_until(|| running.has_ended());
        if waited.is_err() {
            running.kill();
        }
        let (code, output) = running.finish();
        waited.map(|()| (code == Some(0), output))
    }

    /// What the turn took, roughly.
    #[must_use]
    pub fn usage(&self) -> Value {
        let tokens = self.said.load(Ordering::Relaxed) / TOKEN;
        json!({ "inputTokens": 1_200, "outputTokens": tokens, "totalTokens": 1_200 + tokens })
    }

    /// Reports context and cost.
    pub fn report_usage(&self) {
        let used = 12_000 + self.said.load(Ordering::Relaxed);
        let cost = json!({ "amount": used as f64 * 0.000_004, "currency": "USD" });
        self.agent.peer.update(
            &self.session,
            &json!({ "sessionUpdate": "usage_update", "used": used, "size": 200_000, "cost": cost }),
        );
    }
}
