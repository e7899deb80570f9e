//! Which database: SQLite in the data directory, or the PostgreSQL database of `--database-url`.

use anyhow::{Context, bail};
use model::clock::Clock;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::error::StoreError;
use store::open::Store;

/// The database a program works on.
#[derive(Clone)]
pub(crate) enum Database {
    /// This file.
    Sqlite(PathBuf),
    /// The one at this URL, which may hold a password: it is never logged.
    Postgres(String),
}

impl Database {
    /// The one that was asked for, else SQLite in the data directory.
    pub(crate) fn choose(url: Option<&str>, dir: &Path) -> anyhow::Result<Self> {
        match url {
            None => Ok(Self::Sqlite(dir.join("flightstrip.db"))),
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                Ok(Self::Postgres(url.to_owned()))
            }
            Some(_) => bail!(
                "--database-url takes postgres://USER:PASSWORD@HOST/DATABASE; \
                 leave it out to keep everything in an SQLite file in the data directory"
            ),
        }
    }

    /// Opens it, without migrating.
    pub(crate) async fn open(&self, clock: Arc<dyn Clock>) -> anyhow::Result<Store> {
        match self {
            Self::Sqlite(file) => Store::open_sqlite(file, clock)
                .await
                .context("the database cannot be opened"),
            Self::Postgres(url) => Store::open_postgres(url, clock).await.map_err(unreachable),
        }
    }

    /// As [`Database::open`], for programs that work on what is there: no SQLite file is made.
    pub(crate) async fn open_existing(&self, clock: Arc<dyn Clock>) -> anyhow::Result<Store> {
        if let Self::Sqlite(file) = self
            && !file
                .try_exists()
                .context("the database cannot be looked for")?
        {
            bail!(
                "there is no database {}; name the server's data directory with --data-dir",
                file.display()
            );
        }
        self.open(clock).await
    }

    /// The engine's name, for people and logs.
    pub(crate) const fn engine(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }
}

/// Says why PostgreSQL was not reached, with what it says itself, which names no password.
pub(crate) fn unreachable(error: StoreError) -> anyhow::Error {
    anyhow::Error::new(error).context(
        "the PostgreSQL database cannot be opened; check --database-url and that the server runs",
    )
}
