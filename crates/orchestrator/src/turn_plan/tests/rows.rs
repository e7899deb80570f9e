//! Everything that the rows of a session say, read without the functions that the product loads facts with.

use super::mind::Mind;
use super::step::Scene;
use anyhow::{Result, ensure};
use model::ids::{MessageId, PendingId};
use model::message::{MessageType, RequestStatus};
use model::session::{Activity, SessionState};
use model::task::TaskState;
use model::turn::TurnOutcome;
use model::turn_machine::facts::{Facts, PermissionFact, PromptFact, QuestionsFact, TurnFact};
use std::collections::BTreeMap;
use store::row::Row;
use store::sql::{Link, sql};

/// What the rows say, and beside that what `mind` knows and no row says.
pub(super) async fn all(link: &mut Link, scene: &Scene, mind: &Mind) -> Result<Facts> {
    let mut facts = mind.facts.clone();
    let session = sql("SELECT * FROM task_sessions WHERE id = $1").bind(&scene.session);
    let session = link.one(session, "session").await?;
    facts.session = session.word("state", SessionState::parse)?;
    facts.resumable = session.maybe_text("acp_session_id")?.is_some();
    facts.activity = session.maybe_word("foreground_activity", Activity::parse)?;
    facts.subagents = u32::try_from(session.int("active_subagent_count")?)?;
    let task = sql("SELECT * FROM tasks WHERE id = $1").bind(&scene.task);
    let task = link.one(task, "task").await?;
    facts.task.state = task.word("state", TaskState::parse)?;
    facts.task.intended = task.maybe_text("launch_prompt")?.is_some();
    let turns =
        sql("SELECT * FROM task_session_turns WHERE session_id = $1 ORDER BY started_at, id");
    let turns = link.all(turns.bind(&scene.session)).await?;
    facts.turns = turns.iter().map(turn).collect::<Result<_>>()?;
    let rows = sql(
        "SELECT * FROM task_session_messages WHERE session_id = $1 AND NOT removed ORDER BY seq",
    );
    let rows = link.all(rows.bind(&scene.session)).await?;
    facts.queue = queue(&rows)?;
    facts.prompts.clear();
    facts.permissions.clear();
    facts.questions.clear();
    for row in &rows {
        match row.word("type", MessageType::parse)? {
            MessageType::PermissionRequest => facts.permissions.push(permission(row, mind)?),
            MessageType::ClarificationRequest => ask(&mut facts.questions, row, mind)?,
            _ => facts.prompts.extend(prompt(row)?),
        }
    }
    Ok(facts)
}

fn turn(row: &Row) -> Result<TurnFact> {
    let turn = TurnFact {
        id: row.id("id")?,
        authoritative: row.truth("authoritative")?,
        lifecycle_only: row.truth("lifecycle_only")?,
        attempted: row.truth("prompt_dispatch_attempted")?,
        acknowledged: row.truth("acknowledged")?,
        cancel_requested: row.maybe_int("cancel_requested_at")?.is_some(),
        outcome: row.maybe_word("outcome", TurnOutcome::parse)?,
    };
    let open = row.maybe_int("completed_at")?.is_none();
    ensure!(open == turn.is_open(), "{} is half over", turn.id);
    let pending = row.truth("prompt_dispatch_pending")?;
    let waits = open && !turn.lifecycle_only && !turn.attempted;
    ensure!(pending == waits, "{}: to be dispatched: {pending}", turn.id);
    Ok(turn)
}

fn queue(rows: &[Row]) -> Result<Vec<MessageId>> {
    let mut queue = BTreeMap::new();
    for row in rows {
        if let Some(place) = row.maybe_int("queue_position")? {
            let id: MessageId = row.id("id")?;
            let seq = row.maybe_int("seq")?;
            ensure!(seq.is_none(), "{id} is queued and in the transcript");
            let other = queue.insert(place, id.clone());
            ensure!(other.is_none(), "{id} and {other:?} have one place");
        }
    }
    Ok(queue.into_values().collect())
}

fn prompt(row: &Row) -> Result<Option<PromptFact>> {
    let id: MessageId = row.id("id")?;
    let turn = row.maybe_id("turn_id")?;
    let queued = row.maybe_int("queue_position")?.is_some();
    ensure!(queued == turn.is_none(), "{id} has no place, or two");
    Ok(turn.map(|turn| PromptFact { id, turn }))
}

fn permission(row: &Row, mind: &Mind) -> Result<PermissionFact> {
    let id: MessageId = row.id("id")?;
    let awaited = mind.facts.permissions.iter();
    Ok(PermissionFact {
        status: row.word("status", RequestStatus::parse)?,
        delivered: row.maybe_truth("delivered")?,
        awaited: awaited.clone().any(|p| p.id == id && p.awaited),
        id,
    })
}

fn ask(bundles: &mut Vec<QuestionsFact>, row: &Row, mind: &Mind) -> Result<()> {
    let id: PendingId = row.id("pending_id")?;
    let mut known = mind.facts.questions.iter();
    let bundle = QuestionsFact {
        turn: row.maybe_id("turn_id")?,
        status: row.word("status", RequestStatus::parse)?,
        delivered: row.maybe_truth("delivered")?,
        attached: known.any(|bundle| bundle.id == id && bundle.attached),
        id,
    };
    let answered = row
        .json::<serde_json::Value>("metadata")?
        .get("answer")
        .is_some();
    ensure!(
        answered == (bundle.status == RequestStatus::Answered),
        "{}: answered: {answered}, {:?}",
        bundle.id,
        bundle.status
    );
    match bundles.iter().find(|other| other.id == bundle.id) {
        Some(other) => ensure!(
            *other == bundle,
            "a bundle fell apart: {other:?}, {bundle:?}"
        ),
        None => bundles.push(bundle),
    }
    Ok(())
}
