//! The start after a hard end: sessions to repair, every summary to look at, nothing served before.

use super::{Options, name};
use crate::place::Place;
use crate::table::{Table, ms};
use crate::world::World;
use anyhow::Result;
use std::time::Instant;

/// Tasks that are stale, and sessions that a killed server left running.
const CASES: [(i64, i64); 3] = [(1_000, 50), (10_000, 500), (100_000, 5_000)];

/// Prints how long the server takes until it is ready.
pub(super) async fn measure(options: &Options) -> Result<()> {
    let mut table = Table::new(
        "A start that has to repair, beside the next one, which has not",
        &[
            "engine",
            "tasks stale",
            "sessions to repair",
            "ready",
            "ready again",
            "difference",
            "µs per task",
        ],
    );
    let largest = options.sizes.iter().max().copied().unwrap_or(0);
    for &engine in &options.engines {
        for (tasks, sessions) in CASES {
            if largest < tasks {
                continue;
            }
            let mut place = Place::new(engine, &options.server).await?;
            let store = place.open().await?;
            let world = World::find(&store).await?;
            world.fill(&store, tasks).await?;
            world.interrupt(&store, sessions).await?;
            store.close().await;
            let begin = Instant::now();
            place.server.launch().await?;
            let ready = begin.elapsed();
            place.server.stop().await?;
            let begin = Instant::now();
            place.server.launch().await?;
            let again = begin.elapsed();
            place.server.stop().await?;
            let difference = ready.saturating_sub(again);
            table.row(vec![
                name(engine).to_owned(),
                tasks.to_string(),
                sessions.to_string(),
                ms(ready),
                ms(again),
                ms(difference),
                format!("{:.0}", difference.as_secs_f64() * 1e6 / tasks as f64),
            ]);
        }
    }
    table.print();
    Ok(())
}
