//! Deriving and serialising, with everything loaded.

use crate::table::{Table, median};
use crate::world::World;
use anyhow::Result;
use model::ids::TaskId;
use std::hint::black_box;
use std::time::{Duration, Instant};
use store::authority;
use testkit::store::Engine;
use testkit::story::Story;

/// Tasks that are derived in one round, and rounds.
const TASKS: i64 = 1000;
const ROUNDS: usize = 51;

/// Prints the cost per task.
pub(super) async fn measure() -> Result<()> {
    let story = Story::on(Engine::Sqlite).await?;
    let world = World::find(story.store()).await?;
    world.fill(story.store(), TASKS).await?;
    let ids: Vec<TaskId> = world.ids(story.store()).await?;
    let mut tx = story.store().read().await?;
    let loaded = authority::load(&mut tx, &ids).await?;
    let mut derive = Vec::new();
    let mut text = Vec::new();
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let payloads: Vec<_> = loaded
            .iter()
            .map(|task| summary::derive::derive(black_box(&task.authority)))
            .collect();
        derive.push(begin.elapsed());
        let begin = Instant::now();
        bytes = payloads
            .iter()
            .map(|payload| black_box(summary::semantic::json(payload)).len())
            .sum();
        text.push(begin.elapsed());
    }
    let per_task = |samples| {
        let whole: Duration = median(samples);
        format!("{:.0}", whole.as_secs_f64() * 1e9 / loaded.len() as f64)
    };
    let mut table = Table::new("One task, everything loaded", &["step", "ns per task"]);
    table.row(vec!["derive".to_owned(), per_task(derive)]);
    table.row(vec!["canonical text".to_owned(), per_task(text)]);
    table.row(vec![
        "(bytes of that text)".to_owned(),
        format!("{:.0}", bytes as f64 / loaded.len() as f64),
    ]);
    table.print();
    Ok(())
}
