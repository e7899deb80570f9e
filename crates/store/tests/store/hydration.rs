//! What a list doubts (PEN-07, SUM-10), and what it costs to find out (PST-04).

use anyhow::Result;
use model::bounds;
use model::ids::TaskId;
use model::summary::{PendingAction, SummaryPayload};
use store::hydration::{self, Doubts, OpenRequests};
use store::sql::{Statement, sql};
use store::summaries::{self, CompareOutcome};
use store::tasks;
use testkit::story::Story;

testkit::on_every_engine!(
    pen_07_each_reason_to_doubt_a_summary_is_found_and_nothing_else,
    pen_07_a_permission_and_its_time_outrank_questions,
    pst_04_what_is_doubted_is_found_by_one_more_statement,
    gwy_07_a_page_loads_no_more_text_than_it_can_send,
    pen_07_a_task_that_cannot_be_read_harms_no_other_of_its_list,
);

/// Stores what authority says, so that nothing about it is doubted.
async fn settle(story: &Story, task: &TaskId) -> Result<SummaryPayload> {
    let loaded = story.authority(task).await?;
    let payload = summary::derive::derive(&loaded.authority);
    story
        .change(&[], async |tx| {
            let (now, seen) = (tx.now(), loaded.stored.as_ref());
            let workspace = &story.workspace;
            let outcome =
                summaries::compare_and_update(tx, task, workspace, seen, &payload, now).await?;
            assert_ne!(outcome, CompareOutcome::Stale);
            summaries::mark_derived(tx, task, loaded.authority_seq).await
        })
        .await?;
    Ok(payload)
}

/// What a list of these tasks doubts, and what they wait for.
async fn look(story: &Story, ids: &[TaskId]) -> Result<(Doubts, OpenRequests)> {
    let mut tx = story.store().read().await?;
    let listed = tasks::load_listed(&mut tx, ids).await?.listed;
    let open = hydration::open_requests(&mut tx, ids).await?;
    // Without an answer about requests, no request is a reason.
    let blind = hydration::doubts(&listed, None);
    assert!(blind.len() <= hydration::doubts(&listed, Some(&open)).len());
    Ok((hydration::doubts(&listed, Some(&open)), open))
}

/// Stores a payload by hand, as an older version or a damaged row has it; nothing marks it.
fn overwrite(task: &TaskId, payload: &SummaryPayload) -> Statement {
    sql("UPDATE task_status_summaries SET payload = $2 WHERE task_id = $1")
        .bind(task)
        .bind(summary::semantic::json(payload))
}

/// PEN-07, SUM-10.
async fn pen_07_each_reason_to_doubt_a_summary_is_found_and_nothing_else(
    story: Story,
) -> Result<()> {
    let mut all = Vec::new();
    let mut payloads = Vec::new();
    for n in 0..9 {
        let task = story.task().await?;
        let session = story.session(&task, None).await?;
        let (turn, _) = story.prompt(&session, "go").await?;
        if n % 2 == 0 {
            story.question(&session, &turn).await?;
        }
        payloads.push(settle(&story, &task).await?);
        all.push(task);
    }
    assert!(look(&story, &all).await?.0.is_empty(), "all are believed");

    // Without a row; unreadable; without a milestone in it; without one in the task.
    let gone = sql("DELETE FROM task_status_summaries WHERE task_id = $1");
    story.tamper(gone.bind(&all[0])).await?;
    let damage = sql("UPDATE task_status_summaries SET payload = '{\"git\":7}' WHERE task_id = $1");
    story.tamper(damage.bind(&all[1])).await?;
    let undated = SummaryPayload {
        last_activity_at: None,
        ..payloads[2].clone()
    };
    story.tamper(overwrite(&all[2], &undated)).await?;
    let column = sql("UPDATE tasks SET last_activity_at = NULL WHERE id = $1");
    story.tamper(column.bind(&all[3])).await?;
    // Shown as waiting though it does not; not shown though it waits; since another time. Marked stale.
    let asks = SummaryPayload {
        pending_action: Some(PendingAction::Clarification),
        pending_since: Some(story.now()),
        ..payloads[5].clone()
    };
    story.tamper(overwrite(&all[5], &asks)).await?;
    let silent = SummaryPayload {
        pending_action: None,
        pending_since: None,
        ..payloads[4].clone()
    };
    story.tamper(overwrite(&all[4], &silent)).await?;
    let later = SummaryPayload {
        pending_since: Some(story.now()),
        ..payloads[6].clone()
    };
    story.tamper(overwrite(&all[6], &later)).await?;
    story.change(&[&all[7]], async |_| Ok(())).await?;

    let (doubts, _) = look(&story, &all).await?;
    assert_eq!(doubts.lacking, all[..4]);
    assert_eq!(doubts.differing, all[4..8]);
    assert_eq!(doubts.len(), 8, "the ninth is believed");
    Ok(())
}

/// PEN-07.
async fn pen_07_a_permission_and_its_time_outrank_questions(story: Story) -> Result<()> {
    let task = story.task().await?;
    let mut expected = None;
    for n in 0..3 {
        let session = story.session(&task, None).await?;
        let (turn, _) = story.prompt(&session, "go").await?;
        story.question(&session, &turn).await?;
        if 0 < n {
            story.permission(&session, &turn).await?;
        }
        let derived = story.derived(&task).await?;
        let (_, open) = look(&story, std::slice::from_ref(&task)).await?;
        let waits = open.get(&task).copied();
        assert_eq!(waits, derived.pending_action.zip(derived.pending_since));
        assert!(
            waits.is_some() && (waits != expected || n == 2),
            "{n}: {waits:?}"
        );
        expected = waits;
    }
    assert_eq!(
        expected.map(|(action, _)| action),
        Some(PendingAction::Permission)
    );
    Ok(())
}

/// PST-04.
async fn pst_04_what_is_doubted_is_found_by_one_more_statement(story: Story) -> Result<()> {
    let mut ids: Vec<TaskId> = Vec::new();
    let mut counts = Vec::new();
    for size in [1, 50, 500] {
        while ids.len() < size {
            let task = story.task().await?;
            // Some with many sessions and requests, most with none.
            for _ in 0..(ids.len() % 7) / 5 * 3 {
                let session = story.session(&task, None).await?;
                let (turn, _) = story.prompt(&session, "go").await?;
                story.permission(&session, &turn).await?;
                story.question(&session, &turn).await?;
            }
            ids.push(task);
        }
        let before = story.store().statements();
        let mut tx = story.store().read().await?;
        let page = tasks::page(&mut tx, &story.workspace, None, false, None, 500).await?;
        let listed = tasks::load_listed(&mut tx, &page).await?.listed;
        let listing = story.store().statements();
        let open = hydration::open_requests(&mut tx, &page).await?;
        assert_eq!(story.store().statements() - listing, 1);
        counts.push(story.store().statements() - before);
        assert_eq!(hydration::doubts(&listed, Some(&open)).lacking.len(), size);
    }
    assert_eq!(counts, [counts[0]; 3], "statements at 1, 50 and 500 tasks");
    assert!(counts[0] <= 5, "{counts:?}");
    Ok(())
}

/// GWY-07.
async fn gwy_07_a_page_loads_no_more_text_than_it_can_send(story: Story) -> Result<()> {
    let page = async || {
        let mut tx = story.store().read().await?;
        anyhow::Ok(tasks::page(&mut tx, &story.workspace, None, false, None, 50).await?)
    };
    let long = "d".repeat(bounds::PAGE_BYTES * 2 / 3);
    let mut made = Vec::new();
    for n in 1..=5 {
        let task = story.task().await?;
        story
            .change(&[&task], async |tx| {
                let now = tx.now();
                tasks::set_facts(tx, &task, None, Some(&long), None, now).await
            })
            .await?;
        made.insert(0, task);
        // Two are more than a page holds; the third says that there is more.
        assert_eq!(page().await?, made[..n.min(3)]);
    }
    Ok(())
}

/// PEN-07.
async fn pen_07_a_task_that_cannot_be_read_harms_no_other_of_its_list(story: Story) -> Result<()> {
    let mut all = Vec::new();
    let mut environments = Vec::new();
    for _ in 0..4 {
        let task = story.task().await?;
        environments.push(story.environment(&task, &["root", "docs"]).await?);
        settle(&story, &task).await?;
        all.push(task);
    }
    // One's own word, a word of an environment it binds, the name of a repository that it is about.
    let state = sql("UPDATE tasks SET state = 'DREAMING' WHERE id = $1");
    story.tamper(state.bind(&all[0])).await?;
    let environment = sql("UPDATE task_environments SET state = 'lost' WHERE id = $1");
    story.tamper(environment.bind(&environments[2])).await?;
    let attach = sql(
        "INSERT INTO task_repositories (id, task_id, repository_id, position)
                      SELECT '', $1, id, 0 FROM repositories LIMIT 1",
    );
    story.tamper(attach.bind(&all[3])).await?;

    let mut tx = story.store().read().await?;
    let mut ids = all.clone();
    ids.push(TaskId::generate()); // gone meanwhile: in neither part
    let listing = tasks::load_listed(&mut tx, &ids).await?;
    let listed: Vec<&TaskId> = listing.listed.iter().map(|one| &one.task.id).collect();
    assert_eq!(listed, [&all[1]]);
    let shown = &listing.listed[0].task;
    assert_eq!(shown.environments.len(), 1);
    assert_eq!(shown.environments[0].repositories.len(), 2);
    assert!(shown.status_summary.is_some());
    let damaged = listing.unreadable.iter();
    let damaged: Vec<_> = damaged
        .map(|one| (&one.task_id, one.error.to_string()))
        .collect();
    let expected = |at: usize, column: &str| {
        let text = format!("column {column} holds a value that cannot be read");
        (&all[at], text)
    };
    assert_eq!(
        damaged,
        [
            expected(0, "state"),
            expected(2, "state"),
            expected(3, "id")
        ]
    );

    // Whoever needs a task to do something with it is told.
    assert!(tasks::get(&mut tx, &all[0]).await.is_err());
    assert_eq!(tasks::get(&mut tx, &all[1]).await?.id, all[1]);
    Ok(())
}
