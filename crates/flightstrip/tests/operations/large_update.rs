//! A new version on a large database of the first version (C24): it says what it does while nobody can work, a kill in
//! the middle leaves everything as it was, and the next start loses nothing.

use crate::commands::{begin_start, on};
use crate::support::BINARY;
use anyhow::{Context, Result};
use serde_json::Value;
use sqlx::migrate::{Migrate, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqlStr, SqliteConnection};
use std::time::Instant;
use store::open::Store;
use store::schema::{Schema, newest};
use store::sql::sql;
use testkit::http;
use testkit::server::Server;
use testkit::store::{Engine, ManualClock};
use testkit::waiting::until;

testkit::on_every_engine!(testkit::store::Engine =>
    c24_a_large_database_is_updated_wholly_or_not_at_all,
);

/// Messages; ten times as many where tests may take long.
const MESSAGES: u64 = 50_000;

/// Tasks with a session each, among which the messages are spread.
const TASKS: u64 = 100;

/// Rows that only the first version can have left: no task knows its last activity.
fn rows(messages: u64) -> String {
    let per_task = messages / TASKS;
    let n = |name: &str, last: u64| {
        format!(
            "WITH RECURSIVE {name} (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM {name} WHERE i < {})",
            last - 1
        )
    };
    let (tasks, turns, all) = (
        n("n", TASKS),
        n("n", messages / 10),
        n("n", per_task * TASKS),
    );
    format!(
        "INSERT INTO users (id, name, created_at) VALUES ('u', 'Owner', 1);
         INSERT INTO workspaces (id, revision, name, created_at) VALUES ('w', 1, 'Workspace', 1);
         INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ('w', 'u', 'owner');
         INSERT INTO workflows (id, workspace_id, revision, name, position) VALUES ('f', 'w', 1, 'Board', 0);
         INSERT INTO workflow_steps (id, workflow_id, name, position) VALUES ('p', 'f', 'To do', 0);
         INSERT INTO agent_profiles (id, workspace_id, revision, name, command, args, env, created_at)
             VALUES ('a', 'w', 1, 'Agent', 'agent', '[]', '{{}}', 1);
         {tasks} INSERT INTO tasks (id, workspace_id, workflow_id, step_id, client_id, revision, title, description,
                 state, position, priority, authority_seq, derived_seq, created_at, updated_at)
             SELECT 't-' || i, 'w', 'f', 'p', 'c-' || i, 1, 'Kept', '', 'REVIEW', i, 0, 1, 0, 1, 1 FROM n;
         {tasks} INSERT INTO task_sessions (id, task_id, client_id, revision, state, agent_profile_id, name, is_primary,
                 own_environment, started_at, settings, commands, active_subagent_count, pending_action_revision,
                 last_seq)
             SELECT 's-' || i, 't-' || i, 'c', 1, 'WAITING_FOR_INPUT', 'a', 'Agent', TRUE, FALSE, 1, '{{}}', '[]', 0,
                 0, {per_task} FROM n;
         {turns} INSERT INTO task_session_turns (id, session_id, revision, started_at, completed_at, outcome,
                 authoritative, lifecycle_only, prompt_dispatch_pending, prompt_dispatch_attempted, acknowledged)
             SELECT 'u-' || (i % {TASKS}) || '-' || (i / {TASKS}), 's-' || (i % {TASKS}), 1, 1 + i, 2 + i, 'completed', TRUE,
                 FALSE, FALSE, TRUE, TRUE FROM n;
         {all} INSERT INTO task_session_messages (id, session_id, task_id, turn_id, seq, revision, author, type, content,
                 metadata, streaming, removed, created_at, updated_at)
             SELECT 'm-' || i, 's-' || (i % {TASKS}), 't-' || (i % {TASKS}),
                 'u-' || (i % {TASKS}) || '-' || (i / {TASKS} / 10), 1 + i / {TASKS}, 1,
                 CASE WHEN i / {TASKS} % 10 = 0 THEN 'user' ELSE 'agent' END, 'message',
                 'Message ' || i || ': about as much as a person writes in one go, or an agent says before it looks up '
                 || 'something, and then a little more of it.', '{{}}', FALSE, FALSE, 1 + i, 1 + i FROM n;"
    )
}

async fn first_version<C: Migrate + Send>(connection: &mut C, text: &'static str) -> Result<()> {
    let text = SqlStr::from_static(text);
    let first = Migration::new(1, "first shape".into(), MigrationType::Simple, text, false);
    let mut migrator = Migrator::with_migrations(vec![first]);
    migrator.set_locking(false);
    Ok(migrator.run_direct(None, connection, false).await?)
}

/// A connection of another program, which holds what a migration needs, for as long as it lives.
enum Holder {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Holder {
    /// Puts the first version's rows in the place of the server's, and holds them.
    async fn fill(server: &Server, messages: u64) -> Result<Self> {
        let rows = AssertSqlSafe(rows(messages));
        if server.engine() == Engine::Sqlite {
            let file = server.data_dir().join("flightstrip.db");
            std::fs::remove_file(&file)?;
            let mut connection = SqliteConnectOptions::new()
                .filename(file)
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .connect()
                .await?;
            let text = include_str!("../../../store/migrations/sqlite/0001_first_shape.sql");
            first_version(&mut connection, text).await?;
            let whole = AssertSqlSafe(format!("BEGIN; {} COMMIT; BEGIN IMMEDIATE", rows.0));
            sqlx::raw_sql(whole).execute(&mut connection).await?;
            return Ok(Self::Sqlite(connection));
        }
        let url = server
            .database_args()
            .pop()
            .context("an address of PostgreSQL")?;
        let mut connection = PgConnection::connect(&url).await?;
        sqlx::raw_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            .execute(&mut connection)
            .await?;
        let text = include_str!("../../../store/migrations/postgres/0001_first_shape.sql");
        first_version(&mut connection, text).await?;
        sqlx::raw_sql(rows).execute(&mut connection).await?;
        // An index cannot be made beside it; by then the migration has done other things already.
        sqlx::raw_sql("BEGIN; LOCK TABLE task_session_messages IN ROW EXCLUSIVE MODE")
            .execute(&mut connection)
            .await?;
        Ok(Self::Postgres(connection))
    }

    async fn release(self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => connection.close().await?,
            Self::Postgres(connection) => connection.close().await?,
        }
        Ok(())
    }
}

/// The schema, how many messages there are, and what they come to.
async fn stored(server: &Server) -> Result<(Schema, [i64; 3])> {
    held(server.open_store().await?).await
}

async fn held(store: Store) -> Result<(Schema, [i64; 3])> {
    let schema = store.schema().await?;
    let mut tx = store.read().await?;
    let sums = sql(
        "SELECT count(*) AS messages, CAST(sum(length(content)) AS BIGINT) AS text,
                CAST(sum(seq) AS BIGINT) AS places FROM task_session_messages",
    );
    let row = tx.one(sums, "sums").await?;
    let sums = [row.int("messages")?, row.int("text")?, row.int("places")?];
    drop(tx);
    store.close().await;
    Ok((schema, sums))
}

/// What was there is copied by every start that migrates, SQLite's in full.
async fn copies(server: &Server, before: &(Schema, [i64; 3])) -> Result<usize> {
    let folder = server.data_dir().join("backups");
    if server.engine() == Engine::Postgres {
        assert!(
            !folder.exists(),
            "copying PostgreSQL is its own tools' task"
        );
        return Ok(0);
    }
    let mut copies = 0;
    for entry in std::fs::read_dir(folder)? {
        let clock = ManualClock::default().handle();
        let copy = Store::open_sqlite(&entry?.path(), clock).await?;
        assert_eq!(held(copy).await?, *before, "the copy is what was there");
        copies += 1;
    }
    Ok(copies)
}

/// Waits until a start says that it migrates; nothing else is answered then.
async fn migrating(port: u16) -> Result<()> {
    let words = format!("bringing the database from schema 1 to {}", newest());
    until("the migration to begin", async || {
        let Ok(readyz) = http::send(port, "GET", "/readyz", &[], "").await else {
            return Ok(None); // it does not listen yet
        };
        let report: Value = serde_json::from_str(&readyz.body)?;
        let migrated = &report["gates"]["database_migrated"];
        assert_eq!((readyz.status, migrated), (503, &false.into()), "{report}");
        Ok((report["progress"] == words.as_str()).then_some(()))
    })
    .await?;
    let html = [("Accept", "text/html")];
    let page = http::send(port, "GET", "/", &html, "").await?;
    assert_eq!(page.status, 503);
    assert!(page.body.contains(&words), "the starting page: {page:?}");
    let boot = http::send(port, "GET", "/api/v1/boot", &[], "").await?;
    assert_eq!(boot.status, 503, "nobody works on half of a schema");
    Ok(())
}

/// C24, REC-01, REC-02.
async fn c24_a_large_database_is_updated_wholly_or_not_at_all(engine: Engine) -> Result<()> {
    let long = std::env::var_os("FLIGHTSTRIP_LONG").is_some();
    let messages = if long { 10 * MESSAGES } else { MESSAGES };
    let mut server = Server::start_on(engine, BINARY, &[], &[]).await?;
    server.stop().await?;
    let holder = Holder::fill(&server, messages).await?;
    let before = stored(&server).await?;
    assert_eq!(before.0, Schema::Older(1));
    assert_eq!(before.1[0], i64::try_from(messages)?);

    let (mut start, port) = begin_start(&server)?;
    migrating(port).await?;
    start.kill().await?;
    holder.release().await?;
    assert_eq!(stored(&server).await?, before, "a kill leaves it as it was");
    let one = usize::from(engine == Engine::Sqlite);
    assert_eq!(copies(&server, &before).await?, one);

    let began = Instant::now();
    server.launch().await?;
    let took = began.elapsed();
    let boot = server.get("/api/v1/boot").await?;
    let listed = boot["workspaces"][0]["tasks"]["tasks"]
        .as_array()
        .context("no tasks")?;
    let active = |task: &Value| task["status_summary"]["last_activity_at"].is_string();
    assert!(!listed.is_empty() && listed.iter().all(active), "{boot}");
    let checked = on(&server, "doctor", &[]).await?;
    assert_eq!(checked.code, 0, "{checked:?}");
    server.stop().await?;
    let (schema, sums) = stored(&server).await?;
    assert_eq!((schema, sums), (Schema::Current(newest()), before.1));
    assert_eq!(copies(&server, &before).await?, 2 * one);
    println!("{engine:?}: {messages} messages, from start to ready in {took:.1?}");
    Ok(())
}
