//! Two servers on one database, and what happens to them.

use crate::change::SessionChange::Busy;
use crate::change::{Change, Pick};
use crate::happening::{Happening, Which};
use crate::hearing::{Air, Client};
use crate::scene::{Scene, chosen};
use anyhow::{Context, Result, ensure};
use model::clock::{Clock, NeverBack, Timestamp};
use model::ids::TaskId;
use model::session::Activity;
use model::summary::TaskStatusSummary;
use projector::project::Projected;
use projector::running::Projector;
use projector::schedule::Schedule;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use store::faults::FaultPoint;
use store::open::Store;
use store::sql::{Statement, sql};
use store::summaries;
use testkit::story::Story;

/// A server, as far as summaries are concerned.
pub(crate) struct Server {
    pub(crate) store: Store,
    pub(crate) projector: Projector,
    schedule: Schedule,
}

/// Two machines write nothing at the same microsecond; standing clocks would. So one has the even, one the odd ones.
struct Odd<C>(Arc<C>, Which);

impl<C: Clock> Clock for Odd<C> {
    fn now(&self) -> Timestamp {
        let mut now = self.0.now();
        while now.as_micros().rem_euclid(2) != i64::from(self.1 == 1) {
            now = self.0.now();
        }
        now
    }
}

/// Everything that a case happens to.
pub(crate) struct World {
    pub(crate) scene: Scene,
    pub(crate) servers: Vec<Server>,
    pub(crate) client: Client,
    pub(crate) air: Arc<Air>,
    wall: Arc<AtomicI64>,
    /// A fault met a projection of this server that is not over yet.
    faulted: [bool; 2],
    /// Time as schedules know it.
    elapsed: Duration,
}

impl World {
    /// Two servers over the database of `story`, in which no task is left.
    pub(crate) async fn begin(story: Arc<Story>) -> Result<Self> {
        for table in ["tasks", "task_environments"] {
            story
                .tamper(Statement::joined(&["DELETE FROM ", table]))
                .await?;
        }
        let start = story.now().as_micros();
        let mut world = Self {
            scene: Scene::new(story),
            servers: Vec::new(),
            client: Client::default(),
            air: Arc::default(),
            wall: Arc::new(AtomicI64::new(start)),
            faulted: [false; 2],
            elapsed: Duration::ZERO,
        };
        for which in 0..2 {
            let server = world.start(which).await?;
            world.servers.push(server);
        }
        Ok(world)
    }

    /// Starts a server as the real one does: a clock that begins after everything stored.
    async fn start(&self, which: Which) -> Result<Server> {
        let wall = Arc::clone(&self.wall);
        let read = move || Timestamp::from_micros(wall.load(Ordering::SeqCst));
        let clock = Arc::new(NeverBack::new(read));
        let handle = Arc::new(Odd(Arc::clone(&clock), which));
        let store = self.scene.story.db.open_with(handle).await?;
        if let Some(latest) = store.latest_time().await? {
            clock.seed(latest);
        }
        Ok(Server {
            projector: Projector::new(store.clone(), Arc::clone(&self.air) as _),
            schedule: Schedule::default(),
            store,
        })
    }

    /// Ends both servers.
    pub(crate) async fn end(self) {
        for server in self.servers {
            server.store.close().await;
        }
    }

    pub(crate) async fn happen(&mut self, what: &Happening) -> Result<()> {
        match what {
            Happening::Change(change) => {
                let touched = self.change(change).await?;
                let elapsed = self.elapsed;
                for task in touched {
                    self.servers[0].schedule.poke(&task, elapsed);
                }
            }
            Happening::Unheard(change) => drop(self.change(change).await?),
            Happening::Poked(which, picks) => {
                let elapsed = self.elapsed;
                for pick in picks {
                    if let Some(task) = chosen(&self.scene.facts.tasks, *pick) {
                        self.servers[*which].schedule.poke(&task, elapsed);
                    }
                }
            }
            Happening::Served(which, ms) => self.serve(*which, *ms).await?,
            Happening::Converged(which) => self.converge(*which).await?,
            Happening::Both => {
                let all = self.all();
                let [one, other] = [0, 1].map(|n| self.servers[n].projector.clone());
                let (one, other) = tokio::join!(one.project(&all), other.project(&all));
                self.check_failed(0, &one)?;
                self.check_failed(1, &other)?;
            }
            Happening::Fault(which, point, nth) => {
                self.servers[*which].store.faults().fail(*point, *nth);
            }
            Happening::Held(which, point, nth, changes, other) => {
                self.hold(*which, *point, *nth, changes, *other).await?;
            }
            Happening::TakenBack(which, pick) => self.take_back(*which, *pick).await?,
            Happening::Killed(which, point, nth) => self.kill(*which, *point, *nth).await?,
            Happening::Restarted(which) => self.restart(*which).await?,
            Happening::Jumped(seconds) => self.jump(*seconds),
            Happening::SummaryLost(pick) => {
                let lose = sql("DELETE FROM task_status_summaries WHERE task_id = $1");
                self.spoil(*pick, lose).await?;
            }
            Happening::SummaryDamaged(pick, old) => {
                let damage = if *old {
                    sql(
                        r#"UPDATE task_status_summaries SET payload = '{"queued_prompt_count":7}' WHERE task_id = $1"#,
                    )
                } else {
                    sql("UPDATE task_status_summaries SET payload = 'torn' WHERE task_id = $1")
                };
                self.spoil(*pick, damage).await?;
            }
        }
        self.hear()
    }

    pub(crate) fn hear(&mut self) -> Result<()> {
        let tasks = &self.scene.facts.tasks;
        self.client.hear(&self.air, |task| tasks.contains_key(task))
    }

    fn all(&self) -> Vec<TaskId> {
        self.scene.facts.tasks.keys().cloned().collect()
    }

    /// Makes a change by the first server; gives the tasks it would poke.
    async fn change(&mut self, change: &Change) -> Result<Vec<TaskId>> {
        let mut after = self.scene.clone();
        let store = self.servers[0].store.clone();
        self.faulted[0] |= !store.faults().take_failed().is_empty();
        let outcome = async {
            let mut tx = store.write().await?;
            after.make(&mut tx, change).await?;
            tx.commit().await
        }
        .await;
        let failed = store.faults().take_failed();
        self.scene.skip_names_of(&after);
        match outcome {
            Ok(committed) => {
                for task in after.facts.tasks.keys() {
                    ensure!(
                        self.scene.facts.summary(task) == after.facts.summary(task)
                            || committed.touched.contains(task),
                        "this change forgot to mark {task}"
                    );
                }
                self.scene = after;
                Ok(committed.touched)
            }
            // It happened, and nobody knows.
            Err(_) if failed.contains(&FaultPoint::AfterCommit) => {
                self.scene = after;
                Ok(Vec::new())
            }
            Err(error) if failed.is_empty() => Err(error).context("a change failed by itself"),
            Err(_) => Ok(Vec::new()),
        }
    }

    async fn serve(&mut self, which: Which, ms: u64) -> Result<()> {
        self.elapsed += Duration::from_millis(ms);
        let due = self.servers[which].schedule.take_due(self.elapsed);
        let projected = self.servers[which].projector.project(&due).await;
        self.check_failed(which, &projected)
    }

    async fn converge(&mut self, which: Which) -> Result<()> {
        let converged = self.servers[which].projector.converge().await;
        if !self.take_faulted(which) {
            let converged = converged.context("converging failed by itself")?;
            ensure!(
                converged.failed == 0,
                "tasks failed by themselves: {converged:?}"
            );
        }
        Ok(())
    }

    fn take_faulted(&mut self, which: Which) -> bool {
        let now = !self.servers[which].store.faults().take_failed().is_empty();
        std::mem::take(&mut self.faulted[which]) || now
    }

    /// Without a fault nothing may fail.
    fn check_failed(&mut self, which: Which, projected: &Projected) -> Result<()> {
        let faulted = self.take_faulted(which);
        let failed = &projected.failed;
        ensure!(
            faulted || failed.is_empty(),
            "tasks failed by themselves: {failed:?}"
        );
        Ok(())
    }

    /// Projects everything, held at a point while changes are made and perhaps the other server projects.
    async fn hold(
        &mut self,
        which: Which,
        point: FaultPoint,
        nth: u32,
        changes: &[Change],
        other: bool,
    ) -> Result<()> {
        let all = self.all();
        let hold = self.servers[which].store.faults().hold(point, nth);
        let projector = self.servers[which].projector.clone();
        let mut projecting = pin!(projector.project(&all));
        let done = tokio::select! {
            biased;
            done = &mut projecting => Some(done),
            () = hold.reached() => None,
        };
        // Who was not held is not to be held later either.
        let hold = done.is_none().then_some(hold);
        for change in changes {
            drop(self.change(change).await?);
        }
        if other {
            let all = self.all();
            let projected = self.servers[1 - which].projector.project(&all).await;
            self.check_failed(1 - which, &projected)?;
        }
        drop(hold);
        let projected = match done {
            Some(done) => done,
            None => projecting.await,
        };
        self.check_failed(which, &projected)
    }

    async fn take_back(&mut self, which: Which, pick: Pick) -> Result<()> {
        let Some(id) = chosen(&self.scene.facts.sessions, pick) else {
            return Ok(());
        };
        let before = self.scene.facts.sessions[&id].clone();
        let busy = Change::Session(Busy(pick, Some(Activity::Generating), 2));
        let over = Change::Session(Busy(pick, before.activity, before.subagents));
        drop(self.change(&busy).await?);
        self.hold(which, FaultPoint::BeginWrite, 1, &[over], true)
            .await
    }

    /// Projects everything, and is killed at a point.
    async fn kill(&mut self, which: Which, point: FaultPoint, nth: u32) -> Result<()> {
        let all = self.all();
        let projector = self.servers[which].projector.clone();
        {
            let hold = self.servers[which].store.faults().hold(point, nth);
            let projecting = pin!(projector.project(&all));
            tokio::select! {
                biased;
                _ = projecting => {}
                () = hold.reached() => {}
            }
        }
        self.restart(which).await
    }

    /// A server starts again, and whoever was connected to it lists again.
    async fn restart(&mut self, which: Which) -> Result<()> {
        self.servers[which].store.close().await;
        self.servers[which] = self.start(which).await?;
        self.hear()?;
        self.client.list(&self.stored().await?)
    }

    /// A row made anew gets its revision from the clock. Whoever loses rows and sets the clock back loses revisions;
    /// that is not asked of it.
    fn jump(&self, seconds: i64) {
        if 0 < seconds || !self.client.waits_for_repeat() {
            self.wall.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
        }
    }

    /// Moves the wall clock past everything.
    pub(crate) fn move_on(&self) {
        let latest = self.servers.iter().map(|server| server.store.now());
        let latest = latest.max().map_or(0, Timestamp::as_micros);
        self.wall.fetch_max(latest + 1_000_000, Ordering::SeqCst);
    }

    async fn spoil(&mut self, pick: Pick, statement: Statement) -> Result<()> {
        let Some(task) = chosen(&self.scene.facts.tasks, pick) else {
            return Ok(());
        };
        self.move_on();
        if self.scene.story.tamper(statement.bind(&task)).await? == 1 {
            self.client.may_repeat(task);
        }
        Ok(())
    }

    /// All stored summaries that can be read.
    pub(crate) async fn stored(&self) -> Result<BTreeMap<TaskId, TaskStatusSummary>> {
        let mut tx = self.scene.story.store().read().await?;
        let stored = summaries::of_tasks(&mut tx, &self.all()).await?;
        Ok(stored.into_iter().collect())
    }
}
