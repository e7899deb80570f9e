//! One fault for each truth, planted where no function of the store would put it.

use crate::belonging;
use anyhow::{Context, Result};
use model::ids::{MessageId, SessionId, TaskId, TurnId};
use model::message::{Author, MessageType};
use model::session::{Activity, SessionState};
use model::task::TaskState;
use model::turn::TurnOutcome;
use std::collections::BTreeMap;
use store::sql::{Statement, sql};
use store::truths::{self, Broken, Cure, Holds, TRUTHS, Truth};
use store::turns::NewTurn;
use store::{cures, sessions, tasks, turns};
use testkit::story::Story;
use testkit::story::look::Look;

testkit::on_every_engine!(
    a_database_that_was_lived_in_breaks_no_truth,
    rec_05_each_fault_is_found_by_its_truth_and_by_no_other,
    rec_02_what_a_program_can_put_right_it_puts_right,
    sum_10_activity_is_raised_to_the_records_and_never_lowered,
    rec_01_what_recovery_restores_must_hold_without_a_server_only,
);

/// A task with an environment and a session that has said something.
pub(crate) struct Cast {
    pub(crate) task: TaskId,
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    pub(crate) prompt: MessageId,
    pub(crate) answer: MessageId,
}

pub(crate) async fn cast(story: &Story) -> Result<Cast> {
    let task = story.task().await?;
    let environment = story.environment(&task, &["root", "side"]).await?;
    let session = story.session(&task, Some(&environment)).await?;
    let (turn, prompt) = story.prompt(&session, "go").await?;
    let kind = MessageType::Message;
    let answer = story
        .row(&session, Some(&turn), Author::Agent, kind, "gone")
        .await?;
    story
        .observe(&environment, &Look::at(story.now(), 3))
        .await?;
    story
        .change(&[&task], async |tx| {
            turns::mark_attempted(tx, &turn).await?;
            let now = tx.now();
            turns::complete(tx, &turn, TurnOutcome::Completed, now).await?;
            sessions::set_state(tx, &session, SessionState::WaitingForInput).await?;
            tasks::raise_activity(tx, &task, now).await
        })
        .await?;
    Ok(Cast {
        task,
        session,
        turn,
        prompt,
        answer,
    })
}

/// What is broken, by name.
async fn broken(story: &Story) -> Result<BTreeMap<&'static str, Broken>> {
    let mut tx = story.store().read().await?;
    let mut found = BTreeMap::new();
    for truth in TRUTHS {
        let broken = truths::ask(&mut tx, truth, 5).await?;
        if 0 < broken.count {
            found.insert(truth.name, broken);
        }
    }
    Ok(found)
}

fn truth(name: &str) -> Result<&'static Truth> {
    TRUTHS
        .iter()
        .find(|truth| truth.name == name)
        .with_context(|| format!("no truth {name}"))
}

async fn a_database_that_was_lived_in_breaks_no_truth(story: Story) -> Result<()> {
    let first = cast(&story).await?;
    cast(&story).await?;
    story.queue(&first.session, "next").await?;
    let second = story.session(&first.task, None).await?;
    let (turn, _) = story.prompt(&second, "ask me").await?;
    story.question(&second, &turn).await?;
    story
        .change(&[&first.task], async |tx| {
            let now = tx.now();
            turns::complete(tx, &turn, TurnOutcome::Interrupted, now).await?;
            tasks::raise_activity(tx, &first.task, now).await
        })
        .await?;
    story.delete_session(&first.session).await?;
    assert_eq!(broken(&story).await?, BTreeMap::new());
    Ok(())
}

/// A fault: what to run, on whose row, and what its truth says then.
pub(crate) struct Fault {
    pub(crate) truth: &'static str,
    pub(crate) plant: Vec<Statement>,
    pub(crate) offender: String,
}

impl Fault {
    pub(crate) fn of(truth: &'static str, offender: impl Into<String>, plant: Statement) -> Self {
        Self {
            truth,
            plant: vec![plant],
            offender: offender.into(),
        }
    }
}

/// One fault for each truth that rows of an unharmed schema can break, each on rows of its own.
async fn faults(story: &Story) -> Result<Vec<Fault>> {
    let mut all = rows_of_others(story).await?;
    all.extend(transcript_faults(story).await?);
    all.extend(task_faults(story).await?);
    all.extend(belonging::faults(story).await?);
    Ok(all)
}

async fn rows_of_others(story: &Story) -> Result<Vec<Fault>> {
    let mut all = Vec::new();
    let (one, other) = (cast(story).await?, cast(story).await?);
    let plant = sql("UPDATE task_session_messages SET task_id = $2 WHERE id = $1");
    all.push(Fault::of(
        "message_task_is_its_sessions",
        one.answer.as_str(),
        plant.bind(&one.answer).bind(&other.task),
    ));
    let plant = sql("UPDATE task_session_messages SET turn_id = $2 WHERE id = $1");
    all.push(Fault::of(
        "message_turn_is_its_sessions",
        other.answer.as_str(),
        plant.bind(&other.answer).bind(&one.turn),
    ));

    let one = cast(story).await?;
    let plant = sql(
        "INSERT INTO workflow_steps (id, workflow_id, name, position) VALUES ($1, $2, 'Far', 0)",
    );
    let board = sql(
        "INSERT INTO workflows (id, workspace_id, revision, name, position) VALUES ($1, $2, 1, 'B', 1)",
    );
    all.push(Fault {
        truth: "task_step_is_its_boards",
        offender: one.task.as_str().to_owned(),
        plant: vec![
            board.bind("board-2").bind(&story.workspace),
            plant.bind("step-2").bind("board-2"),
            sql("UPDATE tasks SET step_id = 'step-2' WHERE id = $1").bind(&one.task),
        ],
    });

    let one = cast(story).await?;
    let gone = story.environment(&one.task, &["root"]).await?;
    all.push(Fault::of(
        "binding_to_living_environment",
        format!("{} {gone}", one.task),
        sql("UPDATE task_environments SET state = 'removing' WHERE id = $1").bind(&gone),
    ));
    let (one, other) = (cast(story).await?, cast(story).await?);
    let plant = sql("UPDATE task_sessions SET task_environment_id =
                         (SELECT task_environment_id FROM task_sessions WHERE id = $2) WHERE id = $1");
    all.push(Fault::of(
        "session_environment_is_bound",
        one.session.as_str(),
        plant.bind(&one.session).bind(&other.session),
    ));

    let one = cast(story).await?;
    let environment = story.environment(&one.task, &["root", "lib"]).await?;
    let look = Look {
        repository: Some("lib".to_owned()),
        ..Look::at(story.now(), 1)
    };
    story.observe(&environment, &look).await?;
    let plant = sql(
        "DELETE FROM task_environment_repos WHERE environment_id = $1 AND repository_name = 'lib'",
    );
    let mut tx = story.store().read().await?;
    let query = sql("SELECT id FROM task_session_git_snapshots WHERE task_environment_id = $1");
    let observed = tx.one(query.bind(&environment), "snapshot").await?;
    let observed = observed.text("id")?;
    drop(tx);
    all.push(Fault::of(
        "observed_repository_exists",
        observed,
        plant.bind(&environment),
    ));

    let one = cast(story).await?;
    let plant = sql("INSERT INTO task_session_git_snapshots (id, task_environment_id, snapshot_type, branch,
                         triggered_by, repository_name, created_at)
                     SELECT 'again', task_environment_id, snapshot_type, branch, triggered_by, repository_name,
                            created_at - 1 FROM task_session_git_snapshots WHERE task_environment_id =
                            (SELECT task_environment_id FROM task_sessions WHERE id = $1)");
    let mut tx = story.store().read().await?;
    let session = sessions::get(&mut tx, &one.session).await?;
    drop(tx);
    let environment = session.task_environment_id.context("an environment")?;
    all.push(Fault::of(
        "one_live_observation",
        format!("{environment} "),
        plant.bind(&one.session),
    ));
    Ok(all)
}

async fn transcript_faults(story: &Story) -> Result<Vec<Fault>> {
    let mut all = Vec::new();
    let one = cast(story).await?;
    let second = story.session(&one.task, None).await?;
    let plant = sql("UPDATE task_sessions SET is_primary = TRUE WHERE id = $1");
    all.push(Fault::of(
        "one_primary_session",
        one.task.as_str(),
        plant.bind(&second),
    ));
    let one = cast(story).await?;
    let plant = sql("UPDATE task_sessions SET is_primary = FALSE WHERE id = $1");
    all.push(Fault::of(
        "some_primary_session",
        one.task.as_str(),
        plant.bind(&one.session),
    ));

    let one = cast(story).await?;
    let plant = |id| {
        let insert = sql("INSERT INTO task_session_turns (id, session_id, revision, started_at, authoritative,
                              lifecycle_only, prompt_dispatch_pending, prompt_dispatch_attempted, acknowledged)
                          VALUES ($1, $2, 1, 1, TRUE, FALSE, TRUE, FALSE, FALSE)");
        insert.bind(id).bind(&one.session)
    };
    all.push(Fault {
        truth: "one_open_turn",
        offender: one.session.as_str().to_owned(),
        plant: vec![plant("open-1"), plant("open-2")],
    });
    let one = cast(story).await?;
    let plant = sql("UPDATE task_session_turns SET outcome = NULL WHERE id = $1");
    all.push(Fault::of(
        "turn_end_has_outcome",
        one.turn.as_str(),
        plant.bind(&one.turn),
    ));

    let one = cast(story).await?;
    let plant = sql("UPDATE task_session_messages SET queue_position = 1 WHERE id = $1");
    all.push(Fault::of(
        "queued_prompt_is_not_sent",
        one.prompt.as_str(),
        plant.bind(&one.prompt),
    ));
    let one = cast(story).await?;
    let plant = sql("UPDATE task_session_messages SET seq = NULL WHERE id = $1");
    all.push(Fault::of(
        "message_has_place",
        one.answer.as_str(),
        plant.bind(&one.answer),
    ));
    let one = cast(story).await?;
    let plant = sql("UPDATE task_sessions SET last_seq = 1 WHERE id = $1");
    all.push(Fault::of(
        "seq_was_given_out",
        one.session.as_str(),
        plant.bind(&one.session),
    ));

    let segment = |id: &MessageId, number: i64| {
        let insert = sql(
            "INSERT INTO task_session_message_segments (message_id, number, text) VALUES ($1, $2, 'x')",
        );
        insert.bind(id).bind(number)
    };
    let one = cast(story).await?;
    let grows = story.stream(&one.session, &one.turn, "").await?;
    all.push(Fault {
        truth: "segments_are_numbered",
        offender: grows.as_str().to_owned(),
        plant: vec![segment(&grows, 1), segment(&grows, 3)],
    });
    let one = cast(story).await?;
    all.push(Fault::of(
        "segments_are_unsettled",
        one.answer.as_str(),
        segment(&one.answer, 1),
    ));
    let one = cast(story).await?;
    let asked = story.question(&one.session, &one.turn).await?;
    let plant = sql("UPDATE task_session_messages SET pending_id = NULL WHERE id = $1");
    all.push(Fault::of(
        "request_can_be_answered",
        asked.message_id.as_str(),
        plant.bind(&asked.message_id),
    ));
    Ok(all)
}

async fn task_faults(story: &Story) -> Result<Vec<Fault>> {
    let mut all = Vec::new();
    let one = cast(story).await?;
    let plant = sql(
        "UPDATE task_sessions SET error_stamp = 'ABC', error_occurred_at = 5, error_preview = 'no'
                     WHERE id = $1",
    );
    all.push(Fault::of(
        "error_stamp_is_one",
        one.session.as_str(),
        plant.bind(&one.session),
    ));
    let one = cast(story).await?;
    let workspace = sql(
        "INSERT INTO workspaces (id, revision, name, created_at) VALUES ('elsewhere', 1, 'E', 1)",
    );
    let plant = sql(
        "INSERT INTO task_status_summaries (task_id, workspace_id, revision, payload, updated_at)
                     VALUES ($1, 'elsewhere', 1, '{}', 1)",
    );
    all.push(Fault {
        truth: "summary_in_its_workspace",
        offender: one.task.as_str().to_owned(),
        plant: vec![workspace, plant.bind(&one.task)],
    });
    let one = cast(story).await?;
    let plant = sql("UPDATE tasks SET derived_seq = authority_seq + 7 WHERE id = $1");
    all.push(Fault::of(
        "derived_behind_authority",
        one.task.as_str(),
        plant.bind(&one.task),
    ));
    let one = cast(story).await?;
    let plant = sql("UPDATE tasks SET last_activity_at = created_at WHERE id = $1");
    all.push(Fault::of(
        "activity_covers_records",
        one.task.as_str(),
        plant.bind(&one.task),
    ));
    Ok(all)
}

async fn plant(story: &Story, faults: Vec<Fault>) -> Result<BTreeMap<&'static str, Broken>> {
    let mut expected = BTreeMap::new();
    for fault in faults {
        for statement in fault.plant {
            let changed = story.tamper(statement).await?;
            assert_eq!(changed, 1, "{} was not planted", fault.truth);
        }
        let broken = Broken {
            count: 1,
            ids: vec![fault.offender],
        };
        expected.insert(fault.truth, broken);
    }
    Ok(expected)
}

/// Those that hold at every commit.
fn only_always(mut found: BTreeMap<&'static str, Broken>) -> BTreeMap<&'static str, Broken> {
    found.retain(|name, _| truth(name).is_ok_and(|truth| truth.holds == Holds::Always));
    found
}

/// REC-05.
async fn rec_05_each_fault_is_found_by_its_truth_and_by_no_other(story: Story) -> Result<()> {
    let expected = plant(&story, faults(&story).await?).await?;
    assert_eq!(only_always(broken(&story).await?), expected);
    let planted_elsewhere = [
        "storage_sound",
        "references_hold",
        "session_has_task",
        "message_has_session",
        "turn_has_session",
        "attachment_has_owner",
        "pull_request_has_task",
        "switches_have_pull_request",
        "one_message_per_seq",
    ];
    for truth in TRUTHS.iter().filter(|truth| truth.holds == Holds::Always) {
        let tried = expected.contains_key(truth.name) || planted_elsewhere.contains(&truth.name);
        assert!(tried, "no fault was planted for {}", truth.name);
    }
    Ok(())
}

/// REC-02.
async fn rec_02_what_a_program_can_put_right_it_puts_right(story: Story) -> Result<()> {
    let planted = plant(&story, faults(&story).await?).await?;
    story
        .tamper(sql(
            "UPDATE tasks SET derived_seq = authority_seq WHERE derived_seq < authority_seq",
        ))
        .await?;
    for _ in 0..2 {
        for truth in TRUTHS.iter().filter(|truth| truth.cure == Cure::Repair) {
            story
                .change(&[], async |tx| cures::apply(tx, truth).await)
                .await?;
        }
        let left = only_always(broken(&story).await?);
        let mut incurable = planted.clone();
        incurable.retain(|name, _| truth(name).is_ok_and(|truth| truth.cure != Cure::Repair));
        assert_eq!(left, incurable);
    }
    let mut tx = story.store().read().await?;
    let stale = sql("SELECT id FROM tasks WHERE derived_seq < authority_seq");
    let stale: Vec<String> = tx
        .all(stale)
        .await?
        .iter()
        .map(|row| row.text("id"))
        .collect::<Result<_, _>>()?;
    for name in [
        "one_primary_session",
        "some_primary_session",
        "summary_in_its_workspace",
        "derived_behind_authority",
        "activity_covers_records",
    ] {
        let task = &planted[name].ids[0];
        assert!(
            stale.contains(task),
            "{name}: its task is not derived again"
        );
    }
    let folded = sql("SELECT content, streaming FROM task_session_messages WHERE id = $1");
    let folded = folded.bind(planted["segments_are_unsettled"].ids[0].as_str());
    let folded = tx.one(folded, "message").await?;
    assert_eq!(
        (folded.text("content")?.as_str(), folded.truth("streaming")?),
        ("gonex", false)
    );
    Ok(())
}

/// SUM-10.
async fn sum_10_activity_is_raised_to_the_records_and_never_lowered(story: Story) -> Result<()> {
    let (behind, ahead) = (cast(&story).await?, cast(&story).await?);
    let at = async |task: &TaskId| -> Result<i64> {
        let mut tx = story.store().read().await?;
        let query = sql("SELECT last_activity_at FROM tasks WHERE id = $1");
        Ok(tx
            .one(query.bind(task), "task")
            .await?
            .int("last_activity_at")?)
    };
    let right = at(&behind.task).await?;
    let later = right + 1_000_000_000;
    let set = |task: &TaskId, value: Option<i64>| {
        sql("UPDATE tasks SET last_activity_at = $2 WHERE id = $1")
            .bind(task)
            .bind(value)
    };
    story.tamper(set(&ahead.task, Some(later))).await?;
    for value in [None, Some(1)] {
        story.tamper(set(&behind.task, value)).await?;
        let covers = truth("activity_covers_records")?;
        story
            .change(&[], async |tx| cures::apply(tx, covers).await)
            .await?;
        assert_eq!(
            (at(&behind.task).await?, at(&ahead.task).await?),
            (right, later)
        );
    }
    Ok(())
}

/// REC-01: what start-up recovery restores is asked only while no server runs.
async fn rec_01_what_recovery_restores_must_hold_without_a_server_only(story: Story) -> Result<()> {
    let one = cast(&story).await?;
    let (turn, _) = story.prompt(&one.session, "more").await?;
    story.stream(&one.session, &turn, "half a").await?;
    story.permission(&one.session, &turn).await?;
    story
        .change(&[&one.task], async |tx| {
            let now = tx.now();
            sessions::set_activity(tx, &one.session, Some(Activity::Generating), 0).await?;
            tasks::raise_activity(tx, &one.task, now).await
        })
        .await?;
    let waits = cast(&story).await?;
    story
        .change(&[&waits.task], async |tx| {
            let now = tx.now();
            tasks::set_state(tx, &waits.task, TaskState::InProgress, now).await
        })
        .await?;
    let environment = story.environment(&waits.task, &["root"]).await?;
    story
        .tamper(
            sql("DELETE FROM task_environment_bindings WHERE environment_id = $1")
                .bind(&environment),
        )
        .await?;
    story.turn(&waits.session, NewTurn::Lifecycle).await?;
    let process = sql(
        "INSERT INTO executors_running (id, session_id, task_environment_id, pid, process_started,
                           instance_id, started_at) VALUES ('x', $1, $2, 1, '1', 'i', 1)",
    );
    story
        .tamper(process.bind(&waits.session).bind(&environment))
        .await?;
    let found = broken(&story).await?;
    let names: Vec<_> = found.keys().copied().collect();
    let mut expected: Vec<_> = TRUTHS
        .iter()
        .filter(|truth| truth.holds == Holds::WhileNoServerRuns)
        .map(|truth| truth.name)
        .collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(found["no_open_turn_without_server"].count, 2);
    Ok(())
}
