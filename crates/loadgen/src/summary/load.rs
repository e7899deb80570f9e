//! Loading the authority of 1,000 tasks, beside plain SELECTs of the same rows.

use super::name;
use crate::table::{Table, median, ms, ratio};
use crate::world::World;
use anyhow::Result;
use model::bounds;
use model::ids::TaskId;
use std::hint::black_box;
use std::time::{Duration, Instant};
use store::authority;
use store::open::Store;
use store::sql::sql_in;
use testkit::store::Engine;
use testkit::story::Story;

/// Tasks that are loaded in one round, and rounds.
const TASKS: i64 = 1000;
const ROUNDS: usize = 15;

/// The rows that an authority is made of, by statements that decide nothing: no current turn, no newest observation.
const BARE: [&str; 7] = [
    "SELECT id, workspace_id, created_at, last_activity_at, authority_seq, launch_error_stamp FROM tasks
     WHERE id IN ({})",
    "SELECT id, task_id, state, is_primary, foreground_activity, active_subagent_count, error_stamp,
            error_occurred_at, error_preview, error_category, error_actions FROM task_sessions WHERE task_id IN ({})",
    "SELECT m.session_id, m.type, m.turn_id, m.created_at FROM task_sessions s
     JOIN task_session_messages m ON m.session_id = s.id AND m.type = 'clarification_request'
     WHERE s.task_id IN ({})",
    "SELECT s.id, max(u.started_at) AS newest FROM task_sessions s JOIN task_session_turns u ON u.session_id = s.id
     WHERE s.task_id IN ({}) GROUP BY s.id",
    "SELECT b.task_id, r.environment_id, r.repository_name FROM task_environment_bindings b
     JOIN task_environment_repos r ON r.environment_id = b.environment_id WHERE b.task_id IN ({})",
    "SELECT g.task_environment_id, g.ahead, g.behind, g.metadata FROM task_environment_bindings b
     JOIN task_session_git_snapshots g ON g.task_environment_id = b.environment_id WHERE b.task_id IN ({})",
    "SELECT task_id, revision, payload, updated_at FROM task_status_summaries WHERE task_id IN ({})",
];

/// Prints the cost of a batch load on each engine.
pub(super) async fn measure(engines: &[Engine]) -> Result<()> {
    let mut table = Table::new(
        "Loading the authority of 1,000 tasks, in batches of 200",
        &["engine", "load", "plain SELECTs", "ratio", "statements"],
    );
    for &engine in engines {
        let story = Story::on(engine).await?;
        let store = story.store();
        let world = World::find(store).await?;
        world.fill(store, TASKS).await?;
        world.settle(store).await?;
        let ids = world.ids(store).await?;
        let (mut loads, mut plain) = (Vec::new(), Vec::new());
        let before = store.statements();
        load(store, &ids).await?;
        let statements = store.statements() - before;
        for _ in 0..ROUNDS {
            loads.push(load(store, &ids).await?);
            plain.push(bare(store, &ids).await?);
        }
        let (loads, plain) = (median(loads), median(plain));
        table.row(vec![
            name(engine).to_owned(),
            ms(loads),
            ms(plain),
            ratio(loads, plain),
            statements.to_string(),
        ]);
    }
    table.print();
    Ok(())
}

async fn load(store: &Store, ids: &[TaskId]) -> Result<Duration> {
    let begin = Instant::now();
    for batch in ids.chunks(bounds::PROJECTOR_BATCH) {
        let mut tx = store.read().await?;
        black_box(authority::load(&mut tx, batch).await?);
    }
    Ok(begin.elapsed())
}

async fn bare(store: &Store, ids: &[TaskId]) -> Result<Duration> {
    let begin = Instant::now();
    for batch in ids.chunks(bounds::PROJECTOR_BATCH) {
        let mut tx = store.read().await?;
        for text in BARE {
            let rows = tx.all(sql_in(text, batch.iter().map(TaskId::as_str)));
            black_box(rows.await?);
        }
    }
    Ok(begin.elapsed())
}
