//! What stands around a killed server: another one that cannot get ready yet, and an agent that nobody reaches.

use crate::support::{BINARY, Bench};
use anyhow::{Context, Result};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use testkit::http;

/// A server that is being started while its database takes no writes: it cannot get ready. Killed with this value.
pub(crate) struct Starting {
    child: Child,
    pub(crate) port: u16,
}

impl Starting {
    /// Starts it beside the bench's own, which must not run.
    pub(crate) fn on(bench: &Bench) -> Result<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?
            .local_addr()?
            .port();
        let child = Command::new(BINARY)
            .args([
                "serve",
                "--listen",
                &format!("127.0.0.1:{port}"),
                "--data-dir",
            ])
            .arg(bench.server.data_dir())
            .args(bench.server.database_args())
            .env_remove("FLIGHTSTRIP_DATABASE_URL")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, port })
    }

    /// The status of an authorised GET; none while nobody listens.
    pub(crate) async fn status(&self, bench: &Bench, path: &str) -> Option<u16> {
        let bearer = format!("Bearer {}", bench.server.secret());
        let headers = [("Authorization", bearer.as_str())];
        let answer = http::send(self.port, "GET", path, &headers, "").await;
        answer.ok().map(|answer| answer.status)
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process group whose pipe to a server is gone, as an agent without its shim would leave it.
pub(crate) struct Orphan(Child);

impl Orphan {
    pub(crate) fn start() -> Result<Self> {
        let child = Command::new("sleep")
            .arg("600000")
            .process_group(0)
            .spawn()?;
        Ok(Self(child))
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// The kernel's start time of the process: the 22nd word of its `stat` line.
    pub(crate) fn started(&self) -> Result<String> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let (_, after_name) = stat.rsplit_once(')').context("no name in stat")?;
        let word = after_name.split_ascii_whitespace().nth(19);
        Ok(word.context("no start time in stat")?.to_owned())
    }

    /// Whether somebody ended it.
    pub(crate) fn ended(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it should have ended long ago
        let _ = self.0.wait();
    }
}
