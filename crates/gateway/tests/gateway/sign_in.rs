//! From a printed address to a signed-in browser, and out again.

use crate::server::Server;
use anyhow::Result;
use store::sql::sql;
use tokio_tungstenite::tungstenite::Error;

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn a_code_signs_in_once_and_its_secret_opens_everything() -> Result<()> {
    let server = Server::start().await?;
    let code = server.code(&server.user)?;
    let body = format!(r#"{{"code":"{code}"}}"#);
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-in", &[JSON], &body)
            .await?
            .status,
        200
    );
    let again = server
        .http("POST", "/api/v1/sign-in", &[JSON], &body)
        .await?;
    assert_eq!(again.status, 401);
    assert!(again.body.contains("used up or too old"), "{}", again.body);
    let mut client = server.client().await?;
    assert_eq!(
        client.protocol.as_deref(),
        Some("flightstrip.v1"),
        "the secret is never echoed"
    );
    client.request("ping", serde_json::json!({})).await?;
    Ok(())
}

#[tokio::test]
async fn two_browsers_have_two_secrets() -> Result<()> {
    let server = Server::start().await?;
    let (one, two) = (
        server.sign_in(&server.user).await?,
        server.sign_in(&server.user).await?,
    );
    assert_ne!(one, two);
    assert_eq!(one.len(), 64, "256 bits");
    Ok(())
}

#[tokio::test]
async fn wrong_codes_are_answered_only_so_often() -> Result<()> {
    let server = Server::start().await?;
    let wrong = r#"{"code":"guess"}"#;
    for _ in 0..model::bounds::SIGN_IN_FAILURES {
        assert_eq!(
            server
                .http("POST", "/api/v1/sign-in", &[JSON], wrong)
                .await?
                .status,
            401
        );
    }
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-in", &[JSON], wrong)
            .await?
            .status,
        429
    );
    server.sign_in(&server.user).await?;
    Ok(())
}

#[tokio::test]
async fn a_malformed_sign_in_is_refused() -> Result<()> {
    let server = Server::start().await?;
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-in", &[JSON], "{")
            .await?
            .status,
        400
    );
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-in", &[JSON], "{}")
            .await?
            .status,
        422
    );
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-in", &[], r#"{"code":"x"}"#)
            .await?
            .status,
        415
    );
    let large = format!(
        r#"{{"code":"{}"}}"#,
        "x".repeat(model::bounds::HTTP_BODY_BYTES)
    );
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-in", &[JSON], &large)
            .await?
            .status,
        413
    );
    Ok(())
}

#[tokio::test]
async fn signing_out_ends_the_secret_and_its_connections() -> Result<()> {
    let server = Server::start().await?;
    let secret = server.sign_in(&server.user).await?;
    let mut client = server.client_with(&secret).await?;
    let mut other = server.client().await?;
    let bearer = format!("Bearer {secret}");
    let headers = [("authorization", bearer.as_str())];
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-out", &headers, "")
            .await?
            .status,
        204
    );
    assert_eq!(client.closed().await?, 4003);
    assert_eq!(
        server
            .http("POST", "/api/v1/sign-out", &headers, "")
            .await?
            .status,
        401
    );
    other.request("ping", serde_json::json!({})).await?;
    Ok(())
}

/// How often the test tries to sign out between an upgrade's authentication and its connection.
const RACES: usize = 50;

#[tokio::test]
async fn an_upgrade_that_was_authenticated_before_a_sign_out_is_closed() -> Result<()> {
    let server = Server::start().await?;
    for _ in 0..RACES {
        let secret = server.sign_in(&server.user).await?;
        let protocols = format!("flightstrip.v1, {secret}");
        let headers = [("sec-websocket-protocol", protocols.as_str())];
        let bearer = format!("Bearer {secret}");
        // An authenticated upgrade waits for the writer, to note the use of its secret.
        let mut tx = server.store.write().await?;
        let sign_out = async {
            // A round trip that began later is authenticated later, as a rule.
            let bearer = [("authorization", bearer.as_str())];
            server
                .http("GET", "/api/v1/messages/none/content", &bearer, "")
                .await?;
            tx.execute(sql("DELETE FROM auth_sessions")).await?;
            let _ = tx.commit().await?;
            anyhow::Ok(())
        };
        let (upgraded, signed_out) = tokio::join!(server.upgrade(&headers), sign_out);
        signed_out?;
        match upgraded? {
            Ok(mut client) => {
                assert_eq!(client.closed().await?, 4003);
                return Ok(());
            }
            Err(Error::Http(response)) => assert_eq!(response.status(), 401),
            Err(error) => return Err(error.into()),
        }
    }
    panic!("the sign-out always came first");
}
