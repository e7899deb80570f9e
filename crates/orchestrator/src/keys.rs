//! By which secret an agent may ask a person, and for which session.
//!
//! Each agent process gets a random secret of its own when its session is opened. Only its SHA-256 is kept, in memory,
//! and goes with the process: after that the secret opens nothing. It is no sign-in: it names a session to the tools
//! that agents are offered, and to nothing else.

use crate::clarifications::Verdict;
use crate::orchestrator::Orchestrator;
use model::clarification::Question;
use model::ids::SessionId;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;

type Hash = [u8; 32];

/// The secrets of living agents, by their hashes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    url: Arc<OnceLock<String>>,
    askers: Arc<Mutex<HashMap<Hash, Asker>>>,
}

impl Keys {
    fn lock(&self) -> MutexGuard<'_, HashMap<Hash, Asker>> {
        self.askers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An agent that may ask, while its process lives.
#[derive(Clone, Debug)]
pub struct Asker {
    session_id: SessionId,
    ended: CancellationToken,
}

impl Asker {
    /// The session it asks in.
    #[must_use]
    pub const fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// Cancelled when its process has ended.
    #[must_use]
    pub const fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

/// The secret of a process, on its way there; void when this is dropped.
pub(crate) struct AgentKey {
    keys: Keys,
    hash: Hash,
    url: String,
    secret: String,
    _ended: DropGuard,
}

impl AgentKey {
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }
}

impl Drop for AgentKey {
    fn drop(&mut self) {
        self.keys.lock().remove(&self.hash);
    }
}

fn hash(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

impl Orchestrator {
    /// From now on agents are told to ask at this address. Without it they are offered no tool.
    pub fn offer_questions(&self, url: String) {
        // Told once, before the first agent starts.
        let _ = self.inner.keys.url.set(url);
    }

    /// A secret for a process of this session; nothing when agents are offered no tool.
    pub(crate) fn issue_key(&self, session_id: &SessionId) -> Option<AgentKey> {
        let url = self.inner.keys.url.get()?.clone();
        let mut bytes = [0; SECRET_BYTES];
        if let Err(error) = getrandom::fill(&mut bytes) {
            tracing::error!(session = %session_id, %error, "an agent can ask nothing: there is no randomness");
            return None;
        }
        let secret: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let ended = CancellationToken::new();
        let asker = Asker {
            session_id: session_id.clone(),
            ended: ended.clone(),
        };
        let hash = hash(&secret);
        self.inner.keys.lock().insert(hash, asker);
        Some(AgentKey {
            keys: self.inner.keys.clone(),
            hash,
            url,
            secret,
            _ended: ended.drop_guard(),
        })
    }

    /// Whose secret this is.
    #[must_use]
    pub fn asker(&self, secret: &str) -> Option<Asker> {
        self.inner.keys.lock().get(&hash(secret)).cloned()
    }

    /// Asks a person, and waits for what they decide: at most `OrchestratorConfig::question_wait`, and as long as the
    /// agent lives and `given_up` is not cancelled. The questions were checked by `model::clarification::check_bundle`.
    ///
    /// Nothing is lost when nobody waits any more: the questions stay open, and their answer becomes a message.
    ///
    /// # Errors
    /// [`TooMany`] when the agent waits for too much already.
    pub async fn ask(
        &self,
        asker: &Asker,
        questions: Vec<Question>,
        given_up: &CancellationToken,
    ) -> Result<Verdict, TooMany> {
        // However the call ends, also by being dropped: after it has let go of the channel.
        let _told = self.tell_awaited_later(&asker.session_id);
        let (caller, mut verdict) = oneshot::channel();
        let Some(handle) = self.inner.registry.handle(&asker.session_id) else {
            return Ok(Verdict::Detached);
        };
        if !handle.ask(questions, caller) {
            return Err(TooMany);
        }
        let waited = tokio::select! {
            biased;
            verdict = &mut verdict => return Ok(verdict.unwrap_or(Verdict::Detached)),
            () = tokio::time::sleep(self.inner.config.question_wait) => "time",
            () = asker.ended.cancelled() => "process",
            () = given_up.cancelled() => "caller",
        };
        tracing::debug!(session = %asker.session_id, ended = waited, "a question is detached");
        // An answer that arrives this moment is either in the channel or finds it closed; never both, never neither.
        verdict.close();
        Ok(verdict.try_recv().unwrap_or(Verdict::Detached))
    }
}

/// The agent waits for `bounds::OPEN_QUESTIONS` bundles already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;
