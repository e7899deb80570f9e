//! Compare-and-update of stored summaries (PST-01 … PST-03, SUM-05, SUM-06) and the marks beside it (REC-06).

use anyhow::Result;
use model::ids::TaskId;
use model::session::Activity;
use model::summary::{SummaryPayload, TaskStatusSummary};
use store::sql::sql;
use store::summaries::{self, CompareOutcome, Comparison};
use testkit::story::Story;

testkit::on_every_engine!(
    pst_03_written_unchanged_and_stale_are_told_apart,
    pst_03_a_row_made_meanwhile_is_not_overwritten,
    pst_03_a_rebuilt_row_starts_at_unix_milliseconds,
    pst_03_an_unreadable_row_is_replaced_above_its_revision,
    pst_02_a_batch_has_one_outcome_per_task_and_a_constant_number_of_statements,
    sum_06_only_the_canonical_text_decides,
    rec_06_a_committed_change_marks_its_task_and_a_dropped_one_does_not,
    rec_06_an_older_derivation_moves_no_fence_back,
    sum_10_tasks_without_a_usable_summary_are_found,
    stale_tasks_are_found_page_by_page,
    a_deleted_task_takes_its_summary_along,
);

fn working(activity: Activity) -> SummaryPayload {
    SummaryPayload {
        foreground_activity: Some(activity),
        ..SummaryPayload::default()
    }
}

async fn compare(
    story: &Story,
    task: &TaskId,
    seen: Option<&TaskStatusSummary>,
    payload: &SummaryPayload,
) -> Result<CompareOutcome> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            summaries::compare_and_update(tx, task, &story.workspace, seen, payload, now).await
        })
        .await
}

async fn write(
    story: &Story,
    task: &TaskId,
    seen: Option<&TaskStatusSummary>,
    payload: &SummaryPayload,
) -> Result<TaskStatusSummary> {
    match compare(story, task, seen, payload).await? {
        CompareOutcome::Written(summary) => {
            assert_eq!(story.stored(task).await?.as_ref(), Some(&*summary));
            Ok(*summary)
        }
        other => anyhow::bail!("expected a write, got {other:?}"),
    }
}

async fn pst_03_written_unchanged_and_stale_are_told_apart(story: Story) -> Result<()> {
    let task = story.task().await?;
    let (generating, background) = (working(Activity::Generating), working(Activity::Background));
    let first = write(&story, &task, None, &generating).await?;
    let same = compare(&story, &task, Some(&first), &generating).await?;
    assert_eq!(same, CompareOutcome::Unchanged);
    assert_eq!(story.stored(&task).await?.as_ref(), Some(&first));
    let second = write(&story, &task, Some(&first), &background).await?;
    assert_eq!(second.revision, first.revision + 1);
    assert!(first.updated_at < second.updated_at);
    let late = compare(&story, &task, Some(&first), &SummaryPayload::default()).await?;
    assert_eq!(late, CompareOutcome::Stale);
    assert_eq!(story.stored(&task).await?, Some(second));
    Ok(())
}

async fn pst_03_a_row_made_meanwhile_is_not_overwritten(story: Story) -> Result<()> {
    let task = story.task().await?;
    let stored = write(&story, &task, None, &working(Activity::Generating)).await?;
    for payload in [working(Activity::Background), stored.payload.clone()] {
        let outcome = compare(&story, &task, None, &payload).await?;
        assert_eq!(outcome, CompareOutcome::Stale);
    }
    assert_eq!(story.stored(&task).await?, Some(stored));
    Ok(())
}

async fn pst_03_a_rebuilt_row_starts_at_unix_milliseconds(story: Story) -> Result<()> {
    let task = story.task().await?;
    let mut last = write(&story, &task, None, &working(Activity::Generating)).await?;
    assert_eq!(last.revision, last.updated_at.as_millis());
    for n in 0..5u32 {
        let payload = SummaryPayload {
            queued_prompt_count: Some(n + 1),
            ..SummaryPayload::default()
        };
        last = write(&story, &task, Some(&last), &payload).await?;
    }
    story
        .tamper(sql("DELETE FROM task_status_summaries"))
        .await?;
    story.db.clock.advance(std::time::Duration::from_secs(1));
    let rebuilt = write(&story, &task, None, &last.payload).await?;
    assert_eq!(rebuilt.revision, rebuilt.updated_at.as_millis());
    assert!(
        last.revision < rebuilt.revision,
        "a client that holds the old row takes the new one"
    );
    Ok(())
}

async fn pst_03_an_unreadable_row_is_replaced_above_its_revision(story: Story) -> Result<()> {
    let task = story.task().await?;
    let payload = working(Activity::Generating);
    for revision in [1, i64::MAX - 10] {
        story
            .tamper(sql("DELETE FROM task_status_summaries"))
            .await?;
        write(&story, &task, None, &payload).await?;
        let damage = sql("UPDATE task_status_summaries SET payload = 'not json', revision = $1");
        story.tamper(damage.bind(revision)).await?;
        assert_eq!(story.stored(&task).await?, None);
        let replaced = write(&story, &task, None, &payload).await?;
        assert!(revision < replaced.revision);
        let millis = replaced.updated_at.as_millis();
        assert_eq!(replaced.revision, millis.max(revision + 1));
    }
    Ok(())
}

/// PST-02, PST-03, PST-04.
async fn pst_02_a_batch_has_one_outcome_per_task_and_a_constant_number_of_statements(
    story: Story,
) -> Result<()> {
    let (old, new) = (working(Activity::Background), working(Activity::Generating));
    let mut counts = Vec::new();
    for groups in [1, 20] {
        let mut seen = Vec::new();
        for n in 0..groups * 6 {
            let task = story.task().await?;
            let mut stored = None;
            if n % 6 < 4 {
                stored = Some(write(&story, &task, None, &old).await?);
            }
            match n % 6 {
                1 => drop(write(&story, &task, stored.as_ref(), &new).await?), // overtaken
                2 => stored = None,                                            // made meanwhile
                3 => {
                    let damage = sql(
                        "UPDATE task_status_summaries SET payload = '?', revision = revision + 5
                         WHERE task_id = $1",
                    );
                    story.tamper(damage.bind(&task)).await?;
                    stored = None;
                }
                _ => {}
            }
            seen.push((task, stored));
        }
        let comparisons: Vec<Comparison<'_>> = seen
            .iter()
            .enumerate()
            .map(|(n, (task_id, seen))| Comparison {
                task_id,
                workspace_id: &story.workspace,
                seen: seen.as_ref(),
                payload: if n % 12 == 0 { &old } else { &new },
            })
            .collect();
        let before = story.store().statements();
        let outcomes = story
            .change(&[], async |tx| {
                let now = tx.now();
                summaries::compare_and_update_all(tx, &comparisons, now).await
            })
            .await?;
        counts.push(story.store().statements() - before);
        for (n, ((task, seen), outcome)) in seen.iter().zip(outcomes).enumerate() {
            let stored = story.stored(task).await?;
            match (n % 6, outcome) {
                (0, CompareOutcome::Unchanged) => {
                    assert_eq!(n % 12, 0);
                    assert_eq!(stored, *seen);
                }
                (1, CompareOutcome::Stale) => {
                    assert!(
                        seen.as_ref().map(|seen| seen.revision) < stored.map(|now| now.revision)
                    );
                }
                (2, CompareOutcome::Stale) => {
                    assert_eq!(stored.map(|now| now.payload), Some(old.clone()))
                }
                (0 | 3 | 4 | 5, CompareOutcome::Written(written)) => {
                    assert_eq!(stored, Some(*written));
                }
                (kind, other) => anyhow::bail!("task {n} of kind {kind}: {other:?}"),
            }
        }
    }
    assert_eq!(counts, [3; 2], "statements for 6 and for 120 tasks");
    Ok(())
}

async fn sum_06_only_the_canonical_text_decides(story: Story) -> Result<()> {
    let task = story.task().await?;
    let written = write(&story, &task, None, &working(Activity::Generating)).await?;
    // The same value in other words: an empty list that is left out, another order, another space.
    let reworded = r#"{ "queued_prompt_count": null, "foreground_activity": "generating" }"#;
    let update = sql("UPDATE task_status_summaries SET payload = $1");
    story.tamper(update.bind(reworded)).await?;
    let stored = story.stored(&task).await?.expect("it is readable");
    assert_eq!(stored, written);
    let same = compare(&story, &task, Some(&stored), &written.payload).await?;
    assert_eq!(same, CompareOutcome::Unchanged);

    // A value of a wrong type is no value: it never passes as a successful no-op.
    let damage = sql("UPDATE task_status_summaries SET payload = $1");
    story
        .tamper(damage.bind(r#"{"foreground_activity":"dreaming"}"#))
        .await?;
    assert_eq!(story.stored(&task).await?, None);
    let replaced = write(&story, &task, None, &written.payload).await?;
    assert!(written.revision < replaced.revision);
    Ok(())
}

async fn stale(story: &Story) -> Result<Vec<TaskId>> {
    let mut tx = story.store().read().await?;
    Ok(summaries::stale_tasks(&mut tx, None, 100).await?)
}

async fn mark(story: &Story, task: &TaskId, seq: i64) -> Result<()> {
    story
        .change(&[], async |tx| summaries::mark_derived(tx, task, seq).await)
        .await
}

async fn rec_06_a_committed_change_marks_its_task_and_a_dropped_one_does_not(
    story: Story,
) -> Result<()> {
    let task = story.task().await?;
    let other = story.task().await?;
    for id in [&task, &other] {
        let seq = story.authority(id).await?.authority_seq;
        mark(&story, id, seq).await?;
    }
    assert_eq!(stale(&story).await?, []);

    let mut dropped = story.store().write().await?;
    store::tasks::set_facts(&mut dropped, &task, Some("lost"), None, None, story.now()).await?;
    dropped.touch(&task);
    drop(dropped);
    assert_eq!(stale(&story).await?, []);

    let mut tx = story.store().write().await?;
    tx.touch(&task);
    tx.touch(&task);
    let committed = tx.commit().await?;
    assert_eq!(committed.touched, std::slice::from_ref(&task));
    assert_eq!(stale(&story).await?, [task]);
    Ok(())
}

async fn rec_06_an_older_derivation_moves_no_fence_back(story: Story) -> Result<()> {
    let task = story.task().await?;
    story.change(&[&task], async |_| Ok(())).await?;
    let seq = story.authority(&task).await?.authority_seq;
    let fence = async || -> Result<Option<i64>> {
        story
            .change(&[], async |tx| {
                let fences = summaries::lock_fences(tx, std::slice::from_ref(&task)).await?;
                Ok(fences.get(&task).copied())
            })
            .await
    };
    mark(&story, &task, seq).await?;
    mark(&story, &task, seq - 1).await?;
    assert_eq!(fence().await?, Some(seq));
    assert_eq!(stale(&story).await?, []);
    story
        .change(&[], async |tx| store::tasks::remove(tx, &task).await)
        .await?;
    assert_eq!(fence().await?, None, "a task that is gone has no fence");
    Ok(())
}

/// SUM-10.
async fn sum_10_tasks_without_a_usable_summary_are_found(story: Story) -> Result<()> {
    let mut tasks = Vec::new();
    for _ in 0..5 {
        let task = story.task().await?;
        let derived = story.derived(&task).await?;
        write(&story, &task, None, &derived).await?;
        tasks.push(task);
    }
    let damages = [
        (
            0,
            sql("DELETE FROM task_status_summaries WHERE task_id = $1"),
        ),
        (
            2,
            sql("UPDATE task_status_summaries SET payload = 'not json' WHERE task_id = $1"),
        ),
        (
            4,
            sql("UPDATE task_status_summaries SET payload = '{}' WHERE task_id = $1"),
        ),
    ];
    for (which, damage) in damages {
        story.tamper(damage.bind(&tasks[which])).await?;
    }
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let mut tx = story.store().read().await?;
        let page = summaries::unusable(&mut tx, after.as_ref(), 2).await?;
        found.extend(page.unusable);
        let Some(last) = page.last else { break };
        after = Some(last);
    }
    assert_eq!(found, [&tasks[0], &tasks[2], &tasks[4]].map(Clone::clone));
    Ok(())
}

async fn stale_tasks_are_found_page_by_page(story: Story) -> Result<()> {
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(story.task().await?);
    }
    let mut found: Vec<TaskId> = Vec::new();
    loop {
        let mut tx = story.store().read().await?;
        let page = summaries::stale_tasks(&mut tx, found.last(), 2).await?;
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 2);
        found.extend(page);
    }
    assert_eq!(found, all);
    Ok(())
}

async fn a_deleted_task_takes_its_summary_along(story: Story) -> Result<()> {
    let task = story.task().await?;
    write(&story, &task, None, &working(Activity::Generating)).await?;
    story
        .change(&[], async |tx| store::tasks::remove(tx, &task).await)
        .await?;
    assert_eq!(story.stored(&task).await?, None);
    assert_eq!(stale(&story).await?, []);
    Ok(())
}
