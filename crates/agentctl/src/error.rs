//! What can go wrong with an agent, told apart by what a person can do about it.
//!
//! The texts are for people: a session error shows them. They name programs and methods, never tokens, environment
//! values or the agent's text; the tail of stderr travels beside them and is masked where it is shown.

use crate::event::AgentStatus;
use std::io;

/// A failure of an agent process, or of the conversation with it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AgentError {
    /// The agent's program is neither a path to an executable file nor on its `PATH`.
    #[error("the program `{program}` was not found")]
    CommandNotFound {
        /// The program as configured.
        program: String,
    },
    /// The folder in which the agent should work is not there.
    #[error("the workspace folder does not exist")]
    WorkspaceMissing,
    /// The operating system refused to start the process.
    #[error("the agent could not be started: {kind}")]
    Spawn {
        /// What the operating system said.
        kind: io::ErrorKind,
    },
    /// The process ended before it answered `initialize`.
    #[error("the agent ended while starting ({})", describe(.status.as_ref()))]
    ExitedAtOnce {
        /// How it ended, when known.
        status: Option<AgentStatus>,
        /// The last lines it wrote to stderr.
        stderr_tail: String,
    },
    /// `initialize` was not answered within `bounds::AGENT_START_TIMEOUT`.
    #[error("the agent did not answer the first request in time")]
    InitializeTimeout,
    /// Another request was not answered within its deadline.
    #[error("the agent did not answer `{method}` in time")]
    RequestTimeout {
        /// The method of the request.
        method: &'static str,
    },
    /// The agent answered something that is not the protocol.
    #[error("the agent broke the protocol: {reason}")]
    Protocol {
        /// What was wrong, in words.
        reason: String,
    },
    /// The agent wants a person to sign in first.
    #[error("the agent needs a sign-in: {message}")]
    AuthRequired {
        /// The agent's words.
        message: String,
    },
    /// A line of the agent's stdout is longer than `bounds::AGENT_LINE_BYTES`.
    #[error("the agent wrote a line longer than {limit} bytes")]
    LineTooLong {
        /// The bound.
        limit: usize,
    },
    /// The agent answered a request with an error.
    #[error("the agent refused `{method}`: {message} ({code})")]
    Rpc {
        /// The method of the request.
        method: &'static str,
        /// The JSON-RPC error code.
        code: i64,
        /// The agent's words.
        message: String,
    },
    /// The agent does not read its input: `bounds::AGENT_OUTGOING_LINES` lines wait for it.
    #[error("the agent does not read its input")]
    NotReading,
    /// No session is open on this connection.
    #[error("no session is open")]
    NoSession,
    /// The agent cannot do that (no such model selector, no resumable sessions).
    #[error("the agent does not support {what}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
    },
    /// The connection has ended.
    #[error("the agent is gone")]
    Gone,
}

impl AgentError {
    /// One word for logs, which never carry an agent's own words.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::CommandNotFound { .. } => "command_not_found",
            Self::WorkspaceMissing => "workspace_missing",
            Self::Spawn { .. } => "spawn",
            Self::ExitedAtOnce { .. } => "exited_at_once",
            Self::InitializeTimeout => "initialize_timeout",
            Self::RequestTimeout { .. } => "request_timeout",
            Self::Protocol { .. } => "protocol",
            Self::AuthRequired { .. } => "auth_required",
            Self::LineTooLong { .. } => "line_too_long",
            Self::Rpc { .. } => "rpc",
            Self::NotReading => "not_reading",
            Self::NoSession => "no_session",
            Self::Unsupported { .. } => "unsupported",
            Self::Gone => "gone",
        }
    }
}

fn describe(status: Option<&AgentStatus>) -> String {
    match status {
        Some(AgentStatus::Code(code)) => format!("exit code {code}"),
        Some(AgentStatus::Signal(signal)) => format!("signal {signal}"),
        None => "unknown status".to_owned(),
    }
}
