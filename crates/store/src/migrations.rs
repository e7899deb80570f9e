//! The migrations of each engine, embedded, in order. A number means the same step on both engines.
//!
//! All that are missing are applied in one transaction: a schema is brought up to date wholly or not at all, and of
//! two programs that begin at the same time the second waits and finds nothing left to do.

use crate::dialect;
use crate::error::{Result, StoreError};
use crate::open::Pools;
use sqlx::SqlStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

/// Number, name and text of each step for SQLite.
const SQLITE: &[(i64, &str, &str)] = &[
    (
        1,
        "first shape",
        include_str!("../migrations/sqlite/0001_first_shape.sql"),
    ),
    (
        2,
        "pull requests",
        include_str!("../migrations/sqlite/0002_pull_requests.sql"),
    ),
    (
        3,
        "prompts",
        include_str!("../migrations/sqlite/0003_prompts.sql"),
    ),
    (
        4,
        "message attachments",
        include_str!("../migrations/sqlite/0004_message_attachments.sql"),
    ),
    (
        5,
        "transcript indexes",
        include_str!("../migrations/sqlite/0005_transcript_indexes.sql"),
    ),
    (
        6,
        "latest times",
        include_str!("../migrations/sqlite/0006_latest_times.sql"),
    ),
];

/// The same steps for PostgreSQL.
const POSTGRES: &[(i64, &str, &str)] = &[
    (
        1,
        "first shape",
        include_str!("../migrations/postgres/0001_first_shape.sql"),
    ),
    (
        2,
        "pull requests",
        include_str!("../migrations/postgres/0002_pull_requests.sql"),
    ),
    (
        3,
        "prompts",
        include_str!("../migrations/postgres/0003_prompts.sql"),
    ),
    (
        4,
        "message attachments",
        include_str!("../migrations/postgres/0004_message_attachments.sql"),
    ),
    (
        5,
        "transcript indexes",
        include_str!("../migrations/postgres/0005_transcript_indexes.sql"),
    ),
    (
        6,
        "latest times",
        include_str!("../migrations/postgres/0006_latest_times.sql"),
    ),
];

fn migrator(steps: &[(i64, &'static str, &'static str)]) -> Migrator {
    let steps = steps.iter().map(|&(version, name, text)| {
        let text = SqlStr::from_static(text);
        Migration::new(version, name.into(), MigrationType::Simple, text, false)
    });
    let mut migrator = Migrator::with_migrations(steps.collect());
    // The transaction around it holds the lock, and gives it back when something fails.
    migrator.set_locking(false);
    migrator
}

/// The number of the last step: the schema this program works on.
pub(crate) fn newest() -> i64 {
    SQLITE
        .iter()
        .map(|&(version, ..)| version)
        .max()
        .unwrap_or(0)
}

/// Applies what is missing.
pub(crate) async fn run(pools: &Pools) -> Result<()> {
    let outcome = match pools {
        Pools::Sqlite(lane) => {
            let _turn = lane.turn.lock().await;
            let mut tx = lane.writer.begin_with(dialect::SQLITE_BEGIN_WRITE).await?;
            match migrator(SQLITE).run(&mut *tx).await {
                Ok(()) => return Ok(tx.commit().await?),
                Err(error) => Err(error),
            }
        }
        Pools::Postgres(lane) => {
            let _turn = lane.turn.lock().await;
            let mut tx = lane.writer.begin().await?;
            sqlx::raw_sql(dialect::postgres_become_migration())
                .execute(&mut *tx)
                .await?;
            match migrator(POSTGRES).run(&mut *tx).await {
                Ok(()) => return Ok(tx.commit().await?),
                Err(error) => Err(error),
            }
        }
    };
    outcome.map_err(|error| match error {
        MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => {
            StoreError::NewerSchema
        }
        other => StoreError::Migration(other),
    })
}
