//! PST-04: what a list or a projection asks of the database does not grow with what is in it.

use anyhow::Result;
use model::ids::TaskId;
use model::message::{Author, MessageType};
use model::pull_request::ChecksState;
use store::{authority, tasks};
use testkit::story::Story;
use testkit::story::look::Look;
use testkit::story::pull_request::checked;

testkit::on_every_engine!(
    pst_04_loading_authority_takes_a_constant_number_of_statements,
    pst_04_a_page_of_tasks_takes_a_constant_number_of_statements,
);

/// A task with as many of everything as `size` says.
async fn grow(story: &Story, size: usize) -> Result<TaskId> {
    let task = story.task().await?;
    for number in (1..).take(size) {
        let pull_request = story
            .pull_request(&task, number, checked(ChecksState::Green))
            .await?;
        story.switch(&pull_request, true, false).await?;
        let environment = story.environment(&task, &["root", "docs"]).await?;
        for repository in [None, Some("docs".to_owned())] {
            let look = Look {
                repository,
                ..Look::at(story.now(), 1)
            };
            story.observe(&environment, &look).await?;
        }
        let session = story.session(&task, Some(&environment)).await?;
        for _ in 0..size {
            let (turn, _) = story.prompt(&session, "go").await?;
            story.permission(&session, &turn).await?;
            let kind = MessageType::Message;
            story
                .row(&session, Some(&turn), Author::Agent, kind, "done")
                .await?;
            story.queue(&session, "next").await?;
        }
    }
    Ok(task)
}

/// How many statements `work` runs.
async fn counted(story: &Story, work: impl AsyncFnOnce() -> Result<()>) -> Result<u64> {
    let before = story.store().statements();
    work().await?;
    Ok(story.store().statements() - before)
}

async fn pst_04_loading_authority_takes_a_constant_number_of_statements(
    story: Story,
) -> Result<()> {
    let load = async |ids: &[TaskId]| -> Result<u64> {
        counted(&story, async || {
            let mut tx = story.store().read().await?;
            let loaded = authority::load(&mut tx, ids).await?;
            assert_eq!(loaded.len(), ids.len());
            Ok(())
        })
        .await
    };
    let mut ids = vec![story.task().await?];
    let one = load(&ids).await?;
    for size in [1, 2, 3] {
        ids.push(grow(&story, size).await?);
    }
    ids.sort();
    assert_eq!(load(&ids).await?, one);
    assert!(one <= 8, "{one} statements");
    Ok(())
}

async fn pst_04_a_page_of_tasks_takes_a_constant_number_of_statements(story: Story) -> Result<()> {
    let list = async |expected: usize| -> Result<u64> {
        counted(&story, async || {
            let mut tx = story.store().read().await?;
            let ids = tasks::page(&mut tx, &story.workspace, None, false, None, 500).await?;
            let listed = tasks::load(&mut tx, &ids).await?;
            assert_eq!(listed.len(), expected);
            assert!(listed.is_sorted_by(|a, b| b.id < a.id), "newest first");
            Ok(())
        })
        .await
    };
    story.task().await?;
    let one = list(1).await?;
    for size in [1, 2, 3] {
        grow(&story, size).await?;
    }
    assert_eq!(list(4).await?, one);
    assert!(one <= 4, "{one} statements");
    Ok(())
}
