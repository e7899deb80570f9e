//! The last milestone from the durable records (SUM-08, SUM-09, SUM-10).

use anyhow::Result;
use model::clock::Timestamp;
use model::ids::{SessionId, TaskId, TurnId};
use model::summary::SummaryPayload;
use model::turn::TurnOutcome;
use store::sql::{Value, sql};
use store::turns::{self, NewTurn};
use store::{activity, messages, summaries, tasks};
use testkit::story::Story;

testkit::on_every_engine!(
    sum_10_each_durable_record_raises_what_is_missing,
    sum_09_lifecycle_turns_and_what_recovery_ended_are_no_milestones,
    sum_10_nothing_is_ever_lowered,
    sum_10_many_tasks_take_as_many_statements_as_one,
);

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// A time after everything that a story does by itself.
const LATE: i64 = 4_000_000_000_000_000;

async fn column(story: &Story, task: &TaskId) -> Result<Option<Timestamp>> {
    Ok(story.authority(task).await?.authority.last_activity_at)
}

/// Forgets the column, raises it from the records, and gives it.
async fn rebuilt(story: &Story, task: &TaskId) -> Result<Option<Timestamp>> {
    let forget = sql("UPDATE tasks SET last_activity_at = NULL WHERE id = $1");
    story.tamper(forget.bind(task)).await?;
    let raised = raise(story, std::slice::from_ref(task)).await?;
    assert_eq!(raised, std::slice::from_ref(task));
    column(story, task).await
}

async fn raise(story: &Story, ids: &[TaskId]) -> Result<Vec<TaskId>> {
    story
        .change(&[], async |tx| activity::raise_from_records(tx, ids).await)
        .await
}

/// Sets a time of a row by hand: tests choose the numbers.
async fn set(story: &Story, text: &'static str, id: impl Into<Value>, micros: i64) -> Result<()> {
    let changed = story.tamper(sql(text).bind(id).bind(micros)).await?;
    assert_eq!(changed, 1);
    Ok(())
}

async fn turn(story: &Story, session: &SessionId, kind: NewTurn) -> Result<TurnId> {
    let turn = story.turn(session, kind).await?;
    let task = story.task_of(session).await?;
    story
        .change(&[&task], async |tx| turns::mark_attempted(tx, &turn).await)
        .await?;
    Ok(turn)
}

const STARTED: &str = "UPDATE task_session_turns SET started_at = $2 WHERE id = $1";
const CREATED: &str = "UPDATE task_session_messages SET created_at = $2 WHERE id = $1";

/// SUM-08, SUM-10: creation, prompts, queued prompts, tombstones, turns' starts and ends, the stored summary.
async fn sum_10_each_durable_record_raises_what_is_missing(story: Story) -> Result<()> {
    let task = story.task().await?;
    let created = story.authority(&task).await?.authority.created_at;
    assert_eq!(rebuilt(&story, &task).await?, Some(created));

    let session = story.session(&task, None).await?;
    let (_, prompt) = story.prompt(&session, "go").await?;
    set(&story, CREATED, &prompt, LATE + 1).await?;
    assert_eq!(rebuilt(&story, &task).await?, Some(at(LATE + 1)));

    let queued = story.queue(&session, "then").await?;
    set(&story, CREATED, &queued, LATE + 2).await?;
    assert_eq!(rebuilt(&story, &task).await?, Some(at(LATE + 2)));

    let removed = story.queue(&session, "not this").await?;
    set(&story, CREATED, &removed, LATE + 3).await?;
    story
        .change(&[&task], async |tx| {
            let now = tx.now();
            messages::remove_queued(tx, &removed, now).await
        })
        .await?;
    assert_eq!(rebuilt(&story, &task).await?, Some(at(LATE + 3)));

    let started = turn(&story, &session, NewTurn::Empty).await?;
    set(&story, STARTED, &started, LATE + 4).await?;
    assert_eq!(rebuilt(&story, &task).await?, Some(at(LATE + 4)));

    // A start that failed ends a turn that no agent ever had: nothing had raised the column then.
    let unsent = story
        .change(&[&task], async |tx| {
            let id = TurnId::generate();
            let now = tx.now();
            turns::insert(tx, &id, &session, NewTurn::ForMessage, now).await?;
            turns::complete(tx, &id, TurnOutcome::Failed, at(LATE + 9)).await?;
            Ok(id)
        })
        .await?;
    set(&story, STARTED, &unsent, LATE + 8).await?;
    assert_eq!(rebuilt(&story, &task).await?, Some(at(LATE + 4)));

    for (n, outcome) in [
        TurnOutcome::Completed,
        TurnOutcome::Cancelled,
        TurnOutcome::Failed,
    ]
    .into_iter()
    .enumerate()
    {
        let ended = turn(&story, &session, NewTurn::ForMessage).await?;
        let end = at(LATE + 10 + i64::try_from(n)?);
        story
            .change(&[&task], async |tx| {
                turns::complete(tx, &ended, outcome, end).await
            })
            .await?;
        assert_eq!(rebuilt(&story, &task).await?, Some(end), "{outcome:?}");
    }

    let kept = SummaryPayload {
        last_activity_at: Some(at(LATE + 20)),
        ..SummaryPayload::default()
    };
    story
        .change(&[], async |tx| {
            let now = tx.now();
            summaries::compare_and_update(tx, &task, &story.workspace, None, &kept, now).await
        })
        .await?;
    assert_eq!(rebuilt(&story, &task).await?, Some(at(LATE + 20)));
    Ok(())
}

/// SUM-09, and recovery moves no last activity (REC-01).
async fn sum_09_lifecycle_turns_and_what_recovery_ended_are_no_milestones(
    story: Story,
) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (open, prompt) = story.prompt(&session, "go").await?;
    set(&story, CREATED, &prompt, LATE).await?;
    for (n, (kind, outcome)) in [
        (NewTurn::Lifecycle, TurnOutcome::Completed),
        (NewTurn::Lifecycle, TurnOutcome::Failed),
        (NewTurn::ForMessage, TurnOutcome::Interrupted),
        (NewTurn::ForMessage, TurnOutcome::NotDispatched),
    ]
    .into_iter()
    .enumerate()
    {
        let later = LATE + 1 + i64::try_from(n)?;
        let turn = turn(&story, &session, kind).await?;
        let started = if kind == NewTurn::Lifecycle {
            later
        } else {
            LATE - 1
        };
        set(&story, STARTED, &turn, started).await?;
        story
            .change(&[&task], async |tx| {
                turns::complete(tx, &turn, outcome, at(later)).await
            })
            .await?;
        assert_eq!(
            rebuilt(&story, &task).await?,
            Some(at(LATE)),
            "{kind:?} {outcome:?}"
        );
    }
    // Reserved and never attempted: its prompt is the milestone, and was counted.
    set(&story, STARTED, &open, LATE + 9).await?;
    assert_eq!(rebuilt(&story, &task).await?, Some(at(LATE)));
    // What the agent and the system say is none.
    let kind = model::message::MessageType::Message;
    let author = model::message::Author::Agent;
    let said = story
        .row(&session, Some(&open), author, kind, "text")
        .await?;
    set(&story, CREATED, &said, LATE + 9).await?;
    assert_eq!(rebuilt(&story, &task).await?, Some(at(LATE)));
    Ok(())
}

/// SUM-10.
async fn sum_10_nothing_is_ever_lowered(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    story.prompt(&session, "go").await?;
    story
        .change(&[&task], async |tx| {
            tasks::raise_activity(tx, &task, at(LATE)).await
        })
        .await?;
    story.delete_session(&session).await?;
    let seq = story.authority(&task).await?.authority_seq;
    assert_eq!(raise(&story, std::slice::from_ref(&task)).await?, []);
    assert_eq!(column(&story, &task).await?, Some(at(LATE)));
    assert_eq!(
        story.authority(&task).await?.authority_seq,
        seq,
        "nothing to tell"
    );

    // An earlier answer that comes late lowers nothing either.
    let late = activity::Behind {
        task_id: task.clone(),
        recorded: at(900),
    };
    let raised = story
        .change(&[], async |tx| {
            activity::raise(tx, std::slice::from_ref(&late)).await
        })
        .await?;
    assert_eq!(
        (raised, column(&story, &task).await?),
        (vec![], Some(at(LATE)))
    );

    // What is raised is stale: it will be shown.
    let newer = activity::Behind {
        recorded: at(LATE + 1),
        ..late
    };
    story
        .change(&[], async |tx| activity::raise(tx, &[newer]).await)
        .await?;
    assert_eq!(column(&story, &task).await?, Some(at(LATE + 1)));
    assert_eq!(story.authority(&task).await?.authority_seq, seq + 1);
    Ok(())
}

/// SUM-10, PST-04.
async fn sum_10_many_tasks_take_as_many_statements_as_one(story: Story) -> Result<()> {
    let mut ids = Vec::new();
    let mut counts = Vec::new();
    for size in [1, 50, 500] {
        while ids.len() < size {
            let task = story.task().await?;
            if ids.len() % 9 == 0 {
                let session = story.session(&task, None).await?;
                story.prompt(&session, "go").await?;
                story.queue(&session, "then").await?;
            }
            ids.push(task);
        }
        story
            .tamper(sql("UPDATE tasks SET last_activity_at = NULL"))
            .await?;
        let before = story.store().statements();
        assert_eq!(raise(&story, &ids).await?.len(), size);
        counts.push(story.store().statements() - before);
    }
    assert_eq!(counts, [3; 3], "statements at 1, 50 and 500 tasks");
    Ok(())
}
