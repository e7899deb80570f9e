//! From a committed change to the published summary.

use super::name;
use crate::table::{Table, median, ms};
use crate::world::World;
use anyhow::{Context as _, Result};
use model::event::{Event, EventHub};
use model::ids::TaskId;
use projector::running::Projector;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::sql::sql;
use testkit::store::Engine;
use testkit::story::Story;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many tasks change at once, and how often that is repeated.
const SIZES: [(i64, usize); 3] = [(1, 31), (100, 11), (10_000, 3)];

/// Says when each summary was published.
struct Clocked(mpsc::UnboundedSender<Instant>);

impl EventHub for Clocked {
    fn publish(&self, event: &Event) {
        if matches!(event, Event::Summary { .. }) {
            let _ = self.0.send(Instant::now()); // the measure is over when nobody listens
        }
    }
}

/// Prints when the first, the middle and the last summary of a change were out.
pub(super) async fn measure(engines: &[Engine]) -> Result<()> {
    let mut table = Table::new(
        "From the end of a commit that changes n tasks to their published summaries",
        &["engine", "n", "first", "middle", "last", "µs per task"],
    );
    for &engine in engines {
        let story = Story::on(engine).await?;
        let store = story.store();
        let world = World::find(store).await?;
        world
            .fill(store, SIZES.iter().map(|&(n, _)| n).max().unwrap_or(1))
            .await?;
        world.settle(store).await?;
        let ids = world.ids(store).await?;
        let (sender, mut published) = mpsc::unbounded_channel();
        let projector = Projector::new(store.clone(), Arc::new(Clocked(sender)));
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(projector.clone().run(shutdown.clone()));
        let mut value = 0;
        for (n, rounds) in SIZES {
            let n = usize::try_from(n)?;
            let (mut first, mut middle, mut last) = (Vec::new(), Vec::new(), Vec::new());
            for round in 0..rounds {
                // Other tasks each time, as far as there are: the second change of one is held back for a moment.
                let begin = round * n % ids.len();
                let changed = ids.get(begin..begin + n).context("too few tasks")?;
                value += 1; // never one that a task has already: that would be no change
                let begin = change(&story, &projector, changed, value).await?;
                let mut times = Vec::with_capacity(changed.len());
                for _ in changed {
                    times.push(published.recv().await.context("nobody publishes")? - begin);
                }
                first.extend(times.first());
                last.extend(times.last());
                middle.push(median(times));
            }
            let last: Duration = median(last);
            table.row(vec![
                name(engine).to_owned(),
                n.to_string(),
                ms(median(first)),
                ms(median(middle)),
                ms(last),
                format!("{:.0}", last.as_secs_f64() * 1e6 / n as f64),
            ]);
        }
        shutdown.cancel();
        running.await?;
    }
    table.print();
    Ok(())
}

/// Changes what the summaries of these tasks say, in one transaction; gives the moment at which that was committed.
async fn change(
    story: &Story,
    projector: &Projector,
    ids: &[TaskId],
    value: i64,
) -> Result<Instant> {
    let mut tx = story.store().write().await?;
    // Ids are consecutive, so a range names them.
    let (first, last) = (
        ids.first().context("no task")?,
        ids.last().context("no task")?,
    );
    let count = sql(
        "UPDATE task_sessions SET active_subagent_count = $3 WHERE task_id >= $1 AND task_id <= $2 AND is_primary",
    );
    tx.execute(count.bind(first).bind(last).bind(value)).await?;
    let stale =
        sql("UPDATE tasks SET authority_seq = authority_seq + 1 WHERE id >= $1 AND id <= $2");
    tx.execute(stale.bind(first).bind(last)).await?;
    let _ = tx.commit().await?; // poked below
    let committed = Instant::now();
    projector.poke(ids);
    Ok(committed)
}
