//! A language model for real agents: an HTTP server on the loopback interface whose answers are scripted by words in
//! the prompt.
//!
//! It speaks OpenAI's chat completions (opencode) and Gemini's `generateContent` (gemini-cli), streamed. What it
//! answers is decided in `script`, a pure function; `openai` and `gemini` translate; this module listens and paces.
//! It keeps what it was asked, so that a test can see what an agent really sent: whether a continued conversation
//! still holds its beginning, and whether a cancelled answer was really given up.
//!
//! It needs no account and no network, and knows no secret.

mod gemini;
mod openai;
pub mod script;
#[cfg(test)]
mod tests;

use anyhow::{Context, Result};
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream;
use script::{Asked, Step, plan};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The pause before every piece of an answer: long enough that pieces travel one by one.
const PACE: Duration = Duration::from_millis(5);

/// The pause before every piece of text without end.
const DRIP_PACE: Duration = Duration::from_millis(50);

/// The name of the only model.
pub const MODEL: &str = "stub-1";

/// A running stub model; it goes with this value.
#[derive(Debug)]
pub struct StubModel {
    port: u16,
    seen: Arc<Mutex<Seen>>,
    server: JoinHandle<()>,
}

/// What it was asked so far.
#[derive(Debug, Default)]
struct Seen {
    asked: Vec<Asked>,
    given_up: usize,
}

impl StubModel {
    /// Starts it on a free port.
    ///
    /// # Errors
    /// When the loopback interface cannot be listened on.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .context("the stub model cannot listen")?;
        let port = listener.local_addr()?.port();
        let seen = Arc::<Mutex<Seen>>::default();
        let app = Router::new()
            .route("/v1/chat/completions", post(chat_completions))
            .route("/v1beta/models/{call}", post(generate_content))
            .route("/v1/models", get(models))
            .with_state(Arc::clone(&seen));
        let server = tokio::spawn(async move {
            // It only ends with an error when accepting fails for good; the test then misses its answers.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { port, seen, server })
    }

    /// Where it listens, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The newest request whose prompt contains `words`, side questions of the agent left out.
    #[must_use]
    pub fn asked(&self, words: &str) -> Option<Asked> {
        let seen = lock(&self.seen);
        let mut newest_first = seen.asked.iter().rev();
        newest_first
            .find(|asked| !asked.is_aside() && asked.prompt.contains(words))
            .cloned()
    }

    /// How many answers were given up by whoever had asked.
    #[must_use]
    pub fn given_up(&self) -> usize {
        lock(&self.seen).given_up
    }
}

impl Drop for StubModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn models() -> Json<Value> {
    Json(json!({ "object": "list", "data": [{ "id": MODEL, "object": "model" }] }))
}

async fn chat_completions(
    State(seen): State<Arc<Mutex<Seen>>>,
    Json(request): Json<Value>,
) -> Response {
    let asked = openai::read(&request);
    let steps = plan(&asked);
    let number = note(&seen, asked);
    if request["stream"] != true {
        return Json(openai::whole(&steps)).into_response();
    }
    let mut pieces = Vec::new();
    for step in &steps {
        pieces.extend(openai::events(step, number).iter().map(event));
    }
    pieces.extend(openai::ending(&steps).iter().map(event));
    pieces.push("data: [DONE]\n\n".to_owned());
    streamed(pieces, endless(&steps, openai::dripping), seen)
}

async fn generate_content(
    Path(call): Path<String>,
    State(seen): State<Arc<Mutex<Seen>>>,
    Json(request): Json<Value>,
) -> Response {
    if call.ends_with(":countTokens") {
        return Json(json!({ "totalTokens": 10 })).into_response();
    }
    let asked = gemini::read(&request);
    let steps = plan(&asked);
    note(&seen, asked);
    if !call.ends_with(":streamGenerateContent") {
        return Json(gemini::whole()).into_response();
    }
    let mut pieces: Vec<String> = steps
        .iter()
        .flat_map(gemini::events)
        .map(|value| event(&value))
        .collect();
    pieces.push(event(&gemini::ending()));
    streamed(pieces, endless(&steps, gemini::dripping), seen)
}

/// Keeps a request; gives its number.
fn note(seen: &Mutex<Seen>, asked: Asked) -> u64 {
    let mut seen = lock(seen);
    seen.asked.push(asked);
    seen.asked.len() as u64
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// What writes text without end, if that is among the steps.
fn endless(steps: &[Step], dripping: Dripping) -> Option<Dripping> {
    steps.contains(&Step::Drip).then_some(dripping)
}

/// The data of one event of text without end, by its number.
type Dripping = fn(u64) -> Value;

/// An answer on its way.
struct Answer {
    pieces: std::vec::IntoIter<String>,
    /// What goes on before the pieces, for ever.
    endless: Option<Dripping>,
    written: u64,
    seen: Arc<Mutex<Seen>>,
    finished: bool,
}

impl Answer {
    fn next(&mut self) -> Option<String> {
        let piece = match self.endless {
            Some(dripping) => Some(event(&dripping(self.written))),
            None => self.pieces.next(),
        };
        self.written += 1;
        self.finished = piece.is_none();
        piece
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // The HTTP server drops what it streams when the other side has gone.
        if !self.finished {
            lock(&self.seen).given_up += 1;
        }
    }
}

/// Streams the pieces, after text without end if there is some.
fn streamed(pieces: Vec<String>, endless: Option<Dripping>, seen: Arc<Mutex<Seen>>) -> Response {
    let pace = endless.map_or(PACE, |_| DRIP_PACE);
    let answer = Answer {
        pieces: pieces.into_iter(),
        endless,
        written: 0,
        seen,
        finished: false,
    };
    let body = stream::unfold(answer, move |mut answer| async move {
        tokio::time::sleep(pace).await;
        let piece = answer.next()?;
        Some((Ok::<_, Infallible>(Bytes::from(piece)), answer))
    });
    (
        [(CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(body),
    )
        .into_response()
}
