//! Bringing the database to this program's schema: never backwards, and never without a copy of what was there.

use crate::backup;
use crate::database::Database;
use crate::progress::Progress;
use anyhow::Context;
use std::path::Path;
use store::error::StoreError;
use store::open::Store;
use store::schema::{self, Schema};

/// Refuses a newer schema, copies an older one, migrates. Nothing is changed when one of them fails.
pub(crate) async fn upgrade(
    store: &Store,
    database: &Database,
    dir: &Path,
    progress: &Progress<'_>,
) -> anyhow::Result<()> {
    match store
        .schema()
        .await
        .context("the database cannot be read")?
    {
        Schema::Newer(version) => {
            return Err(anyhow::Error::new(StoreError::NewerSchema).context(format!(
                "the database has schema {version} and this program knows {} at most; nothing was changed",
                schema::newest()
            )));
        }
        Schema::Older(version) => {
            let to = schema::newest();
            progress.step(&format!("copying the database before schema {to}"));
            if matches!(database, Database::Sqlite(_)) {
                let copied = backup::before_migration(store, dir, version)
                    .await
                    .context("without a backup the database is not brought up to date; nothing was changed")?;
                tracing::info!(
                    from = version,
                    to,
                    bytes = copied.bytes,
                    "backup made before the migration"
                );
            } else {
                tracing::warn!(
                    from = version,
                    to,
                    "no backup is made of a PostgreSQL database before the migration: that is pg_dump's task"
                );
            }
            progress.step(&format!(
                "bringing the database from schema {version} to {to}"
            ));
        }
        Schema::Empty | Schema::Current(_) => progress.step("bringing the database up to date"),
    }
    store
        .migrate()
        .await
        .context("the database could not be brought up to date")
}
