//! A client of MCP that knows one thing: calling a tool and waiting for its answer, over HTTP or through a program.
//!
//! Plain blocking code; a call runs on a thread of its own, so that the turn goes on listening for cancels. Each call
//! opens an MCP session of its own: simple, and what subagents of real agents do as well.

mod http;
mod stdio;

use serde_json::{Value, json};

/// A server that the client offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// Over HTTP.
    Http {
        /// `host:port`.
        address: String,
        /// The path.
        path: String,
        /// Header names and values.
        headers: Vec<(String, String)>,
    },
    /// As a program.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment.
        env: Vec<(String, String)>,
    },
}

/// The id of the call itself, in every session.
const CALL: u64 = 2;

/// The servers named in the parameters of `session/new`, `load` or `resume`.
#[must_use]
pub fn servers(params: &Value) -> Vec<Server> {
    let listed = params.get("mcpServers").and_then(Value::as_array);
    let listed = listed.map(Vec::as_slice).unwrap_or_default();
    listed.iter().filter_map(Server::read).collect()
}

impl Server {
    fn read(server: &Value) -> Option<Self> {
        let text = |key: &str| server.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some(url) = text("url") {
            let (address, path) = url.strip_prefix("http://")?.split_once('/')?;
            return Some(Self::Http {
                address: address.to_owned(),
                path: format!("/{path}"),
                headers: pairs(server.get("headers")),
            });
        }
        let args = server.get("args").and_then(Value::as_array);
        let args = args.map(Vec::as_slice).unwrap_or_default();
        Some(Self::Stdio {
            command: text("command")?,
            args: args
                .iter()
                .filter_map(|arg| arg.as_str().map(str::to_owned))
                .collect(),
            env: pairs(server.get("env")),
        })
    }

    /// Calls a tool. `given_up` is looked at while waiting: once it is true the call is cancelled, as a client does whose
    /// patience is at its end, and what the server says then is the answer still.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn call(
        &self,
        tool: &str,
        arguments: &Value,
        given_up: impl Fn() -> bool + Send + Sync,
    ) -> Result<Value, String> {
        match self {
            Self::Http {
                address,
                path,
                headers,
            } => http::Session::open(address, path, headers)?.call(tool, arguments, given_up),
            Self::Stdio { command, args, env } => {
                stdio::call(command, args, env, tool, arguments, given_up)
            }
        }
    }
}

fn pairs(list: Option<&Value>) -> Vec<(String, String)> {
    let list = list.and_then(Value::as_array).map(Vec::as_slice);
    let pair = |entry: &Value| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        Some((text("name")?, text("value")?))
    };
    list.unwrap_or_default().iter().filter_map(pair).collect()
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "mock-agent", "version": env!("CARGO_PKG_VERSION") },
    } })
}

fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

fn call_message(tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": CALL, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" },
    } })
}

fn cancelled() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": CALL, "reason": "patience is at its end",
    } })
}

/// The outcome of the call, if this message is it.
fn outcome(message: &Value) -> Option<Result<Value, String>> {
    if message.get("id").and_then(Value::as_u64) != Some(CALL) {
        return None;
    }
    Some(match (message.get("result"), message.get("error")) {
        (Some(result), _) => Ok(result.clone()),
        (None, error) => Err(error.unwrap_or(&Value::Null).to_string()),
    })
}

/// What a tool's result says.
#[must_use]
pub fn words(result: &Value) -> String {
    let parts = result.get("content").and_then(Value::as_array);
    let parts = parts.map(Vec::as_slice).unwrap_or_default();
    let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    if result.get("isError") == Some(&Value::Bool(true)) {
        format!("tool error: {text}")
    } else {
        text
    }
}
