//! Two projectors that meet at one row, stopped where they meet (PST-02, PST-03), and failures between them (REC-03).

use anyhow::{Context, Result};
use model::bounds;
use model::ids::{SessionId, TaskId};
use model::session::Activity;
use projector::project::Projected;
use projector::running::Projector;
use std::pin::pin;
use std::sync::Arc;
use store::faults::{FaultPoint, Hold};
use store::open::Store;
use store::sessions;
use testkit::recorder::Recorder;
use testkit::story::Story;

testkit::on_every_engine!(
    pst_03_a_value_that_is_current_already_succeeds_without_a_write,
    pst_03_contention_ends_after_its_retries_and_the_next_event_repairs,
    pst_02_a_commit_whose_answer_is_lost_is_published_once,
    rec_03_a_failure_at_any_point_keeps_the_last_value,
);

/// A task, its session, and two servers that project it.
struct Scene {
    story: Story,
    task: TaskId,
    session: SessionId,
    one: Server,
    other: Server,
    generating: bool,
}

struct Server {
    store: Store,
    hub: Arc<Recorder>,
    projector: Projector,
}

impl Server {
    async fn start(story: &Story) -> Result<Self> {
        let store = story.db.open_again().await?;
        let hub = Arc::new(Recorder::default());
        Ok(Self {
            projector: Projector::new(store.clone(), Arc::clone(&hub) as _),
            store,
            hub,
        })
    }

    async fn project(&self, task: &TaskId) -> Projected {
        self.projector.project(std::slice::from_ref(task)).await
    }

    fn hold(&self, point: FaultPoint) -> Hold {
        self.store.faults().hold(point, 1)
    }
}

impl Scene {
    /// The first value is stored and published by the other server.
    async fn begin(story: Story) -> Result<Self> {
        let task = story.task().await?;
        let session = story.session(&task, None).await?;
        let scene = Self {
            one: Server::start(&story).await?,
            other: Server::start(&story).await?,
            story,
            task,
            session,
            generating: false,
        };
        assert_eq!(scene.other.project(&scene.task).await.written, 1);
        Ok(scene)
    }

    /// The summary must say something else now.
    async fn change(&mut self) -> Result<()> {
        self.generating = !self.generating;
        let activity = self.generating.then_some(Activity::Generating);
        let session = &self.session;
        let work = async |tx: &mut store::tx::WriteTx| {
            sessions::set_activity(tx, session, activity, 0).await
        };
        self.story.change(&[&self.task], work).await
    }

    /// Stored is true, and its revision is the newest that was published, once.
    async fn check(&self) -> Result<()> {
        let stored = self.story.stored(&self.task).await?;
        let stored = stored.context("a summary is stored")?;
        assert_eq!(stored.payload, self.story.derived(&self.task).await?);
        let both = [&self.one, &self.other].map(|server| server.hub.summaries());
        let mut revisions: Vec<i64> = both.concat().into_iter().map(|(_, n)| n).collect();
        revisions.sort_unstable();
        let published = revisions.len();
        revisions.dedup();
        assert_eq!(revisions.len(), published, "a revision was published twice");
        assert_eq!(revisions.last(), Some(&stored.revision));
        Ok(())
    }
}

/// PST-03.
async fn pst_03_a_value_that_is_current_already_succeeds_without_a_write(
    story: Story,
) -> Result<()> {
    let mut scene = Scene::begin(story).await?;
    scene.change().await?;
    let hold = scene.one.hold(FaultPoint::BeginWrite);
    let mut late = pin!(scene.one.project(&scene.task));
    tokio::select! {
        _ = &mut late => anyhow::bail!("it was not held"),
        () = hold.reached() => {}
    }
    assert_eq!(scene.other.project(&scene.task).await.written, 1);
    drop(hold);
    let late = late.await;
    assert_eq!((late.written, late.failed.len()), (0, 0));
    assert_eq!(scene.one.hub.summaries(), []);
    let stored = scene.story.stored(&scene.task).await?;
    assert_eq!(late.summaries.get(&scene.task), stored.as_ref());
    scene.check().await
}

/// PST-03, REC-03.
async fn pst_03_contention_ends_after_its_retries_and_the_next_event_repairs(
    story: Story,
) -> Result<()> {
    let mut scene = Scene::begin(story).await?;
    let server = Server::start(&scene.story).await?;
    let task = scene.task.clone();
    let mut hold = server.hold(FaultPoint::BeginWrite);
    let mut late = pin!(server.project(&task));
    // Each time it has loaded, the value it loaded is overtaken.
    for _ in 0..=bounds::PROJECTOR_RETRIES {
        tokio::select! {
            _ = &mut late => anyhow::bail!("it ended too early"),
            () = hold.reached() => {}
        }
        scene.change().await?;
        assert_eq!(scene.other.project(&task).await.written, 1);
        hold = server.hold(FaultPoint::BeginWrite);
    }
    let late = late.await;
    assert_eq!(late.failed, std::slice::from_ref(&task));
    assert_eq!(server.hub.summaries(), []);
    scene.check().await?;

    drop(hold);
    scene.change().await?;
    let next = server.project(&task).await;
    assert_eq!((next.written, next.failed.len()), (1, 0));
    Ok(())
}

/// PST-02: clients that stay connected are told what is stored, by the next look at the task, and not twice.
async fn pst_02_a_commit_whose_answer_is_lost_is_published_once(story: Story) -> Result<()> {
    let mut scene = Scene::begin(story).await?;
    scene.change().await?;
    scene.one.store.faults().fail(FaultPoint::AfterCommit, 1);
    let failed = scene.one.project(&scene.task).await;
    assert_eq!(failed.failed, [scene.task.clone()]);
    assert_eq!(scene.one.hub.summaries(), []);
    let converged = scene.other.projector.converge().await?;
    assert_eq!(converged.tasks, 0, "for everybody else it is done");
    for _ in 0..2 {
        assert_eq!(scene.one.projector.converge().await?.written, 0);
        scene.check().await?;
        assert_eq!(scene.one.hub.summaries().len(), 1);
    }

    // One that did not happen is nothing to publish.
    scene.change().await?;
    scene.one.store.faults().fail(FaultPoint::BeforeCommit, 1);
    let failed = scene.one.project(&scene.task).await;
    assert_eq!(failed.failed, [scene.task.clone()]);
    assert_eq!(scene.other.project(&scene.task).await.written, 1);
    assert_eq!(scene.one.projector.converge().await?.written, 0);
    assert_eq!(scene.one.hub.summaries().len(), 1);
    scene.check().await
}

/// REC-03.
async fn rec_03_a_failure_at_any_point_keeps_the_last_value(story: Story) -> Result<()> {
    let mut scene = Scene::begin(story).await?;
    let mut failures = 0;
    for point in FaultPoint::ALL {
        for nth in 1.. {
            scene.change().await?;
            let before = scene.story.stored(&scene.task).await?;
            scene.one.store.faults().fail(point, nth);
            let projected = scene.one.project(&scene.task).await;
            scene.one.store.faults().disarm();
            let failed = scene.one.store.faults().take_failed();
            if failed.is_empty() {
                assert_eq!(projected.failed, []);
                break;
            }
            failures += 1;
            assert_eq!(projected.failed, [scene.task.clone()]);
            if point != FaultPoint::AfterCommit {
                assert_eq!(scene.story.stored(&scene.task).await?, before);
            }
            let converged = scene.one.projector.converge().await?;
            assert_eq!(converged.failed, 0, "after failing at {point:?}");
            scene.check().await?;
        }
    }
    // One batch reads and writes by several statements; all of them had their turn.
    assert!(
        FaultPoint::ALL.len() + 4 < failures,
        "only {failures} failures"
    );
    Ok(())
}
