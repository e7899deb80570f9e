//! What start-up finds unfinished, and nothing else (REC-01).

use anyhow::Result;
use model::ids::{ExecutionId, InstanceId, SessionId};
use model::session::{Activity, SessionState};
use model::task::{Task, TaskState};
use model::turn::TurnOutcome;
use store::executions::{self, Execution};
use store::recovery::StuckTask;
use store::sql::sql;
use store::turns::{self, NewTurn};
use store::{recovery, sessions, tasks};
use testkit::story::Story;

testkit::on_every_engine!(
    rec_01_every_sign_of_unfinished_work_is_found,
    rec_01_settled_sessions_are_left_alone,
    rec_01_a_task_without_an_open_conversational_turn_is_stuck,
    rec_01_open_turns_come_oldest_first,
    rec_01_the_current_turn_stands_among_the_open_ones,
    rec_01_only_the_tasks_named_are_interrupted,
);

async fn found(story: &Story) -> Result<Vec<SessionId>> {
    let mut tx = story.store().read().await?;
    let found = recovery::sessions(&mut tx).await?;
    Ok(found.into_iter().map(|found| found.session_id).collect())
}

/// A session of a task of its own, in this state.
async fn session(story: &Story, state: SessionState) -> Result<SessionId> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    story
        .change(&[&task], async |tx| {
            sessions::set_state(tx, &session, state).await
        })
        .await?;
    Ok(session)
}

/// A session that waits for input after one finished turn.
async fn settled(story: &Story) -> Result<SessionId> {
    let session = session(story, SessionState::WaitingForInput).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    complete(story, &turn).await?;
    Ok(session)
}

async fn complete(story: &Story, turn: &model::ids::TurnId) -> Result<()> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            turns::complete(tx, turn, TurnOutcome::Completed, now).await
        })
        .await?;
    Ok(())
}

async fn rec_01_every_sign_of_unfinished_work_is_found(story: Story) -> Result<()> {
    let mut expected = vec![
        session(&story, SessionState::Running).await?,
        session(&story, SessionState::Starting).await?,
    ];
    for (activity, subagents) in [(Some(Activity::Background), 0), (None, 1)] {
        let busy = settled(&story).await?;
        story
            .change(&[], async |tx| {
                sessions::set_activity(tx, &busy, activity, subagents).await
            })
            .await?;
        expected.push(busy);
    }
    for kind in [NewTurn::Empty, NewTurn::Lifecycle, NewTurn::ForMessage] {
        let open = settled(&story).await?;
        story.turn(&open, kind).await?;
        expected.push(open);
    }

    let alive = settled(&story).await?;
    let task = story.task_of(&alive).await?;
    let execution = Execution {
        id: ExecutionId::generate(),
        session_id: alive.clone(),
        environment_id: story.environment(&task, &["root"]).await?,
        pid: 1,
        process_started: "1".to_owned(),
        instance_id: InstanceId::generate(),
    };
    story
        .change(&[], async |tx| {
            let now = tx.now();
            executions::insert(tx, &execution, now).await
        })
        .await?;
    expected.push(alive);

    let streaming = settled(&story).await?;
    let (turn, _) = story.prompt(&streaming, "more").await?;
    complete(&story, &turn).await?;
    story.stream(&streaming, &turn, "half a sent").await?;
    expected.push(streaming);

    for word in [Some("pending"), None, Some("mislaid")] {
        let asks = settled(&story).await?;
        let (turn, _) = story.prompt(&asks, "more").await?;
        complete(&story, &turn).await?;
        let asked = story.permission(&asks, &turn).await?;
        let update = sql("UPDATE task_session_messages SET status = $2 WHERE id = $1");
        story
            .tamper(update.bind(&asked.message_id).bind(word))
            .await?;
        expected.push(asks);
    }
    assert_eq!(found(&story).await?, expected);
    Ok(())
}

async fn rec_01_settled_sessions_are_left_alone(story: Story) -> Result<()> {
    for state in SessionState::ALL {
        if !matches!(state, SessionState::Running | SessionState::Starting) {
            session(&story, *state).await?;
        }
    }
    let waits = settled(&story).await?;
    story
        .queue(&waits, "a queued prompt waits for a person")
        .await?;
    let asks = settled(&story).await?;
    let (turn, _) = story.prompt(&asks, "more").await?;
    complete(&story, &turn).await?;
    story.question(&asks, &turn).await?;
    assert_eq!(
        found(&story).await?,
        [],
        "a detached question needs no repair"
    );
    Ok(())
}

async fn rec_01_a_task_without_an_open_conversational_turn_is_stuck(story: Story) -> Result<()> {
    let task = async |state: TaskState, turn: Option<NewTurn>| -> Result<StuckTask> {
        let task_id = story.task().await?;
        let task = &task_id;
        let session = story.session(task, None).await?;
        if let Some(kind) = turn {
            story.turn(&session, kind).await?;
        }
        story
            .change(&[task], async |tx| {
                let now = tx.now();
                tasks::set_state(tx, task, state, now).await
            })
            .await?;
        Ok(StuckTask { task_id, state })
    };
    let stuck = [
        task(TaskState::Scheduling, None).await?,
        task(TaskState::InProgress, None).await?,
        task(TaskState::InProgress, Some(NewTurn::Lifecycle)).await?,
    ];
    task(TaskState::InProgress, Some(NewTurn::ForMessage)).await?;
    task(TaskState::InProgress, Some(NewTurn::Empty)).await?;
    for state in TaskState::ALL {
        if !matches!(state, TaskState::Scheduling | TaskState::InProgress) {
            task(*state, None).await?;
        }
    }
    let mut tx = story.store().read().await?;
    assert_eq!(recovery::tasks(&mut tx).await?, stuck);
    Ok(())
}

async fn rec_01_open_turns_come_oldest_first(story: Story) -> Result<()> {
    let session = settled(&story).await?;
    let open = [
        story.turn(&session, NewTurn::Lifecycle).await?,
        story.turn(&session, NewTurn::Empty).await?,
        story.turn(&session, NewTurn::ForMessage).await?,
    ];
    let mut tx = story.store().read().await?;
    let turns = recovery::open_turns(&mut tx, &session).await?;
    let ids: Vec<_> = turns.into_iter().map(|turn| turn.id).collect();
    assert_eq!(ids, open);
    Ok(())
}

async fn rec_01_the_current_turn_stands_among_the_open_ones(story: Story) -> Result<()> {
    let session = settled(&story).await?; // an older turn, which is of no interest
    let other = settled(&story).await?;
    story.turn(&other, NewTurn::Lifecycle).await?;
    let looked_at = async |session: &SessionId| -> Result<Vec<_>> {
        let mut tx = story.store().read().await?;
        let turns = turns::open_and_current(&mut tx, session).await?;
        Ok(turns.into_iter().map(|turn| turn.id).collect())
    };
    let early = story.turn(&session, NewTurn::Lifecycle).await?;
    let (current, _) = story.prompt(&session, "more").await?;
    let late = story.turn(&session, NewTurn::Empty).await?;
    let all = [early.clone(), current.clone(), late.clone()];
    assert_eq!(looked_at(&session).await?, all);
    for turn in [&early, &current, &late] {
        complete(&story, turn).await?;
    }
    assert_eq!(
        looked_at(&session).await?,
        [current],
        "the end of a turn moves no boundary"
    );
    let never = self::session(&story, SessionState::Created).await?;
    assert_eq!(looked_at(&never).await?, []);
    Ok(())
}

async fn rec_01_only_the_tasks_named_are_interrupted(story: Story) -> Result<()> {
    let ids = [
        story.task().await?,
        story.task().await?,
        story.task().await?,
    ];
    let rows = async || -> Result<Vec<Task>> {
        let mut tx = story.store().read().await?;
        let mut rows = Vec::new();
        for id in &ids {
            rows.push(tasks::get(&mut tx, id).await?);
        }
        Ok(rows)
    };
    let before = rows().await?;
    story
        .change(&[&ids[0], &ids[1]], async |tx| {
            let now = tx.now();
            recovery::interrupt(tx, &[], now).await?;
            recovery::interrupt(tx, &ids[..2], now).await
        })
        .await?;
    let after = rows().await?;
    for (before, after) in before.iter().zip(&after).take(2) {
        assert_eq!(after.state, TaskState::Review);
        assert_eq!(after.interrupted_at, Some(after.updated_at));
        assert_eq!(after.revision, before.revision + 1);
    }
    assert_eq!(after[2], before[2]);
    Ok(())
}
