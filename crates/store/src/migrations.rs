//! The migrations of each engine, embedded, in order. A number means the same step on both engines.

use sqlx::SqlStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// Number, name and text of each step for SQLite.
const SQLITE: &[(i64, &str, &str)] = &[(
    1,
    "first shape",
    include_str!("../migrations/sqlite/0001_first_shape.sql"),
)];

/// SQLite's migrator.
pub(crate) fn sqlite() -> Migrator {
    Migrator::with_migrations(
        SQLITE
            .iter()
            .map(|&(version, name, text)| {
                let text = SqlStr::from_static(text);
                Migration::new(version, name.into(), MigrationType::Simple, text, false)
            })
            .collect(),
    )
}
