//! A gateway on a free port over a new store, and the two ways to talk to it: plain HTTP and the WebSocket.

use anyhow::{Context, Result, ensure};
use flow::outbox::limits::Limits;
use futures_util::{SinkExt, StreamExt};
use gateway::api::Api;
use gateway::codes::Codes;
use gateway::gateway::{Gateway, GatewayConfig};
use gateway::hub::Hub;
use gateway::readiness::{Gate, Readiness};
use gateway::uploads::UploadLimits;
use model::event::EventHub;
use model::ids::{UserId, WorkspaceId};
use model::workspace::{Role, User, Workspace};
use projector::running::Projector;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::open::Store;
use store::sql::sql;
use testkit::store::{Engine, ThrowawayStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Longer than anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Clients that may be connected at once here.
pub(crate) const CLIENTS: usize = 8;

/// A running gateway.
pub(crate) struct Server {
    pub(crate) gateway: Gateway,
    pub(crate) store: Store,
    pub(crate) hub: Arc<Hub>,
    pub(crate) readiness: Arc<Readiness>,
    pub(crate) user: UserId,
    pub(crate) workspace: WorkspaceId,
    pub(crate) dir: tempfile::TempDir,
    db: ThrowawayStore,
}

impl Server {
    /// A gateway whose API is open, with one person and one workspace.
    pub(crate) async fn start() -> Result<Self> {
        Self::start_with(Limits::default()).await
    }

    /// As [`Server::start`], with other bounds of what may wait for one client.
    pub(crate) async fn start_with(limits: Limits) -> Result<Self> {
        let server = Self::bind(limits).await?;
        server.open();
        Ok(server)
    }

    /// As [`Server::start`], over a database of this engine.
    pub(crate) async fn on(engine: Engine) -> Result<Self> {
        let server = Self::bind_on(engine, Limits::default()).await?;
        server.open();
        Ok(server)
    }

    /// As [`Server::on`], with other bounds of what people upload.
    pub(crate) async fn with_uploads(engine: Engine, uploads: UploadLimits) -> Result<Self> {
        let bounds = (Limits::default(), uploads);
        let server = Self::bind_with(engine, bounds).await?;
        server.open();
        Ok(server)
    }

    /// A gateway that is still starting.
    pub(crate) async fn bind(limits: Limits) -> Result<Self> {
        Self::bind_on(Engine::Sqlite, limits).await
    }

    async fn bind_on(engine: Engine, limits: Limits) -> Result<Self> {
        Self::bind_with(engine, (limits, UploadLimits::default())).await
    }

    async fn bind_with(engine: Engine, bounds: (Limits, UploadLimits)) -> Result<Self> {
        // Its clock strictly rises from a fixed start: whoever reads a time of a test reads the same one every run.
        let db = ThrowawayStore::on(engine).await?;
        let store = db.store.clone();
        let user = add_user(&store, "owner").await?;
        let workspace = add_workspace(&store, "mine", &user).await?;
        Self::listen(db, store, (user, workspace), bounds).await
    }

    async fn listen(
        db: ThrowawayStore,
        store: Store,
        (user, workspace): (UserId, WorkspaceId),
        (limits, uploads): (Limits, UploadLimits),
    ) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let clock = db.clock.handle();
        let readiness = Arc::new(Readiness::default());
        let config = GatewayConfig {
            limits,
            clients: CLIENTS,
            uploads,
            ..GatewayConfig::new("127.0.0.1:0".parse()?)
        };
        let gateway =
            Gateway::bind(config, Arc::clone(&readiness), Arc::new(Codes::default())).await?;
        Ok(Self {
            gateway,
            hub: Arc::new(Hub::new(clock)),
            store,
            readiness,
            user,
            workspace,
            dir,
            db,
        })
    }

    /// The server stops, and another starts over the same database: it converges before it opens, as start-up does.
    pub(crate) async fn restarted(self) -> Result<Self> {
        self.gateway.shutdown().await;
        let store = self.db.open_again().await?;
        let owner = (self.user, self.workspace);
        let bounds = (Limits::default(), UploadLimits::default());
        let server = Self::listen(self.db, store, owner, bounds).await?;
        let hub: Arc<dyn EventHub> = server.hub.clone();
        let converged = Projector::new(server.store.clone(), hub).converge().await?;
        ensure!(converged.failed == 0, "every summary converges");
        server.open();
        Ok(server)
    }

    /// Opens the API.
    pub(crate) fn open(&self) {
        let hub: Arc<dyn EventHub> = self.hub.clone();
        let (orchestrator, projector) =
            testkit::in_process::orchestrator(&self.store, &hub, &self.dir.path().join("data"));
        let api = Api::new(
            orchestrator,
            projector,
            Arc::clone(&self.hub),
            "generation-1".to_owned(),
        );
        for gate in Gate::ALL.into_iter().filter(|gate| *gate != Gate::ApiOpen) {
            self.readiness.open(gate);
        }
        self.gateway.open(api);
    }

    pub(crate) fn host(&self) -> String {
        format!("localhost:{}", self.gateway.address().port())
    }

    /// A plain HTTP request with the right `Host`.
    pub(crate) async fn http(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer> {
        let host = self.host();
        let mut all = vec![("host", host.as_str())];
        all.extend_from_slice(headers);
        self.raw_http(method, path, &all, body).await
    }

    /// A plain HTTP request with exactly these headers.
    pub(crate) async fn raw_http(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer> {
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(body);
        let mut stream = TcpStream::connect(self.gateway.address()).await?;
        stream.write_all(text.as_bytes()).await?;
        let mut answer = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut answer)).await??;
        Answer::read(&answer)
    }

    /// A code for `user`, as the printed address carries it.
    pub(crate) fn code(&self, user: &UserId) -> Result<String> {
        let url = self.gateway.sign_in_url(user, self.store.now())?;
        let (_, code) = url
            .split_once("#code=")
            .context("the address has a code in its fragment")?;
        Ok(code.to_owned())
    }

    /// Signs a person in and gives the secret.
    pub(crate) async fn sign_in(&self, user: &UserId) -> Result<String> {
        let body = json!({ "code": self.code(user)? }).to_string();
        let json = ("content-type", "application/json");
        let answer = self.http("POST", "/api/v1/sign-in", &[json], &body).await?;
        ensure!(answer.status == 200, "signing in: {answer:?}");
        let answer: Value = serde_json::from_str(&answer.body)?;
        Ok(answer["secret"].as_str().context("a secret")?.to_owned())
    }

    /// A connection of the owner, after `hello`.
    pub(crate) async fn client(&self) -> Result<Client> {
        let secret = self.sign_in(&self.user).await?;
        self.client_with(&secret).await
    }

    /// A connection with this secret, after `hello`.
    pub(crate) async fn client_with(&self, secret: &str) -> Result<Client> {
        let protocols = format!("flightstrip.v1, {secret}");
        let mut client = self
            .upgrade(&[("sec-websocket-protocol", &protocols)])
            .await??;
        let hello = client.next().await?;
        ensure!(
            hello["action"] == "hello",
            "the first frame is hello: {hello}"
        );
        Ok(client)
    }

    /// Waits until every client is disconnected.
    pub(crate) async fn without_clients(&self) -> Result<()> {
        let gone = async {
            while self.hub.clients() != 0 {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, gone)
            .await
            .context("a client is still connected")
    }

    /// Tries to open a WebSocket with these headers.
    pub(crate) async fn upgrade(
        &self,
        headers: &[(&str, &str)],
    ) -> Result<Result<Client, tungstenite::Error>> {
        let mut request = format!("ws://{}/ws", self.host()).into_client_request()?;
        for (name, value) in headers {
            let name: tungstenite::http::HeaderName = name.parse()?;
            request.headers_mut().insert(name, value.parse()?);
        }
        let connected = timeout(PATIENCE, tokio_tungstenite::connect_async(request)).await?;
        Ok(connected.map(|(socket, response)| {
            let protocol = response.headers().get("sec-websocket-protocol");
            let protocol = protocol
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned);
            Client {
                socket,
                protocol,
                next_id: 0,
            }
        }))
    }
}

pub(crate) async fn add_user(store: &Store, name: &str) -> Result<UserId> {
    let user = User {
        id: UserId::generate(),
        name: name.to_owned(),
    };
    let mut tx = store.write().await?;
    let now = tx.now();
    store::workspaces::insert_user(&mut tx, &user, now).await?;
    let _ = tx.commit().await?;
    Ok(user.id)
}

pub(crate) async fn add_workspace(
    store: &Store,
    name: &str,
    owner: &UserId,
) -> Result<WorkspaceId> {
    let mut tx = store.write().await?;
    let created_at = tx.now();
    let workspace = Workspace {
        id: WorkspaceId::generate(),
        revision: 1,
        name: name.to_owned(),
        created_at,
    };
    store::workspaces::insert(&mut tx, &workspace, owner).await?;
    let role = store::workspaces::role(&mut tx, &workspace.id, owner).await?;
    ensure!(role == Some(Role::Owner));
    let _ = tx.commit().await?;
    Ok(workspace.id)
}

pub(crate) async fn add_member(
    store: &Store,
    workspace: &WorkspaceId,
    user: &UserId,
    role: Role,
) -> Result<()> {
    let insert =
        sql("INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3)");
    let mut tx = store.write().await?;
    tx.execute(insert.bind(workspace).bind(user).bind(role.as_str()))
        .await?;
    let _ = tx.commit().await?;
    Ok(())
}

/// What came back over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").context("a head and a body")?;
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1))
            .context("a status")?
            .parse()?;
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Ok(Self {
            status,
            headers,
            body: body.to_owned(),
        })
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// One WebSocket connection.
pub(crate) struct Client {
    pub(crate) socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) protocol: Option<String>,
    next_id: u32,
}

impl Client {
    /// The next frame of the server.
    pub(crate) async fn next(&mut self) -> Result<Value> {
        loop {
            match self.message().await? {
                Message::Text(text) => return Ok(serde_json::from_str(&text)?),
                Message::Ping(_) | Message::Pong(_) => {}
                other => anyhow::bail!("unexpected {other:?}"),
            }
        }
    }

    async fn message(&mut self) -> Result<Message> {
        let message = timeout(PATIENCE, self.socket.next())
            .await
            .context("the server says nothing")?;
        Ok(message.context("the connection ended")??)
    }

    /// Reads on until the server closes, and gives the code.
    pub(crate) async fn closed(&mut self) -> Result<u16> {
        loop {
            if let Message::Close(frame) = self.message().await? {
                return Ok(frame.context("a close frame has a code")?.code.into());
            }
        }
    }

    pub(crate) async fn send_text(&mut self, text: &str) -> Result<()> {
        Ok(timeout(PATIENCE, self.socket.send(Message::text(text))).await??)
    }

    /// Sends a request and gives its id.
    pub(crate) async fn send(&mut self, action: &str, payload: Value) -> Result<String> {
        self.next_id += 1;
        let id = format!("r{}", self.next_id);
        let frame = json!({ "id": id, "type": "request", "action": action, "payload": payload });
        self.send_text(&frame.to_string()).await?;
        Ok(id)
    }

    /// Sends a request and gives its answer, with the notifications that came before it.
    pub(crate) async fn ask(
        &mut self,
        action: &str,
        payload: Value,
    ) -> Result<(Value, Vec<Value>)> {
        let id = self.send(action, payload).await?;
        let mut before = Vec::new();
        loop {
            let frame = self.next().await?;
            if frame["id"] == id.as_str() {
                return Ok((frame, before));
            }
            before.push(frame);
        }
    }

    /// Sends a request that must succeed, and gives its payload.
    pub(crate) async fn request(&mut self, action: &str, payload: Value) -> Result<Value> {
        let (answer, _) = self.ask(action, payload).await?;
        ensure!(answer["type"] == "response", "{action} failed: {answer}");
        Ok(answer["payload"].clone())
    }

    /// Sends a request that must fail, and gives the code of the error.
    pub(crate) async fn refused(&mut self, action: &str, payload: Value) -> Result<String> {
        let (answer, _) = self.ask(action, payload).await?;
        ensure!(answer["type"] == "error", "{action} succeeded: {answer}");
        Ok(answer["payload"]["code"]
            .as_str()
            .context("an error has a code")?
            .to_owned())
    }

    /// The next notification of this action; others are skipped.
    pub(crate) async fn notified(&mut self, action: &str) -> Result<Value> {
        loop {
            let frame = self.next().await?;
            if frame["action"] == action {
                return Ok(frame["payload"].clone());
            }
        }
    }
}
