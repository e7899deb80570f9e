//! A browser's page, as far as loading goes: it reads frames and does not look into them.

use anyhow::{Context as _, Result, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use model::ids::WorkspaceId;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::http;
use testkit::server::Server;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// A connected page that has subscribed to nothing.
pub(crate) struct Page {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    asked: u64,
}

impl Page {
    /// Loads the boot state; gives how long it took and how large it was.
    pub(crate) async fn boot(server: &Server) -> Result<(Duration, usize)> {
        let begin = Instant::now();
        let bearer = format!("Bearer {}", server.secret());
        let head = [("Authorization", bearer.as_str())];
        let answer = http::send(server.port(), "GET", "/api/v1/boot", &head, "").await?;
        if answer.status != 200 {
            bail!("boot answered {}", answer.status);
        }
        Ok((begin.elapsed(), answer.body.len()))
    }

    /// Connects.
    pub(crate) async fn open(server: &Server) -> Result<Self> {
        let mut request = format!("ws://127.0.0.1:{}/ws", server.port()).into_client_request()?;
        let offered = format!("flightstrip.v1, {}", server.secret());
        request
            .headers_mut()
            .insert("Sec-WebSocket-Protocol", offered.parse()?);
        let (socket, _) = connect_async(request).await?;
        let mut page = Self { socket, asked: 0 };
        page.text(|text| text.contains("\"hello\"")).await?;
        page.ask(
            "client.hello",
            json!({ "capabilities": ["message_append"] }),
        )
        .await?;
        Ok(page)
    }

    /// Lists a workspace's tasks to the last page; gives the number of pages and of bytes.
    pub(crate) async fn lists(&mut self, workspace: &WorkspaceId) -> Result<(usize, usize)> {
        let (mut pages, mut bytes) = (0, 0);
        let mut cursor: Option<String> = None;
        loop {
            let wanted = json!({ "workspace_id": workspace, "cursor": cursor });
            let text = self.ask("task.list", wanted).await?;
            if text.contains("\"type\":\"error\"") {
                bail!("task.list: {text}");
            }
            pages += 1;
            bytes += text.len();
            // The cursor is the last field of the payload: parsing a megabyte for it would be measured as well.
            let mark = "\"cursor\":\"";
            cursor = text
                .rfind(mark)
                .and_then(|at| text.get(at + mark.len()..))
                .and_then(|rest| rest.split('"').next())
                .map(str::to_owned);
            if cursor.is_none() {
                return Ok((pages, bytes));
            }
        }
    }

    async fn ask(&mut self, action: &str, payload: serde_json::Value) -> Result<String> {
        self.asked += 1;
        let id = format!("bench-{}", self.asked);
        let frame = json!({ "id": id, "type": "request", "action": action, "payload": payload });
        self.socket.send(Message::text(frame.to_string())).await?;
        let mark = format!("\"{id}\"");
        self.text(|text| text.contains(&mark)).await
    }

    async fn text(&mut self, wanted: impl Fn(&str) -> bool) -> Result<String> {
        loop {
            let frame = self.socket.next().await.context("the server hung up")??;
            if let Message::Text(text) = frame
                && wanted(&text)
            {
                return Ok(text.to_string());
            }
        }
    }
}
