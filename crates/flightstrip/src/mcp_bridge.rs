//! `flightstrip mcp-bridge`: MCP on stdin and stdout for agents that do not speak it over HTTP.
//!
//! The server gives such an agent this program instead of an address. It relays and knows nothing: each line of stdin
//! is posted to the server as it is, and each message of an answer is a line of stdout. Where the server is, and by which
//! secret it is asked, stands in the environment, so that no process list shows it.
//!
//! Invariants: a message is written whole; the first message of a session is answered before the next is sent, because
//! it brings the session's id; a request that cannot be relayed is answered with an error, so that nobody waits for
//! ever. A session that the server has ended, to make room, is opened once more without the agent's knowing.

use anyhow::Context;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use model::bounds;
use serde_json::{Value, json};
use std::io::{BufRead, Read, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// Where the server is.
pub(crate) const URL: &str = "FLIGHTSTRIP_MCP_URL";

/// By which secret it is asked.
pub(crate) const SECRET: &str = "FLIGHTSTRIP_MCP_SECRET";

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// JSON-RPC's code for an error of the server's side.
const INTERNAL_ERROR: i64 = -32_603;

/// Messages under way at once; an agent waits for fewer answers than that. Overflow: the next line waits.
const IN_FLIGHT: usize = bounds::OPEN_QUESTIONS * 4;

/// How long the end of the session is waited for at the end. Overflow: the server ends it with the agent's process.
const FAREWELL: Duration = Duration::from_secs(1);

/// Relays until stdin ends.
pub(crate) async fn bridge() -> anyhow::Result<ExitCode> {
    let url = std::env::var(URL).with_context(|| format!("{URL} is not set"))?;
    let secret = std::env::var(SECRET).with_context(|| format!("{SECRET} is not set"))?;
    let (address, path) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .with_context(|| format!("{URL} is no address of a flightstrip server"))?;
    let relay = Arc::new(Relay {
        address: address.to_owned(),
        path: format!("/{path}"),
        secret,
        session: Mutex::new(None),
        opening: tokio::sync::Mutex::new(Vec::new()),
    });
    // A thread of its own: reading a pipe that nobody writes to must not hold up the end of the runtime.
    let (sender, mut lines) = mpsc::channel(1);
    std::thread::spawn(move || read_lines(std::io::stdin().lock(), &sender));
    let mut under_way = JoinSet::new();
    while let Some(line) = lines.recv().await {
        let line = match line.context("stdin")? {
            Line::Whole(line) => line,
            Line::TooLong => {
                // Whose answer this is cannot be read; MCP has the empty id for that.
                let error = anyhow::anyhow!("a message is longer than the server takes");
                apologise(Some(Value::Null), &error);
                continue;
            }
        };
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            continue; // noise on a pipe is no reason to stop relaying
        };
        let opens = message
            .get("method")
            .is_some_and(|method| method == "initialize");
        let (relay, id) = (Arc::clone(&relay), message.get("id").cloned());
        let work = async move {
            let sent = if opens {
                relay.open(line).await
            } else {
                relay.relay(line).await
            };
            if let Err(error) = sent {
                apologise(id, &error);
            }
        };
        if opens {
            work.await;
            continue;
        }
        while IN_FLIGHT <= under_way.len() {
            under_way.join_next().await;
        }
        under_way.spawn(work);
    }
    // Whoever closed the pipe waits for nothing more; what is under way is given up with this process.
    under_way.abort_all();
    let _ = timeout(FAREWELL, relay.end()).await;
    Ok(ExitCode::SUCCESS)
}

/// What stdin says.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    /// Longer than the server takes; nothing of it was kept.
    TooLong,
}

/// Hands over line after line until the pipe or the other side ends.
fn read_lines(mut pipe: impl BufRead, lines: &mpsc::Sender<std::io::Result<Line>>) {
    loop {
        let line = match read_line(&mut pipe) {
            Ok(None) => return,
            Ok(Some(line)) => Ok(line),
            Err(error) => Err(error),
        };
        let last = line.is_err();
        if lines.blocking_send(line).is_err() || last {
            return;
        }
    }
}

/// The next line; none at the end. At most [`bounds::MCP_BODY_BYTES`] of it are in memory.
fn read_line(pipe: &mut impl BufRead) -> std::io::Result<Option<Line>> {
    let limit = bounds::MCP_BODY_BYTES as u64;
    let mut part = || {
        let mut line = Vec::new();
        let read = pipe.by_ref().take(limit).read_until(b'\n', &mut line)?;
        let cut = read as u64 == limit && !line.ends_with(b"\n");
        Ok::<_, std::io::Error>((line, cut))
    };
    let (line, mut cut) = part()?;
    if !cut {
        return Ok((!line.is_empty()).then_some(Line::Whole(line)));
    }
    while cut {
        (_, cut) = part()?;
    }
    Ok(Some(Line::TooLong))
}

struct Relay {
    /// `host:port`.
    address: String,
    path: String,
    secret: String,
    /// The session's id, once the server has given one.
    session: Mutex<Option<String>>,
    /// The message that opened the session, for opening another; held while that is done.
    opening: tokio::sync::Mutex<Vec<u8>>,
}

impl Relay {
    /// Posts the message that opens a session, and writes what is answered.
    async fn open(&self, message: Vec<u8>) -> anyhow::Result<()> {
        let mut opening = self.opening.lock().await;
        *self.session() = None;
        let answer = self.post(message.clone()).await?;
        *opening = message;
        answer.read(write).await
    }

    /// Posts a message, and writes what is answered.
    async fn relay(&self, message: Vec<u8>) -> anyhow::Result<()> {
        let before = self.session().clone();
        let answer = self.post(message.clone()).await?;
        if answer.response.status() != StatusCode::NOT_FOUND || before.is_none() {
            return answer.read(write).await;
        }
        drop(answer);
        self.open_again(before).await?;
        self.post(message).await?.read(write).await
    }

    /// The server has ended the session. Whoever notices first opens another, in the agent's words.
    async fn open_again(&self, ended: Option<String>) -> anyhow::Result<()> {
        let opening = self.opening.lock().await;
        if *self.session() != ended {
            return Ok(());
        }
        *self.session() = None;
        let known_to_the_agent = |_: &[u8]| Ok(());
        self.post(opening.clone())
            .await?
            .read(known_to_the_agent)
            .await?;
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let initialized = initialized.to_string().into_bytes();
        self.post(initialized).await?.read(known_to_the_agent).await
    }

    /// Tells the server that nothing more comes.
    async fn end(&self) -> anyhow::Result<()> {
        if self.session().is_some() {
            self.ask(self.request(Method::DELETE, Vec::new())?).await?;
        }
        Ok(())
    }

    /// Posts a message, and notes the session that its answer names.
    async fn post(&self, message: Vec<u8>) -> anyhow::Result<Answer> {
        let answer = self.ask(self.request(Method::POST, message)?).await?;
        if let Some(session) = answer.header(SESSION) {
            *self.session() = Some(session.to_owned());
        }
        Ok(answer)
    }

    async fn ask(&self, request: Request<Full<Bytes>>) -> anyhow::Result<Answer> {
        let stream = TcpStream::connect(&self.address)
            .await
            .context("the server is not reached")?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let driving = AbortOnDropHandle::new(tokio::spawn(connection));
        let response = sender.send_request(request).await?;
        Ok(Answer {
            response,
            _driving: driving,
        })
    }

    fn request(&self, method: Method, message: Vec<u8>) -> anyhow::Result<Request<Full<Bytes>>> {
        let mut request = Request::builder()
            .method(method)
            .uri(&self.path)
            .header(HOST, &self.address)
            .header(AUTHORIZATION, format!("Bearer {}", self.secret))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        if let Some(session) = self.session().as_ref() {
            request = request.header(SESSION, session);
        }
        Ok(request.body(Full::new(Bytes::from(message)))?)
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer of the server that has begun, on a connection that lives as long.
struct Answer {
    response: Response<Incoming>,
    _driving: AbortOnDropHandle<hyper::Result<()>>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Reads to the end; `each` message is given as it comes.
    async fn read(self, each: impl Fn(&[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let status = self.response.status();
        anyhow::ensure!(status.is_success(), "the server answered {status}");
        let kind = self.header("content-type");
        let streamed = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut body = self.response.into_body();
        let mut events = Events::default();
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(piece) = frame?.into_data() else {
                continue;
            };
            if streamed {
                for message in events.push(&piece) {
                    each(message.as_bytes())?;
                }
            } else {
                whole.extend_from_slice(&piece);
            }
        }
        if !whole.is_empty() {
            each(&whole)?;
        }
        Ok(())
    }
}

/// One message, one line.
fn write(message: &[u8]) -> anyhow::Result<()> {
    let message: Value = serde_json::from_slice(message).context("the server's answer")?;
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{message}\n").as_bytes())?;
    Ok(out.flush()?)
}

/// A request that got no answer gets an error.
fn apologise(id: Option<Value>, error: &anyhow::Error) {
    let Some(id) = id else { return };
    let error = json!({ "code": INTERNAL_ERROR, "message": format!("flightstrip: {error:#}") });
    let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
    // Whoever closed the pipe does not read it.
    let _ = write(answer.to_string().as_bytes());
}

/// Reads a stream of server-sent events in whatever pieces it comes.
#[derive(Debug, Default)]
struct Events {
    /// A line that has not ended.
    line: Vec<u8>,
    /// Lines of data of the event that has not ended.
    data: Vec<String>,
}

impl Events {
    /// Takes a piece; gives the data of the events that end in it. Events without data only keep the line open.
    fn push(&mut self, piece: &[u8]) -> Vec<String> {
        let mut ended = Vec::new();
        for byte in piece {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
            let line = line.trim_end_matches('\r');
            if let Some(data) = line.strip_prefix("data:") {
                let data = data.strip_prefix(' ').unwrap_or(data);
                self.data.push(data.to_owned());
            } else if line.is_empty() {
                let data = std::mem::take(&mut self.data).join("\n");
                if !data.trim().is_empty() {
                    ended.push(data);
                }
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let mut pipe = Vec::new();
        pipe.extend_from_slice(b"one\n");
        pipe.extend(std::iter::repeat_n(b'x', 2 * bounds::MCP_BODY_BYTES + 1));
        pipe.extend_from_slice(b"\ntwo");
        let mut pipe = pipe.as_slice();
        let mut next = || read_line(&mut pipe).unwrap();
        assert_eq!(next(), Some(Line::Whole(b"one\n".to_vec())));
        assert_eq!(next(), Some(Line::TooLong));
        assert_eq!(next(), Some(Line::Whole(b"two".to_vec())));
        assert_eq!(next(), None);
    }

    #[test]
    fn events_are_read_in_whatever_pieces_they_come() {
        let stream = "id: 1\nretry: 3000\ndata:\n\n: alive\n\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata:{\"b\":\"é\"}\n\ndata: half";
        for size in [1, 2, 7, stream.len()] {
            let mut events = Events::default();
            let found: Vec<_> = stream
                .as_bytes()
                .chunks(size)
                .flat_map(|piece| events.push(piece))
                .collect();
            assert_eq!(found, ["{\"a\":\n1}", "{\"b\":\"é\"}"], "{size}");
        }
    }
}
