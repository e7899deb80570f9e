//! What a browser that has just opened costs: boot, then every page of the task list, beside a plain SELECT and its
//! JSON of the same rows.

use super::{Options, name};
use crate::page::Page;
use crate::place::Place;
use crate::table::{Table, median, ms, ratio};
use crate::world::World;
use anyhow::Result;
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::{Duration, Instant};
use store::open::Store;
use store::sql::sql;

/// Lists per size.
const ROUNDS: usize = 5;

/// Prints how boot and lists grow.
pub(super) async fn measure(options: &Options) -> Result<()> {
    let mut table = Table::new(
        "A settled database: boot and task.list to the last page",
        &[
            "engine",
            "tasks",
            "ready",
            "boot",
            "boot KiB",
            "lists",
            "MiB",
            "pages",
            "plain",
            "plain MiB",
            "ratio",
            "µs per task",
        ],
    );
    for &engine in &options.engines {
        for &tasks in &options.sizes {
            let mut place = Place::new(engine, &options.server).await?;
            let store = place.open().await?;
            let world = World::find(&store).await?;
            world.fill(&store, tasks).await?;
            world.settle(&store).await?;
            let begin = Instant::now();
            place.server.launch().await?;
            let ready = begin.elapsed();
            let (boot, boot_bytes) = Page::boot(&place.server).await?;
            let mut page = Page::open(&place.server).await?;
            let (mut lists, mut plains) = (Vec::new(), Vec::new());
            let (mut bytes, mut pages, mut plain_bytes) = (0, 0, 0);
            for _ in 0..ROUNDS {
                let begin = Instant::now();
                (pages, bytes) = page.lists(&world.workspace).await?;
                lists.push(begin.elapsed());
                let (took, size) = plain(&store, &world).await?;
                plains.push(took);
                plain_bytes = size;
            }
            let (lists, plains) = (median(lists), median(plains));
            let mib = |bytes: usize| format!("{:.1}", bytes as f64 / (1024.0 * 1024.0));
            table.row(vec![
                name(engine).to_owned(),
                tasks.to_string(),
                ms(ready),
                ms(boot),
                (boot_bytes / 1024).to_string(),
                ms(lists),
                mib(bytes),
                pages.to_string(),
                ms(plains),
                mib(plain_bytes),
                ratio(lists, plains),
                format!("{:.1}", lists.as_secs_f64() * 1e6 / tasks as f64),
            ]);
            store.close().await;
            place.server.stop().await?;
        }
    }
    table.print();
    Ok(())
}

/// The same rows with nothing decided: what is stored, as JSON text.
async fn plain(store: &Store, world: &World) -> Result<(Duration, usize)> {
    let begin = Instant::now();
    let mut tx = store.read().await?;
    let query = sql(
        "SELECT t.*, b.environment_id, r.id AS environment_repository_id, r.display_name, r.branch, a.id AS
                attached_id, a.repository_id, a.base_branch, s.revision AS summary_revision, s.payload,
                s.updated_at AS summary_updated_at
         FROM tasks t LEFT JOIN task_environment_bindings b ON b.task_id = t.id
         LEFT JOIN task_environment_repos r ON r.environment_id = b.environment_id
         LEFT JOIN task_repositories a ON a.task_id = t.id
         LEFT JOIN task_status_summaries s ON s.task_id = t.id
         WHERE t.workspace_id = $1 AND t.archived_at IS NULL ORDER BY t.id DESC",
    );
    let rows = tx.all(query.bind(&world.workspace)).await?;
    let mut bytes = 0;
    for row in &rows {
        let payload: Option<String> = row.maybe_text("payload")?;
        let payload: Value = payload.map_or(Ok(Value::Null), |text| serde_json::from_str(&text))?;
        let task = json!({
            "id": row.text("id")?, "workspace_id": row.text("workspace_id")?,
            "workflow_id": row.text("workflow_id")?, "step_id": row.text("step_id")?,
            "revision": row.int("revision")?, "title": row.text("title")?,
            "description": row.text("description")?, "state": row.text("state")?,
            "position": row.int("position")?, "priority": row.int("priority")?,
            "created_at": row.int("created_at")?, "updated_at": row.int("updated_at")?,
            "repositories": [{ "id": row.maybe_text("attached_id")?,
                "repository_id": row.maybe_text("repository_id")?, "base_branch": row.maybe_text("base_branch")? }],
            "environments": [{ "id": row.maybe_text("environment_id")?, "repositories": [{
                "id": row.maybe_text("environment_repository_id")?, "display_name": row.maybe_text("display_name")?,
                "branch": row.maybe_text("branch")? }] }],
            "status_summary": { "revision": row.maybe_int("summary_revision")?,
                "updated_at": row.maybe_int("summary_updated_at")?, "payload": payload },
        });
        bytes += black_box(task.to_string()).len();
    }
    Ok((begin.elapsed(), bytes))
}
