//! C25: any web page the person visits must not be able to drive the agents.

use crate::server::Server;
use anyhow::Result;
use flow::outbox::limits::Limits;
use tokio_tungstenite::tungstenite::Error;

fn status(error: Error) -> u16 {
    match error {
        Error::Http(response) => response.status().as_u16(),
        other => panic!("not an HTTP answer: {other}"),
    }
}

#[tokio::test]
async fn c25_a_a_page_of_another_site_gets_no_socket() -> Result<()> {
    let server = Server::start().await?;
    let protocols = format!("flightstrip.v1, {}", server.sign_in(&server.user).await?);
    let own = format!("http://{}", server.host());
    for (origin, expected) in [("https://evil.test", 403), ("null", 403)] {
        let refused = server
            .upgrade(&[("origin", origin), ("sec-websocket-protocol", &protocols)])
            .await?
            .err()
            .map(status);
        assert_eq!(refused, Some(expected), "{origin}");
    }
    assert_eq!(server.hub.clients(), 0);
    let client = server
        .upgrade(&[("origin", &own), ("sec-websocket-protocol", &protocols)])
        .await?;
    assert!(client.is_ok(), "the own page gets one");
    Ok(())
}

#[tokio::test]
async fn c25_b_a_rebound_name_is_misdirected() -> Result<()> {
    let server = Server::start().await?;
    let secret = format!("Bearer {}", server.sign_in(&server.user).await?);
    for path in ["/", "/livez", "/readyz", "/api/v1/boot", "/ws"] {
        let headers = [("host", "rebind.test"), ("authorization", secret.as_str())];
        assert_eq!(
            server.raw_http("GET", path, &headers, "").await?.status,
            421,
            "{path}"
        );
    }
    assert_eq!(
        server.raw_http("GET", "/livez", &[], "").await?.status,
        421,
        "no host at all"
    );
    Ok(())
}

#[tokio::test]
async fn c25_c_the_right_host_proves_nothing() -> Result<()> {
    let server = Server::start().await?;
    let refused = server.upgrade(&[]).await?.err().map(status);
    assert_eq!(refused, Some(401), "no secret, no socket");
    let guess = [("sec-websocket-protocol", "flightstrip.v1, 0000")];
    assert_eq!(server.upgrade(&guess).await?.err().map(status), Some(401));
    assert_eq!(
        server.http("GET", "/api/v1/boot", &[], "").await?.status,
        401
    );
    let cookie = [("cookie", "session=abc")];
    assert_eq!(
        server
            .http("GET", "/api/v1/boot", &cookie, "")
            .await?
            .status,
        401
    );
    Ok(())
}

#[tokio::test]
async fn c25_d_the_same_for_plain_writes() -> Result<()> {
    let server = Server::start().await?;
    let code = server.code(&server.user)?;
    let body = format!(r#"{{"code":"{code}"}}"#);
    let json = ("content-type", "application/json");
    let foreign = [json, ("origin", "https://evil.test")];
    let answer = server
        .http("POST", "/api/v1/sign-in", &foreign, &body)
        .await?;
    assert_eq!(answer.status, 403);
    assert!(!answer.body.contains("secret"));
    let rebound = [json, ("host", "rebind.test")];
    assert_eq!(
        server
            .raw_http("POST", "/api/v1/sign-in", &rebound, &body)
            .await?
            .status,
        421
    );
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-out", &[], "")
            .await?
            .status,
        401
    );
    let answer = server
        .http("POST", "/api/v1/sign-in", &[json], &body)
        .await?;
    assert_eq!(answer.status, 200, "the code was not used up by strangers");
    Ok(())
}

#[tokio::test]
async fn strangers_are_refused_while_the_server_starts_too() -> Result<()> {
    let server = Server::bind(Limits::default()).await?;
    assert_eq!(
        server
            .raw_http("GET", "/", &[("host", "rebind.test")], "")
            .await?
            .status,
        421
    );
    Ok(())
}

#[tokio::test]
async fn nothing_may_be_read_from_another_origin() -> Result<()> {
    let server = Server::start().await?;
    let preflight = [
        ("origin", "https://evil.test"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization"),
    ];
    let answer = server
        .http("OPTIONS", "/api/v1/boot", &preflight, "")
        .await?;
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("access-control-allow-origin"), "");
    let answer = server.http("GET", "/livez", &[], "").await?;
    assert!(
        answer
            .header("content-security-policy")
            .contains("default-src 'none'")
    );
    assert!(
        answer
            .header("content-security-policy")
            .contains("script-src 'self';")
    );
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("cache-control"), "no-store");
    Ok(())
}
