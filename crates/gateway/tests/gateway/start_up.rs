//! The server answers from its first second, and opens without binding again.

use crate::server::Server;
use anyhow::Result;
use flow::outbox::limits::Limits;
use gateway::readiness::Gate;
use serde_json::Value;

#[tokio::test]
async fn health_and_a_page_are_there_before_the_api_is() -> Result<()> {
    let server = Server::bind(Limits::default()).await?;
    assert_eq!(server.http("GET", "/livez", &[], "").await?.status, 200);
    server.readiness.open(Gate::InstanceLock);
    server.readiness.set_progress("migrating <3 tables>");
    let ready = server.http("GET", "/readyz", &[], "").await?;
    assert_eq!(ready.status, 503);
    let report: Value = serde_json::from_str(&ready.body)?;
    assert_eq!(report["gates"]["instance_lock"], true);
    assert_eq!(report["gates"]["api_open"], false);

    for path in ["/", "/w/some-place", "/api/v1/boot", "/ws"] {
        let answer = server
            .http("GET", path, &[("accept", "text/html,*/*")], "")
            .await?;
        assert_eq!(answer.status, 503, "{path}");
        assert!(answer.body.contains("instance lock") && answer.body.contains("src=/starting.js"));
        assert!(
            answer.body.contains("migrating &lt;3 tables&gt;"),
            "{}",
            answer.body
        );
        assert_eq!(answer.header("retry-after"), "1");
    }
    let script = server.http("GET", "/starting.js", &[], "").await?;
    assert!(script.body.contains("location.reload()"));
    let answer = server
        .http(
            "POST",
            "/api/v1/sign-in",
            &[("content-type", "application/json")],
            "{}",
        )
        .await?;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (503, "The server is starting.\n")
    );
    Ok(())
}

#[tokio::test]
async fn the_api_opens_on_the_same_socket() -> Result<()> {
    let server = Server::bind(Limits::default()).await?;
    let before = server.gateway.address();
    server.open();
    let ready = server.http("GET", "/readyz", &[], "").await?;
    assert_eq!(ready.status, 200, "{}", ready.body);
    assert_eq!(server.gateway.address(), before);
    server.client().await?;
    Ok(())
}

#[tokio::test]
async fn shutdown_closes_clients_with_1012() -> Result<()> {
    let server = Server::start().await?;
    let mut client = server.client().await?;
    let closing = tokio::spawn(async move { client.closed().await });
    server.gateway.shutdown().await;
    assert_eq!(closing.await??, 1012);
    Ok(())
}
