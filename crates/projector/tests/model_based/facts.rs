//! What is true, as a person would write it down: the reference that stored summaries are compared with.
//!
//! Plain structures and loops straight from the definitions of the product. It shares with the product the names of
//! things (ids, states, the shape of a summary) and no rule: neither `summary::derive`, nor the loader, nor the rules
//! that `model` has beside its types.

use crate::pulling::PullFact;
use model::clock::Timestamp;
use model::error::{ActiveError, RecoveryAction};
use model::git::GitTotals;
use model::ids::{
    AttachmentId, EnvironmentId, MessageId, PendingId, PullRequestId, SessionId, SnapshotId,
    TaskId, TaskRepositoryId, TurnId,
};
use model::session::{Activity, SessionState};
use model::summary::{PendingAction, PrimarySession, SummaryPayload};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that exists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) tasks: BTreeMap<TaskId, TaskFact>,
    pub(crate) sessions: BTreeMap<SessionId, SessionFact>,
    pub(crate) turns: BTreeMap<TurnId, TurnFact>,
    pub(crate) requests: BTreeMap<MessageId, RequestFact>,
    pub(crate) prompts: BTreeMap<MessageId, PromptFact>,
    pub(crate) environments: BTreeMap<EnvironmentId, EnvironmentFact>,
    pub(crate) looks: BTreeMap<SnapshotId, LookFact>,
    pub(crate) pulls: BTreeMap<PullRequestId, PullFact>,
    pub(crate) files: BTreeMap<AttachmentId, FileFact>,
}

#[derive(Clone, Debug)]
pub(crate) struct TaskFact {
    /// The latest milestone, creation included.
    pub(crate) milestone: Timestamp,
    pub(crate) failure: Option<FailureFact>,
}

#[derive(Clone, Debug)]
pub(crate) struct SessionFact {
    pub(crate) task: TaskId,
    pub(crate) started: Timestamp,
    pub(crate) state: SessionState,
    pub(crate) primary: bool,
    pub(crate) activity: Option<Activity>,
    pub(crate) subagents: u32,
    pub(crate) failure: Option<FailureFact>,
    /// Prompts with a place in its queue, the next to be sent first.
    pub(crate) queue: Vec<MessageId>,
}

/// An error that nobody has cleared.
#[derive(Clone, Debug)]
pub(crate) struct FailureFact {
    pub(crate) stamp: String,
    pub(crate) at: Timestamp,
    pub(crate) preview: String,
    pub(crate) category: Option<String>,
    pub(crate) actions: Vec<RecoveryAction>,
    pub(crate) repository: Option<TaskRepositoryId>,
}

#[derive(Clone, Debug)]
pub(crate) struct TurnFact {
    pub(crate) session: SessionId,
    pub(crate) started: Timestamp,
    pub(crate) lifecycle: bool,
    /// It has, or had, a message, or its prompt was attempted.
    pub(crate) authoritative: bool,
    pub(crate) settled: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct RequestFact {
    pub(crate) session: SessionId,
    pub(crate) turn: Option<TurnId>,
    pub(crate) kind: PendingAction,
    /// The stored word, whatever it is.
    pub(crate) status: Option<String>,
    /// A decision reached the agent, or never will.
    pub(crate) delivered: bool,
    pub(crate) pending_id: PendingId,
    pub(crate) asked: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct PromptFact {
    pub(crate) session: SessionId,
    pub(crate) removed: bool,
}

/// An uploaded file, and the prompt that took it along.
#[derive(Clone, Debug)]
pub(crate) struct FileFact {
    pub(crate) task: TaskId,
    pub(crate) message: Option<MessageId>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct EnvironmentFact {
    /// Names; the root repository's is empty.
    pub(crate) repositories: BTreeSet<String>,
    pub(crate) bound: BTreeSet<TaskId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookKind {
    Live,
    Completed,
    Archive,
}

#[derive(Clone, Debug)]
pub(crate) struct LookFact {
    pub(crate) environment: EnvironmentId,
    pub(crate) repository: String,
    pub(crate) kind: LookKind,
    pub(crate) at: Timestamp,
    pub(crate) detailed: bool,
    pub(crate) resolvable: bool,
    pub(crate) totals: GitTotals,
}

fn over(state: SessionState) -> bool {
    state == SessionState::Completed
        || state == SessionState::Failed
        || state == SessionState::Cancelled
}

impl Facts {
    /// What the row of a task must say.
    pub(crate) fn summary(&self, task: &TaskId) -> Option<SummaryPayload> {
        let about = self.tasks.get(task)?;
        let mut says = SummaryPayload {
            last_activity_at: Some(about.milestone),
            active_error: self.newest_failure(task),
            git: self.git(task),
            pull_request: self.pull_request(task),
            ..SummaryPayload::default()
        };
        let mut subagents = 0;
        let mut queued = 0;
        for (id, session) in &self.sessions {
            if session.task != *task {
                continue;
            }
            if session.primary {
                says.primary_session = Some(PrimarySession {
                    id: id.clone(),
                    state: session.state,
                });
            }
            if over(session.state) {
                continue;
            }
            subagents += session.subagents;
            if session.activity == Some(Activity::Generating)
                || (session.activity.is_some() && says.foreground_activity.is_none())
            {
                says.foreground_activity = session.activity;
            }
            for _ in self.waiting(id) {
                queued += 1;
            }
        }
        if subagents > 999 {
            subagents = 999;
        }
        if subagents > 0 {
            says.active_subagent_count = Some(subagents);
        }
        if queued > 0 {
            says.queued_prompt_count = Some(queued);
        }
        for kind in [PendingAction::Clarification, PendingAction::Permission] {
            let since = self.pending(task, kind);
            if !since.is_empty() {
                says.pending_action = Some(kind);
                says.pending_since = since.first().copied();
            }
        }
        Some(says)
    }

    /// Since when requests of this kind wait, earliest first.
    fn pending(&self, task: &TaskId, kind: PendingAction) -> BTreeSet<Timestamp> {
        let mut since = BTreeSet::new();
        for request in self.requests.values() {
            let session = &self.sessions[&request.session];
            if session.task != *task || over(session.state) || request.kind != kind {
                continue;
            }
            let word = request.status.as_deref().unwrap_or("pending");
            if ["approved", "rejected", "answered", "cancelled", "expired"].contains(&word) {
                continue;
            }
            if kind == PendingAction::Clarification {
                let current = self.current_turn(&request.session);
                if current.is_none() || current != request.turn {
                    continue;
                }
            }
            since.insert(request.asked);
        }
        since
    }

    /// The queue of a session as a person sees it.
    pub(crate) fn waiting(&self, session: &SessionId) -> Vec<MessageId> {
        let mut waiting = self.sessions[session].queue.clone();
        waiting.retain(|id| !self.prompts[id].removed);
        waiting
    }

    /// A prompt has no place in its queue any more.
    pub(crate) fn take_out(&mut self, session: &SessionId, prompt: &MessageId) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.queue.retain(|queued| queued != prompt);
        }
    }

    pub(crate) fn current_turn(&self, session: &SessionId) -> Option<TurnId> {
        let mut current: Option<(Timestamp, TurnId)> = None;
        for (id, turn) in &self.turns {
            if turn.session != *session || turn.lifecycle || !turn.authoritative {
                continue;
            }
            let candidate = (turn.started, id.clone());
            if current.as_ref().is_none_or(|newest| *newest < candidate) {
                current = Some(candidate);
            }
        }
        current.map(|(_, id)| id)
    }

    fn newest_failure(&self, task: &TaskId) -> Option<ActiveError> {
        let mut failures: Vec<(Option<&SessionId>, &FailureFact)> = Vec::new();
        if let Some(failure) = &self.tasks[task].failure {
            failures.push((None, failure));
        }
        for (id, session) in &self.sessions {
            if session.task == *task
                && let Some(failure) = &session.failure
            {
                failures.push((Some(id), failure));
            }
        }
        failures.sort_by_key(|(session, failure)| {
            (
                failure.at,
                failure.stamp.clone(),
                session.map(ToString::to_string),
                failure.repository.as_ref().map(ToString::to_string),
            )
        });
        let (session, failure) = failures.last()?;
        let over = session.is_some_and(|id| {
            use SessionState::{Cancelled, Completed, Failed};
            matches!(self.sessions[id].state, Completed | Failed | Cancelled)
        });
        let mut recovery_actions = failure.actions.clone();
        if over {
            // Nothing is started in a session that is over; a task's review can be called done all the same.
            recovery_actions.retain(|action| *action == RecoveryAction::MarkReviewDone);
        }
        Some(ActiveError {
            session_id: session.cloned(),
            task_repository_id: failure.repository.clone(),
            stamp: failure.stamp.clone(),
            occurred_at: failure.at,
            preview: failure.preview.clone(),
            category: failure.category.clone(),
            recovery_actions,
        })
    }

    fn git(&self, task: &TaskId) -> Option<GitTotals> {
        let mut sum = GitTotals {
            ahead: Some(0),
            behind: Some(0),
            ..GitTotals::default()
        };
        let mut measured = 0;
        for (id, environment) in &self.environments {
            if !environment.bound.contains(task) {
                continue;
            }
            for repository in &environment.repositories {
                let look = &self.looks[&self.current_look(id, repository)?];
                if !look.resolvable {
                    return None;
                }
                measured += 1;
                sum.additions += look.totals.additions;
                sum.deletions += look.totals.deletions;
                sum.changed_files += look.totals.changed_files;
                sum.ahead = sum.ahead.zip(look.totals.ahead).map(|(a, b)| a + b);
                sum.behind = sum.behind.zip(look.totals.behind).map(|(a, b)| a + b);
            }
        }
        if measured == 0 {
            return None;
        }
        Some(sum)
    }

    /// The newest observation of a pair; of equally new ones one with file details, then the greatest id.
    pub(crate) fn current_look(
        &self,
        environment: &EnvironmentId,
        repository: &str,
    ) -> Option<SnapshotId> {
        let mut rows: Vec<(Timestamp, bool, &SnapshotId)> = Vec::new();
        for (id, look) in &self.looks {
            if look.environment == *environment && look.repository == repository {
                rows.push((look.at, look.detailed, id));
            }
        }
        rows.sort();
        rows.last().map(|(_, _, id)| (*id).clone())
    }

    /// A session goes, and what belongs to it. The newest of the others that is not over inherits its place, else
    /// the newest.
    pub(crate) fn forget_session(&mut self, gone: &SessionId) {
        let Some(session) = self.sessions.remove(gone) else {
            return;
        };
        self.turns.retain(|_, turn| turn.session != *gone);
        self.requests.retain(|_, request| request.session != *gone);
        self.prompts.retain(|_, prompt| prompt.session != *gone);
        let prompts = &self.prompts;
        let kept = |message: &MessageId| prompts.contains_key(message);
        self.files
            .retain(|_, file| file.message.as_ref().is_none_or(kept));
        if !session.primary {
            return;
        }
        let mut heirs: Vec<(bool, Timestamp, SessionId)> = Vec::new();
        for (id, other) in &self.sessions {
            if other.task == session.task {
                heirs.push((!over(other.state), other.started, id.clone()));
            }
        }
        heirs.sort();
        if let Some((_, _, heir)) = heirs.pop() {
            self.sessions.entry(heir).and_modify(|s| s.primary = true);
        }
    }

    /// A task goes, and its sessions and bindings. Environments stay.
    pub(crate) fn forget_task(&mut self, gone: &TaskId) {
        self.tasks.remove(gone);
        self.forget_pulls_of(gone);
        self.files.retain(|_, file| file.task != *gone);
        let sessions: Vec<SessionId> = self.sessions_of(gone);
        for session in sessions {
            self.forget_session(&session);
        }
        for environment in self.environments.values_mut() {
            environment.bound.remove(gone);
        }
    }

    pub(crate) fn sessions_of(&self, task: &TaskId) -> Vec<SessionId> {
        let of_task = self.sessions.iter().filter(|(_, s)| s.task == *task);
        of_task.map(|(id, _)| id.clone()).collect()
    }

    /// A turn goes; what was said in it belongs to none.
    pub(crate) fn forget_turn(&mut self, gone: &TurnId) {
        self.turns.remove(gone);
        for request in self.requests.values_mut() {
            if request.turn.as_ref() == Some(gone) {
                request.turn = None;
            }
        }
    }

    pub(crate) fn reach_milestone(&mut self, task: &TaskId, at: Timestamp) {
        if let Some(task) = self.tasks.get_mut(task) {
            task.milestone = task.milestone.max(at);
        }
    }
}
