//! Linked pull requests: facts, the one word a row says of them, and their changes.

use crate::change::Pick;
use crate::facts::Facts;
use crate::scene::{Scene, chosen};
use model::clock::Timestamp;
use model::ids::{PullRequestId, TaskId};
use model::pull_request::forge_text::{ForgeWord, PullRequestUrl};
use model::pull_request::{
    ChecksState, MergeableState, PullRequestFacts, PullRequestIdentity, PullRequestLifecycle,
    PullRequestOptions, ReviewState, Standing,
};
use model::summary::{AggregateState, PullRequestSummary};
use proptest::prelude::*;
use proptest::sample::select;
use store::error::Result;
use store::pull_requests::{self, ChangeOutcome, FactsOutcome, LinkOutcome, NewPullRequest};
use store::tx::WriteTx;

#[derive(Clone, Debug)]
pub(crate) struct PullFact {
    task: TaskId,
    identity: PullRequestIdentity,
    standing: Standing,
    head: Option<usize>,
    looked: Option<Timestamp>,
    options: PullRequestOptions,
}

#[derive(Clone, Debug)]
pub(crate) enum PullChange {
    /// To a task, one of two forges, with this number.
    Linked(Pick, bool, u32),
    /// A look found this, about one of two heads or none; it may have begun before the one that is stored.
    Looked(Pick, Standing, Option<usize>, bool),
    Switched(Pick, bool, bool),
    Unlinked(Pick),
}

pub(crate) fn pull() -> impl Strategy<Value = PullChange> {
    use PullChange::*;
    let pick = || 0..12usize;
    let often_open = prop_oneof![
        5 => Just(PullRequestLifecycle::Open),
        1 => select(PullRequestLifecycle::ALL),
    ];
    let standing = (
        often_open,
        prop::bool::weighted(0.1),
        select(ChecksState::ALL),
        select(ReviewState::ALL),
        select(MergeableState::ALL),
        prop::bool::weighted(0.1),
        prop_oneof![6 => Just(0u32), 1 => Just(3u32)],
    );
    let standing = standing.prop_map(
        |(lifecycle, draft, checks_state, review_state, mergeable_state, queue, threads)| {
            Standing {
                lifecycle,
                draft,
                checks_state,
                review_state,
                mergeable_state,
                in_merge_queue: queue,
                unresolved_threads: threads,
            }
        },
    );
    prop_oneof![
        3 => (pick(), any::<bool>(), 1..4u32).prop_map(|(n, host, number)| Linked(n, host, number)),
        6 => (pick(), standing, prop::option::of(0..2usize), prop::bool::weighted(0.1))
            .prop_map(|(n, standing, head, late)| Looked(n, standing, head, late)),
        2 => (pick(), any::<bool>(), any::<bool>()).prop_map(|(n, fix, merge)| Switched(n, fix, merge)),
        1 => pick().prop_map(Unlinked),
    ]
}

/// The word for one pull request.
fn word(standing: &Standing) -> AggregateState {
    let approved = standing.review_state == ReviewState::Approved;
    let no_rule = standing.review_state == ReviewState::NotRequired;
    let clean = standing.mergeable_state == MergeableState::Clean;
    let untidy = standing.mergeable_state == MergeableState::Unstable;
    let green = standing.checks_state == ChecksState::Green;
    let none_configured = standing.checks_state == ChecksState::NotConfigured;
    if standing.lifecycle == PullRequestLifecycle::Merged {
        AggregateState::Merged
    } else if standing.lifecycle == PullRequestLifecycle::Closed {
        AggregateState::Closed
    } else if standing.draft {
        AggregateState::Draft
    } else if standing.mergeable_state == MergeableState::Conflicting {
        AggregateState::Blocked
    } else if standing.review_state == ReviewState::ChangesRequested
        || standing.checks_state == ChecksState::Failing
        || standing.unresolved_threads > 0
    {
        AggregateState::Failure
    } else if standing.checks_state == ChecksState::Pending || standing.in_merge_queue {
        AggregateState::Pending
    } else if standing.review_state == ReviewState::Awaiting {
        AggregateState::AwaitingReview
    } else if standing.mergeable_state == MergeableState::Blocked {
        AggregateState::Blocked
    } else if (green || none_configured) && ((approved && (clean || untidy)) || (no_rule && clean))
    {
        AggregateState::Ready
    } else if green {
        AggregateState::Passing
    } else {
        AggregateState::Neutral
    }
}

/// Most urgent first.
const ORDER: [AggregateState; 10] = [
    AggregateState::Failure,
    AggregateState::Blocked,
    AggregateState::Pending,
    AggregateState::AwaitingReview,
    AggregateState::Ready,
    AggregateState::Passing,
    AggregateState::Draft,
    AggregateState::Merged,
    AggregateState::Closed,
    AggregateState::Neutral,
];

impl Facts {
    /// What a row says of the pull requests of a task.
    pub(crate) fn pull_request(&self, task: &TaskId) -> Option<PullRequestSummary> {
        let mut linked: Vec<&PullFact> = Vec::new();
        for pull in self.pulls.values() {
            if pull.task == *task {
                linked.push(pull);
            }
        }
        let mut open = Vec::new();
        for pull in &linked {
            if pull.standing.lifecycle == PullRequestLifecycle::Open {
                open.push(*pull);
            }
        }
        let mut candidates = if open.is_empty() {
            linked.clone()
        } else {
            open.clone()
        };
        candidates.sort_by_key(|pull| {
            let state = word(&pull.standing);
            let urgency = ORDER.iter().position(|other| *other == state);
            let identity = &pull.identity;
            (urgency, identity.number, identity.url.to_string())
        });
        let shown = candidates.first()?;
        Some(PullRequestSummary {
            count: u32::try_from(linked.len()).expect("few"),
            open_count: u32::try_from(open.len()).expect("few"),
            aggregate_state: word(&shown.standing),
            number: shown.identity.number,
            url: shown.identity.url.clone(),
            auto_fix: open.iter().any(|pull| pull.options.auto_fix),
            auto_merge: open.iter().any(|pull| pull.options.auto_merge),
        })
    }

    pub(crate) fn forget_pulls_of(&mut self, task: &TaskId) {
        self.pulls.retain(|_, pull| pull.task != *task);
    }
}

pub(crate) async fn change(tx: &mut WriteTx, scene: &mut Scene, what: &PullChange) -> Result<()> {
    if let PullChange::Linked(n, other_host, number) = *what {
        return match chosen(&scene.facts.tasks, n) {
            Some(task) => link(tx, scene, task, other_host, number).await,
            None => Ok(()),
        };
    }
    let (PullChange::Linked(n, ..)
    | PullChange::Looked(n, ..)
    | PullChange::Switched(n, ..)
    | PullChange::Unlinked(n)) = *what;
    let Some(id) = chosen(&scene.facts.pulls, n) else {
        return Ok(());
    };
    match *what {
        PullChange::Looked(_, standing, head, late) => {
            look(tx, scene, &id, standing, head, late).await?;
        }
        PullChange::Switched(_, auto_fix, auto_merge) => {
            let options = PullRequestOptions {
                auto_fix,
                auto_merge,
            };
            let outcome = pull_requests::set_options(tx, &id, options).await?;
            let pull = scene.facts.pulls.get_mut(&id).expect("it was chosen");
            assert_eq!(outcome == ChangeOutcome::Unchanged, pull.options == options);
            pull.options = options;
        }
        _ => {
            let outcome = pull_requests::unlink(tx, &id).await?;
            assert_eq!(outcome, ChangeOutcome::Changed);
            scene.facts.pulls.remove(&id);
        }
    }
    Ok(())
}

async fn link(
    tx: &mut WriteTx,
    scene: &mut Scene,
    task: TaskId,
    other_host: bool,
    number: u32,
) -> Result<()> {
    let host = if other_host { "b.example" } else { "a.example" };
    let parse = |text| ForgeWord::parse(text).expect("a word");
    let identity = PullRequestIdentity {
        host: parse(host),
        owner: parse("owner"),
        repository: parse("project"),
        number,
        url: PullRequestUrl::parse(&format!("https://{host}/owner/project/pull/{number}"))
            .expect("an address"),
    };
    let id = scene.name(PullRequestId::parse);
    let new = NewPullRequest {
        id: &id,
        task_id: &task,
        identity: &identity,
        by_hand: false,
    };
    let outcome = pull_requests::link(tx, &new).await?;
    let mut known = scene.facts.pulls.iter();
    let known = known.find(|(_, pull)| pull.task == task && pull.identity == identity);
    if let Some((known, _)) = known {
        assert_eq!(outcome, LinkOutcome::AlreadyLinked(known.clone()));
        return Ok(());
    }
    assert_eq!(outcome, LinkOutcome::Linked);
    let fact = PullFact {
        task,
        identity,
        standing: Standing {
            lifecycle: PullRequestLifecycle::Open,
            draft: false,
            checks_state: ChecksState::Unknown,
            review_state: ReviewState::Unknown,
            mergeable_state: MergeableState::Unknown,
            in_merge_queue: false,
            unresolved_threads: 0,
        },
        head: None,
        looked: None,
        options: PullRequestOptions::default(),
    };
    scene.facts.pulls.insert(id, fact);
    Ok(())
}

/// What could not be read says nothing: mergeability of the same head, checks and reviews stay; checks known for
/// another head wait to be reported for this one.
async fn look(
    tx: &mut WriteTx,
    scene: &mut Scene,
    id: &PullRequestId,
    standing: Standing,
    head: Option<usize>,
    late: bool,
) -> Result<()> {
    let now = tx.now();
    let pull = scene.facts.pulls.get_mut(id).expect("it was chosen");
    let before = |looked: Timestamp| Timestamp::from_micros(looked.as_micros() - 1);
    let at = pull.looked.filter(|_| late).map_or(now, before);
    let facts = PullRequestFacts {
        title: "A change".to_owned(),
        head_owner: None,
        head_repository: None,
        head_branch: None,
        head_commit: head.map(|n| ForgeWord::parse(["c0ffee", "decade"][n]).expect("a word")),
        base_branch: None,
        standing,
    };
    let outcome = pull_requests::record_facts(tx, id, &facts, at).await?;
    if pull.looked.is_some_and(|looked| at < looked) {
        assert_eq!(outcome, FactsOutcome::NotNewer);
        return Ok(());
    }
    let mut next = standing;
    let both_known = head.is_some() && pull.head.is_some();
    if next.mergeable_state == MergeableState::Unknown && both_known && head == pull.head {
        next.mergeable_state = pull.standing.mergeable_state;
    }
    if next.checks_state == ChecksState::Unknown {
        next.checks_state = pull.standing.checks_state;
        if both_known && head != pull.head && next.checks_state != ChecksState::Unknown {
            next.checks_state = ChecksState::Pending;
        }
    }
    if next.review_state == ReviewState::Unknown {
        next.review_state = pull.standing.review_state;
    }
    let first = pull.looked.is_none();
    let unchanged = !first && next == pull.standing && head == pull.head;
    assert!(first || (outcome == FactsOutcome::Unchanged) == unchanged);
    (pull.standing, pull.head, pull.looked) = (next, head, Some(at));
    Ok(())
}
