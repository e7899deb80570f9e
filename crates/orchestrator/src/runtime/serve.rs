//! What pokes lead to. Each looks at the database and does what stands there.

use crate::clarifications;
use crate::environments::StartFailure;
use crate::runtime::Runtime;
use crate::runtime::live::OpenTurn;
use crate::runtime::pokes::{Poke, Pokes};
use crate::runtime::start::{Purpose, Start};
use crate::turn_plan::{self, carry_out, reserved_by};
use crate::turns as turn_rules;
use agentctl::request::PromptPart;
use model::bounds;
use model::ids::{PendingId, TurnId};
use model::session::SessionState;
use model::turn::{Turn, TurnOutcome};
use model::turn_machine::change::{Act, Plan};
use model::turn_machine::decide;
use model::turn_machine::facts::Facts;
use model::turn_machine::input::Input;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::tx::WriteTx;
use store::{sessions, turns};
use tokio::time::Instant;

/// What came of marking a turn attempted.
enum Marked {
    /// Its prompt is to be written, with these answers.
    Write(Option<String>),
    /// It has settled, or there was nothing to send; whether another turn waits.
    Not { more: bool },
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runtime {
    pub(super) async fn serve(&mut self, pokes: Pokes) {
        if pokes.has(Poke::Ask) {
            self.take_questions().await;
        }
        if pokes.has(Poke::Answers) {
            self.deliver_answers().await;
            self.deliver_decisions().await;
        }
        if pokes.has(Poke::Stop) {
            self.stop_session().await;
            return;
        }
        if pokes.has(Poke::Cancel) {
            self.cancel_if_asked().await;
        }
        if pokes.has(Poke::Settings) {
            self.apply_choices().await;
        }
        if pokes.has(Poke::Open) {
            self.resume().await;
        }
        if pokes.has(Poke::Launch) {
            if self.live.is_none() {
                self.start(Purpose::Launch).await;
            } else {
                self.rest().await;
            }
        }
        self.work().await;
    }

    /// Writes the reserved prompt to the agent, bringing one up if none lives.
    async fn work(&mut self) {
        while self.turn.is_none() && !self.o.inner.shutdown.is_cancelled() {
            let Some(turn) = self.reserved().await else {
                return;
            };
            if turn.cancel_requested_at.is_some() {
                if !self.close_unsent(&turn, TurnOutcome::Cancelled, None).await {
                    return;
                }
                continue;
            }
            if self.live.is_none() {
                if self.start(Purpose::Prompt).await != Start::Ready {
                    return;
                }
                continue; // a start takes its time: another prompt may be the next one now
            }
            if !self.dispatch(&turn).await {
                return;
            }
        }
    }

    async fn reserved(&self) -> Option<Turn> {
        let open = self
            .persist("turn", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.read().await?;
                    turns::open(&mut tx, &self.session_id).await
                })
            })
            .await
            .flatten();
        open.filter(|turn| turn.prompt_dispatch_pending && !turn.prompt_dispatch_attempted)
    }

    /// Marks the turn attempted, then writes its prompt: what happens between the two is "uncertain", never twice.
    /// Says whether there may be more to do: a turn that can neither be sent nor settled is left to recovery.
    async fn dispatch(&mut self, turn: &Turn) -> bool {
        // Text that came late belongs to the turn before, and so does what a person decided before this prompt.
        self.flush_window().await;
        self.deliver_answers().await;
        self.deliver_decisions().await;
        let mut parts = match self.prompt_parts(turn).await {
            Ok(parts) => parts,
            // Nothing of it was written: the prompt is surely undelivered, and the queue waits for a person.
            Err(failure) => {
                return self
                    .close_unsent(turn, TurnOutcome::Failed, Some(&failure))
                    .await;
            }
        };
        // The answers of the last try to mark it, of which nobody may know what became.
        let tried: Mutex<Option<Option<String>>> = Mutex::default();
        let marked = self
            .persist("dispatch", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.write().await?;
                    let facts = self.facts(&mut tx).await?;
                    if facts
                        .reserved()
                        .is_none_or(|reserved| reserved.id != turn.id)
                    {
                        // Only its owner marks a turn: one that is open and attempted was marked by an earlier try.
                        let mine = facts.open().is_some_and(|open| open.id == turn.id);
                        let earlier = lock(&tried).take().filter(|_| mine);
                        let more = facts.reserved().is_some();
                        // Else it was settled meanwhile.
                        return Ok(earlier.map_or(Marked::Not { more }, Marked::Write));
                    }
                    let plan = decide(&facts, &Input::Dispatched, &TurnId::generate());
                    let plan = plan.unwrap_or_default();
                    // A turn without a message brings answers; without these there is nothing to send.
                    let writes = plan.after.contains(&Act::Write(turn.id.clone()));
                    let answers = if writes && !turn.authoritative {
                        let attached = |id: &PendingId| self.handle.questions.is_attached(id);
                        clarifications::claim(&mut tx, &self.session_id, attached).await?
                    } else {
                        None
                    };
                    carry_out(&mut tx, &self.session_id, &facts, &plan.changes).await?;
                    if !writes {
                        self.o.commit(tx).await?;
                        let more = reserved_by(&plan).is_some();
                        return Ok(Marked::Not { more });
                    }
                    *lock(&tried) = Some(answers.clone());
                    self.o.commit(tx).await?;
                    Ok(Marked::Write(answers))
                })
            })
            .await;
        let Some(marked) = marked else {
            // Not marked, so not written: the prompt is surely undelivered.
            return self.close_unsent(turn, TurnOutcome::Failed, None).await;
        };
        let answers = match marked {
            Marked::Write(answers) => answers,
            Marked::Not { more } => {
                self.withdraw_tickets().await;
                return more;
            }
        };
        parts.extend(answers.map(PromptPart::Text));
        self.withdraw_tickets().await;
        self.rows.begin_turn(turn.id.clone());
        self.turn = Some(OpenTurn::new(turn.id.clone()));
        let Some(live) = &self.live else { return false };
        if let Err(error) = live.connection.send_prompt(turn.id.clone(), parts) {
            self.fail_turn(&error).await;
        }
        true
    }

    /// Settles a turn whose prompt was never written; says whether that is stored. After a person's cancel the queue
    /// goes on, unless the process is to end. A failure becomes the session's error.
    pub(super) async fn close_unsent(
        &mut self,
        turn: &Turn,
        outcome: TurnOutcome,
        failure: Option<&StartFailure>,
    ) -> bool {
        let closed = self
            .persist("unsent turn", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.write().await?;
                    if let Some(failure) = failure {
                        let error = failure.record(self.session_id.as_str(), tx.now());
                        sessions::set_error(&mut tx, &self.session_id, &error).await?;
                    }
                    let facts = self.facts(&mut tx).await?;
                    let unsent = Input::Unsent(outcome);
                    if facts
                        .reserved()
                        .is_none_or(|reserved| reserved.id != turn.id)
                    {
                        return Ok(()); // it was settled meanwhile
                    }
                    turn_plan::follow(&mut tx, &self.session_id, &facts, &unsent).await?;
                    self.o.commit(tx).await
                })
            })
            .await
            .is_some();
        // Its opening ended what was asked before: nobody is left waiting for an answer that cannot come.
        self.withdraw_tickets().await;
        closed
    }

    /// Carries out what follows from an input that only the owner knows of, and gives it. Nothing when it could not be
    /// written.
    pub(super) async fn follow(&self, what: &'static str, input: Input) -> Option<Plan> {
        self.persist(what, || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let facts = self.facts(&mut tx).await?;
                // Only what a person asks for can be refused.
                let plan = decide(&facts, &input, &TurnId::generate()).unwrap_or_default();
                carry_out(&mut tx, &self.session_id, &facts, &plan.changes).await?;
                self.o.commit(tx).await?;
                Ok(plan)
            })
        })
        .await
    }

    /// The facts as this owner knows them.
    pub(super) async fn facts(&self, tx: &mut WriteTx) -> store::error::Result<Facts> {
        let attached = |id: &PendingId| self.handle.questions.is_attached(id);
        let mut facts = turn_plan::facts(tx, &self.session_id, attached).await?;
        facts.process = self.handle.has_process.load(Ordering::SeqCst);
        facts.stopping = self.stopping;
        facts.subagents = self.live.as_ref().map_or(0, |live| live.subagent_count());
        Ok(facts)
    }

    /// Brings the rows to rest when nothing is under way.
    pub(super) async fn rest(&self) {
        self.persist("rest", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                turn_rules::rest(&mut tx, &self.session_id).await?;
                self.o.commit(tx).await
            })
        })
        .await;
    }

    /// A person asked to stop a turn. If that one has settled meanwhile, what is under way now is not what they meant.
    async fn cancel_if_asked(&mut self) {
        let Some(turn) = &self.turn else { return };
        let id = turn.id.clone();
        let asked = self
            .persist("cancel", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.read().await?;
                    Ok(turns::get(&mut tx, &id)
                        .await?
                        .cancel_requested_at
                        .is_some())
                })
            })
            .await;
        // When that cannot be read, stopping too much harms less than stopping nothing.
        if asked != Some(false) {
            self.begin_cancel().await;
        }
    }

    /// A person asked to stop: the agent is told, everything it asks is answered "cancelled" at once, and the turn
    /// settles within `bounds::CANCEL_GRACE` whether it listens or not.
    async fn begin_cancel(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if turn.cancel_deadline.is_some() {
            return;
        }
        turn.cancel_deadline = Some(Instant::now() + bounds::CANCEL_GRACE);
        // What was decided before the stop still reaches the agent; only what is undecided is withdrawn below.
        self.deliver_answers().await;
        self.deliver_decisions().await;
        if let Some(live) = &self.live {
            // An agent that does not take the line is ended at the deadline.
            let _ = live.connection.cancel();
        }
        self.withdraw_tickets().await;
        self.follow("stop", Input::StopBegun).await;
    }

    /// The agent did not end its turn in time: its process is ended, the turn settles, the queue goes on.
    pub(super) async fn end_ignored_cancel(&mut self) {
        self.note("The agent did not stop by itself, so its process was ended.")
            .await;
        self.stop_process().await;
    }

    /// Ends the turn, then the process. The queue waits for a person.
    async fn stop_session(&mut self) {
        self.stopping = true;
        if let Some(turn) = self.reserved().await {
            self.close_unsent(&turn, TurnOutcome::Cancelled, None).await;
        }
        self.begin_cancel().await;
        if self.turn.is_some() {
            self.await_turn_end().await;
        }
        if self.live.is_some() {
            self.stop_process().await;
        }
        self.stopping = false;
        self.rest().await;
    }

    /// Goes on reading until the turn ends or the agent's own time for it is over.
    async fn await_turn_end(&mut self) {
        let deadline = Instant::now() + bounds::CANCEL_GRACE;
        while self.turn.is_some() {
            let Some(live) = &mut self.live else { break };
            match tokio::time::timeout_at(deadline, live.events.next()).await {
                Ok(Some(delivered)) => {
                    self.on_event(delivered.event.clone()).await;
                    drop(delivered);
                }
                Ok(None) | Err(_) => break,
            }
        }
    }

    /// Sets what a person chose on the live agent, beside the reading: its answer comes back as settings.
    async fn apply_choices(&mut self) {
        let Some(live) = &self.live else { return };
        let chosen = self
            .persist("choices", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.read().await?;
                    Ok((
                        sessions::route(&mut tx, &self.session_id).await?,
                        sessions::report(&mut tx, &self.session_id).await?.settings,
                    ))
                })
            })
            .await;
        let Some((route, settings)) = chosen else {
            return;
        };
        let connection = live.connection.clone();
        let (o, session_id) = (self.o.clone(), self.session_id.clone());
        let wishes = self.handle.take_wishes();
        self.o.spawn(async move {
            let mut latest = None;
            if let Some(model) = route.chosen_model.filter(|m| settings.current_model.as_ref() != Some(m)) {
                latest = Some(connection.set_model(&model).await);
            }
            if let Some(mode) = route.chosen_mode.filter(|m| settings.current_mode.as_ref() != Some(m)) {
                latest = Some(connection.set_mode(&mode).await);
            }
            for (option, value) in wishes {
                latest = Some(connection.set_option(&option, &value).await);
            }
            let kept = match latest {
                Some(Ok(settings)) => o.keep_settings(&session_id, &settings).await,
                // What the agent has is told again, so that selectors go back to it.
                Some(Err(error)) => {
                    tracing::info!(session = %session_id, kind = error.kind(), "an agent did not take a setting");
                    o.keep_settings(&session_id, &connection.settings()).await
                }
                None => Ok(()),
            };
            if let Err(error) = kept {
                tracing::warn!(session = %session_id, %error, "settings could not be stored");
            }
        });
    }

    /// A person opened the session: the agent that could go on is brought back, with a lifecycle turn only.
    async fn resume(&mut self) {
        if self.live.is_some() || self.turn.is_some() {
            return;
        }
        let session = self
            .persist("session", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.read().await?;
                    Ok((
                        sessions::get(&mut tx, &self.session_id).await?,
                        sessions::route(&mut tx, &self.session_id).await?,
                    ))
                })
            })
            .await;
        let Some((session, route)) = session else {
            return;
        };
        let wanted = session.state == SessionState::WaitingForInput
            && session.error.is_none()
            && route.acp_session_id.is_some();
        if wanted {
            self.start(Purpose::Resume).await;
        }
    }
}
