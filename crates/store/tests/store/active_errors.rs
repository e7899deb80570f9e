//! The error a row shows, from sessions and launches (ERR-01, ERR-03, ERR-05, ERR-07).

use anyhow::Result;
use model::bounds;
use model::clock::Timestamp;
use model::error::{ActiveError, ErrorCategory, RecoveryAction};
use model::ids::{SessionId, TaskId};
use model::session::SessionState;
use store::sql::sql;
use store::{sessions, tasks};
use testkit::store::Engine;
use testkit::story::Story;

testkit::on_every_engine!(
    err_01_the_newest_of_session_and_launch_errors_is_shown,
    err_01_an_error_counts_whatever_its_sessions_state,
    err_03_an_over_long_stored_error_is_cut_when_it_is_read,
    err_04_clearing_names_the_stamp_and_happens_once,
    err_05_a_deleted_session_takes_its_error_along,
    err_07_a_malformed_launch_error_is_ignored,
    err_07_malformed_details_leave_the_error_itself,
    err_07_a_malformed_session_error_is_ignored,
);

fn failure(owner: &str, micros: i64, text: &str) -> ActiveError {
    let at = Timestamp::from_micros(micros);
    ActiveError::record(owner, at, text, ErrorCategory::AgentExited)
}

async fn session_error(story: &Story, session: &SessionId, at: i64, text: &str) -> Result<String> {
    let task = story.task_of(session).await?;
    let error = failure(session.as_str(), at, text);
    story
        .change(&[&task], async |tx| {
            sessions::set_error(tx, session, &error).await
        })
        .await?;
    Ok(error.stamp)
}

async fn launch_error(story: &Story, task: &TaskId, at: i64, text: &str) -> Result<()> {
    let error = failure(task.as_str(), at, text);
    story
        .change(&[task], async |tx| {
            tasks::set_launch_error(tx, task, Some(&error)).await
        })
        .await
}

/// Preview and session of the error the row shows.
async fn shown(story: &Story, task: &TaskId) -> Result<Option<(String, Option<SessionId>)>> {
    let error = story.derived(task).await?.active_error;
    Ok(error.map(|error| (error.preview, error.session_id)))
}

fn says(text: &str, session: Option<&SessionId>) -> Option<(String, Option<SessionId>)> {
    Some((text.to_owned(), session.cloned()))
}

async fn err_01_the_newest_of_session_and_launch_errors_is_shown(story: Story) -> Result<()> {
    let task = story.task().await?;
    assert_eq!(shown(&story, &task).await?, None);
    launch_error(&story, &task, 10, "launch").await?;
    assert_eq!(shown(&story, &task).await?, says("launch", None));
    let one = story.session(&task, None).await?;
    let two = story.session(&task, None).await?;
    session_error(&story, &two, 30, "two").await?;
    session_error(&story, &one, 20, "one").await?;
    assert_eq!(shown(&story, &task).await?, says("two", Some(&two)));
    launch_error(&story, &task, 40, "again").await?;
    assert_eq!(shown(&story, &task).await?, says("again", None));
    Ok(())
}

async fn err_01_an_error_counts_whatever_its_sessions_state(story: Story) -> Result<()> {
    for state in SessionState::ALL {
        let task = story.task().await?;
        let session = story.session(&task, None).await?;
        session_error(&story, &session, 10, "boom").await?;
        story
            .change(&[&task], async |tx| {
                sessions::set_state(tx, &session, *state).await
            })
            .await?;
        assert_eq!(shown(&story, &task).await?, says("boom", Some(&session)));
    }
    Ok(())
}

async fn err_03_an_over_long_stored_error_is_cut_when_it_is_read(story: Story) -> Result<()> {
    let task = story.task().await?;
    launch_error(&story, &task, 10, "launch").await?;
    let update = sql(
        "UPDATE tasks SET launch_error_preview = $1, launch_error_category = $1, launch_error_stamp = $1",
    );
    story.tamper(update.bind("é".repeat(1_000))).await?;
    let error = story.derived(&task).await?.active_error.expect("an error");
    assert_eq!(error.preview.len(), bounds::ERROR_PREVIEW_BYTES);
    assert_eq!(error.stamp.len(), bounds::ERROR_STAMP_BYTES);
    assert_eq!(
        error.category.expect("a category").len(),
        bounds::ERROR_CATEGORY_BYTES
    );
    Ok(())
}

/// ERR-04.
async fn err_04_clearing_names_the_stamp_and_happens_once(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let stamp = session_error(&story, &session, 10, "boom").await?;
    let clear = async |stamp: Option<&str>| -> Result<bool> {
        story
            .change(&[&task], async |tx| {
                let now = tx.now();
                sessions::clear_error(tx, &session, stamp, "a person", now).await
            })
            .await
    };
    assert!(!clear(Some("another stamp")).await?);
    assert_eq!(shown(&story, &task).await?, says("boom", Some(&session)));
    assert!(clear(Some(&stamp)).await?);
    assert_eq!(shown(&story, &task).await?, None);
    assert!(!clear(None).await?, "it is cleared already");
    session_error(&story, &session, 20, "boom").await?;
    assert_eq!(
        shown(&story, &task).await?,
        says("boom", Some(&session)),
        "the same failure again is a new one"
    );
    Ok(())
}

async fn err_05_a_deleted_session_takes_its_error_along(story: Story) -> Result<()> {
    let task = story.task().await?;
    let kept = story.session(&task, None).await?;
    let gone = story.session(&task, None).await?;
    session_error(&story, &kept, 10, "kept").await?;
    session_error(&story, &gone, 20, "gone").await?;
    assert_eq!(shown(&story, &task).await?, says("gone", Some(&gone)));
    story.delete_session(&gone).await?;
    assert_eq!(shown(&story, &task).await?, says("kept", Some(&kept)));
    story.delete_session(&kept).await?;
    assert_eq!(shown(&story, &task).await?, None);
    Ok(())
}

async fn err_07_a_malformed_launch_error_is_ignored(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    session_error(&story, &session, 5, "older").await?;
    let mut damages = vec![
        sql("UPDATE tasks SET launch_error_stamp = NULL"),
        sql("UPDATE tasks SET launch_error_preview = NULL"),
        sql("UPDATE tasks SET launch_error_occurred_at = NULL"),
    ];
    // SQLite keeps text in a column of integers; PostgreSQL refuses it.
    if story.db.engine() == Engine::Sqlite {
        damages.push(sql(
            "UPDATE tasks SET launch_error_occurred_at = 'yesterday'",
        ));
    }
    for damage in damages {
        launch_error(&story, &task, 10, "launch").await?;
        assert_eq!(shown(&story, &task).await?, says("launch", None));
        let text = format!("{damage:?}");
        story.tamper(damage).await?;
        assert_eq!(
            shown(&story, &task).await?,
            says("older", Some(&session)),
            "{text}"
        );
    }
    Ok(())
}

async fn err_07_malformed_details_leave_the_error_itself(story: Story) -> Result<()> {
    let task = story.task().await?;
    for actions in ["not json", "{}", "[1, 2]", "null", ""] {
        launch_error(&story, &task, 10, "launch").await?;
        let update = sql(
            "UPDATE tasks SET launch_error_actions = $1, launch_error_task_repository_id = 'no id'",
        );
        story.tamper(update.bind(actions)).await?;
        let error = story.derived(&task).await?.active_error.expect("an error");
        assert_eq!(error.preview, "launch");
        assert_eq!(error.recovery_actions, []);
        assert_eq!(error.task_repository_id, None);
    }
    let known = r#"["format_disk", "retry_default", "retry_default", "mark_review_done"]"#;
    let update = sql("UPDATE tasks SET launch_error_actions = $1");
    story.tamper(update.bind(known)).await?;
    let error = story.derived(&task).await?.active_error.expect("an error");
    assert_eq!(
        error.recovery_actions,
        [RecoveryAction::RetryDefault, RecoveryAction::MarkReviewDone]
    );
    Ok(())
}

async fn err_07_a_malformed_session_error_is_ignored(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    session_error(&story, &session, 10, "boom").await?;
    let update = sql(
        "UPDATE task_sessions SET error_task_repository_id = 'no id', error_actions = 'not json'",
    );
    story.tamper(update).await?;
    assert_eq!(shown(&story, &task).await?, says("boom", Some(&session)));
    let damage = match story.db.engine() {
        Engine::Sqlite => sql("UPDATE task_sessions SET error_occurred_at = 'yesterday'"),
        Engine::Postgres => sql("UPDATE task_sessions SET error_occurred_at = NULL"),
    };
    story.tamper(damage).await?;
    assert_eq!(shown(&story, &task).await?, None);
    let mut tx = story.store().read().await?;
    assert_eq!(sessions::get(&mut tx, &session).await?.error, None);
    Ok(())
}
