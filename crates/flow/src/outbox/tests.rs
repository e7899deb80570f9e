//! The rules of delivery (GWY-01 … GWY-04, GWY-07, API-05), by example and against random traffic.

use super::Outbox;
use super::keys::{Held, Next, Scope, StateKey};
use super::limits::{Limits, Overflow, Pushed};
use model::bounds;
use model::ids::{MessageId, SessionId, TaskId, WorkspaceId};
use proptest::prelude::*;
use std::sync::Arc;

type Frame = Arc<str>;

fn small() -> Limits {
    Limits {
        control_frames: 4,
        control_bytes: 64,
        occurrence_frames: 4,
        occurrence_bytes: 64,
        message_states: 3,
        states: 4,
        state_bytes: 64,
    }
}

fn session(name: &str) -> SessionId {
    SessionId::parse(name).expect("a test id")
}

fn scope(name: &str) -> Scope {
    Scope::Session(session(name))
}

fn message(name: &str) -> MessageId {
    MessageId::parse(name).expect("a test id")
}

fn workspace() -> Scope {
    Scope::Workspace(WorkspaceId::parse("w").expect("a test id"))
}

fn task(name: &str) -> StateKey {
    StateKey::Task(TaskId::parse(name).expect("a test id"))
}

fn outbox(limits: Limits, scopes: &[Scope]) -> Outbox<Frame> {
    let mut outbox = Outbox::new(limits);
    for scope in scopes {
        assert!(outbox.join_at_once(scope));
    }
    outbox
}

/// Everything that is written next, as words: frames as they are, messages as `m:held`, resyncs as `resync`.
fn drain(outbox: &mut Outbox<Frame>) -> Vec<String> {
    std::iter::from_fn(|| outbox.take_next())
        .map(|next| match next {
            Next::Frame(frame) => frame.to_string(),
            Next::Message {
                message_id, held, ..
            } => match held {
                None => format!("{message_id}:whole"),
                Some(Held::Units(units)) => format!("{message_id}:{units}"),
                Some(Held::Cut) => format!("{message_id}:cut"),
            },
            Next::Resync(session) => format!("resync {session}"),
        })
        .collect()
}

#[test]
fn gwy_01_a_newer_state_takes_the_place_of_the_older() {
    let mut outbox = outbox(small(), &[workspace()]);
    assert_eq!(
        outbox.push_state(&workspace(), task("t"), 1, "t1".into()),
        Pushed::Queued
    );
    assert_eq!(
        outbox.push_occurrence(&workspace(), "created".into()),
        Pushed::Queued
    );
    assert_eq!(
        outbox.push_state(&workspace(), task("t"), 3, "t3".into()),
        Pushed::Replaced
    );
    assert_eq!(
        outbox.push_state(&workspace(), task("t"), 2, "t2".into()),
        Pushed::Older
    );
    assert_eq!(drain(&mut outbox), ["t3", "created"]);
    assert_eq!(
        outbox.push_state(&workspace(), task("t"), 2, "t2".into()),
        Pushed::Queued
    );
}

#[test]
fn a_delete_takes_back_the_states_of_what_it_deletes() {
    let mut outbox = outbox(small(), &[workspace(), scope("s")]);
    let _ = outbox.push_state(&workspace(), task("t"), 1, "t1".into());
    outbox.withdraw(&workspace(), &task("t"));
    let _ = outbox.push_message(&session("s"), &message("m"), false);
    outbox.withdraw_message(&session("s"), &message("m"));
    let _ = outbox.push_occurrence(&workspace(), "deleted".into());
    assert_eq!(drain(&mut outbox), ["deleted"]);
}

/// GWY-03.
#[test]
fn gwy_03_a_session_evicts_its_own_oldest_message_and_lists_once() {
    let mut outbox = outbox(small(), &[scope("a"), scope("b")]);
    let _ = outbox.push_message(&session("b"), &message("b1"), false);
    for name in ["m1", "m2", "m3"] {
        assert_eq!(
            outbox.push_message(&session("a"), &message(name), false),
            Pushed::Queued
        );
    }
    assert_eq!(
        outbox.push_message(&session("a"), &message("m4"), false),
        Pushed::Evicted(message("m1"))
    );
    assert_eq!(
        outbox.push_message(&session("a"), &message("m5"), false),
        Pushed::Evicted(message("m2"))
    );
    let mut written = drain(&mut outbox);
    written.sort();
    assert_eq!(
        written,
        ["b1:whole", "m3:whole", "m4:whole", "m5:whole", "resync a"]
    );
    assert_eq!(drain(&mut outbox), Vec::<String>::new());
}

#[test]
fn gwy_05_the_resync_follows_what_waited_at_the_eviction_also_when_more_keeps_coming() {
    let mut outbox = outbox(
        Limits {
            message_states: 2,
            ..small()
        },
        &[scope("a")],
    );
    let a = session("a");
    let _ = outbox.push_message(&a, &message("m1"), false);
    let _ = outbox.push_occurrence(&scope("a"), "before".into());
    let _ = outbox.push_message(&a, &message("m2"), false);
    assert_eq!(
        outbox.push_message(&a, &message("m3"), false),
        Pushed::Evicted(message("m1"))
    );
    let _ = outbox.push_occurrence(&scope("a"), "after".into());
    assert_eq!(
        drain(&mut outbox),
        ["before", "m2:whole", "resync a", "m3:whole", "after"]
    );
}

#[test]
fn an_append_is_relative_to_what_the_client_holds_and_another_change_is_not() {
    let mut outbox = outbox(small(), &[scope("a")]);
    let (a, m) = (session("a"), message("m"));
    outbox.set_held(&a, &m, Some(Held::Units(7)));
    let _ = outbox.push_message(&a, &m, false);
    assert_eq!(drain(&mut outbox), ["m:7"]);
    let _ = outbox.push_message(&a, &m, false);
    let _ = outbox.push_message(&a, &m, true);
    let _ = outbox.push_message(&a, &m, false);
    assert_eq!(drain(&mut outbox), ["m:whole"]);
    outbox.set_held(&a, &m, Some(Held::Cut));
    let _ = outbox.push_message(&a, &m, false);
    assert_eq!(drain(&mut outbox), ["m:cut"]);
    outbox.leave(&scope("a"));
    assert!(outbox.join_at_once(&scope("a")));
    let _ = outbox.push_message(&a, &m, false);
    assert_eq!(drain(&mut outbox), ["m:whole"], "a new join knows nothing");
}

#[test]
fn what_is_evicted_is_no_longer_held() {
    let mut outbox = outbox(
        Limits {
            message_states: 1,
            ..small()
        },
        &[scope("a")],
    );
    let (a, m) = (session("a"), message("m"));
    outbox.set_held(&a, &m, Some(Held::Units(7)));
    let _ = outbox.push_message(&a, &m, true);
    let _ = outbox.push_message(&a, &message("n"), false);
    let _ = outbox.push_message(&a, &m, false);
    assert!(drain(&mut outbox).contains(&"m:whole".to_owned()));
}

#[test]
fn what_is_held_is_bounded() {
    let mut outbox = outbox(Limits::default(), &[scope("a")]);
    let a = session("a");
    for n in 0..=bounds::HELD_MESSAGES {
        outbox.set_held(&a, &message(&format!("m{n}")), Some(Held::Units(1)));
    }
    let known = (0..=bounds::HELD_MESSAGES)
        .filter(|n| {
            let _ = outbox.push_message(&a, &message(&format!("m{n}")), false);
            matches!(
                outbox.take_next(),
                Some(Next::Message { held: Some(_), .. })
            )
        })
        .count();
    assert_eq!(known, bounds::HELD_MESSAGES);
}

/// API-02.
#[test]
fn api_02_nothing_of_a_scope_precedes_its_acknowledgement() {
    let mut outbox = outbox(Limits::default(), &[workspace()]);
    assert!(outbox.join(&scope("s")));
    assert!(!outbox.join(&scope("s")), "a duplicate is no new join");
    for n in 0..20 {
        let _ = outbox.push_control(format!("c{n}").as_str().into());
    }
    let _ = outbox.push_occurrence(&scope("s"), "live".into());
    let _ = outbox.push_occurrence(&workspace(), "w".into());
    let _ = outbox.push_acknowledgement("ack".into(), Some(scope("s")));
    let written = drain(&mut outbox);
    let at = |word: &str| {
        written
            .iter()
            .position(|other| other == word)
            .expect("it was written")
    };
    assert!(at("ack") < at("live"));
    assert_eq!(
        at("w"),
        bounds::CONTROL_BURST,
        "another scope still has its turn"
    );
}

#[test]
fn leaving_a_scope_drops_what_waits_in_it() {
    let mut outbox = outbox(small(), &[scope("a"), scope("b")]);
    for n in 0..3 {
        let _ = outbox.push_occurrence(&scope("a"), format!("a{n}").as_str().into());
    }
    let _ = outbox.push_occurrence(&scope("b"), "b0".into());
    outbox.leave(&scope("a"));
    assert_eq!(
        outbox.push_occurrence(&scope("a"), "late".into()),
        Pushed::NotSubscribed
    );
    for n in 1..4 {
        assert_eq!(
            outbox.push_occurrence(&scope("b"), format!("b{n}").as_str().into()),
            Pushed::Queued
        );
    }
    assert_eq!(drain(&mut outbox), ["b0", "b1", "b2", "b3"]);
}

#[test]
fn api_05_control_that_does_not_fit_disconnects() {
    let mut outbox = outbox(small(), &[scope("a")]);
    for _ in 0..4 {
        assert_eq!(outbox.push_control("c".into()), Pushed::Queued);
    }
    assert_eq!(
        outbox.push_control("c".into()),
        Pushed::Overflowed(Overflow::Control)
    );
    assert_eq!(outbox.overflow(), Some(Overflow::Control));
    assert_eq!(
        outbox.push_occurrence(&scope("a"), "x".into()),
        Pushed::NotSubscribed
    );
    assert_eq!(drain(&mut outbox), Vec::<String>::new());
}

#[test]
fn api_05_room_is_promised_before_a_request_is_read() {
    let mut outbox: Outbox<Frame> = Outbox::new(small());
    assert!(
        outbox.has_control_room(1_000),
        "an empty queue takes any answer"
    );
    outbox.reserve_control(40);
    assert!(outbox.has_control_room(24) && !outbox.has_control_room(25));
    assert_eq!(outbox.in_flight(), 1);
    outbox.release_control(40);
    let _ = outbox.push_control("x".repeat(30).as_str().into());
    assert!(outbox.has_control_room(34) && !outbox.has_control_room(35));
    assert_eq!(outbox.in_flight(), 0);
}

/// GWY-02.
#[test]
fn gwy_02_occurrences_and_states_are_bounded_apart() {
    let mut outbox = outbox(small(), &[scope("a"), workspace()]);
    for n in 0..4 {
        let _ = outbox.push_occurrence(&scope("a"), "o".into());
        let _ = outbox.push_state(&workspace(), task(&format!("t{n}")), 1, "s".into());
    }
    assert_eq!(
        outbox.push_state(&workspace(), task("t0"), 2, "s".into()),
        Pushed::Replaced
    );
    assert_eq!(
        outbox.push_occurrence(&workspace(), "o".into()),
        Pushed::Overflowed(Overflow::Behind)
    );
}

#[test]
fn gwy_07_a_frame_of_any_size_goes_into_an_empty_queue() {
    let huge: Frame = "x".repeat(1_000).as_str().into();
    let mut outbox = outbox(small(), &[scope("a")]);
    assert_eq!(outbox.push_control(huge.clone()), Pushed::Queued);
    assert_eq!(
        outbox.push_occurrence(&scope("a"), huge.clone()),
        Pushed::Queued
    );
    assert_eq!(
        outbox.push_state(&scope("a"), StateKey::Models, 0, huge.clone()),
        Pushed::Queued
    );
    assert_eq!(drain(&mut outbox).len(), 3);
    assert_eq!(outbox.push_occurrence(&scope("a"), huge), Pushed::Queued);
}

#[test]
fn gwy_04_control_and_notifications_share_the_line() {
    let mut outbox = outbox(Limits::default(), &[scope("a")]);
    for n in 0..40 {
        let _ = outbox.push_control(format!("c{n}").as_str().into());
        let _ = outbox.push_occurrence(&scope("a"), format!("o{n}").as_str().into());
    }
    let written = drain(&mut outbox);
    assert!(
        written
            .iter()
            .take(bounds::CONTROL_BURST)
            .all(|word| word.starts_with('c'))
    );
    for turn in written.chunks(bounds::CONTROL_BURST + 1).take(5) {
        assert_eq!(turn.iter().filter(|word| word.starts_with('o')).count(), 1);
    }
}

#[test]
fn gwy_02_scopes_share_the_line_by_bytes() {
    let mut outbox = outbox(Limits::default(), &[scope("large"), scope("small")]);
    let large: Frame = "L".repeat(40_000).as_str().into();
    let small: Frame = "s".repeat(1_000).as_str().into();
    for _ in 0..20 {
        let _ = outbox.push_occurrence(&scope("large"), large.clone());
    }
    for _ in 0..400 {
        let _ = outbox.push_occurrence(&scope("small"), small.clone());
    }
    let (mut large_bytes, mut small_bytes) = (0_i64, 0_i64);
    while large_bytes < 400_000 && small_bytes < 400_000 {
        match outbox.take_next() {
            Some(Next::Frame(frame)) if frame.starts_with('L') => large_bytes += 40_000,
            Some(Next::Frame(_)) => small_bytes += 1_000,
            other => panic!("unexpected {other:?}"),
        }
        assert!((large_bytes - small_bytes).abs() <= 40_000 + 2 * bounds::SCOPE_QUANTUM_BYTES);
    }
}

#[test]
fn a_built_message_is_charged_to_its_session() {
    let mut outbox = outbox(Limits::default(), &[scope("a"), scope("b")]);
    let _ = outbox.push_message(&session("a"), &message("a1"), false);
    let _ = outbox.push_message(&session("a"), &message("a2"), false);
    for _ in 0..3 {
        let _ = outbox.push_occurrence(&scope("b"), "b".into());
    }
    assert!(matches!(outbox.take_next(), Some(Next::Message { .. })));
    outbox.charge(&session("a"), 1024 * 1024);
    assert_eq!(drain(&mut outbox), ["b", "b", "b", "a2:whole"]);
}

/// One step of random traffic.
#[derive(Clone, Debug)]
enum Step {
    Control,
    Occurrence(usize),
    State(usize, usize),
    Message(usize, usize, bool),
    Write(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        1 => Just(Step::Control),
        2 => (0..3_usize).prop_map(Step::Occurrence),
        3 => (0..3_usize, 0..4_usize).prop_map(|(s, k)| Step::State(s, k)),
        4 => (0..3_usize, 0..8_usize, any::<bool>()).prop_map(|(s, m, whole)| Step::Message(s, m, whole)),
        2 => (1..6_usize).prop_map(Step::Write),
    ];
    proptest::collection::vec(step, 0..250)
}

/// What a client would have after reading everything: the model the outbox is held against.
#[derive(Default)]
struct Reader {
    control: Vec<u64>,
    occurrences: [Vec<u64>; 3],
    states: std::collections::HashMap<(usize, usize), u64>,
    unlisted: [std::collections::HashSet<usize>; 3],
    since_other: usize,
}

impl Reader {
    fn read(&mut self, next: Next<Frame>, others_wait: bool) {
        let is_control = matches!(&next, Next::Frame(frame) if frame.starts_with('c'));
        self.since_other = if is_control && others_wait {
            self.since_other + 1
        } else {
            0
        };
        assert!(
            self.since_other <= bounds::CONTROL_BURST,
            "control starves notifications"
        );
        match next {
            Next::Frame(frame) => {
                let mut words = frame.split(' ');
                let kind = words.next().unwrap();
                let numbers: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
                match kind {
                    "c" => self.control.push(numbers[0]),
                    "o" => self.occurrences[numbers[0] as usize].push(numbers[1]),
                    "s" => {
                        let held = self
                            .states
                            .entry((numbers[0] as usize, numbers[1] as usize))
                            .or_default();
                        assert!(*held < numbers[2], "an older state after a newer one");
                        *held = numbers[2];
                    }
                    other => panic!("unknown frame {other}"),
                }
            }
            Next::Message {
                session_id,
                message_id,
                ..
            } => {
                let s: usize = session_id.as_str().parse().unwrap();
                self.unlisted[s].remove(&message_id.as_str().parse::<usize>().unwrap());
            }
            Next::Resync(session_id) => {
                self.unlisted[session_id.as_str().parse::<usize>().unwrap()].clear()
            }
        }
    }
}

proptest! {
    /// GWY-01 … GWY-05: whatever the traffic, a reader that goes on reading ends with every response and occurrence
    /// once and in order, with the newest of each state, and with no change of a message that it neither got nor was
    /// told to list.
    #[test]
    fn gwy_01_to_05_a_reader_ends_with_the_truth(steps in steps()) {
        let limits = Limits { message_states: 3, ..Limits::default() };
        let scopes: Vec<Scope> = (0..3).map(|n| scope(&n.to_string())).collect();
        let mut outbox = outbox(limits, &scopes);
        let mut reader = Reader::default();
        let mut sent = Reader::default();
        let mut n = 0;
        let write = |outbox: &mut Outbox<Frame>, reader: &mut Reader, frames: usize| {
            for _ in 0..frames {
                let others_wait = !outbox.ring.is_empty();
                match outbox.take_next() {
                    Some(next) => reader.read(next, others_wait),
                    None => break,
                }
            }
        };
        for step in steps {
            n += 1;
            match step {
                Step::Control => {
                    sent.control.push(n);
                    prop_assert_eq!(outbox.push_control(format!("c {n}").as_str().into()), Pushed::Queued);
                }
                Step::Occurrence(s) => {
                    sent.occurrences[s].push(n);
                    let pushed = outbox.push_occurrence(&scopes[s], format!("o {s} {n}").as_str().into());
                    prop_assert_eq!(pushed, Pushed::Queued);
                }
                Step::State(s, k) => {
                    sent.states.insert((s, k), n);
                    let frame = format!("s {s} {k} {n}");
                    let pushed = outbox.push_state(&scopes[s], task(&k.to_string()), n as i64, frame.as_str().into());
                    prop_assert!(matches!(pushed, Pushed::Queued | Pushed::Replaced));
                }
                Step::Message(s, m, whole) => {
                    reader.unlisted[s].insert(m);
                    let pushed = outbox.push_message(&session(&s.to_string()), &message(&m.to_string()), whole);
                    prop_assert!(matches!(pushed, Pushed::Queued | Pushed::Evicted(_)));
                }
                Step::Write(frames) => write(&mut outbox, &mut reader, frames),
            }
        }
        write(&mut outbox, &mut reader, usize::MAX);
        prop_assert_eq!(&reader.control, &sent.control);
        prop_assert_eq!(&reader.occurrences, &sent.occurrences);
        prop_assert_eq!(&reader.states, &sent.states);
        prop_assert!(reader.unlisted.iter().all(std::collections::HashSet::is_empty));
        prop_assert_eq!(outbox.total, super::Tally::default());
        prop_assert!(outbox.ring.is_empty());
    }
}
