//! Several projectors over one store: the newest value stays, and no revision is published twice (PST-02, PST-03).
//!
//! The running projector and a list that hydrates its tasks are two of them in one process.

use anyhow::Result;
use model::ids::{SessionId, TaskId};
use model::session::Activity;
use projector::project::project;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::sql::sql;
use store::{sessions, summaries};
use testkit::recorder::Recorder;
use testkit::story::Story;
use testkit::waiting::until;

testkit::on_every_engine!(
    pst_02_an_older_derivation_never_overwrites_a_newer_one,
    pst_02_projectors_converge_and_never_publish_a_revision_twice,
    sum_05_projectors_that_make_the_same_row_publish_it_once,
);

/// Projectors at work at once.
const PROJECTORS: usize = 4;

/// Changes of each task while they work.
const CHANGES: usize = 60;

/// An activity comes and goes, so that an older value often looks like a newer one.
async fn flicker(story: &Story, task: &TaskId, session: &SessionId) -> Result<()> {
    for n in 0..CHANGES {
        let activity = n.is_multiple_of(2).then_some(Activity::Generating);
        story
            .change(&[task], async |tx| {
                sessions::set_activity(tx, session, activity, 0).await
            })
            .await?;
    }
    Ok(())
}

/// Who is marked as derived says what authority says: a wrong row without a mark would never be repaired.
async fn check_marks(story: &Story, task: &TaskId) -> Result<bool> {
    let mut tx = story.store().read().await?;
    let query = sql("SELECT derived_seq < authority_seq AS stale FROM tasks WHERE id = $1");
    let stale = tx.one(query.bind(task), "task").await?.truth("stale")?;
    drop(tx);
    if !stale {
        let stored = story.stored(task).await?.map(|stored| stored.payload);
        assert_eq!(stored, Some(story.derived(task).await?));
    }
    Ok(stale)
}

/// A projector is held between loading and writing, while another one finds that a newer change took back the older
/// one, so that the stored value is right as it is.
async fn pst_02_an_older_derivation_never_overwrites_a_newer_one(story: Story) -> Result<()> {
    let story = Arc::new(story);
    let hub = Arc::new(Recorder::default());
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    project(story.store(), &*hub, std::slice::from_ref(&task)).await;
    let generating = Some(Activity::Generating);
    story
        .change(&[&task], async |tx| {
            sessions::set_activity(tx, &session, generating, 0).await
        })
        .await?;
    let before = story.store().statements();
    let seq = story.authority(&task).await?.authority_seq;
    let load = story.store().statements() - before;

    let mut newer = story.store().write().await?;
    let before = story.store().statements();
    let older = tokio::spawn({
        let (story, hub, task) = (Arc::clone(&story), Arc::clone(&hub), task.clone());
        async move { project(story.store(), &*hub, std::slice::from_ref(&task)).await }
    });
    until("the older one to have loaded", async || {
        Ok((before + load <= story.store().statements()).then_some(()))
    })
    .await?;
    sessions::set_activity(&mut newer, &session, None, 0).await?;
    newer.touch(&task);
    summaries::mark_derived(&mut newer, &task, seq + 1).await?;
    let _ = newer.commit().await?; // nothing to publish

    assert_eq!(older.await?.failed, []);
    assert!(!check_marks(&story, &task).await?);
    assert_eq!(hub.summaries().len(), 1, "nothing changed after the first");
    Ok(())
}

async fn pst_02_projectors_converge_and_never_publish_a_revision_twice(story: Story) -> Result<()> {
    let story = Arc::new(story);
    let hub = Arc::new(Recorder::default());
    let mut cast = Vec::new();
    for _ in 0..3 {
        let task = story.task().await?;
        let session = story.session(&task, None).await?;
        cast.push((task, session));
    }
    let ids: Arc<[TaskId]> = cast.iter().map(|(task, _)| task.clone()).collect();

    let mut writers = tokio::task::JoinSet::new();
    for (task, session) in cast {
        let story = Arc::clone(&story);
        writers.spawn(async move { flicker(&story, &task, &session).await });
    }
    let mut projectors = tokio::task::JoinSet::new();
    for _ in 0..PROJECTORS {
        let (story, hub, ids) = (Arc::clone(&story), Arc::clone(&hub), Arc::clone(&ids));
        projectors.spawn(async move {
            for _ in 0..CHANGES {
                project(story.store(), &*hub, &ids).await;
            }
        });
    }
    while let Some(joined) = writers.join_next().await {
        joined??;
    }
    while let Some(joined) = projectors.join_next().await {
        joined?;
    }
    for id in &*ids {
        check_marks(&story, id).await?;
    }
    project(story.store(), &*hub, &ids).await;

    let mut published: BTreeMap<TaskId, Vec<i64>> = BTreeMap::new();
    for (task, revision) in hub.summaries() {
        published.entry(task).or_default().push(revision);
    }
    for id in &*ids {
        assert!(!check_marks(&story, id).await?, "it converged");
        let revisions = published.get_mut(id).expect("something was published");
        let count = revisions.len();
        revisions.sort_unstable();
        revisions.dedup();
        assert_eq!(revisions.len(), count, "a revision was published twice");
        let stored = story.stored(id).await?.map(|stored| stored.revision);
        assert_eq!(stored, revisions.last().copied());
    }
    Ok(())
}

/// SUM-05.
async fn sum_05_projectors_that_make_the_same_row_publish_it_once(story: Story) -> Result<()> {
    let story = Arc::new(story);
    let hub = Arc::new(Recorder::default());
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(story.task().await?);
    }
    let mut projectors = tokio::task::JoinSet::new();
    for _ in 0..PROJECTORS {
        let (story, hub, ids) = (Arc::clone(&story), Arc::clone(&hub), ids.clone());
        projectors.spawn(async move { project(story.store(), &*hub, &ids).await.failed });
    }
    while let Some(joined) = projectors.join_next().await {
        assert_eq!(joined?, []);
    }
    let mut published: Vec<_> = hub.summaries().into_iter().map(|(task, _)| task).collect();
    published.sort();
    assert_eq!(published, ids);
    Ok(())
}
