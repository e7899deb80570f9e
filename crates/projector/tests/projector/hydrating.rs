//! What lists doubt is derived anew, stored and published; what cannot be is shown as it is stored (PEN-07, SUM-10).

use anyhow::{Context, Result};
use model::bounds;
use model::ids::TaskId;
use model::session::SessionState;
use model::summary::{PendingAction, SummaryPayload, TaskStatusSummary};
use projector::running::Projector;
use projector::running::hydrating::patience;
use std::collections::HashMap;
use std::sync::Arc;
use store::hydration::{self, Doubts};
use store::sql::sql;
use store::{sessions, tasks};
use testkit::recorder::Recorder;
use testkit::story::Story;
use testkit::waiting::until;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

testkit::on_every_engine!(
    pen_07_what_differs_is_stored_and_published_and_what_agrees_keeps_its_revision,
    pen_07_a_row_that_differs_in_pending_alone_changes_there_alone,
    pen_07_one_task_that_fails_shows_its_stored_row_and_harms_no_other,
    pen_07_a_list_that_cannot_wait_shows_what_is_stored_and_the_work_goes_on,
    pst_04_hydrating_many_takes_as_many_statements_as_hydrating_one,
);

/// A store, its projector, and what was published.
struct Lists {
    story: Story,
    projector: Projector,
    hub: Arc<Recorder>,
}

impl Lists {
    fn over(story: Story) -> Self {
        let hub = Arc::new(Recorder::default());
        let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
        Self {
            story,
            projector,
            hub,
        }
    }

    /// Tasks that wait for a permission, for an answer, or for nothing, in turn; all summaries are true.
    async fn waiting_tasks(&self, count: usize) -> Result<Vec<TaskId>> {
        let mut ids = Vec::new();
        for n in 0..count {
            let task = self.story.task().await?;
            let session = self.story.session(&task, None).await?;
            let (turn, _) = self.story.prompt(&session, "go").await?;
            match n % 3 {
                0 => drop(self.story.permission(&session, &turn).await?),
                1 => drop(self.story.question(&session, &turn).await?),
                _ => {}
            }
            ids.push(task);
        }
        self.projector.converge().await?;
        Ok(ids)
    }

    async fn doubts(&self, ids: &[TaskId]) -> Result<Doubts> {
        let mut tx = self.story.store().read().await?;
        let listed = tasks::load_listed(&mut tx, ids).await?.listed;
        let open = hydration::open_requests(&mut tx, ids).await?;
        Ok(hydration::doubts(&listed, Some(&open)))
    }

    /// What a list of these tasks does.
    async fn hydrate(&self, ids: &[TaskId]) -> Result<HashMap<TaskId, TaskStatusSummary>> {
        let doubts = self.doubts(ids).await?;
        Ok(self.projector.hydrate(doubts, patience()).await)
    }

    async fn stored(&self, task: &TaskId) -> Result<TaskStatusSummary> {
        self.story.stored(task).await?.context("a stored summary")
    }

    /// Stores a payload that nothing marks as old.
    async fn overwrite(&self, task: &TaskId, payload: &SummaryPayload) -> Result<()> {
        let update = sql("UPDATE task_status_summaries SET payload = $2 WHERE task_id = $1");
        let update = update.bind(task).bind(summary::semantic::json(payload));
        assert_eq!(self.story.tamper(update).await?, 1);
        Ok(())
    }

    /// Shows this task as asking a question that nobody asked.
    async fn pretend(&self, task: &TaskId) -> Result<TaskStatusSummary> {
        let stored = self.stored(task).await?;
        let payload = SummaryPayload {
            pending_action: Some(PendingAction::Clarification),
            pending_since: Some(self.story.now()),
            ..stored.payload
        };
        self.overwrite(task, &payload).await?;
        self.stored(task).await
    }
}

/// PEN-07, SUM-05, SUM-10.
async fn pen_07_what_differs_is_stored_and_published_and_what_agrees_keeps_its_revision(
    story: Story,
) -> Result<()> {
    let lists = Lists::over(story);
    let ids = lists.waiting_tasks(12).await?;
    let mut before = HashMap::new();
    for id in &ids {
        before.insert(id, lists.stored(id).await?);
    }
    assert!(lists.hydrate(&ids).await?.is_empty(), "nothing is doubted");
    let published = lists.hub.summaries().len();

    lists.pretend(&ids[0]).await?;
    let gone = sql("DELETE FROM task_status_summaries WHERE task_id = $1");
    lists.story.tamper(gone.bind(&ids[1])).await?;
    lists.overwrite(&ids[2], &SummaryPayload::default()).await?;
    // Stale, and true for all that.
    lists.story.change(&[&ids[3]], async |_| Ok(())).await?;
    let damage = sql("UPDATE task_status_summaries SET payload = '[' WHERE task_id = $1");
    lists.story.tamper(damage.bind(&ids[4])).await?;
    lists
        .story
        .db
        .clock
        .advance(std::time::Duration::from_secs(1));

    let hydrated = lists.hydrate(&ids).await?;
    assert_eq!(hydrated.len(), 5, "those and no others");
    let mut expected = Vec::new();
    for (n, id) in ids.iter().enumerate() {
        let (old, now) = (&before[id], lists.stored(id).await?);
        if [0, 1, 2, 4].contains(&n) {
            assert_eq!(now.payload, old.payload, "task {n} says the truth again");
            assert!(old.revision < now.revision, "task {n} is newer");
            expected.push((id.clone(), now.revision));
        } else {
            assert_eq!(&now, old, "task {n} is as it was");
        }
        if n < 5 {
            assert_eq!(
                hydrated.get(id),
                Some(&now),
                "task {n} is shown as it is stored"
            );
        }
    }
    let mut told = lists.hub.summaries().split_off(published);
    told.sort();
    expected.sort();
    assert_eq!(told, expected, "every write is published, and nothing else");
    assert!(lists.doubts(&ids).await?.is_empty());
    Ok(())
}

/// PEN-07.
async fn pen_07_a_row_that_differs_in_pending_alone_changes_there_alone(
    story: Story,
) -> Result<()> {
    let lists = Lists::over(story);
    let ids = lists.waiting_tasks(3).await?;
    for (n, id) in ids.iter().enumerate() {
        let truth = lists.stored(id).await?;
        let wrong = lists.pretend(id).await?;
        assert_ne!(wrong.payload, truth.payload);
        let shown = lists.hydrate(&ids).await?;
        let shown = shown.get(id).context("it was doubted")?;
        assert_eq!(shown.revision, wrong.revision + 1);
        let patched = SummaryPayload {
            pending_action: truth.payload.pending_action,
            pending_since: truth.payload.pending_since,
            ..wrong.payload
        };
        assert_eq!(shown.payload, patched, "task {n}");
    }
    Ok(())
}

/// PEN-07, REC-03.
async fn pen_07_one_task_that_fails_shows_its_stored_row_and_harms_no_other(
    story: Story,
) -> Result<()> {
    let lists = Lists::over(story);
    let ids = lists.waiting_tasks(5).await?;
    let mut wrong = Vec::new();
    for id in &ids {
        wrong.push(lists.pretend(id).await?);
    }
    let damage = sql("UPDATE task_sessions SET state = 'DREAMING' WHERE task_id = $1");
    lists.story.tamper(damage.bind(&ids[2])).await?;
    let hydrated = lists.hydrate(&ids).await?;
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(hydrated.contains_key(id), n != 2, "task {n}");
        assert_eq!(lists.stored(id).await? == wrong[n], n == 2, "task {n}");
    }
    // When all fail, all are shown as they are stored.
    lists
        .story
        .tamper(sql("UPDATE task_sessions SET state = 'DREAMING'"))
        .await?;
    let touched: Vec<&TaskId> = ids.iter().collect();
    lists.story.change(&touched, async |_| Ok(())).await?;
    assert!(lists.hydrate(&ids).await?.is_empty());
    Ok(())
}

/// PEN-07: a write in progress delays no list; the hydration is finished and published behind it.
async fn pen_07_a_list_that_cannot_wait_shows_what_is_stored_and_the_work_goes_on(
    story: Story,
) -> Result<()> {
    let lists = Lists::over(story);
    let ids = lists.waiting_tasks(bounds::HYDRATIONS + 1).await?;
    let mut doubts = Vec::new();
    for id in &ids {
        lists.pretend(id).await?;
        doubts.push(lists.doubts(std::slice::from_ref(id)).await?);
    }
    let published = lists.hub.summaries().len();
    let writer = lists.story.store().write().await?;
    for doubts in doubts {
        let shown = lists.projector.hydrate(doubts, Instant::now()).await;
        assert!(shown.is_empty(), "nobody waits for the writer");
    }
    drop(writer);
    // The last found no place: it left a poke, which a running projector serves.
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(lists.projector.clone().run(shutdown.clone()));
    until("true summaries", async || {
        Ok(lists.doubts(&ids).await?.is_empty().then_some(()))
    })
    .await?;
    shutdown.cancel();
    running.await?;
    assert_eq!(
        lists.hub.summaries().len() - published,
        ids.len(),
        "each was published"
    );
    Ok(())
}

/// PST-04. A batch of the projector is as large as `bounds::PROJECTOR_BATCH`.
async fn pst_04_hydrating_many_takes_as_many_statements_as_hydrating_one(
    story: Story,
) -> Result<()> {
    let lists = Lists::over(story);
    let mut ids: Vec<TaskId> = Vec::new();
    let mut counts = Vec::new();
    for size in [1, 50, bounds::PROJECTOR_BATCH, 500] {
        while ids.len() < size {
            let task = lists.story.task().await?;
            if ids.len().is_multiple_of(25) {
                for _ in 0..3 {
                    let session = lists.story.session(&task, None).await?;
                    let (turn, _) = lists.story.prompt(&session, "go").await?;
                    lists.story.question(&session, &turn).await?;
                    let running = SessionState::Running;
                    lists
                        .story
                        .change(&[&task], async |tx| {
                            sessions::set_state(tx, &session, running).await
                        })
                        .await?;
                }
            }
            ids.push(task);
        }
        let mut pair = Vec::new();
        for spoil in [
            "DELETE FROM task_status_summaries",
            "UPDATE task_status_summaries SET payload =
             '{\"last_activity_at\":\"2024-01-01T00:00:00.000000Z\",\"pending_action\":\"permission\"}'",
        ] {
            lists.story.tamper(sql(spoil)).await?;
            lists.story.tamper(sql("UPDATE tasks SET derived_seq = authority_seq")).await?;
            let before = lists.story.store().statements();
            assert_eq!(lists.hydrate(&ids).await?.len(), size);
            pair.push(lists.story.store().statements() - before);
        }
        counts.push(pair);
    }
    let [one, fifty, batch, page] = counts.as_slice() else {
        anyhow::bail!("four sizes");
    };
    assert_eq!([one, fifty], [batch, batch], "1, 50 and 200 tasks");
    // 500 tasks are three batches: nothing but the list itself is asked once.
    for (page, batch) in page.iter().zip(batch) {
        assert!(page < &(batch * 3), "{counts:?}");
    }
    Ok(())
}
