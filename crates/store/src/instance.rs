//! One server per PostgreSQL database: an advisory lock that lives as long as a connection of its own.
//!
//! The connection carries the server's instance id as its name, so whoever does not get the lock can say who has it.
//! SQLite needs none of this: its data directory has a lock file.

use crate::dialect::AdvisoryLock;
use crate::error::Result;
use crate::open::postgres_options;
use model::bounds;
use model::ids::InstanceId;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::time::Duration;
use tokio::time::Instant;

/// How often a held lock is tried.
const TRY_EVERY: Duration = Duration::from_millis(100);

/// What precedes the instance id in the connection's name.
const NAME: &str = "flightstrip ";

/// The right to work on a PostgreSQL database, until it is dropped or its connection is lost.
pub struct InstanceHold {
    options: PgConnectOptions,
    connection: PgConnection,
}

/// What asking for the right led to.
pub enum TakeOutcome {
    /// It is ours.
    Taken(Box<InstanceHold>),
    /// Another server has it still; its instance id, as far as the database tells.
    HeldBy(Option<String>),
}

/// Takes the lock, waiting at most `bounds::INSTANCE_LOCK_WAIT` for a server that is just ending.
///
/// # Errors
/// `Address` when the URL is not understood, or whatever the engine says.
pub async fn take(url: &str, instance_id: &InstanceId) -> Result<TakeOutcome> {
    let name = format!("{NAME}{instance_id}");
    let options = postgres_options(url, &name, bounds::POSTGRES_LOCK_WAIT)?;
    let mut connection = PgConnection::connect_with(&options).await?;
    let deadline = Instant::now() + bounds::INSTANCE_LOCK_WAIT;
    while !try_lock(&mut connection).await? {
        if deadline <= Instant::now() {
            return Ok(TakeOutcome::HeldBy(holder(&mut connection).await?));
        }
        tokio::time::sleep(TRY_EVERY).await;
    }
    Ok(TakeOutcome::Taken(Box::new(InstanceHold {
        options,
        connection,
    })))
}

/// Whether a server works on this database now.
///
/// # Errors
/// As [`take`].
pub async fn is_held(url: &str) -> Result<bool> {
    let options = postgres_options(url, "flightstrip", bounds::POSTGRES_LOCK_WAIT)?;
    let mut connection = PgConnection::connect_with(&options).await?;
    let free = try_lock(&mut connection).await?;
    connection.close().await?; // the lock goes with it
    Ok(!free)
}

impl InstanceHold {
    /// Watches over the lock; ends when another server has taken it, which can only happen after the connection was
    /// lost. While the database is out of reach nobody can have it, so that is waited out.
    pub async fn lost(mut self) {
        loop {
            tokio::time::sleep(bounds::INSTANCE_LOCK_CHECK).await;
            if self.connection.ping().await.is_ok() {
                continue;
            }
            let Ok(mut connection) = PgConnection::connect_with(&self.options).await else {
                continue;
            };
            match try_lock(&mut connection).await {
                Ok(true) => self.connection = connection,
                Ok(false) => return,
                Err(_) => {} // the new connection is gone as well; the next round tells
            }
        }
    }
}

async fn try_lock(connection: &mut PgConnection) -> Result<bool> {
    let (class, object) = AdvisoryLock::Instance.keys();
    let query = sqlx::query_scalar("SELECT pg_try_advisory_lock($1, $2)");
    Ok(query.bind(class).bind(object).fetch_one(connection).await?)
}

async fn holder(connection: &mut PgConnection) -> Result<Option<String>> {
    let (class, object) = AdvisoryLock::Instance.keys();
    // Two numbers of our own; nothing in it comes from outside.
    let text = format!(
        "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
         JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
         WHERE l.locktype = 'advisory' AND l.granted AND l.classid = {class} AND l.objid = {object}"
    );
    let name: Option<String> = sqlx::query_scalar(AssertSqlSafe(text))
        .fetch_optional(connection)
        .await?;
    Ok(name.and_then(|name| name.strip_prefix(NAME).map(str::to_owned)))
}
