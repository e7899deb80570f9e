//! Migrating (PST-01): once, all or nothing, and never backwards.

use anyhow::Result;
use store::error::StoreError;
use store::sql::sql;
use testkit::store::Engine;
use testkit::story::Story;

testkit::on_every_engine!(
    migrating_again_changes_nothing,
    a_newer_schema_is_refused,
    pst_01_the_summary_table_has_the_columns_it_must,
    env_01_the_snapshot_table_has_its_final_shape,
);

async fn migrating_again_changes_nothing(story: Story) -> Result<()> {
    let task = story.task().await?;
    let before = story.authority(&task).await?;
    story.store().migrate().await?;
    story.store().migrate().await?;
    assert_eq!(story.authority(&task).await?.authority, before.authority);
    Ok(())
}

async fn a_newer_schema_is_refused(story: Story) -> Result<()> {
    let newer = sql(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'from the future', $1, '', 0)",
    );
    story.tamper(newer.bind(true)).await?;
    let refused = story.store().migrate().await;
    assert!(
        matches!(refused, Err(StoreError::NewerSchema)),
        "{refused:?}"
    );
    Ok(())
}

/// Name, type and whether NULL is refused, of every column of a table.
async fn columns(story: &Story, table: &str) -> Result<Vec<(String, String, bool)>> {
    let mut tx = story.store().read().await?;
    let query = match story.db.engine() {
        Engine::Sqlite => sql(
            "SELECT name, type, \"notnull\" AS required FROM pragma_table_info($1) ORDER BY cid",
        ),
        Engine::Postgres => sql("SELECT column_name::text AS name, upper(data_type) AS type,
                    CASE is_nullable WHEN 'NO' THEN 1 ELSE 0 END::bigint AS required
             FROM information_schema.columns
             WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position"),
    };
    let rows = tx.all(query.bind(table)).await?;
    let column = |row: &store::row::Row| -> store::error::Result<_> {
        Ok((
            row.text("name")?,
            row.text("type")?,
            row.int("required")? == 1,
        ))
    };
    Ok(rows.iter().map(column).collect::<Result<_, _>>()?)
}

async fn pst_01_the_summary_table_has_the_columns_it_must(story: Story) -> Result<()> {
    let columns = columns(&story, "task_status_summaries").await?;
    let expected = [
        ("task_id", "TEXT"),
        ("workspace_id", "TEXT"),
        ("revision", "BIGINT"),
        ("payload", "TEXT"),
        ("updated_at", "BIGINT"),
    ];
    let expected = expected.map(|(name, kind)| (name.to_owned(), kind.to_owned(), true));
    assert_eq!(columns, expected);
    Ok(())
}

/// ENV-01.
async fn env_01_the_snapshot_table_has_its_final_shape(story: Story) -> Result<()> {
    let columns = columns(&story, "task_session_git_snapshots").await?;
    let required = |wanted: &str| {
        let column = columns.iter().find(|(name, ..)| name == wanted);
        column.map(|&(.., required)| required)
    };
    assert_eq!(required("task_environment_id"), Some(true));
    assert_eq!(required("session_id"), Some(false));
    assert_eq!(required("repository_name"), Some(true));
    Ok(())
}
