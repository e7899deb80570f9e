//! A session with both sides of it: its rows, and the machine by itself. After each step they agree.

use super::happening::Happening;
use super::mind::Mind;
use super::rows;
use super::step::Scene;
use anyhow::{Context, Result, bail, ensure};
use model::clock::{Clock, Timestamp};
use model::turn_machine::facts::Facts;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
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
}

impl<'a> World<'a> {
    /// A task that is to be started, if `intended`, with two sessions.
    pub(super) async fn begin(stage: &'a Stage, intended: bool) -> Result<Self> {
        let story = &stage.story;
        let task = story.task().await?;
        let environment = story.environment(&task, &["project"]).await?;
        let session = story.session(&task, Some(&environment)).await?;
        let sibling = story.session(&task, Some(&environment)).await?;
        if intended {
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
        let world = Self {
            stage,
            mind: Mind::new(&session, intended),
            scene: Scene {
                task,
                session,
                sibling,
                environment,
            },
        };
        world.agree().await?;
        Ok(world)
    }

    /// Lets it happen if it can; says what it came to.
    pub(super) async fn happen(&mut self, happening: &Happening) -> Result<Option<String>> {
        let Some(step) = self.mind.step(&happening.what) else {
            return Ok(None);
        };
        self.stage
            .clock
            .0
            .fetch_add(happening.micros, Ordering::SeqCst);
        let rolls_back = if happening.rolls_back {
            ", rolled back"
        } else {
            ""
        };
        let told = format!("{step:?} after {} µs{rolls_back}", happening.micros);
        let lived = async {
            let mut mind = self.mind.clone();
            let mut tx = self.stage.store.write().await?;
            self.scene.take(&mut tx, &mut mind, &step).await?;
            if happening.rolls_back {
                drop(tx);
            } else {
                let _ = tx.commit().await?; // nobody listens
                self.mind = mind;
            }
            self.agree().await
        };
        lived.await.with_context(|| told.clone())?;
        Ok(Some(told))
    }

    /// The rows say what the machine says: all of them, what is loaded of them, and what people are told of prompts.
    async fn agree(&self) -> Result<()> {
        let mut tx = self.stage.store.read().await?;
        let link: &mut Link = &mut tx;
        let (scene, mind) = (&self.scene, &self.mind);
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
        let told = rows::dispositions(link, scene).await?;
        let mut known = mind.facts.clone();
        known.process = mind.execution;
        let mut expected = BTreeMap::new();
        for id in mind.prompts() {
            let disposition = known.disposition(&id).context("it has a place")?;
            expected.insert(id, disposition);
        }
        ensure!(told == expected, "of prompts: {told:?}, not {expected:?}");
        Ok(())
    }
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
