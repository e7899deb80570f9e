//! What must hold after everything that can happen to a session, said about its rows and about what the person and the
//! agent know.

use super::facts::{Facts, TurnFact};
use super::input::{Input, Refusal};
use super::world::{World, permission, prompt};
use super::{change::Plan, decide};
use crate::message::{Disposition, RequestStatus};
use crate::session::{Activity, SessionState};
use crate::task::TaskState;
use crate::turn::TurnOutcome;

/// What is wrong with this world, having come from `before`.
pub(super) fn wrong(before: &World, now: &World) -> Result<(), String> {
    prompts(now)?;
    turns(before, now)?;
    permissions(before, now)?;
    questions(before, now)?;
    states(now)?;
    refusals(now)
}

fn holds(what: &str, holds: bool) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// API-06: every accepted prompt is in one place that says what became of it, and is written once per send at most.
fn prompts(now: &World) -> Result<(), String> {
    for (index, sent) in now.sent.iter().enumerate() {
        let id = prompt(index);
        holds(
            "a prompt is written more often than it was sent",
            sent.written <= sent.asked,
        )?;
        if sent.asked == 0 || sent.gone {
            continue;
        }
        let queued = now
            .facts
            .queue
            .iter()
            .filter(|queued| **queued == id)
            .count();
        let placed = now
            .facts
            .prompts
            .iter()
            .filter(|placed| placed.id == id)
            .count();
        holds("a prompt is not in exactly one place", queued + placed == 1)?;
        match now.facts.disposition(&id) {
            None => return Err("an accepted prompt is lost".to_owned()),
            Some(Disposition::Queued | Disposition::Undelivered) => holds(
                "a prompt that was written is offered as if it had not been",
                !sent.written_since,
            )?,
            Some(Disposition::Sending) => {
                let reserved = now.facts.reserved().map(|turn| &turn.id);
                let its = now.facts.prompts.iter().find(|placed| placed.id == id);
                let under_way = its.map(|placed| &placed.turn) == reserved;
                holds(
                    "a prompt is sending and nobody sends it",
                    under_way && !sent.written_since,
                )?;
            }
            Some(Disposition::Dispatched | Disposition::Uncertain) => {}
        }
    }
    let stands = now.facts.open().is_none() && !now.facts.queue.is_empty();
    holds(
        "the queue stands still and nobody knows",
        !stands || now.waits_for_person,
    )
}

/// PEN-03, PEN-04: one open turn, sticky authority.
fn turns(before: &World, now: &World) -> Result<(), String> {
    let open = |turn: &&TurnFact| turn.is_open() && !turn.lifecycle_only;
    holds(
        "two turns are open",
        now.facts.turns.iter().filter(open).count() <= 1,
    )?;
    for placed in &now.facts.prompts {
        let its = now.facts.turn(&placed.turn);
        holds(
            "a prompt's turn has no authority",
            its.is_none_or(|turn| turn.authoritative),
        )?;
        let left = its.is_some_and(|turn| turn.outcome == Some(TurnOutcome::NotDispatched));
        holds("a prompt stayed with a turn that was given up", !left)?;
    }
    for turn in &before.facts.turns {
        let Some(kept) = now.facts.turn(&turn.id) else {
            holds("a turn with authority is gone", !turn.authoritative)?;
            continue;
        };
        holds(
            "a turn lost its authority",
            kept.authoritative || !turn.authoritative,
        )?;
        holds(
            "an attempted turn is not any more",
            kept.attempted || !turn.attempted,
        )?;
        holds(
            "a settled turn changed",
            turn.is_open() || kept.outcome == turn.outcome,
        )?;
    }
    let attempted = |turn: &TurnFact| !turn.attempted || turn.authoritative;
    holds(
        "attempted without authority",
        now.facts.turns.iter().all(attempted),
    )?;
    let boundary = |facts: &Facts| facts.current().map(|turn| turn.id.clone());
    holds(
        "the boundary moved back",
        boundary(&before.facts) <= boundary(&now.facts),
    )
}

/// PEN-05, PEN-08: a permission is over once, and the agent hears what was chosen for it and nothing else.
fn permissions(before: &World, now: &World) -> Result<(), String> {
    for earlier in &before.facts.permissions {
        let Some(kept) = now.facts.permissions.iter().find(|p| p.id == earlier.id) else {
            continue;
        };
        let over = earlier.status.is_terminal();
        holds(
            "a permission that was over changed",
            !over || kept.status == earlier.status,
        )?;
        let told = earlier.delivered.is_some();
        holds(
            "a delivery was told twice",
            !told || kept.delivered == earlier.delivered,
        )?;
    }
    for (index, asked) in now.asked.iter().enumerate() {
        let Some(row) = now
            .facts
            .permissions
            .iter()
            .find(|p| p.id == permission(index))
        else {
            continue;
        };
        match asked.heard {
            Some(RequestStatus::Cancelled) | None => {}
            heard => holds("an agent heard what nobody chose", heard == asked.chosen)?,
        }
        let decided = matches!(
            row.status,
            RequestStatus::Approved | RequestStatus::Rejected
        );
        holds(
            "a decision is not the person's",
            !decided || asked.chosen == Some(row.status),
        )?;
        if decided && row.delivered == Some(true) {
            holds(
                "told as delivered and not heard",
                asked.heard == asked.chosen,
            )?;
        }
        // The owner is about to withdraw it: with the next prompt, or with the end of the process.
        let ending = now.lost || now.facts.session.is_terminal();
        let handled = ending || now.facts.reserved().is_some();
        let answerable = row.status.is_terminal() || row.awaited;
        holds(
            "a person may answer what nobody waits for",
            answerable || handled,
        )?;
        let waits_in_vain = row.awaited && row.status.is_terminal() && row.delivered.is_some();
        holds("an agent waits for what is over", !waits_in_vain || handled)?;
        let expired = row.awaited && row.status == RequestStatus::Expired;
        holds("an agent waits for what expired", !expired || handled)?;
    }
    Ok(())
}

/// PEN-02, PEN-04, PEN-08: nothing superseded becomes pending again.
fn questions(before: &World, now: &World) -> Result<(), String> {
    for earlier in &before.facts.questions {
        let Some(kept) = now.facts.questions.iter().find(|q| q.id == earlier.id) else {
            continue;
        };
        let boundary = before.facts.current().map(|turn| &turn.id);
        let superseded = earlier.turn.as_ref() != boundary;
        holds(
            "a superseded question can be answered again",
            !superseded || !now.facts.is_answerable(kept),
        )?;
        let reopened = earlier.status.is_terminal() && !kept.status.is_terminal();
        let unsent = earlier.status == RequestStatus::Answered && earlier.delivered.is_none();
        holds(
            "a question was reopened",
            !reopened || (unsent && !superseded),
        )?;
        let told = earlier.delivered.is_some();
        holds(
            "an answer was told twice",
            !told || kept.delivered == earlier.delivered,
        )?;
        let other = earlier.status.is_terminal() && kept.status.is_terminal();
        holds(
            "an answer was changed",
            !other || kept.status == earlier.status,
        )?;
    }
    let undone = |turn: &TurnFact| now.facts.turn(&turn.id).is_none();
    let unsent = now
        .facts
        .questions
        .iter()
        .any(|q| q.status == RequestStatus::Answered && q.delivered.is_none() && !q.attached);
    let given_up = before.facts.turns.iter().any(undone) && now.facts.open().is_none();
    holds("answers went with their reservation", !(given_up && unsent))?;
    match now.questions.heard {
        Some(RequestStatus::Cancelled) | None => Ok(()),
        heard => holds(
            "an agent heard an answer nobody gave",
            heard == now.questions.chosen,
        ),
    }
}

/// SUM-09 and the table of states: what session and task say is what is under way.
fn states(now: &World) -> Result<(), String> {
    let facts = &now.facts;
    let running = facts.session == SessionState::Running;
    let attempted = facts.open().is_some_and(|turn| turn.attempted);
    holds(
        "a written turn is open and the session does not run",
        running || !attempted,
    )?;
    holds(
        "the session runs without a turn",
        !running || facts.open().is_some(),
    )?;
    let generating = facts.activity == Some(Activity::Generating);
    holds("a turn is open and nothing works", generating || !attempted)?;
    holds(
        "something works without a turn",
        !generating || facts.open().is_some(),
    )?;
    let starts = facts.session != SessionState::Starting || facts.open().is_some();
    holds(
        "the session starts for nobody",
        starts || now.starting.is_some(),
    )?;
    let in_progress = facts.task.state == TaskState::InProgress;
    holds(
        "the task is in progress without a turn",
        !in_progress || facts.open().is_some(),
    )
}

/// A late, second or repeated wish changes nothing, and so does what comes after its turn.
fn refusals(now: &World) -> Result<(), String> {
    let fresh = now.fresh();
    let late = decide(&now.facts, &Input::LateUpdate, &fresh);
    holds(
        "a late update changes something",
        late == Ok(Plan::default()),
    )?;
    for id in (0..now.sent.len()).map(prompt) {
        if now.facts.disposition(&id) == Some(Disposition::Dispatched) {
            let again = decide(&now.facts, &Input::SentAgain(id), &fresh);
            holds(
                "what was dispatched is sent again",
                again == Err(Refusal::Moved),
            )?;
        }
    }
    for row in now
        .facts
        .permissions
        .iter()
        .filter(|p| p.status.is_terminal())
    {
        let id = row.id.clone();
        let decision = RequestStatus::Approved;
        let again = decide(
            &now.facts,
            &Input::PermissionDecided { id, decision },
            &fresh,
        );
        holds("a late decision is taken", again == Err(Refusal::Resolved))?;
    }
    for row in now
        .facts
        .questions
        .iter()
        .filter(|q| !now.facts.is_answerable(q))
    {
        let (id, decision) = (row.id.clone(), RequestStatus::Answered);
        let again = decide(
            &now.facts,
            &Input::QuestionsResolved { id, decision },
            &fresh,
        );
        holds("a late answer is taken", again.is_err())?;
    }
    Ok(())
}
