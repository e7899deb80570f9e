//! A session with both sides of it: its rows, and the machine by itself. After each step they agree.

use super::happening::{Beginning, Fate, Happening};
use super::mind::{Mind, Step};
use super::rows;
use super::step::{Scene, Teller};
use super::told::{self, Seen};
use anyhow::{Context, Result, bail, ensure};
use model::clock::{Clock, Timestamp};
use model::turn_machine::facts::Facts;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use store::faults::FaultPoint;
use store::open::Store;
use store::sql::{Link, sql};
use store::tasks::{self, LaunchIntent};
use testkit::story::Story;

/// A clock that stands still until it is moved, and says the same time again meanwhile.
#[derive(Clone)]
struct Standing(Arc<AtomicI64>);

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// A database for many cases.
pub(super) struct Stage {
    story: Story,
    store: Store,
    clock: Standing,
}

impl Stage {
    pub(super) async fn on(story: Story) -> Result<Self> {
        let clock = Standing(Arc::new(AtomicI64::new(story.now().as_micros())));
        let store = story.db.open_with(Arc::new(clock.clone())).await?;
        Ok(Self {
            story,
            store,
            clock,
        })
    }
}

/// One case.
pub(super) struct World<'a> {
    stage: &'a Stage,
    scene: Scene,
    mind: Mind,
    /// What clients can see of it.
    seen: Seen,
}

impl<'a> World<'a> {
    /// A task with two sessions.
    pub(super) async fn begin(stage: &'a Stage, beginning: Beginning) -> Result<Self> {
        let story = &stage.story;
        let task = story.task().await?;
        let environment = story.environment(&task, &["project"]).await?;
        let session = story.session(&task, Some(&environment)).await?;
        let sibling = story.session(&task, Some(&environment)).await?;
        if beginning.intended {
            let intent = LaunchIntent {
                agent_profile_id: None,
                prompt: "Begin.".to_owned(),
            };
            story
                .change(&[&task], async |tx| {
                    tasks::set_launch_intent(tx, &task, Some(&intent)).await
                })
                .await?;
        }
        let mind = Mind::new(&session, beginning);
        let scene = Scene {
            task,
            session,
            sibling,
            environment,
        };
        Ok(Self {
            stage,
            seen: agree(stage, &scene, &mind).await?,
            scene,
            mind,
        })
    }

    /// Lets it happen if it can; says what it came to.
    pub(super) async fn happen(&mut self, happening: &Happening) -> Result<Option<String>> {
        let Some(step) = self.mind.step(&happening.what) else {
            return Ok(None);
        };
        let fate = happening.fate;
        let micros = self.mind.passes(happening);
        self.stage.clock.0.fetch_add(micros, Ordering::SeqCst);
        let told = format!("{step:?}, {micros} µs later, {fate:?}");
        self.live(&step, fate).await.with_context(|| told.clone())?;
        Ok(Some(told))
    }

    async fn live(&mut self, step: &Step, fate: Fate) -> Result<()> {
        let store = &self.stage.store;
        if let Fate::Fails(point, nth) = fate {
            store.faults().fail(point, nth);
        }
        let mut mind = self.mind.clone();
        let mut tx = store.write().await?;
        let committed = match self.scene.take(&mut tx, &mut mind, step).await {
            Ok(teller) if !matches!(fate, Fate::RollsBack) => {
                let committed = tx.commit().await;
                committed
                    .map(|done| Some((teller, done)))
                    .map_err(Into::into)
            }
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        };
        store.faults().disarm();
        let (happened, done) = match (store.faults().take_failed().as_slice(), committed) {
            ([], committed) => committed.map(|done| (done.is_some(), done))?,
            // It is stored, and whoever did it does not know.
            ([FaultPoint::AfterCommit], Err(_)) => (true, None),
            ([_], Err(_)) => (false, None),
            (failed, _) => bail!("it went on when the store failed: {failed:?}"),
        };
        if happened {
            self.mind = mind;
        }
        let now = self.agree().await?;
        if let Some((teller, done)) = done {
            if teller != Teller::Nobody {
                told::is_true(&done.events, &now)?;
            }
            if teller == Teller::Plan {
                told::is_all(&done, &self.seen, &now)?;
            }
        }
        self.seen = now;
        Ok(())
    }

    async fn agree(&self) -> Result<Seen> {
        agree(self.stage, &self.scene, &self.mind).await
    }
}

/// The rows say what the machine says: all of them, what is loaded of them, and what people are told of prompts.
async fn agree(stage: &Stage, scene: &Scene, mind: &Mind) -> Result<Seen> {
    let mut tx = stage.store.read().await?;
    let link: &mut Link = &mut tx;
    same(
        "all rows",
        &rows::all(link, scene, mind).await?,
        &mind.facts,
    )?;
    same(
        "what is loaded",
        &scene.loaded(link, mind).await?,
        &mind.loadable(),
    )?;
    let noted = sql("SELECT id FROM executors_running WHERE session_id = $1");
    let noted = link.maybe(noted.bind(&scene.session)).await?.is_some();
    ensure!(noted == mind.execution, "a process is noted: {noted}");
    let seen = Seen::now(link, scene).await?;
    let mut known = mind.facts.clone();
    known.process = mind.execution;
    let mut expected = BTreeMap::new();
    for id in mind.prompts() {
        let disposition = known.disposition(&id).context("it has a place")?;
        expected.insert(id, disposition);
    }
    let told = seen.dispositions()?;
    ensure!(told == expected, "of prompts: {told:?}, not {expected:?}");
    Ok(seen)
}

/// Both, field by field.
fn same(what: &str, stored: &Facts, machine: &Facts) -> Result<()> {
    if stored == machine {
        return Ok(());
    }
    let fields = |facts: &Facts| {
        [
            ("session", format!("{:?}", facts.session)),
            ("resumable", format!("{:?}", facts.resumable)),
            ("process", format!("{:?}", facts.process)),
            ("stopping", format!("{:?}", facts.stopping)),
            ("activity", format!("{:?}", facts.activity)),
            ("subagents", format!("{:?}", facts.subagents)),
            ("turns", format!("{:#?}", facts.turns)),
            ("queue", format!("{:?}", facts.queue)),
            ("prompts", format!("{:#?}", facts.prompts)),
            ("permissions", format!("{:#?}", facts.permissions)),
            ("questions", format!("{:#?}", facts.questions)),
            ("task", format!("{:?}", facts.task)),
        ]
    };
    let both = fields(stored).into_iter().zip(fields(machine));
    let other: Vec<String> = both
        .filter(|(stored, machine)| stored != machine)
        .map(|((field, stored), (_, machine))| {
            format!("{field}: the rows say {stored}, the machine says {machine}")
        })
        .collect();
    bail!("{what}: {}", other.join("\n"))
}
