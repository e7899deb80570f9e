//! Whether a person's wish is taken. The turn machine decides; here a refusal gets words that say what to do.

use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use model::bounds;
use model::ids::{SessionId, TurnId};
use model::turn_machine::change::Plan;
use model::turn_machine::decide;
use model::turn_machine::facts::Facts;
use model::turn_machine::input::{Input, Refusal};

impl Orchestrator {
    /// What follows from what a person wishes.
    ///
    /// # Errors
    /// `Conflict` when the person saw something older than what is there, or the session is just being deleted or
    /// archived; `Busy` for a full queue; `Invalid` for a closed session.
    pub(crate) fn admit(
        &self,
        session_id: &SessionId,
        facts: &Facts,
        wish: &Input,
    ) -> Result<Plan> {
        if brings_work(wish) {
            self.refuse_while_closing(session_id)?;
        }
        decide(facts, wish, &TurnId::generate()).map_err(|refusal| refused(wish, refusal))
    }

    /// A session that is just being deleted or archived takes nothing.
    pub(crate) fn refuse_while_closing(&self, session_id: &SessionId) -> Result<()> {
        if self.inner.registry.is_closing(session_id) {
            return Err(CommandError::conflict(
                "the session is being stopped; try again in a moment",
            ));
        }
        Ok(())
    }
}

/// Whether an agent may have to work for it.
const fn brings_work(wish: &Input) -> bool {
    matches!(
        wish,
        Input::Accepted(_)
            | Input::SentAgain(_)
            | Input::SentNow(_)
            | Input::QuestionsResolved { .. }
    )
}

fn refused(wish: &Input, refusal: Refusal) -> CommandError {
    let question = matches!(wish, Input::QuestionsResolved { .. });
    let text = match refusal {
        Refusal::QueueFull => {
            return CommandError::Busy(format!(
                "{} messages are queued already; wait for the agent or remove one",
                bounds::QUEUED_PROMPTS
            ));
        }
        Refusal::Closed if question => {
            "the session is closed, so nobody would hear of the answer; start a new one"
        }
        Refusal::Closed => {
            return CommandError::invalid("the session is closed; start a new one to go on");
        }
        Refusal::Moved => match wish {
            Input::SentAgain(_) => "this message needs no resending",
            Input::Deleted(_) => "the message is in the queue; take it out there",
            _ => "the message is not in the queue any more",
        },
        Refusal::TurnOpen => "the agent is still working on this turn; stop it first",
        Refusal::Resolved if question => "this question was already resolved",
        Refusal::Resolved => "this request was already resolved",
        Refusal::Superseded => {
            "a newer message took the place of this question; send the answer as a message instead"
        }
    };
    CommandError::conflict(text)
}
