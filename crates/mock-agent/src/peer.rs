//! The only writer of stdout: one JSON-RPC message, or one line of noise, at a time.

use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The client at the other end, as far as we speak to it.
pub struct Peer {
    output: Mutex<Box<dyn Write + Send>>,
    last_id: AtomicU64,
}

impl Peer {
    /// A client that reads `output`.
    pub fn new(output: impl Write + Send + 'static) -> Self {
        Self {
            output: Mutex::new(Box::new(output)),
            last_id: AtomicU64::new(0),
        }
    }

    /// Writes a line as it is, message or not.
    pub fn raw(&self, line: &str) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // A client that closed its end ends us by closing stdin as well.
        let _ = writeln!(output, "{line}").and_then(|()| output.flush());
    }

    /// Tells something about a session.
    pub fn update(&self, session: &str, update: &Value) {
        self.notify(
            "session/update",
            &json!({ "sessionId": session, "update": update }),
        );
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &Value) {
        self.raw(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// An id that no request has.
    pub fn fresh_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request; its id.
    pub fn request(&self, method: &str, params: &Value) -> u64 {
        let id = self.fresh_id();
        self.raw(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        );
        id
    }

    /// Answers a request.
    pub fn reply(&self, id: &Value, result: &Value) {
        self.raw(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
    }

    /// Answers a request with an error.
    pub fn fail(&self, id: &Value, code: i64, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.raw(&json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
    }
}
