//! Our requests that the agent has not answered yet, and the replay window.
//!
//! The table knows which reply ends a prompt (it becomes an event, in its place among the others), which opens a
//! session (its settings count before the next line is read) and which only has a waiting caller.
//!
//! While `session/load` or `session/resume` is open the agent repeats history. The window opens with the request and
//! closes with its reply, result or error. A request given up after its deadline keeps the window open until the late
//! reply: the replay is still coming. One known agent replies first and replays afterwards; for it the caller holds
//! the window open with [`Replies::hold_replay`] until the agent is quiet.

use crate::error::AgentError;
use crate::event::PromptId;
use crate::message::RpcError;
use model::agent::AgentCommandInfo;
use serde_json::Value;
use std::collections::HashMap;
use tokio::sync::oneshot;

/// What a reply is good for, beside waking its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyUse {
    /// Only the caller wants it.
    Caller,
    /// It may report models, modes and options: they count before the next line is read.
    Settings,
}

/// The answer to a request, as its caller gets it.
pub type Answer = Result<Value, RpcError>;

#[derive(Debug)]
enum Waiting {
    Caller {
        reply_use: ReplyUse,
        caller: oneshot::Sender<Answer>,
    },
    Prompt(PromptId),
    GivenUp,
}

/// What a reply turned out to be.
#[derive(Debug)]
pub enum Settled {
    /// A caller waits for it: look at the value first, then [`oneshot::Sender::send`] it.
    Caller(ReplyUse, oneshot::Sender<Answer>),
    /// It ends this prompt.
    Prompt(PromptId),
    /// Nobody waits for it: given up, or never asked.
    Late,
}

/// The open requests of one connection.
#[derive(Debug, Default)]
pub struct Replies {
    last: u64,
    waiting: HashMap<u64, Waiting>,
    replay: Option<Replay>,
    closed: bool,
}

#[derive(Debug)]
struct Replay {
    until: u64,
    held: bool,
    answered: bool,
    lines: u64,
    commands: Option<Vec<AgentCommandInfo>>,
}

impl Replies {
    /// Registers a request; gives its id and where its answer will come.
    ///
    /// # Errors
    /// [`AgentError::Gone`] when the connection has ended.
    pub fn ask(
        &mut self,
        reply_use: ReplyUse,
    ) -> Result<(u64, oneshot::Receiver<Answer>), AgentError> {
        let (caller, answer) = oneshot::channel();
        let id = self.register(Waiting::Caller { reply_use, caller })?;
        Ok((id, answer))
    }

    /// Registers a prompt; gives its id.
    ///
    /// # Errors
    /// [`AgentError::Gone`] when the connection has ended.
    pub fn ask_prompt(&mut self, prompt: PromptId) -> Result<u64, AgentError> {
        self.register(Waiting::Prompt(prompt))
    }

    fn register(&mut self, waiting: Waiting) -> Result<u64, AgentError> {
        if self.closed {
            return Err(AgentError::Gone);
        }
        self.last += 1;
        self.waiting.insert(self.last, waiting);
        Ok(self.last)
    }

    /// Opens the replay window until request `id` is answered.
    pub fn expect_replay(&mut self, id: u64) {
        self.replay = Some(Replay {
            until: id,
            held: false,
            answered: false,
            lines: 0,
            commands: None,
        });
    }

    /// Keeps the open window open beyond the reply, until [`Self::end_replay`].
    pub fn hold_replay(&mut self) {
        if let Some(replay) = &mut self.replay {
            replay.held = true;
        }
    }

    /// Closes the window, held or not; the commands that were reported inside it.
    pub fn end_replay(&mut self) -> Option<Vec<AgentCommandInfo>> {
        self.replay
            .take_if(|replay| replay.held || replay.answered)
            .and_then(|replay| replay.commands)
    }

    /// Whether an update that arrives now is history; counts it if so.
    pub fn is_replay(&mut self) -> bool {
        match &mut self.replay {
            Some(replay) if replay.held || !replay.answered => {
                replay.lines += 1;
                true
            }
            _ => false,
        }
    }

    /// Updates dropped in the open window so far.
    #[must_use]
    pub fn replayed(&self) -> u64 {
        self.replay.as_ref().map_or(0, |replay| replay.lines)
    }

    /// Keeps the latest commands reported inside the window: they are a state, not history.
    pub fn keep_commands(&mut self, commands: Vec<AgentCommandInfo>) {
        if let Some(replay) = &mut self.replay {
            replay.commands = Some(commands);
        }
    }

    /// Takes the reply with this id.
    pub fn settle(&mut self, id: Option<u64>) -> Settled {
        let Some(id) = id else { return Settled::Late };
        if let Some(replay) = self.replay.as_mut().filter(|replay| replay.until == id) {
            replay.answered = true;
        }
        match self.waiting.remove(&id) {
            Some(Waiting::Caller { reply_use, caller }) => Settled::Caller(reply_use, caller),
            Some(Waiting::Prompt(prompt)) => Settled::Prompt(prompt),
            Some(Waiting::GivenUp) | None => Settled::Late,
        }
    }

    /// Nobody waits for this reply any more.
    pub fn give_up(&mut self, id: u64) {
        if let Some(waiting) = self.waiting.get_mut(&id) {
            *waiting = Waiting::GivenUp;
        }
    }

    /// Takes back a request that was never handed to the agent.
    pub fn forget(&mut self, id: u64) {
        self.waiting.remove(&id);
        self.replay.take_if(|replay| replay.until == id);
    }

    /// The connection has ended: every caller learns it by its dropped sender; the open prompts are returned.
    pub fn close(&mut self) -> Vec<PromptId> {
        self.closed = true;
        let mut open: Vec<_> = self.waiting.drain().collect();
        open.sort_by_key(|(id, _)| *id);
        open.into_iter()
            .filter_map(|(_, waiting)| match waiting {
                Waiting::Prompt(prompt) => Some(prompt),
                Waiting::Caller { .. } | Waiting::GivenUp => None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_replay_window_closes_with_the_reply() {
        let mut replies = Replies::default();
        let (id, _answer) = replies.ask(ReplyUse::Settings).unwrap();
        assert!(!replies.is_replay());
        replies.expect_replay(id);
        assert!(replies.is_replay());
        assert!(matches!(
            replies.settle(Some(id)),
            Settled::Caller(ReplyUse::Settings, _)
        ));
        assert!(!replies.is_replay());
    }

    #[test]
    fn a_request_given_up_keeps_the_window_open_until_its_late_reply() {
        let mut replies = Replies::default();
        let (id, answer) = replies.ask(ReplyUse::Settings).unwrap();
        replies.expect_replay(id);
        drop(answer);
        replies.give_up(id);
        assert!(replies.is_replay());
        assert!(matches!(replies.settle(Some(id)), Settled::Late));
        assert!(!replies.is_replay());
    }

    #[test]
    fn a_held_window_outlives_the_reply_and_keeps_the_commands() {
        let mut replies = Replies::default();
        let (id, _answer) = replies.ask(ReplyUse::Settings).unwrap();
        replies.expect_replay(id);
        replies.hold_replay();
        replies.settle(Some(id));
        assert!(replies.is_replay());
        replies.keep_commands(Vec::new());
        assert_eq!(replies.end_replay(), Some(Vec::new()));
        assert!(!replies.is_replay());
    }

    #[test]
    fn a_closed_table_names_its_prompts_and_accepts_nothing() {
        let mut replies = Replies::default();
        let prompt = PromptId::generate();
        replies.ask_prompt(prompt.clone()).unwrap();
        let (_, mut answer) = replies.ask(ReplyUse::Caller).unwrap();
        assert_eq!(replies.close(), [prompt]);
        assert!(answer.try_recv().is_err());
        assert_eq!(
            replies.ask(ReplyUse::Caller).map(|_| ()),
            Err(AgentError::Gone)
        );
        assert!(matches!(replies.settle(Some(9)), Settled::Late));
    }
}
