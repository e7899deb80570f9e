//! A server's data, before and while the server runs.

use crate::ServerOptions;
use anyhow::Result;
use model::clock::{NeverBack, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use store::open::Store;
use testkit::postgres::Database;
use testkit::server::Server;
use testkit::store::Engine;

/// A start that has a hundred thousand summaries to derive, on a machine that is busy with something else.
const LONGEST_START: Duration = Duration::from_secs(600);

/// A stopped server whose database has a workspace, and the way to that database.
pub(crate) struct Place {
    /// The server; it goes with this value, before its database does.
    pub(crate) server: Server,
    database: Option<Database>,
}

impl Place {
    /// Starts a server once, so that its first workspace exists, and stops it.
    pub(crate) async fn new(engine: Engine, options: &ServerOptions) -> Result<Self> {
        let database = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(Database::create().await?),
        };
        let env: Vec<(&str, &str)> = database
            .iter()
            .map(|database| ("FLIGHTSTRIP_DATABASE_URL", database.url()))
            .collect();
        let mut server = Server::start_with(&options.server, &[], &env).await?;
        server.stop().await?;
        server.wait_for_start(LONGEST_START);
        Ok(Self { server, database })
    }

    /// Opens the server's database.
    pub(crate) async fn open(&self) -> Result<Store> {
        let wall = || {
            let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
            Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
        };
        let clock = Arc::new(NeverBack::new(wall));
        Ok(match &self.database {
            None => Store::open_sqlite(&self.file(), clock).await?,
            Some(database) => Store::open_postgres(database.url(), clock).await?,
        })
    }

    fn file(&self) -> PathBuf {
        self.server.data_dir().join("flightstrip.db")
    }
}
