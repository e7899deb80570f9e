//! The binary's commands, run beside a server or without one.

use crate::support::BINARY;
use anyhow::{Context, Result};
use serde_json::Value;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use testkit::server::Server;
use tokio::process::{Child, Command};

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    /// What it printed, as JSON.
    pub(crate) fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.out).with_context(|| format!("no JSON: {self:?}"))
    }

    /// The names of the truths that it says do not hold.
    pub(crate) fn broken(&self) -> Result<Vec<String>> {
        let report = self.json()?;
        let truths = report["truths"].as_array().context("no truths")?;
        let names = truths.iter().filter_map(|truth| truth["name"].as_str());
        Ok(names.map(str::to_owned).collect())
    }
}

/// Runs a command of the binary to its end.
pub(crate) async fn run(args: &[&str]) -> Result<Outcome> {
    let done = Command::new(BINARY)
        .args(args)
        .env_remove("FLIGHTSTRIP_DATABASE_URL")
        .env_remove("FLIGHTSTRIP_DATA_DIR")
        .kill_on_drop(true)
        .output()
        .await
        .context("the command cannot be run")?;
    Ok(Outcome {
        code: done.status.code().context("it was killed")?,
        out: String::from_utf8(done.stdout)?,
        err: String::from_utf8(done.stderr)?,
    })
}

/// Runs a command on the data of a server.
pub(crate) async fn on(server: &Server, command: &str, args: &[&str]) -> Result<Outcome> {
    let database = server.database_args();
    let mut all = vec![command, "--data-dir", utf8(server.data_dir())?];
    all.extend(database.iter().map(String::as_str));
    all.extend(args);
    run(&all).await
}

/// Begins a start on the data of a stopped server, and says at which port it can be watched from its first moment.
pub(crate) fn begin_start(server: &Server) -> Result<(Child, u16)> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let child = Command::new(BINARY)
        .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
        .args(["--data-dir", utf8(server.data_dir())?])
        .args(server.database_args())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    Ok((child, port))
}

/// A check-up as JSON.
pub(crate) async fn doctor(server: &Server, args: &[&str]) -> Result<Outcome> {
    let mut all = vec!["--json"];
    all.extend(args);
    on(server, "doctor", &all).await
}

/// A path as an argument.
pub(crate) fn utf8(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is UTF-8")
}
