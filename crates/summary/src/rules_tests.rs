//! That the number of the rules rises with them.

use crate::RULES;
use crate::authority::{
    EnvironmentAuthority, PullRequestAuthority, RepositoryAuthority, RequestAuthority,
    SessionAuthority, TaskAuthority,
};
use crate::derive::derive;
use crate::semantic;
use model::clock::Timestamp;
use model::error::{ActiveError, ErrorCategory, RecoveryAction};
use model::git::GitTotals;
use model::ids::{EnvironmentId, SessionId, TurnId};
use model::message::RequestStatus;
use model::pull_request::forge_text::PullRequestUrl;
use model::pull_request::{
    ChecksState, MergeableState, PullRequestLifecycle, PullRequestOptions, ReviewState, Standing,
};
use model::session::{Activity, SessionState};
use model::summary::PendingAction;

/// Tasks whose summaries stand for all. Every rule decides something in many of them.
const TASKS: u64 = 5_000;

/// What those summaries say, as one number, under the rules of a number.
const KNOWN: (i64, u64) = (1, 11_524_993_625_986_228_273);

/// Numbers that look like chance and are the same for ever (SplitMix64), so that no library decides what is known.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        let index = usize::try_from(self.below(of.len() as u64)).expect("an index");
        of[index].clone()
    }

    fn maybe<T>(&mut self, one: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.flag() { Some(one(self)) } else { None }
    }

    fn some<T>(&mut self, at_most: u64, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        let number = self.below(at_most + 1);
        (0..number).map(|_| one(self)).collect()
    }

    fn time(&mut self) -> Timestamp {
        Timestamp::from_micros(i64::try_from(self.below(50)).expect("a small number"))
    }

    fn count(&mut self) -> u32 {
        u32::try_from(self.below(4)).expect("a small number")
    }

    fn error(&mut self) -> ActiveError {
        let category = self.one(ErrorCategory::ALL);
        let at = self.time();
        ActiveError {
            session_id: self.maybe(|dice| id(dice.below(4))),
            recovery_actions: self.some(3, |dice| dice.one(RecoveryAction::ALL)),
            ..ActiveError::record("owner", at, "it went wrong", category)
        }
    }

    fn turn(&mut self) -> Option<TurnId> {
        self.maybe(|dice| TurnId::parse(&format!("turn-{}", dice.below(2))).expect("an id"))
    }

    fn session(&mut self) -> SessionAuthority {
        SessionAuthority {
            id: id(self.below(1_000)),
            state: self.one(SessionState::ALL),
            is_primary: self.below(3) == 0,
            activity: self.maybe(|dice| dice.one(Activity::ALL)),
            subagents: self.count(),
            current_turn: self.turn(),
            requests: self.some(3, |dice| RequestAuthority {
                action: dice.one(PendingAction::ALL),
                status: dice.one(RequestStatus::ALL),
                turn_id: dice.turn(),
                created_at: dice.time(),
            }),
            error: self.maybe(Self::error),
        }
    }

    fn totals(&mut self) -> GitTotals {
        GitTotals {
            additions: self.below(9),
            deletions: self.below(9),
            changed_files: self.below(9),
            ahead: (self.below(5) != 0).then(|| self.below(9)),
            behind: (self.below(5) != 0).then(|| self.below(9)),
        }
    }

    fn environment(&mut self) -> EnvironmentAuthority {
        EnvironmentAuthority {
            id: EnvironmentId::parse(&format!("e-{}", self.below(3))).expect("an id"),
            repositories: self.some(3, |dice| RepositoryAuthority {
                totals: (dice.below(5) != 0).then(|| dice.totals()),
            }),
        }
    }

    fn pull_request(&mut self) -> PullRequestAuthority {
        let number = self.count();
        PullRequestAuthority {
            number,
            url: PullRequestUrl::parse(&format!("https://forge.test/{}/{number}", self.below(2)))
                .expect("an address"),
            standing: Standing {
                lifecycle: self.one(PullRequestLifecycle::ALL),
                draft: self.below(4) == 0,
                checks_state: self.one(ChecksState::ALL),
                review_state: self.one(ReviewState::ALL),
                mergeable_state: self.one(MergeableState::ALL),
                in_merge_queue: self.below(4) == 0,
                unresolved_threads: self.count(),
            },
            options: PullRequestOptions {
                auto_fix: self.flag(),
                auto_merge: self.flag(),
            },
        }
    }

    fn task(&mut self) -> TaskAuthority {
        TaskAuthority {
            created_at: self.time(),
            last_activity_at: self.maybe(Self::time),
            launch_error: self.maybe(Self::error),
            sessions: self.some(3, Self::session),
            queued_prompts: self.count(),
            environments: self.some(3, Self::environment),
            pull_requests: self.some(3, Self::pull_request),
        }
    }
}

fn id(number: u64) -> SessionId {
    SessionId::parse(&format!("session-{number}")).expect("an id")
}

/// FNV-1a, which is eight lines and not a secret.
fn fingerprint(text: &str, before: u64) -> u64 {
    text.bytes().fold(before, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// REC-02: a version that derives otherwise says so, or old rows would stay as they were until their task changes.
#[test]
fn rec_02_other_summaries_have_another_number_of_rules() {
    let mut dice = Dice(1);
    let said = (0..TASKS).fold(0xcbf2_9ce4_8422_2325, |before, _| {
        fingerprint(&semantic::json(&derive(&dice.task())), before)
    });
    assert_eq!(
        (RULES, said),
        KNOWN,
        "the same tasks have other summaries than before: if the rules are meant to have changed, raise \
         `summary::RULES` and write both numbers into `KNOWN`"
    );
}
