//! The door of the house: one listening socket from the first second of start-up to the last of shutdown.
//!
//! It is bound before the database is touched and answers health and a starting page; [`Gateway::open`] then opens the
//! API without binding again. [`Gateway::shutdown`] stops accepting, lets accepted requests finish and their answers be
//! written, within [`bounds::GATEWAY_DRAIN`], and closes every client with 1012.

use crate::api::Api;
use crate::codes::Codes;
use crate::door::Door;
use crate::error::GatewayError;
use crate::http::{self, State};
use crate::listener::{CountingListener, Progress};
use crate::mcp::Mcp;
use crate::readiness::{Gate, Readiness};
use crate::uploads::{UploadLimits, Uploads};
use axum::serve::Listener;
use flow::outbox::limits::Limits;
use model::bounds;
use model::clock::Timestamp;
use model::ids::UserId;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How the gateway is reached.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Where it listens; port 0: any free one.
    pub listen: SocketAddr,
    /// `Host` values beyond loopback names with the port, e.g. the name under which a proxy is reached.
    pub allowed_hosts: Vec<String>,
    /// How much may wait for one client.
    pub limits: Limits,
    /// How many clients may be connected.
    pub clients: usize,
    /// How many files one person may upload at once, and how long that may take.
    pub uploads: UploadLimits,
}

impl GatewayConfig {
    /// Listens on `listen`, known under loopback names only.
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            allowed_hosts: Vec::new(),
            limits: Limits::default(),
            clients: bounds::CLIENTS,
            uploads: UploadLimits::default(),
        }
    }
}

/// A listening gateway.
pub struct Gateway {
    address: SocketAddr,
    state: Arc<State>,
    server: Mutex<Option<JoinHandle<()>>>,
}

impl Gateway {
    /// Binds and serves health and the starting page. `readiness` is what start-up opens its gates in; `codes` are the
    /// one-time codes that signing in takes.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn bind(
        config: GatewayConfig,
        readiness: Arc<Readiness>,
        codes: Arc<Codes>,
    ) -> Result<Self, GatewayError> {
        let failed = |source| GatewayError::Listen {
            address: config.listen,
            source,
        };
        let listener = CountingListener::bind(config.listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let state = Arc::new(State {
            readiness,
            codes,
            limits: config.limits,
            clients: config.clients,
            uploads: Arc::new(Uploads::new(config.uploads)),
            mcp: Mcp::default(),
            api: OnceLock::new(),
            connections: TaskTracker::new(),
            stop: CancellationToken::new(),
        });
        let door = Door::new(address, &config.allowed_hosts);
        let service = http::router(Arc::clone(&state), door)
            .into_make_service_with_connect_info::<Progress>();
        let stop = state.stop.clone();
        let server = tokio::spawn(async move {
            let serving =
                axum::serve(listener, service).with_graceful_shutdown(stop.cancelled_owned());
            if let Err(error) = serving.await {
                tracing::error!(%error, "the listening socket failed");
            }
        });
        let server = Mutex::new(Some(server));
        Ok(Self {
            address,
            state,
            server,
        })
    }

    /// The address it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where agents on this machine reach what they are offered.
    #[must_use]
    pub fn mcp_url(&self) -> String {
        let (ip, port) = (self.address.ip(), self.address.port());
        if ip.is_unspecified() && ip.is_ipv4() {
            format!("http://127.0.0.1:{port}/mcp")
        } else if ip.is_unspecified() {
            format!("http://[::1]:{port}/mcp")
        } else {
            format!("http://{}/mcp", self.address)
        }
    }

    /// The address to print: it signs a person in once. The code stands in the fragment, which browsers do not send.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn sign_in_url(&self, user_id: &UserId, now: Timestamp) -> Result<String, GatewayError> {
        let code = self.state.codes.issue(user_id, now)?;
        let (ip, port) = (self.address.ip(), self.address.port());
        Ok(if ip.is_loopback() || ip.is_unspecified() {
            format!("http://localhost:{port}/#code={code}")
        } else {
            format!("http://{}/#code={code}", self.address)
        })
    }

    /// Opens the API and its gate. A second call changes nothing.
    pub fn open(&self, api: Api) {
        let api = Arc::new(api);
        if self.state.api.set(Arc::clone(&api)).is_err() {
            debug_assert!(false, "the API is opened once");
            return;
        }
        self.state
            .connections
            .spawn(api.follow_focus(self.state.stop.clone()));
        self.state.readiness.open(Gate::ApiOpen);
    }

    /// Ends every connection and stops listening; accepted requests finish first, within their bound. A second call
    /// waits for nothing.
    pub async fn shutdown(&self) {
        self.state.stop.cancel();
        self.state.connections.close();
        let server = self
            .server
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(mut server) = server else { return };
        let drained = async {
            self.state.connections.wait().await;
            if let Some(api) = self.state.api.get() {
                api.requests.close();
                api.requests.wait().await;
            }
            // The server's task ends when its last plain HTTP request is answered; it has nothing to say.
            let _ = (&mut server).await;
        };
        if timeout(bounds::GATEWAY_DRAIN + bounds::CLOSE_GRACE, drained)
            .await
            .is_err()
        {
            let connections = self.state.connections.len();
            tracing::warn!(
                connections,
                "connections and requests are cut: they did not end in time"
            );
            server.abort();
        }
    }
}
