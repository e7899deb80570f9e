//! A consistent copy of a SQLite database, made while others read and write it.
//!
//! PostgreSQL has programs of its own for that; here it has nothing to offer.

use crate::error::{Result, StoreError};
use crate::open::{Pools, Store};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Row};
use std::path::Path;

/// What copying a database came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOutcome {
    /// The file holds the database as it was at one moment.
    Copied,
    /// It is not SQLite; nothing was done.
    AnotherEngine,
}

impl Store {
    /// Copies the database into `file`, which must be empty or not exist. Writers go on meanwhile.
    ///
    /// # Errors
    /// Whatever the engine says: no room, an unwritable place, a file with something in it. Then `file` may hold a
    /// part of a copy.
    pub async fn copy_into(&self, file: &Path) -> Result<CopyOutcome> {
        let Pools::Sqlite(lane) = self.pools() else {
            return Ok(CopyOutcome::AnotherEngine);
        };
        let file = file.to_str().ok_or(StoreError::Address {
            reason: "the path of the copy is not UTF-8",
        })?;
        let mut connection = lane.readers.acquire().await?;
        sqlx::query("VACUUM INTO $1")
            .bind(file)
            .execute(&mut *connection)
            .await?;
        Ok(CopyOutcome::Copied)
    }
}

/// Whether a copy is sound by SQLite's own check. The file is not changed, and nothing is made beside it.
///
/// # Errors
/// When it cannot be read as a database.
pub async fn is_sound(file: &Path) -> Result<bool> {
    let mut connection: SqliteConnection = SqliteConnectOptions::new()
        .filename(file)
        .immutable(true)
        .read_only(true)
        .connect()
        .await?;
    let answer =
        sqlx::query("SELECT integrity_check AS answer FROM pragma_integrity_check LIMIT 1")
            .fetch_one(&mut connection)
            .await?;
    let sound = answer.try_get::<String, _>("answer")? == "ok";
    connection.close().await?;
    Ok(sound)
}
