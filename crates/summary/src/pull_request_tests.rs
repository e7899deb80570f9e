//! What a summary says of pull requests (PR-01 … PR-03), by table.

use super::tests::task;
use super::*;
use model::pull_request::{ChecksState, PullRequestLifecycle, PullRequestOptions, Standing};
use model::summary::AggregateState;

fn pull_request(number: u32, standing: Standing) -> PullRequestAuthority {
    let url = format!("https://forge.example/o/r/pull/{number}");
    PullRequestAuthority {
        number,
        url: url.try_into().expect("a test address"),
        standing,
        options: PullRequestOptions::default(),
    }
}

fn open(checks_state: ChecksState) -> Standing {
    Standing {
        checks_state,
        ..Standing::UNSEEN
    }
}

const fn ended(lifecycle: PullRequestLifecycle) -> Standing {
    Standing {
        lifecycle,
        ..Standing::UNSEEN
    }
}

fn shown(pull_requests: Vec<PullRequestAuthority>) -> Option<PullRequestSummary> {
    derive(&TaskAuthority {
        pull_requests,
        ..task()
    })
    .pull_request
}

/// PR-01, PR-02: the representative is the one that gave the state, whatever order they are found in.
#[test]
fn pr_01_pr_02_the_representative_is_the_most_urgent_open_one() {
    let draft = Standing {
        draft: true,
        checks_state: ChecksState::Failing,
        ..Standing::UNSEEN
    };
    let check = |mut all: Vec<PullRequestAuthority>, open_count: u32, number: u32, state| {
        for _ in 0..all.len() {
            all.rotate_left(1);
            let payload = shown(all.clone()).expect("something is linked");
            assert_eq!(usize::try_from(payload.count).ok(), Some(all.len()));
            assert_eq!(payload.open_count, open_count);
            assert_eq!((payload.number, payload.aggregate_state), (number, state));
            let url = format!("https://forge.example/o/r/pull/{number}");
            assert_eq!(payload.url.as_str(), url);
        }
    };
    let merged = pull_request(20, ended(PullRequestLifecycle::Merged));
    let closed = pull_request(2, ended(PullRequestLifecycle::Closed));
    let failing = pull_request(21, open(ChecksState::Failing));
    let pending = pull_request(3, open(ChecksState::Pending));
    let neutral = pull_request(30, open(ChecksState::Unknown));
    // A branch was used again after a merge.
    check(
        vec![merged.clone(), failing.clone()],
        1,
        21,
        AggregateState::Failure,
    );
    check(
        vec![
            closed.clone(),
            pending.clone(),
            pull_request(4, draft),
            failing.clone(),
            merged.clone(),
        ],
        3,
        21,
        AggregateState::Failure,
    );
    // The lowest number among equals.
    check(
        vec![
            failing.clone(),
            pull_request(7, open(ChecksState::Failing)),
            pending,
        ],
        3,
        7,
        AggregateState::Failure,
    );
    // Open before terminal, though neutral is the least urgent word.
    check(
        vec![merged.clone(), neutral, closed.clone()],
        1,
        30,
        AggregateState::Neutral,
    );
    check(
        vec![merged.clone(), pull_request(40, draft)],
        1,
        40,
        AggregateState::Draft,
    );
    check(vec![closed.clone(), merged], 0, 20, AggregateState::Merged);
    check(vec![closed], 0, 2, AggregateState::Closed);
    assert_eq!(shown(Vec::new()), None);
}

/// PR-01: numbers repeat across repositories; the address decides then, not the order of rows.
#[test]
fn pr_01_equal_numbers_are_told_apart_by_address() {
    let other = PullRequestAuthority {
        url: "https://another.example/o/r/pull/7"
            .to_owned()
            .try_into()
            .expect("a test address"),
        ..pull_request(7, open(ChecksState::Failing))
    };
    let both = [pull_request(7, open(ChecksState::Failing)), other.clone()];
    for pull_requests in [both.to_vec(), both.iter().rev().cloned().collect()] {
        assert_eq!(
            shown(pull_requests).map(|payload| payload.url),
            Some(other.url.clone())
        );
    }
}

/// PR-03: a switch counts while its pull request is open; a draft is.
#[test]
fn pr_03_switches_count_for_active_pull_requests_only() {
    let switches = |auto_fix, auto_merge| PullRequestOptions {
        auto_fix,
        auto_merge,
    };
    let with = |number, standing, options| PullRequestAuthority {
        options,
        ..pull_request(number, standing)
    };
    let flags =
        |all: Vec<PullRequestAuthority>| shown(all).map(|one| (one.auto_fix, one.auto_merge));
    let draft = Standing {
        draft: true,
        ..Standing::UNSEEN
    };
    let failing = pull_request(1, open(ChecksState::Failing));
    assert_eq!(flags(vec![failing.clone()]), Some((false, false)));
    // Not the representative's own switches, but any one's.
    assert_eq!(
        flags(vec![failing.clone(), with(2, draft, switches(true, false))]),
        Some((true, false))
    );
    assert_eq!(
        flags(vec![
            failing.clone(),
            with(2, draft, switches(true, false)),
            with(3, open(ChecksState::Green), switches(false, true)),
        ]),
        Some((true, true))
    );
    for lifecycle in [PullRequestLifecycle::Merged, PullRequestLifecycle::Closed] {
        let over = with(4, ended(lifecycle), switches(true, true));
        assert_eq!(
            flags(vec![failing.clone(), over.clone()]),
            Some((false, false))
        );
        assert_eq!(flags(vec![over]), Some((false, false)));
    }
}
