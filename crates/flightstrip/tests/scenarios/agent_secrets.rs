//! `/mcp` opens for a living agent's secret and for nothing else, and that secret opens nothing else.

use crate::questions::{asked, profile, rejection, respond, start_with};
use crate::support::{BINARY, Bench};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::http::{self, Answer};
use testkit::server::Server;

/// One agent with its relay, whose environment tells its secret.
async fn secret_of(bench: &Bench, task_path: &std::path::Path) -> Result<String> {
    let root = task_path.canonicalize()?;
    for pid in bench.server.agent_processes()? {
        let Ok(cwd) = std::fs::read_link(format!("/proc/{pid}/cwd")) else {
            continue;
        };
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        let mut variables = environment.split('\0');
        let secret = variables.find_map(|line| line.strip_prefix("FLIGHTSTRIP_MCP_SECRET="));
        if let (true, Some(secret)) = (cwd.starts_with(&root), secret) {
            return Ok(secret.to_owned());
        }
    }
    anyhow::bail!("no relay runs there")
}

async fn post(bench: &Bench, secret: &str, session: Option<&str>, body: Value) -> Result<Answer> {
    let bearer = format!("Bearer {secret}");
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    if !secret.is_empty() {
        headers.push(("Authorization", &bearer));
    }
    if let Some(session) = session {
        headers.push(("Mcp-Session-Id", session));
    }
    http::send(
        bench.server.port(),
        "POST",
        "/mcp",
        &headers,
        body.to_string(),
    )
    .await
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    } })
}

/// Case C25, for agents. Knows no database, so one engine will do.
#[tokio::test]
async fn an_agents_secret_opens_its_own_questions_and_nothing_else() -> Result<()> {
    let mut bench = Bench::with(Server::start(BINARY).await?).await?;
    let bridged = profile(&mut bench, "bridged", &["--no-mcp-http"]).await?;
    let one = start_with(&mut bench, &bridged, "One", "/ask First?").await?;
    let two = start_with(&mut bench, &bridged, "Two", "/ask Second?").await?;
    let (first, second) = (
        asked(&mut bench, &one).await?,
        asked(&mut bench, &two).await?,
    );
    let place = bench.worktree(&one).await?;
    let mine = secret_of(&bench, &place).await?;
    let place = bench.worktree(&two).await?;
    let theirs = secret_of(&bench, &place).await?;
    assert_ne!(mine, theirs);

    // Nobody else's secret opens it.
    for wrong in ["", "made-up", &mine.to_uppercase(), bench.server.secret()] {
        let answer = post(&bench, wrong, None, initialize()).await?;
        assert_eq!(answer.status, 401, "{wrong:?}");
    }
    // It opens nothing else.
    let bearer = format!("Bearer {mine}");
    let answer = http::send(
        bench.server.port(),
        "GET",
        "/api/v1/boot",
        &[("Authorization", &bearer)],
        "",
    )
    .await?;
    assert_eq!(answer.status, 401);
    let refused = testkit::client::Client::connect_quietly(bench.server.port(), &mine).await;
    assert!(refused.is_err(), "it opened the socket");
    // A page of another site is not let in, whatever it knows.
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Origin", "http://evil.test"),
    ];
    let answer = http::send(
        bench.server.port(),
        "POST",
        "/mcp",
        &headers,
        initialize().to_string(),
    )
    .await?;
    assert_eq!(answer.status, 403);

    // A session that one secret opened does not exist for another.
    let opened = post(&bench, &mine, None, initialize()).await?;
    assert_eq!(opened.status, 200, "{opened:?}");
    let session = opened
        .head
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .context("no session")?
        .to_owned();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let own = post(&bench, &mine, Some(&session), list.clone()).await?;
    assert!(own.body.contains("ask_user"), "{own:?}");
    let other = post(&bench, &theirs, Some(&session), list.clone()).await?;
    assert_eq!(other.status, 404, "{other:?}");

    // It dies with the process.
    respond(&mut bench, &rejection(&first)).await?;
    bench.settled(&one).await?;
    let stop = json!({ "session_id": first[0]["session_id"] });
    bench.client.request("session.stop", stop).await?;
    testkit::waiting::until("the secret to be void", async || {
        let answer = post(&bench, &mine, Some(&session), list.clone()).await?;
        Ok((answer.status == 401).then_some(()))
    })
    .await?;
    respond(&mut bench, &rejection(&second)).await?;
    bench.settled(&two).await?;
    let log = bench.server.log();
    assert!(!log.contains(&mine) && !log.contains(&theirs), "{log}");
    bench.server.stop().await
}
