//! The cadence by examples, the bookkeeping by random histories.

use super::*;
use proptest::prelude::*;

const FAST: Duration = bounds::GIT_POLL_FAST;
const SLOW: Duration = bounds::GIT_POLL_SLOW;
const LINGER: Duration = bounds::GIT_FOCUS_LINGER;

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A live poll whose last run was a moment at `seconds`.
fn ran_at(seconds: u64) -> Poll {
    let mut poll = Poll::new();
    poll.set_live(true);
    poll.begin(at(seconds)).unwrap();
    poll.finish(at(seconds));
    poll
}

#[test]
fn git_06_live_is_slow_without_a_browser_and_fast_with_one() {
    let mut poll = ran_at(100);
    assert_eq!(poll.due(at(100)), Some(at(100) + SLOW));
    poll.set_focused(true, at(101));
    assert_eq!(poll.due(at(101)), Some(at(100) + FAST));
}

#[test]
fn git_06_settled_is_not_polled_even_when_focused() {
    let mut poll = ran_at(100);
    poll.set_focused(true, at(100));
    poll.set_live(false);
    assert_eq!(poll.due(at(200)), None);
    assert_eq!(poll.begin(at(200)), None);
}

#[test]
fn after_the_last_focus_polling_stays_fast_for_a_moment() {
    let mut poll = ran_at(100);
    poll.set_focused(true, at(100));
    poll.set_focused(false, at(101));
    // Saying it again must not prolong it.
    poll.set_focused(false, at(104));
    assert_eq!(poll.due(at(101)), Some(at(100) + FAST));
    poll.begin(at(100) + FAST).unwrap();
    poll.finish(at(100) + FAST);
    // The next fast run would be at 106, and fast ends there.
    assert_eq!(at(101) + LINGER, at(100) + FAST + FAST);
    assert_eq!(poll.due(at(104)), Some(at(100) + FAST + SLOW));
}

#[test]
fn becoming_live_looks_at_once() {
    let mut poll = ran_at(100);
    poll.set_live(false);
    poll.set_live(true);
    assert_eq!(poll.due(at(101)), Some(at(101)));
    // Being told again what is so changes nothing.
    poll.begin(at(101)).unwrap();
    poll.finish(at(101));
    poll.set_live(true);
    assert_eq!(poll.due(at(102)), Some(at(101) + SLOW));
}

/// GIT-05.
#[test]
fn git_05_a_request_during_a_run_shares_the_waiting_one() {
    let mut poll = Poll::new();
    let first = poll.request();
    assert_eq!(poll.begin(at(1)), Some(first));
    let (second, third) = (poll.request(), poll.request());
    assert!(first < second);
    assert_eq!(second, third);
    assert_eq!(poll.begin(at(2)), None, "one run at a time");
    poll.finish(at(3));
    assert_eq!(poll.begin(at(3)), Some(second));
    poll.finish(at(4));
    assert_eq!(poll.due(at(5)), None);
}

#[test]
fn c19_a_slow_run_is_followed_by_a_rest() {
    let mut poll = Poll::new();
    poll.set_live(true);
    poll.set_focused(true, at(0));
    poll.begin(at(0)).unwrap();
    poll.finish(at(2));
    assert_eq!(poll.due(at(2)), Some(at(4)));
    poll.begin(at(4)).unwrap();
    poll.finish(at(16));
    assert_eq!(poll.due(at(16)), Some(at(16) + FAST));
}

#[derive(Clone, Debug)]
enum Step {
    Live(bool),
    Focused(bool),
    Request,
    Begin,
    Finish,
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        any::<bool>().prop_map(Step::Live),
        any::<bool>().prop_map(Step::Focused),
        Just(Step::Request),
        Just(Step::Begin),
        Just(Step::Finish),
        (0_u64..30_000).prop_map(Step::Wait),
    ]
}

proptest! {
    /// Whatever happens: runs never overlap, every request is served by a run that began after it, a settled poll
    /// runs only for requests, and a live one is never left without a next run.
    #[test]
    fn bookkeeping_holds_for_any_history(steps in prop::collection::vec(step(), 0..200)) {
        let mut poll = Poll::new();
        let mut now = Duration::ZERO;
        let mut live = false;
        let mut running = None;
        let mut open: Vec<RunNumber> = Vec::new();
        let mut newest = RunNumber::NONE;
        for step in steps {
            match step {
                Step::Live(to) => { live = to; poll.set_live(to); }
                Step::Focused(to) => poll.set_focused(to, now),
                Step::Request => {
                    let wanted = poll.request();
                    prop_assert!(newest < wanted, "served by a run that has begun already");
                    open.push(wanted);
                }
                Step::Begin => {
                    let asked = !open.iter().all(|wanted| *wanted <= newest);
                    if let Some(run) = poll.begin(now) {
                        prop_assert!(running.is_none());
                        prop_assert!(live || asked);
                        prop_assert!(newest < run);
                        (running, newest) = (Some(run), run);
                    } else {
                        prop_assert!(running.is_some() || !asked, "a request waits for nothing");
                    }
                }
                Step::Finish => {
                    poll.finish(now);
                    if let Some(run) = running.take() {
                        open.retain(|wanted| run < *wanted);
                    }
                }
                Step::Wait(millis) => now += Duration::from_millis(millis),
            }
            if running.is_none() {
                let due = poll.due(now);
                prop_assert_eq!(due.is_some(), live || !open.is_empty());
                prop_assert!(due.is_none_or(|due| due <= now + SLOW), "GIT-06: within 30 s");
            } else {
                prop_assert_eq!(poll.due(now), None);
            }
        }
    }
}
