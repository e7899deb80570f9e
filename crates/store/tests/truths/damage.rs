//! Faults that an unharmed schema forbids: rows that another program left behind, and a damaged file.

use anyhow::{Context, Result};
use model::pull_request::Standing;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Row};
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use store::open::Store;
use store::truths::{self, Broken, Cure, TRUTHS};
use store::{cures, pull_requests};
use tempfile::TempDir;
use testkit::store::{Engine, ManualClock};
use testkit::story::Story;

testkit::on_every_engine!(
    rec_05_two_messages_in_one_place_are_found,
    rec_02_rows_whose_owner_is_gone_are_found_and_links_are_forgotten,
);

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

/// Rows that only a program could leave that checks no foreign keys.
async fn without_foreign_keys(story: &Story, rows: &[&'static str]) -> Result<()> {
    if story.db.engine() == Engine::Sqlite {
        let mut tx = story.store().read().await?;
        let file = store::sql::sql("SELECT file FROM pragma_database_list WHERE name = 'main'");
        let file = tx.one(file, "file").await?.text("file")?;
        drop(tx);
        let mut careless = SqliteConnectOptions::new()
            .filename(file)
            .foreign_keys(false)
            .connect()
            .await?;
        for row in rows {
            sqlx::query(*row).execute(&mut careless).await?;
        }
        return Ok(careless.close().await?);
    }
    for constraint in [
        "ALTER TABLE task_session_turns DROP CONSTRAINT task_session_turns_session_id_fkey",
        "ALTER TABLE message_attachments DROP CONSTRAINT message_attachments_message_id_fkey",
        "ALTER TABLE message_attachments DROP CONSTRAINT message_attachments_task_id_fkey",
        "ALTER TABLE task_pull_requests DROP CONSTRAINT task_pull_requests_task_id_fkey",
        "ALTER TABLE task_pull_request_options DROP CONSTRAINT task_pull_request_options_pull_request_id_fkey",
    ] {
        story.tamper(store::sql::sql(constraint)).await?;
    }
    for row in rows {
        story.tamper(store::sql::sql(row)).await?;
    }
    Ok(())
}

/// REC-02, REC-05: what a deleted task would have taken along goes with the next repair, what a person wrote stays.
async fn rec_02_rows_whose_owner_is_gone_are_found_and_links_are_forgotten(
    story: Story,
) -> Result<()> {
    let task = story.task().await?;
    let kept = story.pull_request(&task, 7, Standing::UNSEEN).await?;
    without_foreign_keys(
        &story,
        &[
            "INSERT INTO task_session_turns (id, session_id, revision, started_at, authoritative, lifecycle_only,
                 prompt_dispatch_pending, prompt_dispatch_attempted, acknowledged)
             VALUES ('u', 'no such session', 1, 1, TRUE, FALSE, TRUE, FALSE, FALSE)",
            "INSERT INTO message_attachments (id, task_id, message_id, position, name, media_type, size, sha256,
                 created_at) SELECT 'f', id, 'no such message', 0, 'n', 't/p', 1, '00', 1 FROM tasks",
            "INSERT INTO message_attachments (id, task_id, name, media_type, size, sha256, created_at)
             VALUES ('g', 'no such task', 'n', 't/p', 1, '00', 1)",
            "INSERT INTO task_pull_requests (id, task_id, revision, host, owner, repository, number, url,
                 linked_by_hand, title, lifecycle, draft, checks_state, review_state, mergeable_state, in_merge_queue,
                 unresolved_threads, created_at, updated_at)
             SELECT 'p', 'no such task', revision, host, owner, repository, number, url, linked_by_hand, title,
                 lifecycle, draft, checks_state, review_state, mergeable_state, in_merge_queue, unresolved_threads,
                 created_at, updated_at FROM task_pull_requests",
            "INSERT INTO task_pull_request_options (pull_request_id, auto_fix, auto_merge, updated_at)
             VALUES ('p', TRUE, FALSE, 1)",
            "INSERT INTO task_pull_request_options (pull_request_id, auto_fix, auto_merge, updated_at)
             VALUES ('no such link', TRUE, FALSE, 1)",
        ],
    )
    .await?;
    let found = async |name| anyhow::Ok(ask(story.store(), name).await?.ids);
    assert_eq!(found("turn_has_session").await?, ["u"]);
    assert_eq!(found("attachment_has_owner").await?, ["f", "g"]);
    assert_eq!(found("pull_request_has_task").await?, ["p"]);
    let switches = found("switches_have_pull_request").await?;
    assert_eq!(switches, ["no such link"]);

    for truth in TRUTHS.iter().filter(|truth| truth.cure == Cure::Repair) {
        story
            .change(&[], async |tx| cures::apply(tx, truth).await)
            .await?;
    }
    let none: [&str; 0] = [];
    assert_eq!(found("pull_request_has_task").await?, none);
    assert_eq!(found("switches_have_pull_request").await?, none);
    assert_eq!(found("turn_has_session").await?, ["u"]);
    assert_eq!(found("attachment_has_owner").await?, ["f", "g"]);
    let mut tx = story.store().read().await?;
    let left = pull_requests::of_task(&mut tx, &task).await?;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].id, kept);
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
