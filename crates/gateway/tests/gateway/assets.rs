//! The embedded app, whether or not this checkout has built it.

use crate::server::Server;
use anyhow::Result;

#[tokio::test]
async fn places_inside_the_app_get_its_page_and_missing_files_do_not() -> Result<()> {
    let server = Server::start().await?;
    for place in ["/", "/w/workspace/task", "/settings"] {
        let answer = server
            .http("GET", place, &[("accept", "text/html")], "")
            .await?;
        assert_eq!(
            answer.header("content-type"),
            "text/html; charset=utf-8",
            "{place}"
        );
        assert!(answer.body.contains("flightstrip"), "{place}");
        match answer.status {
            200 => assert_eq!(answer.header("cache-control"), "no-cache"),
            404 => assert!(
                answer.body.contains("cargo xtask run"),
                "it says how to build the app"
            ),
            other => panic!("unexpected status {other}"),
        }
    }
    for missing in ["/assets/gone-123.js", "/favicon.missing", "/assets/"] {
        let answer = server.http("GET", missing, &[], "").await?;
        assert_eq!(answer.status, 404, "{missing}");
        assert!(
            answer.header("content-type").starts_with("text/plain"),
            "{missing}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn unknown_endpoints_are_not_places() -> Result<()> {
    let server = Server::start().await?;
    assert_eq!(
        server
            .http("GET", "/api/v1/nothing", &[("accept", "text/html")], "")
            .await?
            .status,
        404
    );
    assert_eq!(server.http("POST", "/w/x", &[], "").await?.status, 405);
    Ok(())
}
