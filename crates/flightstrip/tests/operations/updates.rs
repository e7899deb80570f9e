//! A new version on older data: copied first, then migrated; an old version on newer data: refused.

use crate::commands::{Outcome, on, run, utf8};
use crate::support::BINARY;
use anyhow::{Context, Result};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqlStr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use store::open::Store;
use store::schema::{Schema, newest};
use store::sql::sql;
use testkit::server::Server;
use testkit::store::{Engine, ManualClock};

/// A database as the first version left it, with a task that it knew, at this place.
async fn first_shape(file: &Path) -> Result<()> {
    let mut connection = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .connect()
        .await?;
    let text = SqlStr::from_static(include_str!(
        "../../../store/migrations/sqlite/0001_first_shape.sql"
    ));
    let first = Migration::new(1, "first shape".into(), MigrationType::Simple, text, false);
    Migrator::with_migrations(vec![first])
        .run(&mut connection)
        .await?;
    for statement in [
        "INSERT INTO users (id, name, created_at) VALUES ('u', 'Owner', 1)",
        "INSERT INTO workspaces (id, revision, name, created_at) VALUES ('w', 1, 'Workspace', 1)",
        "INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ('w', 'u', 'owner')",
        "INSERT INTO workflows (id, workspace_id, revision, name, position) VALUES ('f', 'w', 1, 'Board', 0)",
        "INSERT INTO workflow_steps (id, workflow_id, name, position) VALUES ('p', 'f', 'To do', 0)",
        "INSERT INTO tasks (id, workspace_id, workflow_id, step_id, client_id, revision, title, description, state,
             position, priority, authority_seq, derived_seq, created_at, updated_at)
         VALUES ('t', 'w', 'f', 'p', 'c', 1, 'Kept', '', 'TODO', 1, 0, 1, 0, 1000000, 1000000)",
    ] {
        sqlx::query(statement).execute(&mut connection).await?;
    }
    connection.close().await?;
    Ok(())
}

/// A stopped server whose database is of the first version.
async fn outdated() -> Result<Server> {
    let mut server = Server::start(BINARY).await?;
    server.stop().await?;
    let file = server.data_dir().join("flightstrip.db");
    std::fs::remove_file(&file)?;
    first_shape(&file).await?;
    Ok(server)
}

async fn schema(file: &Path) -> Result<Schema> {
    let store = Store::open_sqlite(file, ManualClock::default().handle()).await?;
    let schema = store.schema().await?;
    store.close().await;
    Ok(schema)
}

fn backups(server: &Server) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(server.data_dir().join("backups"))? {
        found.push(entry?.path());
    }
    Ok(found)
}

/// SUM-10, REC-02: what was there is copied, then brought up to date, and what it lacks is made.
#[tokio::test]
async fn rec_02_an_older_database_is_copied_before_it_is_migrated() -> Result<()> {
    let mut server = outdated().await?;
    let database = server.data_dir().join("flightstrip.db");
    assert_eq!(schema(&database).await?, Schema::Older(1));
    let early = on(&server, "doctor", &[]).await?;
    assert_eq!(early.code, 2, "{early:?}");
    assert!(early.err.contains("has schema 1"), "{early:?}");

    server.launch().await?;
    let boot = server.get("/api/v1/boot").await?;
    let task = &boot["workspaces"][0]["tasks"]["tasks"][0];
    assert_eq!(task["title"], "Kept", "{boot}");
    assert_eq!(
        task["status_summary"]["last_activity_at"], "1970-01-01T00:00:01.000000Z",
        "{task}"
    );
    let checked = on(&server, "doctor", &[]).await?;
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(
        server.log().contains("backup made before the migration"),
        "{}",
        server.log()
    );
    server.stop().await?;
    assert_eq!(schema(&database).await?, Schema::Current(newest()));
    let [backup] = backups(&server)?
        .try_into()
        .map_err(|_| anyhow::anyhow!("one backup"))?;
    let name = backup
        .file_name()
        .and_then(|name| name.to_str())
        .context("a name")?;
    assert!(
        name.starts_with("flightstrip-1-20") && name.ends_with("Z.db"),
        "{name}"
    );
    assert_eq!(
        std::fs::metadata(&backup)?.permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(schema(&backup).await?, Schema::Older(1), "what was there");

    // Nothing to migrate, nothing to copy.
    server.launch().await?;
    server.stop().await?;
    assert_eq!(backups(&server)?.len(), 1);
    Ok(())
}

/// Runs the server until it gives up.
async fn refused_start(server: &Server) -> Result<Outcome> {
    let database = server.database_args();
    let mut args = vec![
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        utf8(server.data_dir())?,
    ];
    args.extend(database.iter().map(String::as_str));
    run(&args).await
}

#[tokio::test]
async fn a_backup_that_fails_leaves_the_database_as_it_is() -> Result<()> {
    let server = outdated().await?;
    std::fs::write(server.data_dir().join("backups"), "in the way")?;
    let database = server.data_dir().join("flightstrip.db");
    let refused = refused_start(&server).await?;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused
            .err
            .contains("without a backup the database is not brought up to date"),
        "{refused:?}"
    );
    assert_eq!(schema(&database).await?, Schema::Older(1));

    std::fs::remove_file(server.data_dir().join("backups"))?;
    let mut server = server;
    server.launch().await?;
    server.stop().await
}

/// An older program leaves newer data alone, on either engine.
async fn refuses_newer_data(engine: Engine) -> Result<()> {
    let mut server = Server::start_on(engine, BINARY, &[], &[]).await?;
    server.stop().await?;
    let store = server.open_store().await?;
    let mut tx = store.write().await?;
    let again = sql("INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                     SELECT 9999, 'from the future', success, checksum, execution_time FROM _sqlx_migrations
                     WHERE version = 1");
    tx.execute(again).await?;
    let _ = tx.commit().await?; // nothing to publish
    store.close().await;
    let refused = refused_start(&server).await?;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.err.contains("the database has schema 9999"),
        "{refused:?}"
    );
    assert!(refused.err.contains("start that version"), "{refused:?}");
    assert!(
        !server.data_dir().join("backups").exists(),
        "nothing was done"
    );
    Ok(())
}

#[tokio::test]
async fn newer_data_is_refused_sqlite() -> Result<()> {
    refuses_newer_data(Engine::Sqlite).await
}

#[tokio::test]
async fn newer_data_is_refused_postgres() -> Result<()> {
    refuses_newer_data(Engine::Postgres).await
}
