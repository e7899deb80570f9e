//! The states of pull requests, over every combination of facts, and the texts of a forge.

use super::*;
use AggregateState as State;
use ChecksState as Checks;
use MergeableState as Merge;
use PullRequestLifecycle as Life;
use ReviewState as Review;

/// Every combination of the facts; of numbers of threads none, one and the most.
fn every_standing() -> Vec<Standing> {
    let mut all = Vec::new();
    for &lifecycle in Life::ALL {
        for draft in [false, true] {
            for &checks_state in Checks::ALL {
                for &review_state in Review::ALL {
                    for &mergeable_state in Merge::ALL {
                        for in_merge_queue in [false, true] {
                            for unresolved_threads in [0, 1, u32::MAX] {
                                all.push(Standing {
                                    lifecycle,
                                    draft,
                                    checks_state,
                                    review_state,
                                    mergeable_state,
                                    in_merge_queue,
                                    unresolved_threads,
                                });
                            }
                        }
                    }
                }
            }
        }
    }
    all
}

/// One line: lifecycle, draft, checks, reviews, mergeability, merge queue, unresolved threads, and the state. `*` is
/// every word, `|` parts several, and a word behind `!` is left out of all of them.
///
/// Lines do not overlap, so their order says nothing: each combination is in exactly one of them.
const TABLE: &str = "
    merged  *    *                             *                                         *                       *    *     merged
    closed  *    *                             *                                         *                       *    *     closed
    open    yes  *                             *                                         *                       *    *     draft
    open    no   *                             *                                         conflicting             *    *     blocked

    open    no   *                             changes_requested                         !conflicting            *    *     failure
    open    no   failing                       !changes_requested                        !conflicting            *    *     failure
    open    no   !failing                      !changes_requested                        !conflicting            *    some  failure

    open    no   pending                       !changes_requested                        !conflicting            *    none  pending
    open    no   unknown|not_configured|green  !changes_requested                        !conflicting            yes  none  pending

    open    no   unknown|not_configured|green  awaiting                                  !conflicting            no   none  awaiting_review
    open    no   unknown|not_configured|green  unknown|not_required|incomplete|approved  blocked                 no   none  blocked

    open    no   not_configured|green          approved                                  clean|unstable          no   none  ready
    open    no   not_configured|green          not_required                              clean                   no   none  ready

    open    no   green                         approved                                  unknown                 no   none  passing
    open    no   green                         not_required                              unknown|unstable        no   none  passing
    open    no   green                         unknown|incomplete                        unknown|clean|unstable  no   none  passing

    open    no   not_configured                approved                                  unknown                 no   none  neutral
    open    no   not_configured                not_required                              unknown|unstable        no   none  neutral
    open    no   not_configured                unknown|incomplete                        unknown|clean|unstable  no   none  neutral
    open    no   unknown                       unknown|not_required|incomplete|approved  unknown|clean|unstable  no   none  neutral
";

/// A line in its words.
type Line = [&'static str; 8];

fn table() -> Vec<Line> {
    let lines = TABLE
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines
        .filter(|words| !words.is_empty())
        .map(|words| words.try_into().expect("eight words"))
        .collect()
}

fn covers(pattern: &str, word: &str) -> bool {
    match pattern.strip_prefix('!') {
        Some(left_out) => word != left_out,
        None => pattern == "*" || pattern.split('|').any(|one| one == word),
    }
}

fn words_of(standing: &Standing) -> [&'static str; 7] {
    let yes = |truth: bool| if truth { "yes" } else { "no" };
    [
        standing.lifecycle.as_str(),
        yes(standing.draft),
        standing.checks_state.as_str(),
        standing.review_state.as_str(),
        standing.mergeable_state.as_str(),
        yes(standing.in_merge_queue),
        if standing.unresolved_threads == 0 {
            "none"
        } else {
            "some"
        },
    ]
}

/// PR-02.
#[test]
fn pr_02_every_combination_of_facts_has_the_state_of_its_one_line() {
    let all = every_standing();
    assert_eq!(all.len(), 3 * 2 * 5 * 6 * 5 * 2 * 3);
    let table = table();
    let mut used = vec![0; table.len()];
    for standing in &all {
        let words = words_of(standing);
        let fits = |line: &Line| {
            line.iter()
                .zip(words)
                .all(|(pattern, word)| covers(pattern, word))
        };
        let lines: Vec<usize> = (0..table.len()).filter(|&n| fits(&table[n])).collect();
        let [line] = lines[..] else {
            panic!("{standing:?} is in the lines {lines:?}");
        };
        used[line] += 1;
        assert_eq!(standing.state().as_str(), table[line][7], "{standing:?}");
    }
    assert!(!used.contains(&0), "a line that nothing is in: {used:?}");
    for &state in State::ALL {
        assert!(
            table.iter().any(|line| line[7] == state.as_str()),
            "{state:?}"
        );
    }
}

/// PR-02: what could not be read never makes a pull request ready, blocked or a failure.
#[test]
fn pr_02_unknown_mergeability_only_takes_a_good_word_away() {
    for standing in every_standing()
        .iter()
        .filter(|one| one.mergeable_state == Merge::Unknown)
    {
        let clean = Standing {
            mergeable_state: Merge::Clean,
            ..*standing
        };
        match (clean.state(), standing.state()) {
            (State::Ready, weaker) => assert!(matches!(weaker, State::Passing | State::Neutral)),
            (known, unknown) => assert_eq!(known, unknown),
        }
    }
}

/// PR-02.
#[test]
fn pr_02_open_ones_come_first_and_then_the_most_urgent() {
    let order = [
        "failure",
        "blocked",
        "pending",
        "awaiting_review",
        "ready",
        "passing",
        "draft",
        "merged",
        "closed",
        "neutral",
    ];
    let place = |state: State| order.iter().position(|word| *word == state.as_str());
    assert_eq!(State::ALL.len(), order.len());
    let all = every_standing();
    let mut ranks: Vec<_> = all.iter().map(Standing::rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let ranks: Vec<_> = ranks
        .iter()
        .map(|&(terminal, state)| (terminal, state.as_str()))
        .collect();
    let open = order
        .iter()
        .filter(|word| !matches!(**word, "merged" | "closed"));
    let expected: Vec<_> = open
        .map(|word| (false, *word))
        .chain([(true, "merged"), (true, "closed")])
        .collect();
    assert_eq!(ranks, expected);
    for a in &all {
        for b in all.iter().step_by(97) {
            if a.is_open() == b.is_open() {
                let by_place = place(a.state()).cmp(&place(b.state()));
                assert_eq!(a.rank().cmp(&b.rank()), by_place);
            } else {
                assert_eq!(a.rank() < b.rank(), a.is_open());
            }
        }
    }
}

fn facts(head: Option<&str>, checks: Checks, review: Review, merge: Merge) -> PullRequestFacts {
    PullRequestFacts {
        head_commit: head.map(|commit| ForgeWord::parse(commit).expect("a test commit")),
        standing: Standing {
            checks_state: checks,
            review_state: review,
            mergeable_state: merge,
            ..Standing::UNSEEN
        },
        ..PullRequestFacts::unseen()
    }
}

#[test]
fn what_could_not_be_read_keeps_what_is_known() {
    let kept = |stored: &PullRequestFacts, newer: PullRequestFacts| {
        let standing = newer.after(stored).standing;
        (
            standing.checks_state,
            standing.review_state,
            standing.mergeable_state,
        )
    };
    let unread = |head| facts(head, Checks::Unknown, Review::Unknown, Merge::Unknown);
    let known = facts(
        Some("h1"),
        Checks::Failing,
        Review::Approved,
        Merge::Conflicting,
    );
    let (failing, approved) = (Checks::Failing, Review::Approved);

    assert_eq!(
        kept(&known, unread(Some("h1"))),
        (failing, approved, Merge::Conflicting)
    );
    // Another head: whether it conflicts is open again, and the checks are those of an older head.
    assert_eq!(
        kept(&known, unread(Some("h2"))),
        (Checks::Pending, approved, Merge::Unknown)
    );
    // A head that could not be read is no other head, and not known to be the same.
    assert_eq!(
        kept(&known, unread(None)),
        (failing, approved, Merge::Unknown)
    );
    // Nothing was known: nothing is.
    let nothing = (Checks::Unknown, Review::Unknown, Merge::Unknown);
    assert_eq!(
        kept(&PullRequestFacts::unseen(), unread(Some("h1"))),
        nothing
    );
    assert_eq!(kept(&unread(Some("h1")), unread(Some("h2"))), nothing);
    // What was read replaces what was known.
    let read = facts(Some("h1"), Checks::Green, Review::Awaiting, Merge::Clean);
    assert_eq!(
        kept(&known, read.clone()),
        (Checks::Green, Review::Awaiting, Merge::Clean)
    );
    assert_eq!(read.clone().after(&known), read);
}
