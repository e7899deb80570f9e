//! What only one of the two engines speaks. Every other statement of this crate is one text for both.
//!
//! SQLite has one writer by nature. PostgreSQL has one by choice: a write transaction begins by taking an advisory
//! lock of the database, so a rule that reads before it writes means the same on both engines, across processes too
//! (docs/decisions/0010). Reads never wait for it.

use crate::sql::Engine;
use model::bounds;
use sqlx::{SqlSafeStr, SqlStr};

/// First half of every advisory lock of ours ("flst"), so that another program in the same database is not met by
/// chance. The second half says what is locked.
const LOCK_CLASS: i32 = 0x666c_7374;

/// What an advisory lock of PostgreSQL stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AdvisoryLock {
    /// The one writer, until its transaction ends.
    Writer = 1,
    /// Bringing the schema up to date, until that transaction ends.
    Migration = 2,
    /// The one server that works on this database, while its connection lives.
    Instance = 3,
}

impl AdvisoryLock {
    /// The two keys as PostgreSQL takes them.
    pub(crate) const fn keys(self) -> (i32, i32) {
        (LOCK_CLASS, self as i32)
    }
}

/// Begins a transaction that is the only writer. On SQLite the lock is the database's own.
pub(crate) const SQLITE_BEGIN_WRITE: &str = "BEGIN IMMEDIATE";

/// Makes a transaction that has begun the only writer, and gives its number as `id`; the lock ends with it.
///
/// A statement of its own and not a part of `BEGIN`: a wait in vain fails the transaction, and only one that is known
/// to have begun is rolled back when it is dropped. Else its connection would refuse everything from then on, and one
/// whose wait was given up could come to hold the lock for nobody.
pub(crate) fn postgres_become_writer() -> SqlStr {
    let (class, object) = AdvisoryLock::Writer.keys();
    let text = format!("SELECT txid_current() AS id FROM pg_advisory_xact_lock({class}, {object})");
    // Numbers of our own; nothing in it comes from outside.
    sqlx::AssertSqlSafe(text).into_sql_str()
}

/// Makes a transaction that has begun the one that migrates: whoever comes second waits, and finds everything done.
pub(crate) fn postgres_become_migration() -> SqlStr {
    let wait = bounds::INSTANCE_LOCK_WAIT.as_millis();
    lock(
        AdvisoryLock::Migration,
        &format!("SET LOCAL lock_timeout = {wait}; "),
    )
}

fn lock(lock: AdvisoryLock, settings: &str) -> SqlStr {
    let (class, object) = lock.keys();
    let text = format!("{settings}SELECT pg_advisory_xact_lock({class}, {object})");
    // Numbers of our own; nothing in it comes from outside.
    sqlx::AssertSqlSafe(text).into_sql_str()
}

/// Begins a transaction that sees one snapshot until it ends. (A deferred one of SQLite does so by itself.)
pub(crate) const POSTGRES_BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// What every connection to PostgreSQL is told when it opens: a lock that is not had in time is an error like
/// SQLite's `BUSY`, and a transaction whose program hangs does not hold the database. No statement is compiled before
/// it runs: each is over in milliseconds, and on tables without statistics (restored just now) it would be compiled
/// for hundreds of them, because it is thought to be dear. And a seek costs hardly more than the next page of a walk:
/// the default was made for disks that turn, and lets a list of two hundred tasks walk through all ten thousand.
pub(crate) fn postgres_settings(lock_wait: std::time::Duration) -> [(&'static str, String); 4] {
    let millis = |duration: std::time::Duration| duration.as_millis().to_string();
    [
        ("lock_timeout", millis(lock_wait)),
        (
            "idle_in_transaction_session_timeout",
            millis(bounds::POSTGRES_IDLE_TRANSACTION),
        ),
        ("jit", "off".to_owned()),
        ("random_page_cost", "1.1".to_owned()),
    ]
}

/// Appended to a query: its rows stand still until the transaction ends. A write transaction of SQLite is alone.
pub(crate) const fn for_update(engine: &Engine) -> &'static str {
    match engine {
        Engine::Sqlite(_) => "",
        Engine::Postgres(_) => " FOR NO KEY UPDATE",
    }
}

/// Codes with which SQLite says that somebody else holds the lock: `BUSY` and its extended codes, and `LOCKED`.
pub(crate) const SQLITE_LOCKED: [&str; 5] = ["5", "6", "261", "517", "773"];

/// Codes with which PostgreSQL says that the same transaction may succeed when tried again: lock not available,
/// serialization failure, deadlock.
pub(crate) const POSTGRES_LOCKED: [&str; 3] = ["55P03", "40001", "40P01"];

/// Codes of PostgreSQL that pass: it is starting or stopping, full, or ended this connection.
pub(crate) fn postgres_passing(code: &str) -> bool {
    // 08: connection, 53: resources, 57: operator intervention, 58: the system below it.
    ["08", "53", "57", "58"]
        .iter()
        .any(|class| code.starts_with(class))
}

/// Whether any migration was ever applied.
pub(crate) const SQLITE_HAS_SCHEMA: &str = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' \
    AND name = '_sqlx_migrations') AS there";

/// As [`SQLITE_HAS_SCHEMA`].
pub(crate) const POSTGRES_HAS_SCHEMA: &str =
    "SELECT to_regclass('_sqlx_migrations') IS NOT NULL AS there";

/// What SQLite's own check of the file finds, none when it is sound. It names pages, tables and indexes.
pub(crate) const SQLITE_INTEGRITY: &str =
    "SELECT integrity_check AS id FROM pragma_integrity_check WHERE integrity_check <> 'ok'";

/// PostgreSQL checks its files itself; what a program can see is an index that was never finished.
pub(crate) const POSTGRES_INTEGRITY: &str = "SELECT c.relname::text AS id FROM pg_index i \
    JOIN pg_class c ON c.oid = i.indexrelid \
    WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace";

/// Rows whose foreign key points nowhere, by table and row number.
pub(crate) const SQLITE_FOREIGN_KEYS: &str = "SELECT \"table\" || ' ' || coalesce(rowid, 0) AS id \
    FROM pragma_foreign_key_check";

/// Foreign keys that nobody ever checked for the rows that are there.
pub(crate) const POSTGRES_FOREIGN_KEYS: &str = "SELECT conrelid::regclass::text || ' ' || conname AS id \
    FROM pg_constraint WHERE NOT convalidated AND connamespace = current_schema()::regnamespace";
