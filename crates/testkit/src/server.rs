//! A running server: the real binary, as a process of its own, on a data directory of its own.

use crate::client::Client;
use crate::http;
use crate::postgres::Database;
use crate::store::{Engine, ManualClock};
use crate::waiting::{DEADLINE, until};
use ::store::open::Store;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A server process and its data directory; both go with this value.
pub struct Server {
    binary: PathBuf,
    data_dir: TempDir,
    args: Vec<String>,
    env: Vec<(String, String)>,
    child: Option<Child>,
    /// After the child, so that it has been told to end before its database goes.
    database: Option<Database>,
    port: u16,
    code: String,
    secret: String,
    log: Arc<Mutex<String>>,
    patience: Duration,
}

impl Server {
    /// Starts `binary serve` on a new data directory with SQLite, signs in, and waits until it is ready.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn start(binary: impl AsRef<Path>) -> Result<Self> {
        Self::start_with(binary, &[], &[]).await
    }

    /// As [`Server::start`], with further flags and variables.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn start_with(
        binary: impl AsRef<Path>,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Result<Self> {
        Self::start_on(Engine::Sqlite, binary, args, env).await
    }

    /// As [`Server::start_with`], with a new database of this engine.
    ///
    /// # Errors
    /// When there is no database or it does not come up.
    pub async fn start_on(
        engine: Engine,
        binary: impl AsRef<Path>,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Result<Self> {
        let database = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(Database::create().await?),
        };
        let mut server = Self {
            database,
            binary: binary.as_ref().to_path_buf(),
            data_dir: tempfile::Builder::new().prefix("flightstrip-").tempdir()?,
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: env
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            child: None,
            port: 0,
            code: String::new(),
            secret: String::new(),
            log: Arc::default(),
            patience: DEADLINE,
        };
        server.launch().await?;
        Ok(server)
    }

    /// Starts it again on the same data after [`Server::stop`] or [`Server::kill`].
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn launch(&mut self) -> Result<()> {
        ensure!(self.child.is_none(), "it runs already");
        let mut child = Command::new(&self.binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(self.data_dir.path())
            .args(self.database_args())
            .args(&self.args)
            .env("FLIGHTSTRIP_DEMO_PACE", "0")
            .env_remove("FLIGHTSTRIP_DATABASE_URL")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .envs(self.env.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("the server cannot be started")?;
        let out = child.stdout.take().context("no stdout")?;
        let err = child.stderr.take().context("no stderr")?;
        let log = Arc::clone(&self.log);
        tokio::spawn(async move {
            let mut lines = BufReader::new(err).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.push_str(&line);
                log.push('\n');
            }
        });
        self.child = Some(child);
        let mut lines = BufReader::new(out).lines();
        let url = timeout(self.patience, async {
            while let Some(line) = lines.next_line().await? {
                if let Some((_, rest)) = line.split_once("http://localhost:") {
                    return Ok(rest.to_owned());
                }
            }
            bail!("the server ended without printing an address")
        })
        .await
        .context("the server printed no address in time")?
        .with_context(|| format!("its log:\n{}", self.log()))?;
        let (port, code) = url
            .split_once("/#code=")
            .context("no code in the address")?;
        self.port = port.parse().context("no port in the address")?;
        code.trim().clone_into(&mut self.code);
        let body = json!({ "code": self.code }).to_string();
        let kind = [("Content-Type", "application/json")];
        let answer = http::send(self.port, "POST", "/api/v1/sign-in", &kind, &body).await?;
        ensure!(answer.status == 200, "sign-in: {answer:?}");
        let answer: Value = serde_json::from_str(&answer.body)?;
        answer["secret"]
            .as_str()
            .context("no secret")?
            .clone_into(&mut self.secret);
        Ok(())
    }

    /// Waits so long for its next starts: one that has very much to repair takes longer than any test's.
    pub fn wait_for_start(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The secret of the signed-in browser.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The one-time code that was printed and used.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Its data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    /// The flags that name its database to any of the binary's commands, beside `--data-dir`: none for SQLite.
    #[must_use]
    pub fn database_args(&self) -> Vec<String> {
        self.database
            .iter()
            .flat_map(|database| ["--database-url".to_owned(), database.url().to_owned()])
            .collect()
    }

    /// Which engine its database is on.
    #[must_use]
    pub const fn engine(&self) -> Engine {
        match self.database {
            None => Engine::Sqlite,
            Some(_) => Engine::Postgres,
        }
    }

    /// Its database, opened by another process (this one). The clock is the caller's: what is written through it
    /// should not be.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn open_store(&self) -> Result<Store> {
        let clock = ManualClock::default().handle();
        Ok(match &self.database {
            None => Store::open_sqlite(&self.data_dir().join("flightstrip.db"), clock).await?,
            Some(database) => Store::open_postgres(database.url(), clock).await?,
        })
    }

    /// What it logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Its process id.
    ///
    /// # Errors
    /// When it does not run.
    pub fn pid(&self) -> Result<u32> {
        self.child
            .as_ref()
            .and_then(Child::id)
            .context("it does not run")
    }

    /// The memory it holds now, in bytes (RSS).
    ///
    /// # Errors
    /// When it does not run.
    pub fn resident_bytes(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()?))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("no VmRSS")?;
        let kib: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib * 1024)
    }

    /// A connected client that has subscribed to nothing.
    ///
    /// # Errors
    /// When it cannot connect.
    pub async fn connect(&self) -> Result<Client> {
        Client::connect(self.port, &self.secret).await
    }

    /// An authorised GET.
    ///
    /// # Errors
    /// When the server is not reached, or does not answer JSON with 200.
    pub async fn get(&self, path: &str) -> Result<Value> {
        let bearer = format!("Bearer {}", self.secret);
        let answer = http::send(self.port, "GET", path, &[("Authorization", &bearer)], "")
            .await
            .with_context(|| format!("its log:\n{}", self.log()))?;
        ensure!(answer.status == 200, "{path}: {answer:?}");
        serde_json::from_str(&answer.body)
            .with_context(|| format!("{path}: no JSON: {}", answer.body))
    }

    /// Stops it as an operator does, and waits for its end.
    ///
    /// # Errors
    /// When it does not end in time, or not with success.
    pub async fn stop(&mut self) -> Result<()> {
        let mut child = self.child.take().context("it does not run")?;
        let pid = child.id().context("it ended already")?;
        let told = std::process::Command::new("kill")
            .arg("-TERM")
            .arg(pid.to_string())
            .status()?;
        ensure!(told.success(), "it cannot be told to end");
        let status = timeout(DEADLINE, child.wait())
            .await
            .context("it does not end")??;
        ensure!(
            status.success(),
            "it ended with {status}; its log:\n{}",
            self.log()
        );
        Ok(())
    }

    /// Ends it with SIGKILL.
    ///
    /// # Errors
    /// When it does not run.
    pub async fn kill(&mut self) -> Result<()> {
        let mut child = self.child.take().context("it does not run")?;
        child.kill().await.context("it cannot be killed")
    }

    /// Processes whose command line names this server's data directory or that carry an agent group's mark and work
    /// below it: agents and their shims.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn agent_processes(&self) -> Result<Vec<u32>> {
        let root = self.data_dir.path().canonicalize()?;
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc")? {
            let Ok(pid) = entry?.file_name().to_string_lossy().parse::<u32>() else {
                continue;
            };
            let Ok(cwd) = std::fs::read_link(format!("/proc/{pid}/cwd")) else {
                continue;
            };
            if cwd.starts_with(&root) {
                found.push(pid);
            }
        }
        Ok(found)
    }

    /// Waits until no agent process of this server is left.
    ///
    /// # Errors
    /// When some stay.
    pub async fn no_agents_left(&self) -> Result<()> {
        until("no agent process left", async || {
            Ok(self.agent_processes()?.is_empty().then_some(()))
        })
        .await
    }
}
