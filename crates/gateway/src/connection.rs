//! One client's socket: a single task that reads requests, writes what its outbox holds, and keeps time.
//!
//! The writer is one explicit loop. It hands frames over one by one and flushes in batches; a request is read only
//! while the control queue has room for its answer; neither direction waits for the other.
//!
//! Invariants:
//! - a frame leaves in the order in which the outbox gave it;
//! - nothing of a session is written after the acknowledgement of its unsubscription;
//! - accepted requests finish, whatever becomes of the connection: they are owned by the gateway, not by this task.

mod message_frame;
mod pulse;
mod wait;

use crate::api::Api;
use crate::client::Client;
use crate::frame::OutFrame;
use crate::listener::Progress;
use crate::requests::accept;
use crate::requests::lanes::Lanes;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use flow::outbox::keys::{Next, Scope};
use model::bounds;
use pulse::{Activity, Pulse, Verdict};
use std::sync::Arc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite;
use tokio_util::sync::CancellationToken;
use wait::{Step, Wanted};
use wire::action::notification as action;
use wire::envelope::close;
use wire::notification::SessionResync;

/// Why the loop ended.
enum End {
    /// To be closed with this code.
    Close(u16),
    /// The peer is gone, or has closed.
    Gone,
}

struct Connection {
    api: Arc<Api>,
    client: Arc<Client>,
    progress: Progress,
    pulse: Pulse,
    lanes: Lanes,
    wanted: Wanted,
    unflushed: usize,
    ping_due: bool,
    /// The server ends: answers are still written until then.
    stop_at: Option<Instant>,
}

/// Serves a client until it goes or has to go. `stop`: the server ends.
pub(crate) async fn serve(
    mut socket: WebSocket,
    api: Arc<Api>,
    client: Arc<Client>,
    progress: Progress,
    stop: CancellationToken,
) {
    let id = client.id.0;
    tracing::debug!(client = id, "a client connected");
    let connection = Connection {
        api: Arc::clone(&api),
        client: Arc::clone(&client),
        progress,
        pulse: Pulse::new(Instant::now()),
        lanes: Lanes::default(),
        wanted: Wanted::default(),
        unflushed: 0,
        ping_due: false,
        stop_at: None,
    };
    let end = connection.run(&mut socket, &stop).await;
    api.hub.disconnect(&client);
    match end {
        End::Close(code) => {
            tracing::debug!(client = id, code, "a client is closed");
            say_goodbye(socket, code).await;
        }
        End::Gone => tracing::debug!(client = id, "a client went"),
    }
}

impl Connection {
    async fn run(mut self, socket: &mut WebSocket, stop: &CancellationToken) -> End {
        loop {
            if let Some(code) = self.client.close_code() {
                return End::Close(code);
            }
            if let Err(end) = self.fill().await {
                return end;
            }
            if self
                .stop_at
                .is_some_and(|at| self.is_drained() || at <= Instant::now())
            {
                return End::Close(close::RESTARTING);
            }
            self.wanted.receive = self.stop_at.is_none()
                && self
                    .client
                    .outbox(|outbox| outbox.has_control_room(bounds::LARGE_ANSWER_BYTES));
            let idle = self.wanted.send.is_none() || !self.wanted.receive;
            let next_check = self.next_check();
            tokio::select! {
                step = wait::step(socket, &mut self.wanted) => {
                    if let Some(end) = self.on_step(step) {
                        return end;
                    }
                }
                () = self.client.rung(), if idle => {}
                () = sleep_until(next_check) => {}
                () = stop.cancelled(), if self.stop_at.is_none() => {
                    self.stop_at = Some(Instant::now() + bounds::GATEWAY_DRAIN);
                }
            }
            let activity = Activity {
                bytes: self.progress.bytes(),
                writing: self.wanted.send.is_some() || self.wanted.flush,
                listening: self.wanted.receive,
            };
            match self.pulse.check(Instant::now(), activity) {
                Verdict::Fine => {}
                Verdict::Ping => self.ping_due = true,
                Verdict::Silent | Verdict::Stalled => return End::Close(close::RESYNC),
            }
        }
    }

    fn on_step(&mut self, step: Step) -> Option<End> {
        match step {
            Step::Taken => None,
            Step::Flushed => {
                self.unflushed = 0;
                self.wanted.flush = false;
                None
            }
            Step::Received(message) => {
                self.pulse.heard(Instant::now());
                match message {
                    Message::Text(text) if bounds::INBOUND_FRAME_BYTES < text.len() => {
                        Some(End::Close(close::TOO_LARGE))
                    }
                    Message::Text(text) => {
                        accept::text(&self.api, &self.client, &mut self.lanes, &text);
                        None
                    }
                    Message::Binary(_) => {
                        accept::binary(&self.api, &self.client);
                        None
                    }
                    Message::Ping(_) | Message::Pong(_) => None,
                    Message::Close(_) => Some(End::Gone),
                }
            }
            Step::Unreadable(error) if is_too_large(&error) => Some(End::Close(close::TOO_LARGE)),
            Step::Unreadable(_) | Step::Gone => Some(End::Gone),
        }
    }

    /// Takes the next frame to write, unless one waits; flushes when there is none or enough are on their way.
    async fn fill(&mut self) -> Result<(), End> {
        while self.wanted.send.is_none() && !self.wanted.flush {
            if std::mem::take(&mut self.ping_due) {
                self.send(Message::Ping(axum::body::Bytes::new()), 0);
                break;
            }
            let next = if self.unflushed < bounds::WRITE_BATCH_BYTES {
                self.client.outbox(|o| o.take_next())
            } else {
                None
            };
            let Some(next) = next else {
                self.wanted.flush = 0 < self.unflushed;
                break;
            };
            if let Some(frame) = self.build(next).await? {
                let bytes = frame.text.len();
                self.send(Message::Text(frame.text), bytes);
            }
        }
        Ok(())
    }

    fn send(&mut self, message: Message, bytes: usize) {
        self.unflushed += bytes.max(1);
        self.wanted.send = Some(message);
    }

    async fn build(&self, next: Next<OutFrame>) -> Result<Option<OutFrame>, End> {
        let frame = match next {
            Next::Frame(frame) => Some(frame),
            Next::Resync(session_id) => {
                let body = SessionResync { session_id };
                Some(OutFrame::notification(
                    action::SESSION_RESYNC,
                    &body,
                    self.api.store.now(),
                ))
            }
            Next::Message {
                session_id,
                message_id,
                held,
            } => {
                let (hub, store) = (&self.api.hub, &self.api.store);
                let built =
                    message_frame::build(hub, store, &self.client, &session_id, &message_id, held)
                        .await;
                let frame = built.map_err(|error| {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        session = %session_id,
                        "a message could not be read for a client; it is closed to list again"
                    );
                    End::Close(close::RESYNC)
                })?;
                let scope = Scope::Session(session_id.clone());
                self.client.outbox(|outbox| {
                    outbox.charge(
                        &session_id,
                        frame.as_ref().map_or(0, |frame| frame.text.len()),
                    );
                    // Left, or left and joined again, while the message was read: its acknowledgement comes first.
                    if outbox.is_served(&scope) {
                        frame
                    } else {
                        None
                    }
                })
            }
        };
        if let Some(frame) = &frame {
            self.client.outbox(|outbox| {
                for lesson in &*frame.lessons {
                    outbox.set_held(&lesson.session_id, &lesson.message_id, lesson.held);
                }
            });
        }
        Ok(frame)
    }

    fn next_check(&self) -> Instant {
        let check = self.pulse.next_check();
        self.stop_at.map_or(check, |at| at.min(check))
    }

    fn is_drained(&self) -> bool {
        self.wanted.send.is_none()
            && !self.wanted.flush
            && self.client.outbox(|outbox| outbox.in_flight()) == 0
    }
}

/// Sends the close frame and waits a little for the peer's, so that the code is seen and not a reset.
async fn say_goodbye(mut socket: WebSocket, code: u16) {
    let frame = CloseFrame {
        code,
        reason: axum::extract::ws::Utf8Bytes::from_static(""),
    };
    let goodbye = async {
        if socket.send(Message::Close(Some(frame))).await.is_ok() {
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    // Whoever does not answer is dropped: there is nothing more to tell it.
    let _ = timeout(bounds::CLOSE_GRACE, goodbye).await;
}

fn is_too_large(error: &axum::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    matches!(source, Some(tungstenite::Error::Capacity(_)))
}
