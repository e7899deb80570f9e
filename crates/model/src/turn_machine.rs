//! The turn machine: what follows from everything that can happen to one session, as plain data.
//!
//! [`Facts`] are one session as the database holds it, with the little that only its owner knows (whether a process
//! lives, who waits for an answer). [`decide`] takes them and an [`Input`] and gives a [`Plan`]: which rows become
//! what, and what is to be said to the agent before and after that is committed. It is total, has no clock and does no
//! I/O; whoever drives it loads facts, asks, and carries the plan out in one transaction.
//!
//! The rules, from which everything here follows:
//!
//! - At most one conversational turn is open, so at most one prompt is under way (PEN-03).
//! - Authority is sticky: nothing takes it from a turn, and a turn without it is either attempted or undone (PEN-04).
//! - A prompt is written after its turn is stored as attempted, and only then; so it is never written twice unless a
//!   person sends it again (API-06).
//! - A request leaves *pending* once. The one way back is that the answers to questions were not sent at all.
//! - A lifecycle turn (an agent's start or resume) supersedes nothing and ends no request (SUM-09).
//!
//! Where to read next: [`facts`] for the words, [`change`] for what a plan is made of, then `sends`, `endings`,
//! `starts` and `requests` for the rules. `explored` tries them in every order, against `invariants`.

pub mod change;
pub mod facts;
pub mod input;

mod applied;
mod endings;
mod requests;
mod sends;
mod starts;

#[cfg(test)]
mod explored;
#[cfg(test)]
mod invariants;
#[cfg(test)]
mod world;

use crate::ids::TurnId;
use change::{Act, Change, Plan};
use facts::Facts;
use input::{Input, Refusal};

/// What follows from `input`. `fresh` is the id of the turn that may have to be reserved; it must be new.
///
/// # Errors
/// What was asked for cannot be done; then nothing changes. What happens by itself is never refused.
pub fn decide(facts: &Facts, input: &Input, fresh: &TurnId) -> Result<Plan, Refusal> {
    let mut planning = Planning::new(facts, fresh);
    match input {
        Input::Accepted(prompt) => planning.accept(prompt)?,
        Input::SentAgain(prompt) => planning.send_again(prompt)?,
        Input::SentNow(prompt) => planning.send_now(prompt)?,
        Input::Unqueued(prompt) => planning.unqueue(prompt)?,
        Input::Deleted(message) => planning.delete(message)?,
        Input::QueueAsked => planning.go_on(),
        Input::StopAsked => planning.ask_stop(),
        Input::Closed => planning.close(),
        Input::StopBegun => planning.begin_stop(),
        Input::Starting { lifecycle } => planning.starting(*lifecycle),
        Input::Ready => planning.ready(),
        Input::StartFailed { outcome } => planning.start_failed(*outcome),
        Input::Dispatched => planning.dispatch(),
        Input::Unsent(outcome) => planning.close_unsent(*outcome),
        Input::SignOfLife => planning.acknowledge(),
        Input::LateUpdate => {}
        Input::TurnEnded { outcome, replied } => planning.end_turn(*outcome, *replied),
        Input::ProcessForgotten { idle } => planning.forget_process(*idle),
        Input::Rested => planning.rest(),
        Input::Recovered => planning.recover(),
        Input::PermissionAsked(id) => planning.permission_asked(id),
        Input::PermissionDecided { id, decision } => planning.permission_decided(id, *decision)?,
        Input::PermissionWithdrawn(id) => planning.permission_withdrawn(id),
        Input::DecisionsDue => planning.deliver_decisions(),
        Input::QuestionsAsked(id) => planning.questions_asked(id)?,
        Input::QuestionsResolved { id, decision } => planning.questions_resolved(id, *decision)?,
        Input::QuestionsWithdrawn(id) => planning.questions_withdrawn(id),
        Input::AnswersDue => planning.deliver_answers(),
        Input::Subagents(count) => planning.subagents(*count),
    }
    Ok(planning.plan)
}

/// A plan in the making: later rules see what earlier ones decided.
struct Planning<'a> {
    facts: Facts,
    fresh: &'a TurnId,
    plan: Plan,
}

impl<'a> Planning<'a> {
    fn new(facts: &Facts, fresh: &'a TurnId) -> Self {
        Self {
            facts: facts.clone(),
            fresh,
            plan: Plan::default(),
        }
    }

    /// Decides a change.
    fn then(&mut self, change: Change) {
        self.facts.apply(&change);
        self.plan.changes.push(change);
    }

    /// Says something to the agent before the changes are committed.
    fn first(&mut self, act: Act) {
        self.facts.carry_out(&act);
        self.plan.before.push(act);
    }

    /// Says something to the agent once the changes are committed.
    fn finally(&mut self, act: Act) {
        self.plan.after.push(act);
    }
}
