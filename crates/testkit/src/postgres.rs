//! PostgreSQL for tests: a database per test, in the server that `FLIGHTSTRIP_TEST_POSTGRES` names.
//!
//! `cargo xtask test` starts that server and names it; for tests started by hand `cargo xtask postgres` does. A test
//! that cannot have one fails: half of the engines left out must not look like a success.

use anyhow::{Context, Result};
use model::ids::InstanceId;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use std::str::FromStr;

/// The URL of any database of the server; its user may create databases.
pub const VARIABLE: &str = "FLIGHTSTRIP_TEST_POSTGRES";

/// An empty database. It goes with this value; one whose test was killed goes with the server.
#[derive(Debug)]
pub struct Database {
    server: String,
    name: String,
    url: String,
}

impl Database {
    /// A new one.
    ///
    /// # Errors
    /// When no server is named, or it does not let us.
    pub async fn create() -> Result<Self> {
        let server = std::env::var(VARIABLE).with_context(|| {
            format!(
                "this test needs PostgreSQL, and {VARIABLE} does not name one: run it by `cargo xtask test`, or by \
                 `cargo xtask postgres -- cargo nextest run …`, or export what `cargo xtask postgres` prints"
            )
        })?;
        let id = InstanceId::generate();
        let name = format!("flightstrip_test_{}", id.as_str().replace('-', ""));
        let url = with_database(&server, &name)
            .with_context(|| format!("{VARIABLE} is not postgres://USER@HOST/DATABASE"))?;
        execute(&server, format!("CREATE DATABASE {name}")).await?;
        Ok(Self { server, name, url })
    }

    /// What a store or a server is given.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Whoever is still connected is a store or a server of this test.
        let drop_it = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let server = self.server.clone();
        // A destructor cannot wait, and the runtime of the test may be ending.
        let dropping = std::thread::spawn(move || -> Result<()> {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?
                .block_on(execute(&server, drop_it))
        });
        // One that stays goes with the server; a test does not fail for it.
        let _ = dropping.join();
    }
}

async fn execute(url: &str, statement: String) -> Result<()> {
    let options = PgConnectOptions::from_str(url)?;
    let mut connection = options
        .connect()
        .await
        .with_context(|| format!("the server that {VARIABLE} names does not answer"))?;
    sqlx::query(AssertSqlSafe(statement))
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    Ok(())
}

/// The URL with another database.
fn with_database(url: &str, name: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (address, query) = match rest.split_once('?') {
        Some((address, query)) => (address, format!("?{query}")),
        None => (rest, String::new()),
    };
    let host = address.split('/').next()?;
    Some(format!("{scheme}://{host}/{name}{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_database_of_a_url_is_replaced() {
        for (url, expected) in [
            ("postgres://me@host:5/a", "postgres://me@host:5/b"),
            ("postgres://host", "postgres://host/b"),
            (
                "postgres://me@localhost:5432/a?host=/tmp/x",
                "postgres://me@localhost:5432/b?host=/tmp/x",
            ),
        ] {
            assert_eq!(with_database(url, "b").as_deref(), Some(expected));
        }
        assert_eq!(with_database("host/a", "b"), None);
    }
}
