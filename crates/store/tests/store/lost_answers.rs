//! A commit whose answer gets lost on the way to us: PostgreSQL is asked what became of it.

use anyhow::Result;
use model::event::Event;
use model::ids::TaskId;
use model::task::TaskState;
use store::faults::FaultPoint;
use store::open::Store;
use store::tasks;
use testkit::story::Story;

testkit::on_every_engine!(api_06_a_commit_that_is_not_answered_is_asked_after);

async fn state(store: &Store, task: &TaskId) -> Result<TaskState> {
    let mut tx = store.read().await?;
    Ok(tasks::get(&mut tx, task).await?.state)
}

/// Whoever committed goes on as if nothing had been, with everything that is to be told and projected. SQLite's answers
/// cannot get lost.
async fn api_06_a_commit_that_is_not_answered_is_asked_after(story: Story) -> Result<()> {
    let task = story.task().await?;
    story.store().faults().fail(FaultPoint::CommitAnswer, 1);
    let mut tx = story.store().write().await?;
    let now = tx.now();
    tasks::set_state(&mut tx, &task, TaskState::Review, now).await?;
    tx.touch(&task);
    tx.emit(Event::TaskDeleted {
        workspace_id: story.workspace.clone(),
        task_id: task.clone(),
    });
    let committed = tx.commit().await?;
    assert_eq!(committed.touched, std::slice::from_ref(&task));
    assert_eq!(committed.events.len(), 1);
    assert_eq!(state(story.store(), &task).await?, TaskState::Review);
    Ok(())
}

/// The line breaks for real, on either side of the commit. Whatever was told is true, and the next writer writes.
#[tokio::test]
async fn api_06_what_a_broken_line_leaves_is_told_as_it_is_postgres() -> Result<()> {
    let story = Story::postgres().await?;
    let (store, line) = story.db.open_over_line().await?;
    let task = story.task().await?;
    for (wanted, happens) in [
        (TaskState::Review, true),
        (TaskState::Completed, false),
        (TaskState::Todo, true),
    ] {
        let before = state(&store, &task).await?;
        let mut tx = store.write().await?;
        let now = tx.now();
        let broken = line.broken();
        if happens {
            line.lose_answers(1);
        } else {
            line.lose_commit_of(wanted.as_str());
        }
        tasks::set_state(&mut tx, &task, wanted, now).await?;
        let committed = tx.commit().await;
        assert_eq!(line.broken(), broken + 1);
        assert_eq!(committed.is_ok(), happens, "{committed:?}");
        let left = if happens { wanted } else { before };
        assert_eq!(state(&store, &task).await?, left);
    }
    store.close().await;
    Ok(())
}
