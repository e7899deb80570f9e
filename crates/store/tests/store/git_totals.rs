//! Git totals of a task, from the environments it binds (GIT-01, GIT-03, GIT-04).

use anyhow::Result;
use model::clock::Timestamp;
use model::ids::TaskId;
use testkit::story::Story;
use testkit::story::look::Look;

testkit::on_every_engine!(
    git_01_one_repositorys_update_keeps_its_siblings,
    git_01_a_repository_is_counted_in_every_environment_that_has_it,
    git_03_a_shared_environment_counts_once_whatever_the_number_of_sessions,
    git_03_the_last_deleted_session_takes_no_totals_along,
    git_03_an_inherited_environment_counts_for_parent_and_child,
    git_04_not_measured_or_without_a_base_is_unknown_not_clean,
);

const fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

fn look(repository: Option<&str>, second: i64, additions: u64) -> Look {
    Look {
        repository: repository.map(str::to_owned),
        ..Look::at(at(second), additions)
    }
}

/// Lines added and commits ahead, as the task's row would show them.
async fn totals(story: &Story, task: &TaskId) -> Result<Option<(u64, Option<u64>)>> {
    let git = story.derived(task).await?.git;
    Ok(git.map(|git| (git.additions, git.ahead)))
}

async fn git_01_one_repositorys_update_keeps_its_siblings(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root", "docs", "api"]).await?;
    for (name, additions) in [(None, 1), (Some("docs"), 10), (Some("api"), 100)] {
        story
            .observe(&environment, &look(name, 1, additions))
            .await?;
    }
    assert_eq!(totals(&story, &task).await?, Some((111, Some(3))));
    story
        .observe(&environment, &look(Some("docs"), 2, 20))
        .await?;
    assert_eq!(totals(&story, &task).await?, Some((121, Some(3))));
    Ok(())
}

async fn git_01_a_repository_is_counted_in_every_environment_that_has_it(
    story: Story,
) -> Result<()> {
    let task = story.task().await?;
    let one = story.environment(&task, &["root"]).await?;
    let two = story.environment(&task, &["root"]).await?;
    story.observe(&one, &look(None, 1, 3)).await?;
    story.observe(&two, &look(None, 1, 4)).await?;
    assert_eq!(totals(&story, &task).await?, Some((7, Some(2))));
    Ok(())
}

async fn git_03_a_shared_environment_counts_once_whatever_the_number_of_sessions(
    story: Story,
) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    story.bind(&task, &environment).await?;
    let sessions = [
        story.session(&task, Some(&environment)).await?,
        story.session(&task, Some(&environment)).await?,
    ];
    for (session, second) in sessions.into_iter().zip(1..) {
        let seen = Look {
            session: Some(session),
            ..look(None, second, 5)
        };
        story.observe(&environment, &seen).await?;
    }
    assert_eq!(totals(&story, &task).await?, Some((5, Some(1))));
    Ok(())
}

async fn git_03_the_last_deleted_session_takes_no_totals_along(story: Story) -> Result<()> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root"]).await?;
    let session = story.session(&task, Some(&environment)).await?;
    let seen = Look {
        session: Some(session.clone()),
        ..look(None, 1, 5)
    };
    story.observe(&environment, &seen).await?;
    story.delete_session(&session).await?;
    assert_eq!(totals(&story, &task).await?, Some((5, Some(1))));
    Ok(())
}

async fn git_03_an_inherited_environment_counts_for_parent_and_child(story: Story) -> Result<()> {
    let parent = story.task().await?;
    let child = story.child_of(&parent).await?;
    let shared = story.environment(&parent, &["root"]).await?;
    story.bind(&child, &shared).await?;
    let own = story.environment(&child, &["root"]).await?;
    story.observe(&own, &look(None, 1, 100)).await?;
    story.observe(&shared, &look(None, 1, 1)).await?;
    assert_eq!(totals(&story, &parent).await?, Some((1, Some(1))));
    assert_eq!(totals(&story, &child).await?, Some((101, Some(2))));

    // The parent goes: what the child still binds stays counted.
    story
        .change(&[], async |tx| store::tasks::remove(tx, &parent).await)
        .await?;
    assert_eq!(totals(&story, &child).await?, Some((101, Some(2))));
    Ok(())
}

async fn git_04_not_measured_or_without_a_base_is_unknown_not_clean(story: Story) -> Result<()> {
    let task = story.task().await?;
    assert_eq!(totals(&story, &task).await?, None, "nothing to measure");
    let environment = story.environment(&task, &["root", "docs"]).await?;
    story.observe(&environment, &look(None, 1, 1)).await?;
    assert_eq!(totals(&story, &task).await?, None, "docs is not measured");
    let baseless = Look {
        base_resolvable: false,
        ..look(Some("docs"), 1, 0)
    };
    story.observe(&environment, &baseless).await?;
    assert_eq!(totals(&story, &task).await?, None, "docs has no base");
    story
        .observe(&environment, &look(Some("docs"), 2, 0))
        .await?;
    assert_eq!(totals(&story, &task).await?, Some((1, Some(2))));
    Ok(())
}
