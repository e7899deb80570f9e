//! Cases come everywhere. The machine goes on by itself here, without rows, so that many can be looked at.

use super::cases;
use super::happening::Fate;
use super::mind::{Mind, Step};
use anyhow::Result;
use model::ids::SessionId;
use model::turn_machine::change::Change;
use model::turn_machine::decide;
use std::collections::{BTreeMap, BTreeSet};

/// How many cases are looked at.
const CASES: u64 = 320;

/// In how many of them at least everything is met: often enough that a usual run meets it too.
const SELDOM: u64 = CASES / 80;

const INPUTS: &str = "Accepted SentAgain SentNow Unqueued Deleted QueueAsked StopAsked Closed PermissionDecided \
    QuestionsResolved Starting Ready StartFailed Dispatched Unsent SignOfLife LateUpdate StopBegun TurnEnded \
    ProcessForgotten Rested Recovered PermissionAsked PermissionWithdrawn DecisionsDue QuestionsAsked \
    QuestionsWithdrawn AnswersDue Subagents";

const REFUSED: &str =
    "Accepted SentAgain Deleted PermissionDecided QuestionsResolved QuestionsAsked";

const CHANGES: &str = "ReserveForPrompt ReserveForAnswers OpenLifecycle TurnOpened MarkAttempted Acknowledge \
    RequestCancel Settle RemoveTurn QueueLast QueueFirst Unqueue DeleteRow Session Activity Task TaskSettled \
    Milestone LaunchOver ForgetProcess AskPermission EndPermission EndPermissions PermissionDelivered AskQuestions \
    EndQuestions QuestionsDelivered RestoreQuestions";

const OTHER: [&str; 29] = [
    "step Up",
    "step Exit",
    "step Detach",
    "step StopProcess",
    "step SetTask",
    "step Sibling",
    "turn Completed",
    "turn Cancelled",
    "turn Failed",
    "turn NotDispatched",
    "turn Interrupted",
    "turn begun at the time of another",
    "prompt queued",
    "prompt queued before an earlier one",
    "prompt sending",
    "prompt dispatched",
    "prompt uncertain",
    "prompt undelivered",
    "open permissions Cancelled",
    "open permissions Expired",
    "permission delivered",
    "permission not delivered",
    "questions delivered",
    "questions not delivered",
    "session Running",
    "session Cancelled",
    "session Completed",
    "session Idle",
    "task Review",
];

/// The name of a variant.
fn word(of: &impl std::fmt::Debug) -> String {
    let text = format!("{of:?}");
    text.chars().take_while(|c| c.is_alphanumeric()).collect()
}

/// What a change is for `mind`.
fn of_change(mind: &Mind, change: &Change) -> Option<String> {
    let not = |delivered: &bool| if *delivered { "" } else { "not " };
    Some(match change {
        Change::Settle { outcome, .. } => format!("turn {outcome:?}"),
        Change::EndPermissions(status) => {
            let mut all = mind.facts.permissions.iter();
            all.find(|permission| !permission.status.is_terminal())?;
            format!("open permissions {status:?}")
        }
        Change::PermissionDelivered { delivered, .. } => {
            format!("permission {}delivered", not(delivered))
        }
        Change::QuestionsDelivered { delivered, .. } => {
            format!("questions {}delivered", not(delivered))
        }
        _ => return None,
    })
}

/// What one case meets.
fn meets(seed: u64) -> Result<BTreeSet<String>> {
    let (beginning, happenings) = cases::of_seed(seed)?;
    let mut mind = Mind::new(&SessionId::parse("session")?, beginning);
    let mut met = BTreeSet::new();
    let (mut now, mut begun) = (1, 0);
    for happening in happenings
        .iter()
        .filter(|one| matches!(one.fate, Fate::Commits))
    {
        let Some(step) = mind.step(&happening.what) else {
            continue;
        };
        now += mind.passes(happening);
        let Some(input) = mind.begin(&step) else {
            met.insert(format!("step {}", word(&step)));
            continue;
        };
        let fresh = mind.fresh();
        let Ok(plan) = decide(&mind.known(&input), &input, &fresh) else {
            met.insert(format!("refused {}", word(&input)));
            continue;
        };
        met.insert(format!("input {}", word(&input)));
        for change in &plan.changes {
            met.insert(format!("change {}", word(change)));
            met.extend(of_change(&mind, change));
        }
        mind.follow(&input, &plan);
        if matches!(step, Step::Ask(_)) && mind.facts.turn(&fresh).is_some() {
            if begun == now {
                met.insert("turn begun at the time of another".to_owned());
            }
            begun = now;
        }
        if !mind.facts.queue.is_sorted() {
            met.insert("prompt queued before an earlier one".to_owned());
        }
        let told = mind.prompts();
        let told = told.iter().filter_map(|id| mind.facts.disposition(id));
        met.extend(told.map(|disposition| format!("prompt {}", disposition.as_str())));
        met.insert(format!("session {:?}", mind.facts.session));
        met.insert(format!("task {:?}", mind.facts.task.state));
    }
    Ok(met)
}

/// Every input, refused where it can be, every change, every ending: what no case meets is not proven by any.
#[test]
fn cases_meet_everything() -> Result<()> {
    let mut met = BTreeMap::<String, u64>::new();
    for seed in 0..CASES {
        for what in meets(seed)? {
            *met.entry(what).or_default() += 1;
        }
    }
    let of = |kind: &'static str, words: &'static str| {
        let words = words.split_whitespace();
        words.map(move |word| format!("{kind} {word}"))
    };
    let wanted = of("input", INPUTS)
        .chain(of("refused", REFUSED))
        .chain(of("change", CHANGES))
        .chain(OTHER.map(str::to_owned));
    let missed: Vec<String> = wanted
        .filter(|what| met.get(what).is_none_or(|cases| *cases < SELDOM))
        .collect();
    assert!(missed.is_empty(), "seldom or never: {missed:?} of {met:#?}");
    Ok(())
}
