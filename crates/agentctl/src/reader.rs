//! The one loop that reads an agent: lines in, events out, in order.
//!
//! Invariants:
//! - a line that becomes an event is handed over only when the hand-off has room for it, so a runtime that stalls stops
//!   the reading and thereby the agent; a reply never waits for that;
//! - the reply to a prompt is an event like the updates around it, behind those written before it;
//! - whatever does not become an event or a reply is counted by its reason ([`ConnectionCounters`]);
//! - nothing here awaits the agent, and an agent that asks for something we do not offer is refused at once.

use crate::answer::{read_prompt_end, rpc_error};
use crate::counters::ConnectionCounters;
use crate::elicitation::{self, ElicitationAnswer, Form};
use crate::error::AgentError;
use crate::event::{AgentEvent, AgentExit, PermissionAnswer, PromptEnd, PromptId};
use crate::handoff::{Handoff, NobodyReads};
use crate::line::{LineError, LineReader};
use crate::message::{
    INTERNAL_ERROR, INVALID_REQUEST, Incoming, METHOD_NOT_FOUND, error_line, result_line,
};
use crate::outgoing::Outgoing;
use crate::permissions::read_options;
use crate::replies::{Answer, ReplyUse, Settled};
use crate::request::permission_result;
use crate::state::Shared;
use crate::text::clean_line;
use crate::tool_call::read_tool_call;
use crate::update::{Read, UpdateReader, read_commands};
use model::bounds;
use serde_json::Value;
use std::sync::Arc;
use tokio::io::AsyncBufRead;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The reading side of one connection.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) shared: Arc<Shared>,
    pub(crate) handoff: Handoff,
    pub(crate) outgoing: Outgoing,
    pub(crate) updates: UpdateReader,
}

/// Why reading stopped.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The agent closed its output.
    EndOfOutput,
    /// The agent's fault.
    Fault(AgentError),
    /// The runtime dropped its side.
    NobodyReads,
}

impl Reader {
    /// Reads until the end, or until `exited` and then silence: a stray descendant may hold the pipe open. The
    /// hand-off stays open for the last event.
    pub(crate) async fn read_all(
        &mut self,
        input: impl AsyncBufRead + Unpin,
        exited: &CancellationToken,
    ) -> Stopped {
        let mut lines = LineReader::new(input, bounds::AGENT_LINE_BYTES);
        loop {
            let line = tokio::select! {
                line = lines.next() => line,
                () = silence_after(exited) => return Stopped::EndOfOutput,
            };
            let line = match line {
                Ok(Some(line)) => line,
                // A broken pipe is how the end of a killed process looks.
                Ok(None) | Err(LineError::Io(_)) => return Stopped::EndOfOutput,
                Err(LineError::TooLong(limit)) => {
                    let fault = AgentError::LineTooLong { limit };
                    self.shared.blame(fault.clone());
                    return Stopped::Fault(fault);
                }
            };
            if self.line(line).await == Err(NobodyReads) {
                return Stopped::NobodyReads;
            }
        }
    }

    async fn line(&mut self, line: &[u8]) -> Result<(), NobodyReads> {
        let bytes = line.len();
        self.count(|counters| {
            counters.lines += 1;
            counters.bytes += bytes as u64;
        });
        let clean = clean_line(line);
        match Incoming::parse(&clean.text) {
            Incoming::Noise => {
                self.count(|counters| counters.noise += 1);
                Ok(())
            }
            Incoming::UnreadableRequest { id } => {
                self.refuse(&id, INVALID_REQUEST, "the request cannot be read")
                    .await;
                Ok(())
            }
            Incoming::Reply { id, outcome } => self.reply(id, outcome),
            Incoming::Notification { method, params } => match method.as_str() {
                "session/update" => {
                    self.update(&params, clean.with_halves.as_deref(), bytes)
                        .await
                }
                "$/cancel_request" => self.withdraw(&params).await,
                _ => self.other_notification(method, params, bytes).await,
            },
            Incoming::Request { id, method, params } => match method.as_str() {
                "session/request_permission" => self.permission(id, &params, bytes).await,
                "elicitation/create" => self.elicitation(id, &params, bytes).await,
                _ => {
                    self.refuse(
                        &id,
                        METHOD_NOT_FOUND,
                        "this client does not offer that method",
                    )
                    .await;
                    Ok(())
                }
            },
        }
    }

    async fn update(
        &mut self,
        params: &Value,
        with_halves: Option<&str>,
        bytes: usize,
    ) -> Result<(), NobodyReads> {
        if self.drop_replay(params) {
            return Ok(());
        }
        if self.shared.is_foreign(params) {
            self.count(|counters| counters.foreign += 1);
            return Ok(());
        }
        self.handoff.room_for(bytes).await?;
        let read = {
            let mut settings = self.shared.settings();
            self.updates.read(
                params,
                with_halves,
                self.shared.traits().subagents,
                &mut settings,
            )
        };
        match read {
            Read::Nothing => {
                self.count(|counters| counters.empty += 1);
                Ok(())
            }
            Read::Events(events) => events
                .into_iter()
                .try_for_each(|event| self.push(event, bytes)),
        }
    }

    /// History is dropped; what it says about the present (commands, settings) is kept for whoever opened the session.
    fn drop_replay(&self, params: &Value) -> bool {
        let mut replies = self.shared.replies();
        if !replies.is_replay() {
            return false;
        }
        let update = params.get("update").unwrap_or(&Value::Null);
        if let Some(commands) = read_commands(update) {
            replies.keep_commands(commands);
        }
        drop(replies);
        let mut settings = self.shared.settings();
        settings.take_in(update);
        if let Some(mode) = update.get("currentModeId").and_then(Value::as_str) {
            settings.mode_is(mode);
        }
        drop(settings);
        self.count(|counters| counters.replayed += 1);
        true
    }

    async fn other_notification(
        &mut self,
        method: String,
        params: Value,
        bytes: usize,
    ) -> Result<(), NobodyReads> {
        if method.starts_with('_') {
            self.count(|counters| counters.extensions += 1);
            return Ok(());
        }
        self.handoff.room_for(bytes).await?;
        self.push(
            AgentEvent::Unknown {
                kind: method,
                raw: params,
            },
            bytes,
        )
    }

    async fn permission(
        &mut self,
        id: Value,
        params: &Value,
        bytes: usize,
    ) -> Result<(), NobodyReads> {
        if self.shared.replies().is_replay() {
            // Nothing of a replay may become pending.
            self.count(|counters| counters.replayed += 1);
            self.outgoing
                .send_waiting(result_line(
                    &id,
                    &permission_result(PermissionAnswer::Cancelled),
                ))
                .await;
            return Ok(());
        }
        let subagents = self.shared.traits().subagents;
        let tool_call = params
            .get("toolCall")
            .and_then(|call| read_tool_call(call, subagents));
        let Some(tool_call) = tool_call else {
            self.refuse(&id, INTERNAL_ERROR, "the request names no tool call")
                .await;
            return Ok(());
        };
        self.handoff.room_for(bytes).await?;
        let Some(ticket) = self.shared.permissions().admit(id.clone()) else {
            self.refuse(&id, INTERNAL_ERROR, "too many permission requests are open")
                .await;
            return Ok(());
        };
        self.flush()?;
        self.push(
            AgentEvent::Permission {
                ticket,
                tool_call,
                options: read_options(params),
            },
            bytes,
        )
    }

    /// A form that a person can be asked becomes an event; any other is declined at once, and nothing of a replay may
    /// become pending.
    async fn elicitation(
        &mut self,
        id: Value,
        params: &Value,
        bytes: usize,
    ) -> Result<(), NobodyReads> {
        let replayed = self.shared.replies().is_replay() || self.shared.is_foreign(params);
        let form = Form::read(params).filter(|_| !replayed);
        self.handoff.room_for(bytes).await?;
        let open = form.and_then(|form| {
            let ticket = self.shared.elicitations().admit(id.clone())?;
            Some((ticket, form))
        });
        let Some((ticket, form)) = open else {
            self.count(|counters| counters.refused += 1);
            let declined = elicitation::result(ElicitationAnswer::Declined);
            let line = result_line(&id, &declined);
            self.outgoing.send_waiting(line).await;
            return Ok(());
        };
        self.flush()?;
        self.push(AgentEvent::Elicitation { ticket, form }, bytes)
    }

    /// The agent takes a request back. By the rules of the protocol the request still gets its one answer.
    async fn withdraw(&mut self, params: &Value) -> Result<(), NobodyReads> {
        let id = params
            .get("requestId")
            .or_else(|| params.get("id"))
            .unwrap_or(&Value::Null);
        let elicitation = self.shared.elicitations().withdraw(id);
        if let Some(ticket) = elicitation {
            let cancelled = elicitation::result(ElicitationAnswer::Cancelled);
            let line = result_line(id, &cancelled);
            self.outgoing.send_waiting(line).await;
            return self.push(AgentEvent::ElicitationWithdrawn { ticket }, 0);
        }
        let Some(ticket) = self.shared.permissions().withdraw(id) else {
            self.count(|counters| counters.late_withdrawals += 1);
            return Ok(());
        };
        self.outgoing
            .send_waiting(result_line(
                id,
                &permission_result(PermissionAnswer::Cancelled),
            ))
            .await;
        self.push(AgentEvent::PermissionWithdrawn { ticket }, 0)
    }

    async fn refuse(&self, id: &Value, code: i64, message: &str) {
        self.count(|counters| counters.refused += 1);
        self.outgoing
            .send_waiting(error_line(id, code, message))
            .await;
    }

    fn reply(&mut self, id: Option<u64>, outcome: Answer) -> Result<(), NobodyReads> {
        let settled = self.shared.replies().settle(id);
        match settled {
            Settled::Prompt(prompt) => {
                let result = outcome
                    .map(|result| read_prompt_end(&result))
                    .map_err(|error| rpc_error("session/prompt", error));
                self.end_prompt(prompt, result)
            }
            Settled::Caller(reply_use, caller) => {
                self.count(|counters| counters.replies += 1);
                if let (ReplyUse::Settings, Ok(result)) = (reply_use, &outcome) {
                    self.shared.settings().take_in(result);
                    // Updates about a new session may follow before its caller runs.
                    if let Some(id) = result.get("sessionId").and_then(Value::as_str) {
                        *self.shared.session() = Some(id.to_owned());
                    }
                }
                // The caller may have stopped waiting this very moment; its deadline has told it.
                let _ = caller.send(outcome);
                Ok(())
            }
            Settled::Late => {
                self.count(|counters| counters.late_replies += 1);
                Ok(())
            }
        }
    }

    fn end_prompt(
        &mut self,
        prompt: PromptId,
        result: Result<PromptEnd, AgentError>,
    ) -> Result<(), NobodyReads> {
        self.flush()?;
        self.push(AgentEvent::PromptEnded { prompt, result }, 0)
    }

    fn flush(&mut self) -> Result<(), NobodyReads> {
        match self.updates.flush() {
            Some(event) => self.push(event, 0),
            None => Ok(()),
        }
    }

    fn push(&self, event: AgentEvent, bytes: usize) -> Result<(), NobodyReads> {
        self.count(|counters| {
            counters.events += 1;
            counters.unknown_updates += u64::from(matches!(event, AgentEvent::Unknown { .. }));
        });
        self.handoff.push(event, bytes)
    }

    /// The connection has ended: what was open ends with it, then comes the last event.
    pub(crate) fn finish(mut self, exit: AgentExit) {
        let error = exit.fault.clone().unwrap_or(AgentError::Gone);
        let open = self.shared.replies().close();
        self.shared.permissions().take_all();
        let ended = open
            .into_iter()
            .try_for_each(|prompt| self.end_prompt(prompt, Err(error.clone())));
        let last = ended
            .and_then(|()| self.flush())
            .and_then(|()| self.handoff.push(AgentEvent::Exited(exit), 0));
        if last == Err(NobodyReads) {
            tracing::debug!("an agent ended whose events nobody reads");
        }
    }

    fn count(&self, change: impl FnOnce(&mut ConnectionCounters)) {
        change(&mut self.shared.counters());
    }
}

async fn silence_after(exited: &CancellationToken) {
    exited.cancelled().await;
    sleep(bounds::STDIN_CLOSE_GRACE).await;
}
