//! `/mcp` opens for a living agent's secret and for nothing else, and that secret opens nothing else.

use crate::questions::{asked, profile, rejection, respond, start_with};
use crate::support::{BINARY, Bench};
use anyhow::{Context, Result};
use model::bounds;
use serde_json::{Value, json};
use std::process::Stdio;
use testkit::http::{self, Answer};
use testkit::server::Server;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

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

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })
}

/// Opens an MCP session; gives its id.
async fn open(bench: &Bench, secret: &str) -> Result<String> {
    let opened = post(bench, secret, None, initialize()).await?;
    anyhow::ensure!(opened.status == 200, "{opened:?}");
    let mut lines = opened.head.lines();
    let id = lines.find_map(|line| line.strip_prefix("mcp-session-id: "));
    Ok(id.context("no session")?.to_owned())
}

/// PEN-05: an agent whose client opens a session per question and ends none can ask for as long as it lives; the session
/// that was idle the longest makes room, and none in which a question waits.
#[tokio::test]
async fn pen_05_an_agent_that_ends_no_session_can_go_on_asking() -> Result<()> {
    let mut bench = Bench::with(Server::start(BINARY).await?).await?;
    let bridged = profile(&mut bench, "bridged", &["--no-mcp-http"]).await?;
    let task = start_with(&mut bench, &bridged, "One", "/ask First?").await?;
    let waiting = asked(&mut bench, &task).await?;
    let place = bench.worktree(&task).await?;
    let secret = secret_of(&bench, &place).await?;
    // One is the waiting question's.
    let mut sessions = Vec::new();
    for _ in 1..bounds::MCP_SESSIONS {
        sessions.push(open(&bench, &secret).await?);
    }
    let status = async |session: &str| -> Result<u16> {
        Ok(post(&bench, &secret, Some(session), list()).await?.status)
    };
    assert_eq!(status(&sessions[0]).await?, 200, "it is used again");
    for _ in 0..3 {
        sessions.push(open(&bench, &secret).await?);
    }
    let mut told = Vec::new();
    for session in &sessions[..5] {
        told.push(status(session).await?);
    }
    assert_eq!(told, [200, 404, 404, 404, 200]);
    respond(&mut bench, &rejection(&waiting)).await?;
    let row = crate::questions::row(&mut bench, &waiting[0]).await?;
    assert_eq!(row["pending_id"], waiting[0]["pending_id"]);
    bench.settled(&task).await?;
    let row = crate::questions::row(&mut bench, &waiting[0]).await?;
    assert_eq!(row["delivered"], true, "{row}");
    bench.server.stop().await
}

/// PEN-05: a relay whose session made room opens another, skips what is too long, and ends its session with itself.
#[tokio::test]
async fn pen_05_a_relay_survives_the_end_of_its_session() -> Result<()> {
    let mut bench = Bench::with(Server::start(BINARY).await?).await?;
    let bridged = profile(&mut bench, "bridged", &["--no-mcp-http"]).await?;
    let task = start_with(&mut bench, &bridged, "One", "/ask First?").await?;
    let waiting = asked(&mut bench, &task).await?;
    let place = bench.worktree(&task).await?;
    let secret = secret_of(&bench, &place).await?;
    let url = format!("http://127.0.0.1:{}/mcp", bench.server.port());
    let mut relay = Command::new(BINARY)
        .arg("mcp-bridge")
        .envs([
            ("FLIGHTSTRIP_MCP_URL", url.as_str()),
            ("FLIGHTSTRIP_MCP_SECRET", &secret),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut says = relay.stdin.take().context("no stdin")?;
    let mut hears = BufReader::new(relay.stdout.take().context("no stdout")?).lines();
    let mut ask = async |message: String| -> Result<String> {
        says.write_all(format!("{message}\n").as_bytes()).await?;
        hears.next_line().await?.context("the relay ended")
    };
    assert!(ask(initialize().to_string()).await?.contains("serverInfo"));
    let mut sessions = Vec::new();
    for _ in 1..bounds::MCP_SESSIONS {
        sessions.push(open(&bench, &secret).await?);
    }
    // Its session is gone, and it is served all the same: one of the others made room again.
    assert!(ask(list().to_string()).await?.contains("ask_user"));
    let status = async |session: &str| -> Result<u16> {
        Ok(post(&bench, &secret, Some(session), list()).await?.status)
    };
    assert_eq!(status(&sessions[0]).await?, 404);
    let long = ask("x".repeat(bounds::MCP_BODY_BYTES + 1)).await?;
    assert!(long.contains("longer than the server takes"), "{long}");
    assert!(ask(list().to_string()).await?.contains("ask_user"));
    drop(says);
    assert!(relay.wait().await?.success());
    // There is room for one more without anybody's end.
    open(&bench, &secret).await?;
    assert_eq!(status(&sessions[1]).await?, 200);
    respond(&mut bench, &rejection(&waiting)).await?;
    bench.settled(&task).await?;
    bench.server.stop().await
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
    let session = open(&bench, &mine).await?;
    let list = list();
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
