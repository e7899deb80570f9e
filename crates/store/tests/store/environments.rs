//! Which observation of an environment is the current one, and what survives what (ENV-01 … ENV-06).

use anyhow::Result;
use model::clock::Timestamp;
use model::git::{GitSnapshot, SnapshotTrigger};
use model::ids::{EnvironmentId, SnapshotId};
use store::snapshots::{self, RecordOutcome};
use store::sql::sql;
use testkit::story::Story;
use testkit::story::look::Look;

testkit::on_every_engine!(
    env_01_deleting_every_session_keeps_the_status,
    env_01_provenance_never_decides_which_row_is_current,
    env_01_a_deleted_environment_takes_its_snapshots_along,
    env_01_no_snapshot_exists_without_an_environment,
    env_02_a_missing_and_an_empty_name_are_the_root_repository,
    env_02_repositories_of_one_environment_are_apart,
    env_03_the_newest_row_is_current_whatever_its_type,
    env_03_equal_times_prefer_details_then_the_greater_id,
    env_03_nothing_looks_past_the_newest_row_for_details,
    env_05_a_pair_has_one_live_row_and_an_older_look_is_skipped,
    env_06_a_completion_replaces_live_and_completed_rows_up_to_its_time,
    env_06_archives_are_history_whoever_looked,
);

/// When the looks of these stories begin; far from the story's own clock, because only their order counts.
const fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

async fn current(story: &Story, environment: &EnvironmentId) -> Result<Vec<GitSnapshot>> {
    let mut tx = story.store().read().await?;
    Ok(snapshots::current(&mut tx, std::slice::from_ref(environment)).await?)
}

/// Lines added as the current row of the root repository says.
async fn additions(story: &Story, environment: &EnvironmentId) -> Result<Option<u64>> {
    let rows = current(story, environment).await?;
    Ok(rows
        .iter()
        .find(|row| row.status.repository_name.is_none())
        .map(|row| row.status.totals.additions))
}

/// Kinds of all stored rows in order of time.
async fn kinds(story: &Story) -> Result<Vec<String>> {
    let mut tx = story.store().read().await?;
    let query = sql(
        "SELECT CASE WHEN snapshot_type = 'archive' THEN 'archive' ELSE triggered_by END AS kind
         FROM task_session_git_snapshots ORDER BY created_at, id",
    );
    let rows = tx.all(query).await?;
    Ok(rows
        .iter()
        .map(|row| row.text("kind"))
        .collect::<Result<_, _>>()?)
}

/// A row of the archive, as a later command will write it.
async fn archive(
    story: &Story,
    environment: &EnvironmentId,
    at: Timestamp,
    additions: u64,
) -> Result<()> {
    let metadata =
        format!(r#"{{"additions":{additions},"changed_files":1,"base_resolvable":true}}"#);
    let insert = sql(
        "INSERT INTO task_session_git_snapshots (id, task_environment_id, snapshot_type, branch, triggered_by,
                                                 metadata, created_at)
         VALUES ($1, $2, 'archive', 'work', 'live_monitor', $3, $4)",
    );
    let insert = insert
        .bind(&SnapshotId::generate())
        .bind(environment)
        .bind(metadata)
        .bind(at);
    story.tamper(insert).await?;
    Ok(())
}

async fn env_01_deleting_every_session_keeps_the_status(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    let session = story.session(&task, Some(&environment)).await?;
    let look = Look {
        session: Some(session.clone()),
        ..Look::at(at(1), 7)
    };
    story.observe(&environment, &look).await?;
    let before = current(&story, &environment).await?;
    assert_eq!(before[0].session_id.as_ref(), Some(&session));

    story.delete_session(&session).await?;

    let after = current(&story, &environment).await?;
    assert_eq!(after[0].id, before[0].id);
    assert_eq!(after[0].status, before[0].status);
    assert_eq!(
        after[0].session_id, None,
        "provenance goes with its session"
    );
    Ok(())
}

async fn env_01_provenance_never_decides_which_row_is_current(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    let older = story.session(&task, Some(&environment)).await?;
    let newer = story.session(&task, Some(&environment)).await?;
    let completion = Look {
        session: Some(older.clone()),
        by: SnapshotTrigger::AgentCompleted,
        detailed: true,
        ..Look::at(at(1), 1)
    };
    story.observe(&environment, &completion).await?;
    let live = Look {
        session: Some(newer.clone()),
        ..Look::at(at(2), 2)
    };
    story.observe(&environment, &live).await?;
    assert_eq!(additions(&story, &environment).await?, Some(2));
    story.delete_session(&newer).await?;
    assert_eq!(additions(&story, &environment).await?, Some(2));
    story.delete_session(&older).await?;
    assert_eq!(additions(&story, &environment).await?, Some(2));
    Ok(())
}

async fn env_01_a_deleted_environment_takes_its_snapshots_along(story: Story) -> Result<()> {
    let task = story.task().await?;
    let (kept, gone) = (
        story.environment(&task, &["root"]).await?,
        story.environment(&task, &["root"]).await?,
    );
    let session = story.session(&task, Some(&gone)).await?;
    story.observe(&kept, &Look::at(at(1), 1)).await?;
    story.observe(&gone, &Look::at(at(1), 2)).await?;
    story
        .change(&[&task], async |tx| {
            store::environments::remove(tx, &gone).await
        })
        .await?;
    assert_eq!(current(&story, &gone).await?, []);
    assert_eq!(additions(&story, &kept).await?, Some(1));
    let mut tx = story.store().read().await?;
    let session = store::sessions::get(&mut tx, &session).await?;
    assert_eq!(session.task_environment_id, None, "the conversation stays");
    Ok(())
}

async fn env_01_no_snapshot_exists_without_an_environment(story: Story) -> Result<()> {
    let nowhere = sql(
        "INSERT INTO task_session_git_snapshots (id, task_environment_id, snapshot_type, branch, created_at)
         VALUES ('s', $1, 'status_update', 'work', 1)",
    );
    let unknown = EnvironmentId::generate();
    assert!(story.tamper(nowhere.clone().bind(&unknown)).await.is_err());
    let none: Option<&EnvironmentId> = None;
    assert!(story.tamper(nowhere.bind(none)).await.is_err());
    Ok(())
}

/// ENV-02.
async fn env_02_a_missing_and_an_empty_name_are_the_root_repository(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    story.observe(&environment, &Look::at(at(1), 1)).await?;
    let empty = Look {
        repository: Some(String::new()),
        ..Look::at(at(2), 2)
    };
    story.observe(&environment, &empty).await?;
    let rows = current(&story, &environment).await?;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].status.repository_name, None);
    assert_eq!(rows[0].status.totals.additions, 2);
    assert_eq!(kinds(&story).await?, ["live_monitor"]);
    Ok(())
}

async fn env_02_repositories_of_one_environment_are_apart(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root", "docs"]).await?;
    let docs = Look {
        repository: Some("docs".to_owned()),
        ..Look::at(at(5), 50)
    };
    story.observe(&environment, &docs).await?;
    let outcome = story.observe(&environment, &Look::at(at(1), 1)).await?;
    assert_eq!(
        outcome,
        RecordOutcome::Recorded,
        "another repository's newer look says nothing about this one"
    );
    let seen: Vec<_> = current(&story, &environment)
        .await?
        .into_iter()
        .map(|row| (row.status.repository_name, row.status.totals.additions))
        .collect();
    assert_eq!(seen, [(None, 1), (Some("docs".to_owned()), 50)]);
    Ok(())
}

/// ENV-03.
async fn env_03_the_newest_row_is_current_whatever_its_type(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    archive(&story, &environment, at(1), 1).await?;
    assert_eq!(additions(&story, &environment).await?, Some(1));
    story.observe(&environment, &Look::at(at(2), 2)).await?;
    assert_eq!(additions(&story, &environment).await?, Some(2));
    archive(&story, &environment, at(3), 3).await?;
    assert_eq!(additions(&story, &environment).await?, Some(3));
    let outcome = story.observe(&environment, &Look::at(at(3), 4)).await?;
    assert_eq!(outcome, RecordOutcome::NotNewer, "the archive row is newer");
    Ok(())
}

async fn env_03_equal_times_prefer_details_then_the_greater_id(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    let row = |id: &str, files: &str, additions: u64| {
        let insert = sql(
            "INSERT INTO task_session_git_snapshots (id, task_environment_id, snapshot_type, branch, files,
                                                     metadata, created_at)
             VALUES ($1, $2, 'status_update', 'work', $3, $4, 1)",
        );
        let metadata = format!(r#"{{"additions":{additions},"changed_files":1}}"#);
        let (id, files) = (id.to_owned(), files.to_owned());
        insert
            .bind(id)
            .bind(&environment)
            .bind(files)
            .bind(metadata)
    };
    let file = r#"{"a":{"path":"a","kind":"modified","additions":1,"deletions":0}}"#;
    story.tamper(row("b", "{}", 1)).await?;
    story.tamper(row("a", "{}", 2)).await?;
    assert_eq!(additions(&story, &environment).await?, Some(1));
    story.tamper(row("A", file, 3)).await?;
    assert_eq!(additions(&story, &environment).await?, Some(3));
    story.tamper(row("B", file, 4)).await?;
    assert_eq!(additions(&story, &environment).await?, Some(4));
    Ok(())
}

async fn env_03_nothing_looks_past_the_newest_row_for_details(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    let completion = Look {
        by: SnapshotTrigger::AgentCompleted,
        detailed: true,
        ..Look::at(at(1), 9)
    };
    story.observe(&environment, &completion).await?;
    assert!(
        current(&story, &environment).await?[0]
            .status
            .files
            .is_some()
    );
    story.observe(&environment, &Look::at(at(2), 3)).await?;
    let now = &current(&story, &environment).await?[0].status;
    assert_eq!((now.totals.additions, &now.files), (3, &None));
    Ok(())
}

/// ENV-05.
async fn env_05_a_pair_has_one_live_row_and_an_older_look_is_skipped(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    let first = story.observe(&environment, &Look::at(at(5), 5)).await?;
    assert_eq!(first, RecordOutcome::Recorded);
    for late in [at(4), at(5)] {
        let outcome = story.observe(&environment, &Look::at(late, 1)).await?;
        assert_eq!(outcome, RecordOutcome::NotNewer);
    }
    assert_eq!(additions(&story, &environment).await?, Some(5));
    story.observe(&environment, &Look::at(at(6), 6)).await?;
    assert_eq!(kinds(&story).await?, ["live_monitor"]);
    assert_eq!(additions(&story, &environment).await?, Some(6));
    Ok(())
}

async fn env_06_a_completion_replaces_live_and_completed_rows_up_to_its_time(
    story: Story,
) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    let completed = |second, additions| Look {
        by: SnapshotTrigger::AgentCompleted,
        detailed: true,
        ..Look::at(at(second), additions)
    };
    story.observe(&environment, &completed(1, 1)).await?;
    story.observe(&environment, &Look::at(at(2), 2)).await?;
    assert_eq!(kinds(&story).await?, ["agent_completed", "live_monitor"]);
    // The look at a turn's end may be the very look that the monitor stored.
    let outcome = story.observe(&environment, &completed(2, 2)).await?;
    assert_eq!(outcome, RecordOutcome::Recorded);
    assert_eq!(kinds(&story).await?, ["agent_completed"]);
    assert!(
        current(&story, &environment).await?[0]
            .status
            .files
            .is_some()
    );
    story.observe(&environment, &Look::at(at(4), 4)).await?;
    let outcome = story.observe(&environment, &completed(3, 3)).await?;
    assert_eq!(outcome, RecordOutcome::NotNewer);
    assert_eq!(kinds(&story).await?, ["agent_completed", "live_monitor"]);
    assert_eq!(additions(&story, &environment).await?, Some(4));
    Ok(())
}

async fn env_06_archives_are_history_whoever_looked(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    archive(&story, &environment, at(1), 1).await?;
    story.observe(&environment, &Look::at(at(2), 2)).await?;
    assert_eq!(kinds(&story).await?, ["archive", "live_monitor"]);
    let completion = Look {
        by: SnapshotTrigger::AgentCompleted,
        ..Look::at(at(3), 3)
    };
    story.observe(&environment, &completion).await?;
    assert_eq!(kinds(&story).await?, ["archive", "agent_completed"]);
    Ok(())
}
