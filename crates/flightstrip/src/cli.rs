//! The command line. What configures a server has an environment variable too, and `--help` is the complete list.

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Run many coding agents at once, and see at a glance what each task needs.
#[derive(Debug, Parser)]
#[command(name = "flightstrip", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server and print the address to open.
    Serve(ServeOptions),
    /// Print a fresh address that signs a browser in to the running server.
    SignIn {
        /// The running server's data directory.
        #[arg(long, env = "FLIGHTSTRIP_DATA_DIR", value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
    /// Say what the running server is doing.
    Status {
        /// The running server's data directory.
        #[arg(long, env = "FLIGHTSTRIP_DATA_DIR", value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
    /// Check that everything the rows show follows from the database, and that it is sound. Exit status 0: nothing is
    /// wrong; 1: something is; 2: it could not be found out.
    Doctor(DoctorOptions),
    /// Copy the database of a running or stopped server into one file.
    Backup(BackupOptions),
    /// Be the built-in demo agent on stdin and stdout.
    #[command(disable_help_flag = true)]
    DemoAgent {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        args: Vec<String>,
    },
    /// Relay MCP between an agent's pipes and the server (started by agents that do not speak it over HTTP).
    #[command(hide = true)]
    McpBridge,
    /// Lead an agent's process group (started by the server).
    #[command(hide = true, disable_help_flag = true)]
    AgentShim {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

/// Which database. Its own struct, so that every command that opens one is told in the same way.
#[derive(Args, Clone)]
pub(crate) struct DatabaseOptions {
    /// A PostgreSQL database to use instead of the SQLite file in the data directory. It may hold a password: prefer
    /// the variable, which other users of this machine do not see.
    #[arg(
        long = "database-url",
        env = "FLIGHTSTRIP_DATABASE_URL",
        value_name = "postgres://…",
        hide_env_values = true
    )]
    pub(crate) url: Option<String>,
}

/// The URL may hold a password.
impl std::fmt::Debug for DatabaseOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = self.url.as_ref().map(|_| "set");
        f.debug_struct("DatabaseOptions")
            .field("url", &url)
            .finish()
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct DoctorOptions {
    /// The server's data directory.
    #[arg(long, env = "FLIGHTSTRIP_DATA_DIR", value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) database: DatabaseOptions,
    /// Put right what can be put right. While a server runs, it is only told which tasks to derive again.
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct BackupOptions {
    /// The server's data directory.
    #[arg(long, env = "FLIGHTSTRIP_DATA_DIR", value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) database: DatabaseOptions,
    /// Where the copy goes; nothing is overwritten [default: a new file in backups/ of the data directory].
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ServeOptions {
    /// Address and port to listen on. Whoever reaches it, with a sign-in, can run programs as you: keep it on this
    /// machine, or put it behind something that you trust.
    #[arg(
        long,
        env = "FLIGHTSTRIP_LISTEN",
        value_name = "ADDR:PORT",
        default_value = "127.0.0.1:7447"
    )]
    pub(crate) listen: SocketAddr,
    /// Where the database and the worktrees are kept [default: flightstrip in your data home, e.g.
    /// ~/.local/share/flightstrip].
    #[arg(long, env = "FLIGHTSTRIP_DATA_DIR", value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) database: DatabaseOptions,
    /// A further host name under which the server is reached, e.g. through a proxy. May be repeated.
    #[arg(
        long = "allowed-host",
        env = "FLIGHTSTRIP_ALLOWED_HOSTS",
        value_name = "HOST[:PORT]",
        value_delimiter = ','
    )]
    pub(crate) allowed_hosts: Vec<String>,
    /// Agents that may run at once [default: by memory, one per GiB, at least 4].
    #[arg(long, env = "FLIGHTSTRIP_MAX_AGENTS", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max_agents: Option<u32>,
    /// Fill an empty server with a sample repository and tasks worked on by the demo agent. Uses a data directory of
    /// its own unless one is given.
    #[arg(long)]
    pub(crate) demo: bool,
    /// What is logged to stderr, e.g. info or warn,orchestrator=debug.
    #[arg(
        long,
        env = "FLIGHTSTRIP_LOG",
        value_name = "FILTER",
        default_value = "info"
    )]
    pub(crate) log: String,
    /// Write logs as JSON, one object a line.
    #[arg(long, env = "FLIGHTSTRIP_LOG_JSON")]
    pub(crate) log_json: bool,
    /// Multiplies the demo agent's pauses; 0: none.
    #[arg(
        long,
        env = "FLIGHTSTRIP_DEMO_PACE",
        value_name = "FACTOR",
        hide = true
    )]
    pub(crate) demo_pace: Option<String>,
    /// How long an agent's call waits for an answer, so that a test need not wait for hours.
    #[arg(
        long,
        env = "FLIGHTSTRIP_QUESTION_WAIT_MS",
        value_name = "MS",
        hide = true
    )]
    pub(crate) question_wait_ms: Option<u64>,
}
