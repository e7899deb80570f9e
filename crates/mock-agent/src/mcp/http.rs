//! MCP over HTTP: one connection per request, answers plain or as a stream of events.

use super::{call_message, cancelled, initialize, initialized, outcome};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often patience is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// An open session.
pub(super) struct Session<'a> {
    address: &'a str,
    path: &'a str,
    headers: &'a [(String, String)],
    id: Option<String>,
}

/// A response that is being read.
struct Response {
    status: u16,
    session: Option<String>,
    events: bool,
    body: Box<dyn BufRead>,
}

impl<'a> Session<'a> {
    pub(super) fn open(
        address: &'a str,
        path: &'a str,
        headers: &'a [(String, String)],
    ) -> Result<Self, String> {
        let mut session = Self {
            address,
            path,
            headers,
            id: None,
        };
        let answer = session.post(&initialize())?;
        session.id = answer.session.clone();
        answer.read_until(|message| message.get("result").map(|_| ()))?;
        session.post(&initialized())?;
        Ok(session)
    }

    pub(super) fn call(
        &self,
        tool: &str,
        arguments: &Value,
        given_up: impl Fn() -> bool + Send + Sync,
    ) -> Result<Value, String> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    if given_up() {
                        // Whether it arrives shows in the answer to the call.
                        let _ = self.post(&cancelled());
                        return;
                    }
                    thread::park_timeout(LOOK_EVERY);
                }
            });
            let answer = self
                .post(&call_message(tool, arguments))
                .and_then(|answer| answer.read_until(outcome));
            over.store(true, Ordering::SeqCst);
            answer?
        })
    }

    fn post(&self, message: &Value) -> Result<Response, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.address);
        let mut stream = TcpStream::connect(self.address).map_err(failed)?;
        let body = message.to_string();
        let mut head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            self.path,
            self.address,
            body.len()
        );
        let session = self.id.iter().map(|id| ("Mcp-Session-Id", id.as_str()));
        let own = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.chain(session) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .map_err(failed)?;
        Response::read(BufReader::new(stream)).map_err(failed)
    }
}

impl Response {
    fn read(mut stream: BufReader<TcpStream>) -> std::io::Result<Self> {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let (mut session, mut events, mut chunked) = (None, false, false);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "mcp-session-id" => session = Some(value.to_owned()),
                "content-type" => events = value.starts_with("text/event-stream"),
                "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
                _ => {}
            }
        }
        let body: Box<dyn BufRead> = if chunked {
            Box::new(BufReader::new(Chunks { stream, left: 0 }))
        } else {
            Box::new(stream)
        };
        Ok(Self {
            status: status.unwrap_or(0),
            session,
            events,
            body,
        })
    }

    /// Reads messages until one is what is waited for.
    fn read_until<T>(mut self, wanted: impl Fn(&Value) -> Option<T>) -> Result<T, String> {
        if !(200..300).contains(&self.status) {
            return Err(format!("HTTP {}", self.status));
        }
        if !self.events {
            let mut text = String::new();
            self.body
                .read_to_string(&mut text)
                .map_err(|error| error.to_string())?;
            let message = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            return wanted(&message).ok_or(text);
        }
        loop {
            let mut line = String::new();
            if self
                .body
                .read_line(&mut line)
                .map_err(|error| error.to_string())?
                == 0
            {
                return Err("the stream of events ended without an answer".to_owned());
            }
            let data = line.strip_prefix("data:").map(str::trim);
            let message = data.and_then(|data| serde_json::from_str::<Value>(data).ok());
            if let Some(found) = message.as_ref().and_then(&wanted) {
                return Ok(found);
            }
        }
    }
}

/// A body that comes in chunks.
struct Chunks {
    stream: BufReader<TcpStream>,
    left: usize,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.left == 0 {
            let mut size = String::new();
            if self.stream.read_line(&mut size)? == 0 {
                return Ok(0);
            }
            let size = size.trim();
            if size.is_empty() {
                continue; // the line break that ends a chunk
            }
            self.left = usize::from_str_radix(size, 16).map_err(std::io::Error::other)?;
            if self.left == 0 {
                return Ok(0);
            }
        }
        let wanted = buffer.len().min(self.left);
        let read = self
            .stream
            .read(buffer.get_mut(..wanted).unwrap_or_default())?;
        self.left -= read;
        Ok(read)
    }
}
