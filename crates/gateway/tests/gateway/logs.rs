//! C25 e: logs name clients and counts, never secrets, codes or what anybody wrote.

use crate::server::Server;
use crate::world::World;
use anyhow::Result;
use serde_json::json;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tracing_subscriber::fmt::MakeWriter;

/// Everything that is logged in this process, other tests included.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn c25_e_no_secret_and_no_text_is_logged_at_any_level() -> Result<()> {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    // For the whole process: one of a single thread misses what another thread was the first to reach.
    tracing::subscriber::set_global_default(subscriber)?;
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let unused = server.code(&server.user)?;
    let secret = server.sign_in(&server.user).await?;
    let bearer = format!("Bearer {secret}");
    let headers = [("authorization", bearer.as_str())];
    assert_eq!(
        server
            .http("GET", "/api/v1/boot", &headers, "")
            .await?
            .status,
        200
    );
    let wrong = [("sec-websocket-protocol", "flightstrip.v1, wrong-secret")];
    assert!(server.upgrade(&wrong).await?.is_err());
    let mut client = server.client_with(&secret).await?;
    client
        .request("session.subscribe", json!({ "session_id": world.session }))
        .await?;
    let prompt = json!({
        "task_id": world.task, "session_id": world.session, "message_id": "m1", "content": "my-private-words",
    });
    client.request("message.add", prompt).await?;
    client.send_text("my-private-nonsense").await?;
    client.notified("error").await?;
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-out", &headers, "")
            .await?
            .status,
        204
    );
    assert_eq!(client.closed().await?, 4003);
    server.without_clients().await?;

    let logged = log.text();
    assert!(
        logged.contains("a client connected"),
        "the log was captured"
    );
    for private in [
        secret.as_str(),
        unused.as_str(),
        "wrong-secret",
        "my-private",
    ] {
        assert!(!logged.contains(private), "{private} was logged");
    }
    Ok(())
}
