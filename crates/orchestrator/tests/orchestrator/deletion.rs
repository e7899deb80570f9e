//! Sessions with errors are deleted, one after another and at once, while summaries are repaired (ERR-05, ERR-06).

use crate::world::World;
use anyhow::{Context, Result};
use model::clock::Timestamp;
use model::ids::{SessionId, TaskId};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::open::Store;
use store::sql::sql;
use store::{sessions, summaries};
use testkit::waiting::until;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

testkit::on_every_engine!(crate::world::World =>
    s_11_a_restarted_projector_shows_the_retained_error_once_the_newer_sessions_is_gone,
    err_05_a_deletion_needs_neither_a_restart_nor_a_further_event,
    s_14_no_error_of_sessions_deleted_at_once_comes_back,
    s_14_a_repair_that_loaded_before_the_deletion_restores_nothing,
);

/// Random schedules of one test run. Each is small; together they meet most orders of four commands.
const ROUNDS: u64 = 60;

/// ERR-05, S-11.
async fn s_11_a_restarted_projector_shows_the_retained_error_once_the_newer_sessions_is_gone(
    world: World,
) -> Result<()> {
    let task = world.story.task().await?;
    let kept = world.story.session(&task, None).await?;
    let gone = world.story.session(&task, None).await?;
    let retained = world.fail(&kept, "retained").await?;
    let newer = world.fail(&gone, "newer").await?;
    assert_eq!(world.shown(&task).await?, Some(newer.stamp));
    let before = world.story.stored(&task).await?.context("a summary")?;

    let restarted = world.restarted_projector();
    restarted.converge().await?;
    world.orchestrator.delete_session(&gone).await?;
    let projected = restarted.project(std::slice::from_ref(&task)).await;
    assert_eq!(projected.written, 1);
    let after = world.story.stored(&task).await?.context("a summary")?;
    assert!(before.revision < after.revision);
    let error = after.payload.active_error.context("the retained error")?;
    assert_eq!(
        (error.stamp, error.session_id),
        (retained.stamp, Some(kept))
    );
    Ok(())
}

/// ERR-05.
async fn err_05_a_deletion_needs_neither_a_restart_nor_a_further_event(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let kept = world.story.session(&task, None).await?;
    let gone = world.story.session(&task, None).await?;
    let retained = world.fail(&kept, "retained").await?;
    world.fail(&gone, "newer").await?;
    let stop = CancellationToken::new();
    let running = tokio::spawn(world.projector.clone().run(stop.clone()));
    world.projector.poke(std::slice::from_ref(&task));
    let shows = async |stamp: Option<&str>| {
        until("the row to follow", async || {
            let stored = world.story.stored(&task).await?;
            let error = stored.map(|stored| stored.payload.active_error);
            let shown = error.map(|error| error.map(|error| error.stamp));
            Ok((shown.as_ref().map(Option::as_deref) == Some(stamp)).then_some(()))
        })
        .await
    };
    world.orchestrator.delete_session(&gone).await?;
    shows(Some(&retained.stamp)).await?;
    world.orchestrator.delete_session(&kept).await?;
    shows(None).await?;
    let mut tx = world.story.store().read().await?;
    assert_eq!(sessions::of_task(&mut tx, &task).await?.len(), 0);
    drop(tx);
    stop.cancel();
    running.await?;
    Ok(())
}

/// A small generator: a seed that is printed gives the same schedule again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Lets others go first, a random number of times.
    async fn dawdle(&mut self) {
        for _ in 0..self.below(6) {
            tokio::task::yield_now().await;
        }
    }
}

/// ERR-06, S-14.
async fn s_14_no_error_of_sessions_deleted_at_once_comes_back(world: World) -> Result<()> {
    let world = Arc::new(world);
    let elsewhere = world.elsewhere().await?;
    for seed in 0..ROUNDS {
        round(&world, &elsewhere, seed)
            .await
            .with_context(|| format!("seed {seed}"))?;
    }
    Ok(())
}

async fn round(world: &Arc<World>, elsewhere: &Store, seed: u64) -> Result<()> {
    let mut dice = Dice(seed);
    let task = world.story.task().await?;
    // A session without an error stays primary, so that a row without errors is the row from before them: what was
    // loaded in between looks as if nobody had written since.
    world.story.session(&task, None).await?;
    world.projector.project(std::slice::from_ref(&task)).await;
    let before = world.hub.summaries(&task).len();
    let mut failed = Vec::new();
    for n in 0..2 + dice.below(3) {
        let session = world.story.session(&task, None).await?;
        let error = world.fail(&session, &format!("failure {n}")).await?;
        failed.push((session, error));
    }
    if dice.below(2) == 0 {
        world.projector.project(std::slice::from_ref(&task)).await;
    }
    let mut at_once = JoinSet::new();
    let mut gone = BTreeSet::new();
    for (session, error) in &failed {
        match dice.below(4) {
            0 => {} // it stays
            1 => {
                gone.insert(error.stamp.clone());
                let (world, task, stamp) = (Arc::clone(world), task.clone(), error.stamp.clone());
                let mut dice = Dice(dice.below(u64::MAX));
                at_once.spawn(async move {
                    dice.dawdle().await;
                    world.orchestrator.dismiss_error(&task, &stamp).await
                });
            }
            _ => {
                gone.insert(error.stamp.clone());
                let (world, session) = (Arc::clone(world), session.clone());
                let mut dice = Dice(dice.below(u64::MAX));
                at_once.spawn(async move {
                    dice.dawdle().await;
                    world.orchestrator.delete_session(&session).await
                });
            }
        }
    }
    // Two projectors repair meanwhile, again and again; the other process's is started anew each time.
    for other in [None, Some(elsewhere.clone())] {
        let (world, task) = (Arc::clone(world), task.clone());
        let mut dice = Dice(dice.below(u64::MAX));
        at_once.spawn(async move {
            let mut projector = world.projector.clone();
            for _ in 0..6 {
                if let Some(elsewhere) = &other {
                    projector = world.projector_over(elsewhere);
                }
                dice.dawdle().await;
                projector.project(std::slice::from_ref(&task)).await;
            }
            Ok(())
        });
    }
    while let Some(joined) = at_once.join_next().await {
        joined??;
    }
    marked_as_derived_is_right(world, &task).await?;
    let left = failed.iter().map(|(_, error)| error).rev();
    let expected = left.map(|error| &error.stamp).find(|s| !gone.contains(*s));
    assert_eq!(world.shown(&task).await?.as_ref(), expected);
    only_older_errors_follow(world, &task, before);
    Ok(())
}

/// A row that is marked as derived from all there is says what all there is says: nobody would look at it again.
async fn marked_as_derived_is_right(world: &World, task: &TaskId) -> Result<()> {
    let mut tx = world.story.store().read().await?;
    let query = sql("SELECT derived_seq < authority_seq AS stale FROM tasks WHERE id = $1");
    let stale = tx.one(query.bind(task), "task").await?.truth("stale")?;
    drop(tx);
    if !stale {
        let stored = world.story.stored(task).await?;
        let derived = world.story.derived(task).await?;
        assert_eq!(stored.map(|stored| stored.payload), Some(derived));
    }
    Ok(())
}

/// Nothing failed anew after the revisions from before, so a row can only have gone from newer errors to older ones: one that had gone and came back
/// would stand behind an older one, or behind none.
fn only_older_errors_follow(world: &World, task: &TaskId, before: usize) {
    let shown: Vec<Option<Timestamp>> = world
        .hub
        .summaries(task)
        .into_iter()
        .skip(before)
        .map(|summary| summary.payload.active_error.map(|error| error.occurred_at))
        .collect();
    assert!(
        shown.iter().zip(shown.iter().skip(1)).all(|(a, b)| b <= a),
        "{shown:?}"
    );
}

/// A repair holds what it loaded before both sessions went; it writes afterwards, or not at all.
///
/// ERR-06, S-14.
async fn s_14_a_repair_that_loaded_before_the_deletion_restores_nothing(
    world: World,
) -> Result<()> {
    let world = Arc::new(world);
    let task = world.story.task().await?;
    let mut failed: Vec<SessionId> = Vec::new();
    for text in ["one", "two"] {
        let session = world.story.session(&task, None).await?;
        world.fail(&session, text).await?;
        failed.push(session);
    }
    let before = world.story.store().statements();
    world.story.authority(&task).await?;
    let load = world.story.store().statements() - before;

    // Nothing can be written while this is open, so the repair stops between loading and writing.
    let mut held = world.story.store().write().await?;
    let before = world.story.store().statements();
    let repair = tokio::spawn({
        let (world, task) = (Arc::clone(&world), task.clone());
        async move { world.projector.project(std::slice::from_ref(&task)).await }
    });
    until("the repair to have loaded", async || {
        Ok((before + load <= world.story.store().statements()).then_some(()))
    })
    .await?;
    let seq = {
        let query = sql("SELECT authority_seq FROM tasks WHERE id = $1");
        let row = held.one(query.bind(&task), "task").await?;
        row.int("authority_seq")?
    };
    for session in &failed {
        sessions::remove(&mut held, &task, session).await?;
    }
    held.touch(&task);
    // Another projector was faster: what it wrote is marked as derived from the newer authority.
    summaries::mark_derived(&mut held, &task, seq + 1).await?;
    let _ = held.commit().await?; // nothing to publish
    assert_eq!(repair.await?.failed, []);
    let stored = world.story.stored(&task).await?;
    let error = stored.and_then(|stored| stored.payload.active_error);
    assert_eq!(error, None, "what was loaded before is not written");

    assert_eq!(world.shown(&task).await?, None);
    Ok(())
}
