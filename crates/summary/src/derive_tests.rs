//! Rules of [`super::derive`], by table. Those of pull requests stand in `pull_request_tests`, that every summary is
//! bounded in `size_tests`.

use super::*;
use crate::authority::{EnvironmentAuthority, RepositoryAuthority, RequestAuthority};
use crate::semantic;
use model::error::ErrorCategory;
use model::ids::{EnvironmentId, SessionId, TurnId};
use model::message::RequestStatus;
use model::session::SessionState;

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// A task with nothing in it.
pub(super) fn task() -> TaskAuthority {
    TaskAuthority {
        created_at: at(10),
        last_activity_at: Some(at(20)),
        launch_error: None,
        sessions: Vec::new(),
        queued_prompts: 0,
        environments: Vec::new(),
        pull_requests: Vec::new(),
    }
}

fn session(id: &str, state: SessionState) -> SessionAuthority {
    SessionAuthority {
        id: SessionId::parse(id).expect("a test id"),
        state,
        is_primary: false,
        activity: None,
        subagents: 0,
        current_turn: None,
        requests: Vec::new(),
        error: None,
    }
}

fn turn(id: &str) -> Option<TurnId> {
    Some(TurnId::parse(id).expect("a test id"))
}

fn request(
    action: PendingAction,
    status: RequestStatus,
    turn_id: Option<TurnId>,
    since: i64,
) -> RequestAuthority {
    RequestAuthority {
        action,
        status,
        turn_id,
        created_at: at(since),
    }
}

fn pending_of(task: &TaskAuthority) -> Option<(PendingAction, i64)> {
    let payload = derive(task);
    payload
        .pending_action
        .zip(payload.pending_since.map(Timestamp::as_micros))
}

/// SUM-02.
#[test]
fn sum_02_an_idle_task_has_only_its_milestone() {
    assert_eq!(
        semantic::json(&derive(&task())),
        r#"{"last_activity_at":"1970-01-01T00:00:00.000020Z"}"#
    );
}

/// SUM-08.
#[test]
fn sum_08_creation_is_a_milestone_when_the_row_has_none() {
    assert_eq!(
        derive(&TaskAuthority {
            last_activity_at: None,
            ..task()
        })
        .last_activity_at,
        Some(at(10))
    );
    assert_eq!(
        derive(&TaskAuthority {
            last_activity_at: Some(at(5)),
            ..task()
        })
        .last_activity_at,
        Some(at(10))
    );
}

/// PEN-01.
#[test]
fn pen_01_permission_outranks_clarification_across_sessions() {
    let mut asks = session("a", SessionState::Running);
    asks.current_turn = turn("u1");
    asks.requests = vec![request(
        PendingAction::Clarification,
        RequestStatus::Pending,
        turn("u1"),
        3,
    )];
    let mut waits = session("b", SessionState::Starting);
    waits.requests = vec![
        request(PendingAction::Permission, RequestStatus::Pending, None, 9),
        request(PendingAction::Permission, RequestStatus::Pending, None, 7),
        request(PendingAction::Permission, RequestStatus::Approved, None, 1),
    ];
    assert_eq!(
        pending_of(&TaskAuthority {
            sessions: vec![asks.clone(), waits],
            ..task()
        }),
        Some((PendingAction::Permission, 7))
    );
    assert_eq!(
        pending_of(&TaskAuthority {
            sessions: vec![asks],
            ..task()
        }),
        Some((PendingAction::Clarification, 3))
    );
}

/// PEN-02.
#[test]
fn pen_02_a_clarification_of_an_older_turn_is_not_pending() {
    let mut old = session("a", SessionState::WaitingForInput);
    old.current_turn = turn("u2");
    old.requests = vec![request(
        PendingAction::Clarification,
        RequestStatus::Pending,
        turn("u1"),
        3,
    )];
    assert_eq!(
        pending_of(&TaskAuthority {
            sessions: vec![old],
            ..task()
        }),
        None
    );
}

#[test]
fn a_terminal_session_asks_for_nothing_and_works_on_nothing_but_its_error_counts() {
    let mut over = session("a", SessionState::Failed);
    over.activity = Some(Activity::Generating);
    over.subagents = 4;
    over.requests = vec![request(
        PendingAction::Permission,
        RequestStatus::Pending,
        None,
        3,
    )];
    over.error = Some(ActiveError::record(
        "a",
        at(30),
        "boom",
        ErrorCategory::AgentExited,
    ));
    let payload = derive(&TaskAuthority {
        sessions: vec![over],
        ..task()
    });
    assert_eq!(
        (
            payload.pending_action,
            payload.foreground_activity,
            payload.active_subagent_count
        ),
        (None, None, None)
    );
    assert_eq!(
        payload.active_error.map(|error| error.preview),
        Some("boom".to_owned())
    );
}

#[test]
fn generating_beats_background_and_subagents_are_capped() {
    let mut first = session("a", SessionState::WaitingForInput);
    (first.activity, first.subagents) = (Some(Activity::Background), 900);
    let mut second = session("b", SessionState::Running);
    (second.activity, second.subagents) = (Some(Activity::Generating), 900);
    let payload = derive(&TaskAuthority {
        sessions: vec![first, second],
        ..task()
    });
    assert_eq!(payload.foreground_activity, Some(Activity::Generating));
    assert_eq!(
        payload.active_subagent_count,
        Some(bounds::ACTIVE_SUBAGENTS)
    );
}

/// ERR-01.
#[test]
fn err_01_the_newest_error_wins_whoever_owns_it() {
    let mut failed = session("a", SessionState::WaitingForInput);
    failed.error = Some(ActiveError::record(
        "a",
        at(40),
        "in the session",
        ErrorCategory::AgentExited,
    ));
    let launch = ActiveError::record("t", at(50), "before it", ErrorCategory::BaseBranchMissing);
    let both = TaskAuthority {
        sessions: vec![failed.clone()],
        launch_error: Some(launch),
        ..task()
    };
    assert_eq!(
        derive(&both).active_error.map(|error| error.preview),
        Some("before it".to_owned())
    );
    let one = TaskAuthority {
        sessions: vec![failed],
        ..task()
    };
    assert_eq!(
        derive(&one).active_error.map(|error| error.preview),
        Some("in the session".to_owned())
    );
}

fn totals(additions: u64) -> RepositoryAuthority {
    let totals = GitTotals {
        additions,
        deletions: 1,
        changed_files: 1,
        ahead: Some(1),
        behind: Some(0),
    };
    RepositoryAuthority {
        totals: Some(totals),
    }
}

fn environment(id: &str, repositories: Vec<RepositoryAuthority>) -> EnvironmentAuthority {
    EnvironmentAuthority {
        id: EnvironmentId::parse(id).expect("a test id"),
        repositories,
    }
}

/// GIT-01, GIT-03.
#[test]
fn git_01_git_03_totals_cover_every_repository_and_each_environment_once() {
    let shared = environment("e1", vec![totals(5), totals(7)]);
    let payload = derive(&TaskAuthority {
        environments: vec![shared.clone(), shared, environment("e2", vec![totals(1)])],
        ..task()
    });
    assert_eq!(payload.git.map(|git| git.additions), Some(13));
    assert_eq!(payload.git.map(|git| git.ahead), Some(Some(3)));
}

/// GIT-04.
#[test]
fn git_04_one_unmeasured_repository_makes_the_totals_unknown() {
    let half = environment("e1", vec![totals(5), RepositoryAuthority { totals: None }]);
    assert_eq!(
        derive(&TaskAuthority {
            environments: vec![half],
            ..task()
        })
        .git,
        None
    );
    let clean = environment(
        "e1",
        vec![RepositoryAuthority {
            totals: Some(GitTotals::default()),
        }],
    );
    assert_eq!(
        derive(&TaskAuthority {
            environments: vec![clean],
            ..task()
        })
        .git
        .map(|git| git.changed_files),
        Some(0)
    );
    assert_eq!(derive(&task()).git, None);
}

/// SUM-06.
#[test]
fn sum_06_equal_payloads_have_one_text() {
    let payload = derive(&task());
    assert!(semantic::eq(&payload, &payload.clone()));
    assert!(!semantic::eq(
        &payload,
        &SummaryPayload {
            queued_prompt_count: Some(1),
            ..payload.clone()
        }
    ));
    let read: SummaryPayload =
        serde_json::from_str(&semantic::json(&payload)).expect("reads its own text");
    assert!(semantic::eq(&payload, &read));
}
