//! A WebSocket client that speaks the wire as a page does, and remembers every notification.

use crate::waiting::DEADLINE;
use anyhow::{Context, Result, bail, ensure};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::collections::HashMap;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// A connected client.
pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    next_id: u64,
    answers: HashMap<String, Value>,
    /// Every notification so far, in order.
    pub notifications: Vec<Value>,
    /// How many of them a test has looked at.
    seen: usize,
}

impl Client {
    /// Connects, reads `hello` and says what it can do.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn connect(port: u16, secret: &str) -> Result<Self> {
        let mut client = Self::connect_quietly(port, secret).await?;
        client
            .wait("hello", |frame| frame["action"] == "hello")
            .await?;
        client
            .request(
                "client.hello",
                json!({ "capabilities": ["message_append"] }),
            )
            .await?;
        Ok(client)
    }

    /// Connects and says nothing.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn connect_quietly(port: u16, secret: &str) -> Result<Self> {
        let mut request = format!("ws://127.0.0.1:{port}/ws").into_client_request()?;
        let offered = format!("flightstrip.v1, {secret}");
        request
            .headers_mut()
            .insert("Sec-WebSocket-Protocol", offered.parse()?);
        let (socket, _) = connect_async(request)
            .await
            .context("the server refuses the connection")?;
        Ok(Self {
            socket,
            next_id: 0,
            answers: HashMap::new(),
            notifications: Vec::new(),
            seen: 0,
        })
    }

    /// Sends a request and gives the payload of its response.
    ///
    /// # Errors
    /// When it is answered with an error (the text holds code and message) or not at all.
    pub async fn request(&mut self, action: &str, payload: Value) -> Result<Value> {
        let answer = self.ask(action, payload).await?;
        if answer["type"] == "error" {
            let error = &answer["payload"];
            bail!(
                "{action}: {} {}",
                error["code"].as_str().unwrap_or("?"),
                error["message"]
            );
        }
        Ok(answer["payload"].clone())
    }

    /// Sends a request that must fail, and gives the error's payload.
    ///
    /// # Errors
    /// When it succeeds.
    pub async fn refused(&mut self, action: &str, payload: Value) -> Result<Value> {
        let answer = self.ask(action, payload).await?;
        ensure!(answer["type"] == "error", "{action} succeeded: {answer}");
        Ok(answer["payload"].clone())
    }

    /// Sends a request and gives the whole answering frame.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn ask(&mut self, action: &str, payload: Value) -> Result<Value> {
        let id = self.send(action, payload).await?;
        self.answer(&id).await
    }

    /// Sends a request without waiting; gives its id.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn send(&mut self, action: &str, payload: Value) -> Result<String> {
        self.next_id += 1;
        let id = self.next_id.to_string();
        let frame = json!({ "id": id, "type": "request", "action": action, "payload": payload });
        self.send_text(&frame.to_string()).await?;
        Ok(id)
    }

    /// Sends a text frame as it is.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn send_text(&mut self, text: &str) -> Result<()> {
        Ok(self.socket.send(Message::text(text)).await?)
    }

    /// Waits for the answer to a request.
    ///
    /// # Errors
    /// When none comes.
    pub async fn answer(&mut self, id: &str) -> Result<Value> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(answer) = self.answers.remove(id) {
                return Ok(answer);
            }
            self.read(deadline)
                .await
                .with_context(|| format!("no answer to request {id}"))?;
        }
    }

    /// Waits for a notification, looking at those that came since the last one it gave.
    ///
    /// # Errors
    /// When none comes in time; the error names `what`.
    pub async fn wait(
        &mut self,
        what: &str,
        mut wanted: impl FnMut(&Value) -> bool,
    ) -> Result<Value> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            while let Some(frame) = self.notifications.get(self.seen) {
                self.seen += 1;
                if wanted(frame) {
                    return Ok(frame.clone());
                }
            }
            self.read(deadline)
                .await
                .with_context(|| format!("waited in vain for: {what}"))?;
        }
    }

    /// Forgets what was looked at: the next [`Client::wait`] starts with the first notification again.
    pub fn rewind(&mut self) {
        self.seen = 0;
    }

    /// Reads one frame.
    async fn read(&mut self, deadline: Instant) -> Result<()> {
        let message = timeout_at(deadline, self.socket.next())
            .await
            .context("nothing came in time")?;
        match message.context("the connection ended")?? {
            Message::Text(text) => {
                let frame: Value = serde_json::from_str(&text).context("a frame is no JSON")?;
                match (frame["id"].as_str(), frame["type"].as_str()) {
                    (Some(id), Some("response" | "error")) => {
                        self.answers.insert(id.to_owned(), frame);
                    }
                    _ => self.notifications.push(frame),
                }
                Ok(())
            }
            Message::Close(frame) => bail!("closed: {frame:?}"),
            _ => Ok(()),
        }
    }

    /// Reads until the server closes; gives the close code.
    ///
    /// # Errors
    /// When it does not close in time.
    pub async fn closed(&mut self) -> Result<u16> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            match timeout_at(deadline, self.socket.next())
                .await
                .context("it is not closed in time")?
            {
                Some(Ok(Message::Close(Some(frame)))) => return Ok(frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
                None => bail!("the connection ended without a close frame"),
            }
        }
    }
}
