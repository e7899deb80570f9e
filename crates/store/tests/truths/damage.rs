//! Faults that an unharmed schema forbids: rows that another program left behind, and a damaged file.

use anyhow::{Context, Result};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Row};
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use store::open::Store;
use store::truths::{self, Broken, TRUTHS};
use tempfile::TempDir;
use testkit::store::ManualClock;
use testkit::story::Story;

testkit::on_every_engine!(rec_05_two_messages_in_one_place_are_found);

async fn ask(store: &Store, name: &str) -> Result<Broken> {
    let truth = TRUTHS
        .iter()
        .find(|truth| truth.name == name)
        .context("no such truth")?;
    let mut tx = store.read().await?;
    Ok(truths::ask(&mut tx, truth, 5).await?)
}

/// REC-05.
async fn rec_05_two_messages_in_one_place_are_found(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    story.prompt(&session, "one").await?;
    story.prompt(&session, "two").await?;
    assert_eq!(ask(story.store(), "one_message_per_seq").await?.count, 0);
    let statements = [
        "DROP INDEX task_session_messages_by_seq",
        "UPDATE task_session_messages SET seq = 1",
    ];
    for statement in statements {
        story.tamper(store::sql::sql(statement)).await?;
    }
    let found = ask(story.store(), "one_message_per_seq").await?;
    assert_eq!(found.ids, [session.as_str()]);
    Ok(())
}

/// A database with a task, a session and a message, and a connection that checks no foreign keys.
async fn sqlite(dir: &Path) -> Result<(Store, sqlx::SqliteConnection)> {
    let file = dir.join("test.db");
    let store = Store::open_sqlite(&file, ManualClock::default().handle()).await?;
    store.migrate().await?;
    let mut careless = SqliteConnectOptions::new()
        .filename(&file)
        .foreign_keys(false)
        .connect()
        .await?;
    for statement in [
        "INSERT INTO task_sessions (id, task_id, client_id, revision, state, agent_profile_id, name, is_primary,
             own_environment, started_at, settings, commands, active_subagent_count, pending_action_revision, last_seq)
         VALUES ('s', 'no such task', 's', 1, 'IDLE', 'no such profile', 's', TRUE, FALSE, 1, '{}', '[]', 0, 0, 1)",
        "INSERT INTO task_session_messages (id, session_id, task_id, seq, revision, author, type, content, metadata,
             streaming, removed, created_at, updated_at)
         VALUES ('m', 'no such session', 'no such task', 1, 1, 'agent', 'message', '', '{}', FALSE, FALSE, 1, 1)",
    ] {
        sqlx::query(statement).execute(&mut careless).await?;
    }
    Ok((store, careless))
}

/// REC-05: SQLite checks foreign keys only for programs that ask for it.
#[tokio::test]
async fn rec_05_rows_that_refer_to_nothing_are_found() -> Result<()> {
    let dir = TempDir::new()?;
    let (store, _careless) = sqlite(dir.path()).await?;
    assert_eq!(ask(&store, "session_has_task").await?.ids, ["s"]);
    assert_eq!(ask(&store, "message_has_session").await?.ids, ["m"]);
    let references = ask(&store, "references_hold").await?;
    assert_eq!(references.count, 4, "{references:?}");
    assert!(
        references
            .ids
            .iter()
            .all(|id| id.starts_with("task_session")),
        "{references:?}"
    );
    assert_eq!(ask(&store, "storage_sound").await?.count, 0);
    store.close().await;
    Ok(())
}

/// REC-05: a page of an index was overwritten by something else.
#[tokio::test]
async fn rec_05_a_damaged_file_is_found() -> Result<()> {
    let dir = TempDir::new()?;
    let (store, mut careless) = sqlite(dir.path()).await?;
    store.close().await;
    let page = sqlx::query(
        "SELECT rootpage FROM sqlite_master WHERE name = 'task_session_messages_by_seq'",
    )
    .fetch_one(&mut careless)
    .await?
    .try_get::<i64, _>(0)?;
    let size = sqlx::query("PRAGMA page_size")
        .fetch_one(&mut careless)
        .await?
        .try_get::<i64, _>(0)?;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut careless)
        .await?;
    careless.close().await?;
    let file = dir.path().join("test.db");
    let mut raw = OpenOptions::new().write(true).open(&file)?;
    raw.seek(SeekFrom::Start(u64::try_from((page - 1) * size)?))?;
    // An index leaf without entries: the table still has its row.
    raw.write_all(&[10, 0, 0, 0, 0, 0, 0, 0])?;
    raw.sync_all()?;
    assert!(!store::backup::is_sound(&file).await?);
    let store = Store::open_sqlite(&file, ManualClock::default().handle()).await?;
    let damage = ask(&store, "storage_sound").await?;
    assert!(0 < damage.count, "{damage:?}");
    store.close().await;
    Ok(())
}
