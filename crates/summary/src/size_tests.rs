//! However much a task has of everything, its summary stays small (SUM-03), and deriving it is repeatable (SUM-04).
//!
//! A few arbitrary things of each kind are repeated up to 10,000 times, so that a case is cheap to make: what matters
//! for the size is how many there are and how long the longest is.

use super::tests::task;
use super::*;
use crate::authority::{EnvironmentAuthority, RepositoryAuthority, RequestAuthority};
use crate::semantic;
use model::error::{ErrorCategory, RecoveryAction};
use model::ids::{EnvironmentId, SessionId, TaskRepositoryId, TurnId};
use model::message::RequestStatus;
use model::pull_request::forge_text::PullRequestUrl;
use model::pull_request::{
    ChecksState, MergeableState, PullRequestLifecycle, PullRequestOptions, ReviewState, Standing,
};
use model::session::SessionState;
use model::summary::TaskStatusSummary;
use proptest::prelude::*;
use proptest::sample::select;

/// Of each kind at most.
const MOST: usize = 10_000;

/// The computed worst case that `bounds::SUMMARY_BYTES` leaves room above: a summary as it is sent, with every text
/// the longest that JSON can make it.
const WORST_CASE: usize = 5_600;

/// The last microsecond of the year 9999.
const LAST_INSTANT: i64 = 253_402_300_799_999_999;

/// Small numbers, large numbers, and the largest.
fn any_number() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..4usize, 3 => 4..200usize, 2 => 200..MOST, 1 => Just(MOST)]
}

/// The years 1 to 9999, which have a text on the wire.
fn any_time() -> impl Strategy<Value = Timestamp> {
    (-62_135_596_800_000_000..LAST_INSTANT).prop_map(Timestamp::from_micros)
}

/// Text that grows when it becomes JSON, text that is longer in bytes than in characters, anything.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,900}",
        "[\"\\\\]{0,900}",
        "[\u{1}-\u{1f}<🦀é]{0,900}"
    ]
}

fn any_error() -> impl Strategy<Value = ActiveError> {
    let category = select(ErrorCategory::ALL);
    (any_text(), any_time(), category, any::<bool>()).prop_map(|(text, at, category, named)| {
        ActiveError {
            session_id: named.then(|| SessionId::parse(&"s".repeat(256)).expect("the longest id")),
            task_repository_id: named
                .then(|| TaskRepositoryId::parse(&"r".repeat(256)).expect("the longest id")),
            recovery_actions: RecoveryAction::ALL.to_vec(),
            ..ActiveError::record("owner", at, &text, category)
        }
    })
}

fn current_turn() -> Option<TurnId> {
    TurnId::parse("u").ok()
}

prop_compose! {
    fn any_request()(
        action in select(PendingAction::ALL), status in select(RequestStatus::ALL), since in any_time(),
    ) -> RequestAuthority {
        RequestAuthority { action, status, turn_id: current_turn(), created_at: since }
    }
}

prop_compose! {
    /// A session that nobody asked anything in yet.
    fn any_session()(
        id in "[!-~]{256}", state in select(SessionState::ALL), is_primary in any::<bool>(),
        activity in proptest::option::of(select(Activity::ALL)), subagents in any::<u32>(),
        error in proptest::option::of(any_error()),
    ) -> SessionAuthority {
        SessionAuthority {
            id: SessionId::parse(&id).expect("the longest id"),
            state, is_primary, activity, subagents, error,
            current_turn: current_turn(),
            requests: Vec::new(),
        }
    }
}

prop_compose! {
    fn any_repository()(
        numbers in any::<[u64; 3]>(), ahead in any::<Option<u64>>(), behind in any::<Option<u64>>(),
        measured in prop::bool::weighted(0.9),
    ) -> RepositoryAuthority {
        let [additions, deletions, changed_files] = numbers;
        let totals = GitTotals { additions, deletions, changed_files, ahead, behind };
        RepositoryAuthority { totals: measured.then_some(totals) }
    }
}

prop_compose! {
    fn any_standing()(
        lifecycle in select(PullRequestLifecycle::ALL), draft in any::<bool>(),
        checks_state in select(ChecksState::ALL), review_state in select(ReviewState::ALL),
        mergeable_state in select(MergeableState::ALL), in_merge_queue in any::<bool>(),
        unresolved_threads in any::<u32>(),
    ) -> Standing {
        Standing {
            lifecycle, draft, checks_state, review_state, mergeable_state, in_merge_queue, unresolved_threads,
        }
    }
}

/// Whatever a forge may call an address and the door lets in, the longest ones among them.
fn any_url() -> impl Strategy<Value = PullRequestUrl> {
    let filled = |tail: String| {
        let room = bounds::PULL_REQUEST_URL_BYTES.saturating_sub("https://h/".len() + tail.len());
        format!("https://h/{}{tail}", "%22".repeat(room / 3))
    };
    let hostile = prop_oneof!["\\PC{0,40}", "[!-~]{0,2100}", "https?://[!-~]{0,2100}"];
    let texts = prop_oneof![hostile, "[a-z0-9/?&=#'()*~-]{0,60}".prop_map(filled)];
    texts.prop_map(|text| {
        let kept = PullRequestUrl::parse(&text);
        kept.unwrap_or_else(|_| PullRequestUrl::parse("http://h/").expect("an address"))
    })
}

prop_compose! {
    fn any_pull_request()(
        number in any::<u32>(), url in any_url(), standing in any_standing(),
        auto_fix in any::<bool>(), auto_merge in any::<bool>(),
    ) -> PullRequestAuthority {
        PullRequestAuthority { number, url, standing, options: PullRequestOptions { auto_fix, auto_merge } }
    }
}

/// A few arbitrary things, over and over. It stays short when a failed case is printed.
#[derive(Clone, Debug)]
struct Many<T> {
    few: Vec<T>,
    number: usize,
}

impl<T: Clone> Many<T> {
    fn all(&self) -> Vec<T> {
        self.few.iter().cloned().cycle().take(self.number).collect()
    }
}

fn many<T: Clone + std::fmt::Debug>(
    one: impl Strategy<Value = T>,
) -> impl Strategy<Value = Many<T>> {
    (proptest::collection::vec(one, 1..4), any_number())
        .prop_map(|(few, number)| Many { few, number })
}

/// A summary as it is stored and sent.
fn sent(payload: SummaryPayload) -> String {
    serde_json::to_string(&TaskStatusSummary {
        revision: i64::MAX,
        updated_at: Timestamp::from_micros(LAST_INSTANT),
        payload,
    })
    .expect("a summary is plain data")
}

fn environment(repositories: Vec<RepositoryAuthority>) -> EnvironmentAuthority {
    EnvironmentAuthority {
        id: EnvironmentId::parse("e").expect("an id"),
        repositories,
    }
}

/// Sessions that share these requests as evenly as they can.
fn asked(
    sessions: &Many<SessionAuthority>,
    requests: &Many<RequestAuthority>,
) -> Vec<SessionAuthority> {
    let (mut sessions, requests) = (sessions.all(), requests.all());
    let share = requests.len().div_ceil(sessions.len().max(1)).max(1);
    for (session, share) in sessions.iter_mut().zip(requests.chunks(share)) {
        session.requests = share.to_vec();
    }
    sessions
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// SUM-03, SUM-04, PR-01: any number of sessions, messages, repositories and pull requests, whatever they hold.
    #[test]
    fn sum_03_every_summary_is_bounded(
        times in (any_time(), proptest::option::of(any_time())),
        launch_error in proptest::option::of(any_error()),
        sessions in many(any_session()),
        requests in many(any_request()),
        queued_prompts in any::<u32>(),
        repositories in many(any_repository()),
        pull_requests in many(any_pull_request()),
    ) {
        let task = TaskAuthority {
            created_at: times.0,
            last_activity_at: times.1,
            launch_error,
            sessions: asked(&sessions, &requests),
            queued_prompts,
            environments: vec![environment(repositories.all())],
            pull_requests: pull_requests.all(),
        };
        let payload = derive(&task);
        let text = semantic::json(&payload);
        let sent = sent(payload.clone());
        prop_assert!(sent.len() <= WORST_CASE, "{} bytes", sent.len());
        prop_assert!(semantic::eq(&payload, &derive(&task)));
        let read: SummaryPayload = serde_json::from_str(&text).expect("reads its own text");
        prop_assert!(semantic::eq(&payload, &read));
    }

    /// PR-01, PR-02: what is shown of many pull requests does not depend on their order, and is one of theirs.
    #[test]
    fn pr_01_the_order_of_pull_requests_says_nothing(
        mut pull_requests in proptest::collection::vec(any_pull_request(), 1..30), turn in any::<prop::sample::Index>(),
    ) {
        let with = |all: &[PullRequestAuthority]| derive(&TaskAuthority { pull_requests: all.to_vec(), ..task() });
        let payload = with(&pull_requests);
        let shown = payload.pull_request.clone().expect("something is linked");
        let gave = |one: &PullRequestAuthority| {
            one.number == shown.number && one.url == shown.url && one.standing.state() == shown.aggregate_state
        };
        prop_assert!(pull_requests.iter().any(gave));
        let middle = turn.index(pull_requests.len());
        pull_requests.rotate_left(middle);
        prop_assert!(semantic::eq(&payload, &with(&pull_requests)));
        pull_requests.reverse();
        prop_assert!(semantic::eq(&payload, &with(&pull_requests)));
    }
}

/// The worst of everything at once, 10,000 times, with ids of nothing but this character.
fn worst(id: &str) -> String {
    let id = id.repeat(bounds::ID_BYTES);
    // The last instant that a wire time can say, and the longest text of every kind.
    let at = Timestamp::from_micros(LAST_INSTANT);
    let error = ActiveError {
        session_id: SessionId::parse(&id).ok(),
        task_repository_id: TaskRepositoryId::parse(&id).ok(),
        recovery_actions: RecoveryAction::ALL.to_vec(),
        ..ActiveError::record(
            "owner",
            at,
            &"\"".repeat(900),
            ErrorCategory::DefaultBranchUnresolved,
        )
    };
    assert_eq!(error.preview.len(), bounds::ERROR_PREVIEW_BYTES);
    let session = SessionAuthority {
        id: SessionId::parse(&id).expect("the longest id"),
        state: SessionState::WaitingForInput,
        is_primary: true,
        activity: Some(Activity::Generating),
        subagents: u32::MAX,
        current_turn: current_turn(),
        requests: vec![RequestAuthority {
            action: PendingAction::Clarification,
            status: RequestStatus::Pending,
            turn_id: current_turn(),
            created_at: at,
        }],
        error: Some(error.clone()),
    };
    let totals = GitTotals {
        additions: u64::MAX,
        deletions: u64::MAX,
        changed_files: u64::MAX,
        ahead: Some(u64::MAX),
        behind: Some(u64::MAX),
    };
    let address = format!(
        "https://h/{}",
        "a".repeat(bounds::PULL_REQUEST_URL_BYTES - 10)
    );
    let pull_request = PullRequestAuthority {
        number: u32::MAX,
        url: PullRequestUrl::parse(&address).expect("the longest address"),
        standing: Standing {
            review_state: ReviewState::Awaiting,
            ..Standing::UNSEEN
        },
        options: PullRequestOptions::default(),
    };
    let payload = derive(&TaskAuthority {
        created_at: at,
        last_activity_at: Some(at),
        launch_error: Some(error),
        sessions: vec![session; MOST],
        queued_prompts: u32::MAX,
        environments: vec![environment(vec![
            RepositoryAuthority {
                totals: Some(totals)
            };
            MOST
        ])],
        pull_requests: vec![pull_request; MOST],
    });
    sent(payload)
}

/// SUM-03.
#[test]
fn sum_03_the_worst_case_is_what_the_bound_says() {
    let (escaped, plain) = (worst("\""), worst("a"));
    for field in [
        "last_activity_at",
        "primary_session",
        "foreground_activity",
        "active_subagent_count",
        "pending_action",
        "pending_since",
        "queued_prompt_count",
        "active_error",
        "git",
        "pull_request",
    ] {
        assert!(plain.contains(&format!("\"{field}\"")), "{field} is there");
    }
    assert!(plain.len() <= 5_000, "{} bytes", plain.len());
    assert!(escaped.len() <= WORST_CASE, "{} bytes", escaped.len());
    const { assert!(WORST_CASE < bounds::SUMMARY_BYTES) };
}
