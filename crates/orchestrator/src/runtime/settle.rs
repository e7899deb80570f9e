//! Every way a turn ends, and every way a process does.

use crate::emit;
use crate::environments::StartFailure;
use crate::runtime::Runtime;
use crate::runtime::pokes::Poke;
use crate::runtime::start::of_agent;
use crate::turn_plan;
use agentctl::error::AgentError;
use agentctl::event::{AgentExit, AgentStatus, PromptEnd, StopReason, TextKind};
use model::bounds;
use model::error::ErrorCategory;
use model::git::SnapshotTrigger;
use model::ids::TurnId;
use model::turn::TurnOutcome;
use model::turn_machine::input::Input;
use std::sync::atomic::Ordering;
use store::{executions, segments, sessions, tasks};

/// How a turn ends.
pub(super) struct Ending {
    outcome: TurnOutcome,
    error: Option<StartFailure>,
    /// The agent answered the prompt, so it had reached it.
    replied: bool,
}

impl Ending {
    const fn plain(outcome: TurnOutcome) -> Self {
        Self {
            outcome,
            error: None,
            replied: false,
        }
    }

    fn failed(category: ErrorCategory, text: impl Into<String>) -> Self {
        Self {
            outcome: TurnOutcome::Failed,
            error: Some(StartFailure::new(category, text)),
            replied: false,
        }
    }
}

impl Runtime {
    pub(super) async fn on_prompt_ended(
        &mut self,
        prompt: &TurnId,
        result: Result<PromptEnd, AgentError>,
    ) {
        if self.turn.as_ref().is_none_or(|turn| turn.id != *prompt) {
            return; // settled already: a late reply of a turn that was ended without it
        }
        let end = match result {
            Ok(end) => end,
            Err(AgentError::Gone) => return, // why stands in the exit, which follows
            // An agent that is told to stop may say so with an error.
            Err(AgentError::Rpc { .. }) if self.is_cancelling() => {
                let ending = Ending {
                    replied: true,
                    ..Ending::plain(TurnOutcome::Cancelled)
                };
                return self.finish_turn(ending).await;
            }
            Err(error) => return self.fail_turn(&error).await,
        };
        let answered = self.turn.as_ref().is_some_and(|turn| turn.answered);
        if let Some(text) = end.text.filter(|text| !answered && !text.is_empty()) {
            // Text that comes only with the reply is stored once, like streamed text.
            self.on_text(TextKind::Message, None, &text).await;
        }
        let cancelling = self.is_cancelling();
        let silent = self.turn.as_ref().is_some_and(|turn| !turn.acknowledged);
        let ending = match end.stop_reason {
            StopReason::Cancelled => Ending::plain(TurnOutcome::Cancelled),
            _ if cancelling => Ending::plain(TurnOutcome::Cancelled),
            StopReason::Refusal => {
                Ending::failed(ErrorCategory::AgentRefused, "the agent declined to go on")
            }
            reason => {
                self.note_ending(&reason, silent).await;
                Ending::plain(TurnOutcome::Completed)
            }
        };
        self.finish_turn(Ending {
            replied: true,
            ..ending
        })
        .await;
    }

    fn is_cancelling(&self) -> bool {
        self.turn
            .as_ref()
            .is_some_and(|turn| turn.cancel_deadline.is_some())
    }

    /// Says why a turn ended when that is not plain from what the agent said.
    async fn note_ending(&mut self, reason: &StopReason, silent: bool) {
        let text = match reason {
            StopReason::MaxTokens => "The agent stopped: it reached its token limit.".to_owned(),
            StopReason::MaxTurnRequests => {
                "The agent stopped: it made as many model requests as one turn may have.".to_owned()
            }
            StopReason::Other(word) => format!("The agent stopped: {word}."),
            _ if silent => "The agent ended its turn without saying or doing anything.".to_owned(),
            _ => return,
        };
        self.note(&text).await;
    }

    /// The prompt failed: the agent refused it, broke the protocol, or does not take input.
    pub(super) async fn fail_turn(&mut self, error: &AgentError) {
        let failure = of_agent(error, "the agent");
        self.finish_turn(Ending::failed(failure.category, failure.text))
            .await;
    }

    /// Settles the open turn: what was said is stored and folded, requests end, the queue goes on or waits.
    pub(super) async fn finish_turn(&mut self, ending: Ending) {
        self.rows.close_tools();
        self.flush_window().await;
        // Whoever is answered already hears of it before nobody is waited for any more.
        // What a person decided already still reaches the agent; only what is undecided is withdrawn below.
        self.deliver_answers().await;
        self.deliver_decisions().await;
        let Some(turn) = self.turn.take() else { return };
        let subagents = self.live.as_ref().map_or(0, |live| live.subagent_count());
        if subagents == 0 {
            self.withdraw_tickets().await;
        }
        let next = self
            .persist_ending("turn end", ending.outcome, ending.error.as_ref(), || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.write().await?;
                    let now = tx.now();
                    for message_id in
                        segments::unsettled(&mut tx, std::slice::from_ref(&self.session_id)).await?
                    {
                        segments::fold(&mut tx, &message_id, now).await?;
                        emit::message_updated(&mut tx, &message_id).await?;
                    }
                    match &ending.error {
                        Some(failure) => {
                            let error = failure.record(self.session_id.as_str(), now);
                            sessions::set_error(&mut tx, &self.session_id, &error).await?;
                        }
                        None if ending.outcome == TurnOutcome::Completed => {
                            sessions::clear_error(
                                &mut tx,
                                &self.session_id,
                                None,
                                "agent response",
                                now,
                            )
                            .await?;
                        }
                        None => {}
                    }
                    let facts = self.facts(&mut tx).await?;
                    let open = facts.open().is_some_and(|open| open.id == turn.id);
                    let ended = Input::TurnEnded {
                        outcome: ending.outcome,
                        replied: ending.replied,
                    };
                    let next = if open {
                        turn_plan::follow(&mut tx, &self.session_id, &facts, &ended).await?
                    } else {
                        None // the session was closed meanwhile, and its turn with it
                    };
                    self.o.commit(tx).await?;
                    Ok(next)
                })
            })
            .await
            .flatten();
        self.rows.settle();
        if next.is_some() {
            self.handle.poke(Poke::Work);
        }
        self.observe_completion();
    }

    /// The state of the worktree at the turn's end, also when it is clean.
    fn observe_completion(&self) {
        let Some(live) = &self.live else { return };
        let (o, environment_id) = (self.o.clone(), live.environment_id.clone());
        let session_id = self.session_id.clone();
        self.o.spawn(async move {
            for observed in o.inner.monitor.observe_now(&environment_id).await {
                let Some(status) = observed.status() else { continue };
                let stored = crate::git::record(
                    &o.inner.store,
                    &o.inner.publisher,
                    &environment_id,
                    Some(session_id.clone()),
                    SnapshotTrigger::AgentCompleted,
                    status,
                )
                .await;
                if let Err(error) = stored {
                    tracing::warn!(session = %session_id, %error, "a turn's end could not be observed");
                }
            }
        });
    }

    /// The process ended.
    pub(super) async fn on_exited(&mut self, exit: AgentExit) {
        let asked = self.live.as_ref().is_some_and(|live| live.stopping);
        let cancelling = self.is_cancelling();
        let interrupted = self.o.inner.shutdown.is_cancelled();
        if self.turn.is_some() {
            let ending = if interrupted {
                Ending::plain(TurnOutcome::Interrupted)
            } else if cancelling || asked {
                Ending::plain(TurnOutcome::Cancelled)
            } else {
                let (category, text) = describe(&exit);
                Ending::failed(category, text)
            };
            self.handle.has_process.store(false, Ordering::SeqCst);
            self.finish_turn(ending).await;
        } else if !asked && !interrupted {
            let (_, text) = describe(&exit);
            let text = model::text::preview(&text, bounds::ERROR_PREVIEW_BYTES);
            self.note(&format!("{}.", capitalised(&text))).await;
        }
        self.forget_process(asked).await;
    }

    /// The hand-off ended without a last event; nothing more can come.
    pub(super) async fn on_gone(&mut self) {
        if self.turn.is_some() {
            let text = "the connection to the agent was lost";
            self.handle.has_process.store(false, Ordering::SeqCst);
            self.finish_turn(Ending::failed(ErrorCategory::AgentExited, text))
                .await;
        }
        self.forget_process(false).await;
    }

    async fn forget_process(&mut self, asked: bool) {
        self.flush_window().await;
        self.handle.has_process.store(false, Ordering::SeqCst);
        let Some(live) = self.live.take() else { return };
        self.deliver_answers().await;
        self.detach_questions();
        // A stopped server is no decision about the session: opening it afterwards resumes it.
        let idle = asked && live.resumable && !self.o.inner.shutdown.is_cancelled();
        self.persist_ending("process end", TurnOutcome::Interrupted, None, || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let facts = self.facts(&mut tx).await?;
                let forgotten = Input::ProcessForgotten { idle };
                turn_plan::follow(&mut tx, &self.session_id, &facts, &forgotten).await?;
                tx.touch(&self.task_id);
                emit::session(&mut tx, &self.session_id).await?;
                self.o.commit(tx).await
            })
        })
        .await;
        let environment_id = live.environment_id.clone();
        drop(live);
        let others = self
            .persist("executions", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.read().await?;
                    executions::any_in(&mut tx, &environment_id).await
                })
            })
            .await
            .unwrap_or(false);
        self.o.inner.monitor.set_live(&environment_id, others);
    }

    /// Ends the process: input closed, then TERM, then KILL; what it still says is kept.
    pub(super) async fn stop_process(&mut self) {
        let Some(live) = &mut self.live else { return };
        live.stopping = true;
        self.handle.has_process.store(false, Ordering::SeqCst);
        let connection = live.connection.clone();
        let stopping = tokio::spawn(async move { connection.stop().await });
        while let Some(live) = &mut self.live {
            match live.events.next().await {
                Some(delivered) => {
                    self.on_event(delivered.event.clone()).await;
                    drop(delivered);
                }
                None => self.on_gone().await,
            }
        }
        let _ = stopping.await; // the exit was the last event, so this has ended too
    }

    /// The server stops: streams are flushed, the turn settles as interrupted, the agent ends.
    pub(super) async fn shut_down(&mut self) {
        self.flush_window().await;
        if self.turn.is_some() {
            self.finish_turn(Ending::plain(TurnOutcome::Interrupted))
                .await;
            self.persist("interruption", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.write().await?;
                    let now = tx.now();
                    tasks::set_interrupted(&mut tx, &self.task_id, Some(now)).await?;
                    tx.touch(&self.task_id);
                    self.o.commit(tx).await
                })
            })
            .await;
        }
        self.stop_process().await;
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// An unasked exit in words, with what the agent said last.
fn describe(exit: &AgentExit) -> (ErrorCategory, String) {
    if let Some(fault) = &exit.fault {
        let failure = of_agent(fault, "the agent");
        return (failure.category, failure.text);
    }
    let how = match exit.status {
        Some(AgentStatus::Code(code)) => format!("exit code {code}"),
        Some(AgentStatus::Signal(signal)) => format!("signal {signal}"),
        None => "no status".to_owned(),
    };
    let tail = exit.stderr_tail.trim();
    let said = if tail.is_empty() {
        String::new()
    } else {
        format!(": {tail}")
    };
    (
        ErrorCategory::AgentExited,
        format!("the agent's process ended ({how}){said}"),
    )
}
