//! The rules, field by field.
//!
//! | field | rule | requirements |
//! |---|---|---|
//! | `last_activity_at` | the task's own record of its latest milestone, and never before its creation | SUM-08, SUM-09, SUM-10 |
//! | `primary_session` | the session marked primary, else the oldest: id and state | SUM-02 |
//! | `foreground_activity` | over non-terminal sessions: generating beats background beats none | SUM-02 |
//! | `active_subagent_count` | sum over non-terminal sessions, at most `bounds::ACTIVE_SUBAGENTS`; zero is absent | SUM-02, SUM-03 |
//! | `pending_action` | over non-terminal sessions: an open permission, else an open clarification of its session's current turn | PEN-01, PEN-02 |
//! | `pending_since` | when the earliest open request of the kind shown was made | SUM-02 |
//! | `queued_prompt_count` | prompts queued in non-terminal sessions; zero is absent | SUM-02 |
//! | `active_error` | the newest of the uncleared errors of all sessions, whatever their state, and the launch error | ERR-01, ERR-03 |
//! | `git` | sums over every repository of every bound environment, each environment once; absent until all are measured; ahead and behind absent if one is unknown | GIT-01, GIT-03, GIT-04 |
//! | `pull_request` | absent without a linked one | PR-01 |
//! | … `count`, `open_count` | all linked ones; those that are open, drafts included | PR-01 |
//! | … `aggregate_state` | the state of the representative: `Standing::state`, first match | PR-02 |
//! | … `number`, `url` | the representative: open before merged and closed, then the most urgent state, then the lowest number, then the address | PR-01, PR-02 |
//! | … `auto_fix`, `auto_merge` | whether the switch is on for any open one | PR-03 |
//!
//! What every field has in common: it is bounded whatever the numbers of sessions, requests, repositories and pull
//! requests (SUM-03), and it does not depend on the order in which a loader found them, but for "oldest" above
//! (SUM-04).

use crate::authority::{PullRequestAuthority, SessionAuthority, TaskAuthority};
use model::bounds;
use model::clock::Timestamp;
use model::error::ActiveError;
use model::git::GitTotals;
use model::session::Activity;
use model::summary::{PendingAction, PrimarySession, PullRequestSummary, SummaryPayload};
use std::collections::BTreeSet;

/// The summary of a task (SUM-04). Total: every authority gives a payload, and the same authority the same one.
#[must_use]
pub fn derive(task: &TaskAuthority) -> SummaryPayload {
    let pending = pending(task);
    SummaryPayload {
        // Creation is a milestone, so there is always one (SUM-08).
        last_activity_at: Some(
            task.last_activity_at
                .unwrap_or(task.created_at)
                .max(task.created_at),
        ),
        primary_session: primary(task).map(|session| PrimarySession {
            id: session.id.clone(),
            state: session.state,
        }),
        foreground_activity: activity(task),
        active_subagent_count: subagents(task),
        pending_action: pending.map(|(action, _)| action),
        pending_since: pending.map(|(_, since)| since),
        queued_prompt_count: Some(task.queued_prompts).filter(|&count| 0 < count),
        active_error: active_error(task),
        git: git(task),
        pull_request: pull_request(task),
    }
}

/// The session marked primary; should no row be marked, the oldest, so that the answer never depends on row order.
fn primary(task: &TaskAuthority) -> Option<&SessionAuthority> {
    task.sessions
        .iter()
        .find(|session| session.is_primary)
        .or_else(|| task.sessions.first())
}

fn live(task: &TaskAuthority) -> impl Iterator<Item = &SessionAuthority> {
    task.sessions
        .iter()
        .filter(|session| !session.state.is_terminal())
}

/// Generating beats background.
fn activity(task: &TaskAuthority) -> Option<Activity> {
    let mut seen = live(task).filter_map(|session| session.activity);
    let first = seen.next()?;
    let generating =
        first == Activity::Generating || seen.any(|activity| activity == Activity::Generating);
    Some(if generating {
        Activity::Generating
    } else {
        Activity::Background
    })
}

fn subagents(task: &TaskAuthority) -> Option<u32> {
    let count = live(task).fold(0u32, |sum, session| sum.saturating_add(session.subagents));
    Some(count.min(bounds::ACTIVE_SUBAGENTS)).filter(|&count| 0 < count)
}

/// Permission outranks clarification (PEN-01). A clarification counts in its session's current turn only (PEN-02);
/// a permission until it is answered, withdrawn or expired by the session's owner. Since: the earliest of the kind
/// that is shown.
fn pending(task: &TaskAuthority) -> Option<(PendingAction, Timestamp)> {
    let open = |wanted: PendingAction| {
        live(task)
            .flat_map(|session| {
                session
                    .requests
                    .iter()
                    .map(move |request| (session, request))
            })
            .filter(move |(session, request)| {
                request.action == wanted
                    && !request.status.is_terminal()
                    && (wanted == PendingAction::Permission
                        || (request.turn_id.is_some() && request.turn_id == session.current_turn))
            })
            .map(|(_, request)| request.created_at)
            .min()
            .map(|since| (wanted, since))
    };
    open(PendingAction::Permission).or_else(|| open(PendingAction::Clarification))
}

/// The newest of all session errors, whatever the state of their session, and the launch error (ERR-01).
fn active_error(task: &TaskAuthority) -> Option<ActiveError> {
    task.sessions
        .iter()
        .filter_map(|session| session.error.as_ref())
        .chain(&task.launch_error)
        .max_by(|a, b| a.order().cmp(&b.order()))
        .cloned()
}

/// Totals over every repository of every bound environment, each environment once (GIT-01, GIT-03). Absent until all
/// are measured against a resolvable base: not measured is not clean (GIT-04). A task without repositories has none.
fn git(task: &TaskAuthority) -> Option<GitTotals> {
    let mut counted = BTreeSet::new();
    let mut totals = Vec::new();
    for environment in &task.environments {
        if counted.insert(&environment.id) {
            for repository in &environment.repositories {
                totals.push(repository.totals?);
            }
        }
    }
    if totals.is_empty() {
        None
    } else {
        Some(GitTotals::sum(totals))
    }
}

/// All linked pull requests as one of them and what they have in common (PR-01 … PR-03).
fn pull_request(task: &TaskAuthority) -> Option<PullRequestSummary> {
    let place = |one: &PullRequestAuthority| (one.standing.rank(), one.number);
    let representative = task
        .pull_requests
        .iter()
        .min_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.url.cmp(&b.url)))?;
    let count = |all: usize| u32::try_from(all).unwrap_or(u32::MAX);
    let open = || {
        task.pull_requests
            .iter()
            .filter(|one| one.standing.is_open())
    };
    Some(PullRequestSummary {
        count: count(task.pull_requests.len()),
        open_count: count(open().count()),
        aggregate_state: representative.standing.state(),
        number: representative.number,
        url: representative.url.clone(),
        auto_fix: open().any(|one| one.options.auto_fix),
        auto_merge: open().any(|one| one.options.auto_merge),
    })
}

#[cfg(test)]
#[path = "derive_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "pull_request_tests.rs"]
mod pull_request_tests;

#[cfg(test)]
#[path = "size_tests.rs"]
mod size_tests;
