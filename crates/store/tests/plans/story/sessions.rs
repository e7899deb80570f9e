//! Sessions: what is asked, sent and said.

use crate::asked::Plans;
use crate::story::{Cast, OPEN, REQUESTS};
use anyhow::Result;
use model::ids::TurnId;
use model::message::RequestStatus;
use model::turn::TurnOutcome;
use store::turns::NewTurn;
use store::{
    clarifications, messages, requests, segments, sessions, standing, tasks, turns, workspaces,
};

/// What waits for a person, and what its session's owner asks at every poke.
pub(crate) async fn requests_of(plans: &mut Plans, cast: &Cast) -> Result<()> {
    let (session, json) = (&cast.session, serde_json::json!({}));
    plans
        .ask("requests::of_task", &[OPEN], async |tx| {
            requests::of_task(tx, &cast.task).await
        })
        .await?;
    plans
        .ask("requests::undelivered", &[REQUESTS], async |tx| {
            requests::undelivered(tx, session).await
        })
        .await?;
    plans
        .ask("clarifications::undelivered", &[REQUESTS], async |tx| {
            clarifications::undelivered(tx, session).await
        })
        .await?;
    plans
        .ask("clarifications::bundle", &[REQUESTS], async |tx| {
            clarifications::bundle(tx, session, &cast.question.pending_id).await
        })
        .await?;
    plans
        .ask("requests::decide", &[], async |tx| {
            let (now, asked, status) = (tx.now(), &cast.asked, RequestStatus::Approved);
            let (row, pending) = (&asked.message_id, &asked.pending_id);
            requests::decide(tx, row, pending, status, &json, None, now).await
        })
        .await?;
    plans
        .ask("requests::end_permissions", &[OPEN], async |tx| {
            let now = tx.now();
            requests::end_permissions(tx, session, RequestStatus::Expired, now).await
        })
        .await
        .map(drop)
}

/// A prompt on its way to an agent, and the end of its turn.
pub(crate) async fn sends(plans: &mut Plans, cast: &Cast) -> Result<()> {
    let (session, turn) = (&cast.session, &cast.turn);
    plans
        .ask("messages::owner", &[], async |tx| {
            messages::owner(tx, &cast.prompt).await
        })
        .await?;
    plans
        .ask(
            "messages::queued",
            &["task_session_messages_queued"],
            async |tx| messages::queued(tx, session).await,
        )
        .await?;
    plans
        .ask("messages::rewrite_queued", &[], async |tx| {
            let now = tx.now();
            messages::rewrite_queued(tx, &cast.queued, "then this", now).await
        })
        .await?;
    plans
        .ask("messages::place_queued", &[], async |tx| {
            let now = tx.now();
            messages::place_queued(tx, &cast.queued, 7, now).await
        })
        .await?;
    plans
        .ask("turns::open", &[], async |tx| {
            turns::open(tx, session).await
        })
        .await?;
    plans
        .ask("clarifications::any_open_in", &[OPEN], async |tx| {
            clarifications::any_open_in(tx, session, turn).await
        })
        .await?;
    plans
        .ask("standing::of_session", &[], async |tx| {
            standing::of_session(tx, session).await
        })
        .await?;
    plans
        .ask(
            "turns::current",
            &["task_session_turns_by_session"],
            async |tx| turns::current(tx, session).await,
        )
        .await?;
    plans
        .ask(
            "turns::open_and_current",
            &["task_session_turns_by_session", "task_session_turns_open"],
            async |tx| turns::open_and_current(tx, session).await,
        )
        .await?;
    plans
        .ask("turns::mark_attempted", &[], async |tx| {
            turns::mark_attempted(tx, turn).await
        })
        .await?;
    plans
        .ask(
            "messages::prompts_of_turn",
            &["task_session_messages_by_turn"],
            async |tx| messages::prompts_of_turn(tx, turn).await,
        )
        .await?;
    plans
        .ask("turns::complete", &[], async |tx| {
            let now = tx.now();
            turns::complete(tx, turn, TurnOutcome::Completed, now).await
        })
        .await?;
    let next = TurnId::generate();
    plans
        .ask("turns::insert", &[], async |tx| {
            let now = tx.now();
            turns::insert(tx, &next, session, NewTurn::ForMessage, now).await
        })
        .await?;
    let queue = plans
        .ask("messages::queue", &[], async |tx| {
            messages::queue(tx, session).await
        })
        .await?;
    plans
        .ask("messages::queued_ids", &[], async |tx| {
            messages::queued_ids(tx, session).await
        })
        .await?;
    plans
        .ask("workspaces::acting_step", &[], async |tx| {
            workspaces::acting_step(tx, &cast.task).await
        })
        .await?;
    plans
        .ask("messages::dequeue", &[], async |tx| {
            let now = tx.now();
            messages::dequeue(tx, &queue[0], &next, now).await
        })
        .await?;
    plans
        .ask(
            "messages::requeue_first",
            &["task_session_messages_queued"],
            async |tx| {
                let now = tx.now();
                messages::requeue_first(tx, session, &cast.queued, now).await
            },
        )
        .await?;
    plans
        .ask("messages::remove_queued", &[], async |tx| {
            let now = tx.now();
            messages::remove_queued(tx, &cast.queued, now).await
        })
        .await?;
    plans
        .ask("tasks::raise_activity", &[], async |tx| {
            let now = tx.now();
            tasks::raise_activity(tx, &cast.task, now).await
        })
        .await
}

/// What an agent says.
pub(crate) async fn streams(plans: &mut Plans, cast: &Cast) -> Result<()> {
    let (session, streaming) = (&cast.session, &cast.streaming);
    plans
        .ask("segments::append", &[], async |tx| {
            let segment = segments::Segment {
                message_id: streaming.clone(),
                number: 7,
                text: "more".to_owned(),
            };
            segments::append(tx, &segment).await
        })
        .await?;
    plans
        .ask(
            "segments::unsettled",
            &["task_session_messages_streaming"],
            async |tx| segments::unsettled(tx, std::slice::from_ref(session)).await,
        )
        .await?;
    plans
        .ask("segments::fold", &[], async |tx| {
            let now = tx.now();
            segments::fold(tx, streaming, now).await
        })
        .await?;
    plans
        .ask("messages::replace", &[], async |tx| {
            let (now, nothing) = (tx.now(), serde_json::json!({}));
            messages::replace(tx, streaming, "text", &nothing, now).await
        })
        .await?;
    plans
        .ask("messages::append_settled", &[], async |tx| {
            let now = tx.now();
            messages::append_settled(tx, streaming, "late", now).await
        })
        .await?;
    plans
        .ask("sessions::raise_pending_revision", &[], async |tx| {
            sessions::raise_pending_revision(tx, session).await
        })
        .await
}
