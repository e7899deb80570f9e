//! Which version of the schema a database has, before anything is done to it.

use crate::dialect;
use crate::error::Result;
use crate::migrations;
use crate::open::Store;
use crate::sql::{Engine, sql};

/// The schema of a database beside this program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// Nothing was ever stored in it.
    Empty,
    /// An earlier one, with this number: migrating brings it up to date.
    Older(i64),
    /// This program's.
    Current(i64),
    /// A later one: this program must leave it alone.
    Newer(i64),
}

/// The number of this program's schema.
#[must_use]
pub fn newest() -> i64 {
    migrations::newest()
}

impl Store {
    /// Looks which schema the database has.
    ///
    /// # Errors
    /// Whatever the engine says.
    pub async fn schema(&self) -> Result<Schema> {
        let mut tx = self.read().await?;
        let there = match tx.engine {
            Engine::Sqlite(_) => dialect::SQLITE_HAS_SCHEMA,
            Engine::Postgres(_) => dialect::POSTGRES_HAS_SCHEMA,
        };
        if !tx.one(sql(there), "schema").await?.truth("there")? {
            return Ok(Schema::Empty);
        }
        let applied = sql("SELECT max(version) AS newest FROM _sqlx_migrations");
        let applied = tx.one(applied, "schema").await?.maybe_int("newest")?;
        Ok(match applied {
            None => Schema::Empty,
            Some(version) if version < newest() => Schema::Older(version),
            Some(version) if newest() < version => Schema::Newer(version),
            Some(version) => Schema::Current(version),
        })
    }
}
