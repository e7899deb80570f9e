//! The hands of the turn machine: they load the facts of a session and carry out what follows.
//!
//! The rules stand in `model::turn_machine`; here are only the rows. A plan is carried out inside the caller's
//! transaction, in its order; what changed is told at its end, each row once, in its last state.

use crate::clarifications;
use crate::emit;
use crate::orchestrator::Orchestrator;
use crate::permissions::note_delivery;
use crate::turns::{StepMoment, end_withdrawn, expire_permissions, follow_step, started};
use model::event::TaskChange;
use model::ids::{PendingId, SessionId, TurnId};
use model::message::{Disposition, Message};
use model::session::Session;
use model::turn::TurnOutcome;
use model::turn_machine::change::{Change, Plan};
use model::turn_machine::decide;
use model::turn_machine::facts::{Facts, PromptFact, QuestionsFact, TaskFact, TurnFact};
use model::turn_machine::input::Input;
use store::error::Result;
use store::sql::Link;
use store::tx::WriteTx;
use store::{clarifications as rows, executions, messages, sessions, standing, tasks, turns};

impl Orchestrator {
    /// Answers that wait, else the queue, go on if no turn is open; gives the turn that was reserved.
    pub(crate) async fn go_on(
        &self,
        tx: &mut WriteTx,
        session: &Session,
    ) -> Result<Option<TurnId>> {
        let facts = self.facts(tx, &session.id).await?;
        follow(tx, &session.id, &facts, &Input::QueueAsked).await
    }

    /// The facts of a session as everybody but its owner knows them.
    pub(crate) async fn facts(&self, tx: &mut Link, session_id: &SessionId) -> Result<Facts> {
        let registry = &self.inner.registry;
        let attached = |id: &PendingId| registry.is_attached(session_id, id);
        let mut facts = facts(tx, session_id, attached).await?;
        facts.process = registry.has_process(session_id);
        Ok(facts)
    }
}

/// The facts of a session without a process; `attached` says whether somebody waits for a bundle. Permissions and the
/// prompts of turns are left out: only recovery reads them.
pub(crate) async fn facts(
    tx: &mut Link,
    session_id: &SessionId,
    attached: impl Fn(&PendingId) -> bool,
) -> Result<Facts> {
    let standing = standing::of_session(tx, session_id).await?;
    let loaded = turns::open_and_current(tx, session_id).await?;
    let bundles = clarifications::by_bundle(rows::undelivered(tx, session_id).await?);
    let questions = bundles.into_iter().filter_map(|bundle| {
        let first = bundle.into_iter().next()?;
        Some(QuestionsFact {
            attached: attached(&first.pending_id),
            id: first.pending_id,
            turn: first.turn_id,
            status: first.status,
            delivered: None,
        })
    });
    let mut facts = Facts::new(standing.task);
    facts.session = standing.session;
    facts.resumable = standing.resumable;
    facts.activity = standing.activity;
    facts.subagents = standing.subagents;
    facts.turns = loaded.iter().map(TurnFact::from).collect();
    facts.queue = messages::queued_ids(tx, session_id).await?;
    facts.questions = questions.collect();
    facts.task = TaskFact {
        state: standing.task,
        others_open: standing.others_open,
        others_starting: standing.others_starting,
        intended: standing.intended,
    };
    Ok(facts)
}

/// Adds where a row stands: its turn, and whether anything came back for it.
pub(crate) async fn add_row(tx: &mut Link, facts: &mut Facts, row: &Message) -> Result<()> {
    let Some(turn_id) = &row.turn_id else {
        return Ok(());
    };
    let acknowledged = row.disposition == Some(Disposition::Dispatched);
    match facts.turns.iter_mut().find(|turn| turn.id == *turn_id) {
        Some(turn) => turn.acknowledged |= acknowledged,
        None => {
            let turn = TurnFact {
                acknowledged,
                ..TurnFact::from(&turns::get(tx, turn_id).await?)
            };
            // It is no boundary, so it is older than the one that is.
            facts.turns.insert(0, turn);
        }
    }
    facts.prompts.push(PromptFact {
        id: row.id.clone(),
        turn: turn_id.clone(),
    });
    Ok(())
}

/// Asks the machine and carries out what it says; gives the turn that was reserved. What is to be said to the agent is
/// the owner's to say.
pub(crate) async fn follow(
    tx: &mut WriteTx,
    session_id: &SessionId,
    facts: &Facts,
    input: &Input,
) -> Result<Option<TurnId>> {
    // Only what a person asks for can be refused, and that is asked where the refusal can be told.
    let plan = decide(facts, input, &TurnId::generate()).unwrap_or_default();
    carry_out(tx, session_id, facts, &plan.changes).await?;
    Ok(reserved_by(&plan))
}

/// The turn that a plan reserves.
pub(crate) fn reserved_by(plan: &Plan) -> Option<TurnId> {
    plan.changes.iter().find_map(|change| match change {
        Change::ReserveForPrompt { turn, .. } | Change::ReserveForAnswers(turn) => {
            Some(turn.clone())
        }
        _ => None,
    })
}

/// Whether a change ends the questions of the turn that was the boundary until now.
fn ends(change: &Change, boundary: &TurnId) -> bool {
    match change {
        Change::ReserveForPrompt { turn, .. } | Change::MarkAttempted(turn) => turn != boundary,
        Change::Session(state) => state.is_terminal(),
        _ => false,
    }
}

/// What is told at the end of a plan.
#[derive(Default)]
struct News {
    session: bool,
    /// Questions that ended with their boundary or session: what it waits for is another thing now.
    superseded: bool,
    queue: bool,
    task: bool,
    turns: Vec<Told>,
}

enum Told {
    Started(TurnId),
    Completed(TurnId),
    Prompts(TurnId),
}

/// Carries changes out.
pub(crate) async fn carry_out(
    tx: &mut WriteTx,
    session_id: &SessionId,
    facts: &Facts,
    changes: &[Change],
) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let task_id = sessions::task_of(tx, session_id).await?;
    tx.touch(&task_id);
    let mut news = News::default();
    for change in changes {
        let now = tx.now();
        if let Some(before) = facts.current().filter(|before| ends(change, &before.id)) {
            news.superseded |= rows::any_open_in(tx, session_id, &before.id).await?;
        }
        match change {
            Change::Session(state) => {
                sessions::set_state(tx, session_id, *state).await?;
                news.session = true;
            }
            Change::Activity {
                activity,
                subagents,
            } => {
                sessions::set_activity(tx, session_id, *activity, *subagents).await?;
                news.session = true;
            }
            Change::Task(state) => {
                tasks::set_state(tx, &task_id, *state, now).await?;
                news.task = true;
            }
            Change::TurnOpened(turn) => {
                tasks::set_interrupted(tx, &task_id, None).await?;
                follow_step(tx, &task_id, StepMoment::TurnStart).await?;
                news.task = true;
                news.turns.push(Told::Started(turn.clone()));
            }
            Change::TaskSettled => follow_step(tx, &task_id, StepMoment::TurnComplete).await?,
            Change::Milestone => tasks::raise_activity(tx, &task_id, now).await?,
            Change::LaunchOver => started(tx, &task_id).await?,
            Change::ForgetProcess => executions::remove(tx, session_id).await?,
            Change::ReserveForPrompt { .. }
            | Change::QueueFirst(_)
            | Change::QueueLast(_)
            | Change::Unqueue(_)
            | Change::DeleteRow(_) => place(tx, session_id, change, &mut news).await?,
            Change::EndPermissions(status) => expire_permissions(tx, session_id, *status).await?,
            Change::PermissionDelivered { id, delivered } => {
                news.session |= !note_delivery(tx, session_id, id, *delivered).await?;
            }
            Change::EndPermission { .. } | Change::EndQuestions { .. } => {
                end_withdrawn(tx, session_id, change).await?;
            }
            Change::AskPermission(_)
            | Change::AskQuestions { .. }
            | Change::QuestionsDelivered { .. }
            | Change::RestoreQuestions(_) => {
                clarifications::carry_out(tx, session_id, change).await?;
            }
            _ => turn(tx, session_id, facts, change, &mut news).await?,
        }
    }
    tell(tx, session_id, &task_id, news).await
}

async fn turn(
    tx: &mut WriteTx,
    session_id: &SessionId,
    facts: &Facts,
    change: &Change,
    news: &mut News,
) -> Result<()> {
    let now = tx.now();
    match change {
        Change::ReserveForAnswers(turn) => {
            turns::insert(tx, turn, session_id, turns::NewTurn::Empty, now).await
        }
        Change::OpenLifecycle(turn) => {
            turns::insert(tx, turn, session_id, turns::NewTurn::Lifecycle, now).await
        }
        Change::MarkAttempted(turn) => {
            news.turns.push(Told::Prompts(turn.clone()));
            turns::mark_attempted(tx, turn).await
        }
        Change::Acknowledge(turn) => turns::mark_acknowledged(tx, turn).await,
        Change::RequestCancel(turn) => turns::request_cancel(tx, turn, now).await,
        Change::Settle { turn, outcome } => {
            let conversational = facts.turn(turn).is_some_and(|turn| !turn.lifecycle_only);
            if turns::complete(tx, turn, *outcome, now).await? && conversational {
                news.turns.push(Told::Completed(turn.clone()));
                news.turns.push(Told::Prompts(turn.clone()));
            }
            Ok(())
        }
        Change::RemoveTurn(turn) => {
            if turns::complete(tx, turn, TurnOutcome::NotDispatched, now).await? {
                // Told as over, so that a client that saw it begin does not wait for its end.
                emit::turn_completed(tx, turn).await?;
            }
            turns::remove(tx, turn).await
        }
        _ => Ok(()),
    }
}

/// A prompt's place. New rows and deleted ones are stored by the commands that have their contents.
async fn place(
    tx: &mut WriteTx,
    session_id: &SessionId,
    change: &Change,
    news: &mut News,
) -> Result<()> {
    let now = tx.now();
    match change {
        Change::ReserveForPrompt { turn, prompt } => {
            turns::insert(tx, turn, session_id, turns::NewTurn::ForMessage, now).await?;
            if let Some(message) = messages::get(tx, prompt).await? {
                messages::dequeue(tx, &message, turn, now).await?;
                emit::message_updated(tx, prompt).await?;
            }
            news.queue = true;
        }
        Change::QueueFirst(prompt) => {
            messages::requeue_first(tx, session_id, prompt, now).await?;
            emit::message_updated(tx, prompt).await?;
            news.queue = true;
        }
        _ => {}
    }
    Ok(())
}

async fn tell(
    tx: &mut WriteTx,
    session_id: &SessionId,
    task_id: &model::ids::TaskId,
    news: News,
) -> Result<()> {
    if news.superseded {
        emit::pending(tx, session_id, None).await?; // tells the session too
    } else if news.session {
        emit::session(tx, session_id).await?;
    }
    for told in news.turns {
        match told {
            Told::Started(turn) => emit::turn_started(tx, &turn).await?,
            Told::Completed(turn) => emit::turn_completed(tx, &turn).await?,
            Told::Prompts(turn) => emit::prompts_of_turn(tx, &turn).await?,
        }
    }
    if news.queue {
        emit::queue(tx, session_id).await?;
    }
    if news.task {
        emit::task(tx, task_id, TaskChange::Updated).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
