//! The clock is seeded with the latest stored time, whatever column holds it.

use anyhow::Result;
use model::clock::Timestamp;
use model::error::{ActiveError, ErrorCategory};
use model::pull_request::Standing;
use store::sql::Statement;
use store::{sessions, tasks};
use testkit::story::Story;
use testkit::story::look::Look;

testkit::on_every_engine!(the_latest_time_is_found_in_every_column);

/// Times that a rule compares with `now`, or that a client orders by.
const COLUMNS: &[(&str, &str)] = &[
    ("tasks", "created_at"),
    ("tasks", "updated_at"),
    ("tasks", "last_activity_at"),
    ("tasks", "interrupted_at"),
    ("tasks", "launch_error_occurred_at"),
    ("task_sessions", "started_at"),
    ("task_sessions", "error_occurred_at"),
    ("task_session_turns", "started_at"),
    ("task_session_turns", "completed_at"),
    ("task_session_messages", "created_at"),
    ("task_session_messages", "updated_at"),
    ("task_session_git_snapshots", "created_at"),
    ("task_pull_requests", "updated_at"),
    ("task_pull_requests", "observed_at"),
];

async fn the_latest_time_is_found_in_every_column(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    let session = story.session(&task, Some(&environment)).await?;
    story.prompt(&session, "go").await?;
    story
        .observe(&environment, &Look::at(story.now(), 1))
        .await?;
    story.pull_request(&task, 7, Standing::UNSEEN).await?;
    let error = ActiveError::record("x", story.now(), "boom", ErrorCategory::AgentExited);
    story
        .change(&[], async |tx| {
            sessions::set_error(tx, &session, &error).await?;
            tasks::set_launch_error(tx, &task, Some(&error)).await
        })
        .await?;
    let mut future = 4_000_000_000_000_000;
    for &(table, column) in COLUMNS {
        future += 1_000_000;
        let update = Statement::joined(&["UPDATE ", table, " SET ", column, " = $1"]);
        story
            .tamper(update.bind(Timestamp::from_micros(future)))
            .await?;
        let latest = story.store().latest_time().await?;
        assert_eq!(
            latest,
            Some(Timestamp::from_micros(future)),
            "{table}.{column}"
        );
    }
    Ok(())
}
