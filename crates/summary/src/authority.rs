//! The authoritative facts of one task, as its summary needs them. Bounded by rows, not by text: no message body,
//! file name or patch is part of it (SUM-03).

use model::clock::Timestamp;
use model::error::ActiveError;
use model::git::GitTotals;
use model::ids::{EnvironmentId, SessionId, TurnId};
use model::message::RequestStatus;
use model::pull_request::forge_text::PullRequestUrl;
use model::pull_request::{PullRequestOptions, Standing};
use model::session::{Activity, SessionState};
use model::summary::PendingAction;

/// Everything a summary is derived from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskAuthority {
    /// When the task was made: its first milestone.
    pub created_at: Timestamp,
    /// The task's own record of its last milestone; older rows lack it.
    pub last_activity_at: Option<Timestamp>,
    /// The failure of a start that happened before a session existed.
    pub launch_error: Option<ActiveError>,
    /// Its sessions, oldest first.
    pub sessions: Vec<SessionAuthority>,
    /// Prompts that wait in the queues of its non-terminal sessions.
    pub queued_prompts: u32,
    /// The environments it binds, each once (GIT-03).
    pub environments: Vec<EnvironmentAuthority>,
    /// Its linked pull requests, in any order.
    pub pull_requests: Vec<PullRequestAuthority>,
}

/// A session's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionAuthority {
    /// Its id.
    pub id: SessionId,
    /// Its lifecycle state.
    pub state: SessionState,
    /// Whether the row shows this one.
    pub is_primary: bool,
    /// Whether its agent works.
    pub activity: Option<Activity>,
    /// Its live subagents.
    pub subagents: u32,
    /// Its current authoritative turn: the boundary of clarifications (PEN-02).
    pub current_turn: Option<TurnId>,
    /// Its requests. The loader leaves terminal ones out; `derive` does not rely on that.
    pub requests: Vec<RequestAuthority>,
    /// Its uncleared error, naming this session.
    pub error: Option<ActiveError>,
}

/// A request row's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestAuthority {
    /// What kind of request.
    pub action: PendingAction,
    /// Its state.
    pub status: RequestStatus,
    /// The turn it belongs to.
    pub turn_id: Option<TurnId>,
    /// Since when it waits.
    pub created_at: Timestamp,
}

/// An environment's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentAuthority {
    /// Its id: a task that reached it twice still counts it once.
    pub id: EnvironmentId,
    /// Its repositories.
    pub repositories: Vec<RepositoryAuthority>,
}

/// A repository's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepositoryAuthority {
    /// The totals of its current observation; absent when there is none, or none with a resolvable base.
    pub totals: Option<GitTotals>,
}

/// A pull request's part: neither its title nor its branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestAuthority {
    /// Its number.
    pub number: u32,
    /// Its address.
    pub url: PullRequestUrl,
    /// The facts that decide its state.
    pub standing: Standing,
    /// Its switches; they count while it is open.
    pub options: PullRequestOptions,
}
