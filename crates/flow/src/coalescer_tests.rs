//! Rows, ticks and barriers by example; losslessness by property.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn open(row: u64, kind: TextKind, text: &str) -> Output {
    Output::Open {
        row: RowNumber(row),
        kind,
        text: text.to_owned(),
    }
}

fn append(row: u64, text: &str) -> Output {
    Output::Append {
        row: RowNumber(row),
        text: text.to_owned(),
    }
}

/// STR-01.
#[test]
fn str_01_the_first_piece_leaves_at_once_and_the_rest_on_the_tick() {
    let mut coalescer = Coalescer::default();
    assert_eq!(coalescer.push(TextKind::Message, None, "", ms(5)), []);
    assert_eq!(
        coalescer.push(TextKind::Message, None, "a", ms(10)),
        [open(0, TextKind::Message, "a")]
    );
    assert_eq!(coalescer.due(), None);
    assert_eq!(coalescer.push(TextKind::Message, None, "b", ms(20)), []);
    assert_eq!(coalescer.push(TextKind::Message, None, "c", ms(99)), []);
    assert_eq!(coalescer.due(), Some(ms(100)));
    assert_eq!(coalescer.flush(), Some(append(0, "bc")));
    assert_eq!(coalescer.push(TextKind::Message, None, "d", ms(100)), []);
    assert_eq!(coalescer.due(), Some(ms(200)));
}

/// STR-03.
#[test]
fn str_03_a_row_between_ends_the_row_and_takes_what_waits() {
    let mut coalescer = Coalescer::default();
    let _ = coalescer.push(TextKind::Message, None, "a", ms(0));
    let _ = coalescer.push(TextKind::Message, None, "b", ms(1));
    assert_eq!(coalescer.row_barrier(), Some(append(0, "b")));
    assert_eq!(
        coalescer.push(TextKind::Message, None, "c", ms(2)),
        [open(1, TextKind::Message, "c")]
    );
}

#[test]
fn a_barrier_without_a_row_splits_nothing() {
    let mut coalescer = Coalescer::default();
    let _ = coalescer.push(TextKind::Message, None, "a", ms(0));
    assert_eq!(coalescer.flush(), None);
    assert_eq!(coalescer.push(TextKind::Message, None, "b", ms(2)), []);
    assert_eq!(coalescer.flush(), Some(append(0, "b")));
}

#[test]
fn the_other_kind_of_text_is_another_row() {
    let mut coalescer = Coalescer::default();
    let _ = coalescer.push(TextKind::Thought, None, "hm", ms(0));
    let _ = coalescer.push(TextKind::Thought, None, "m", ms(1));
    assert_eq!(
        coalescer.push(TextKind::Message, None, "Hi", ms(2)),
        [append(0, "m"), open(1, TextKind::Message, "Hi")]
    );
    assert_eq!(
        coalescer.push(TextKind::Thought, None, "so", ms(3)),
        [open(2, TextKind::Thought, "so")]
    );
}

#[test]
fn an_agents_own_id_names_its_row_whatever_came_between() {
    let mut coalescer = Coalescer::default();
    let _ = coalescer.push(TextKind::Message, Some("m1"), "a", ms(0));
    assert_eq!(coalescer.row_barrier(), None);
    assert_eq!(
        coalescer.push(TextKind::Message, Some("m2"), "x", ms(1)),
        [open(1, TextKind::Message, "x")]
    );
    assert_eq!(
        coalescer.push(TextKind::Message, Some("m1"), "b", ms(2)),
        []
    );
    assert_eq!(coalescer.flush(), Some(append(0, "b")));
}

#[test]
fn pending_text_is_bounded() {
    let mut coalescer = Coalescer::default();
    let _ = coalescer.push(TextKind::Message, None, "a", ms(0));
    let _ = coalescer.push(
        TextKind::Message,
        None,
        &"x".repeat(bounds::COALESCE_PENDING_BYTES),
        ms(1),
    );
    assert!(!coalescer.has_room());
    let _ = coalescer.flush();
    assert!(coalescer.has_room());
}

#[derive(Clone, Debug)]
enum Step {
    Text(bool, Option<u8>, String),
    Tick,
    RowBarrier,
    Flush,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any::<bool>(), proptest::option::of(0u8..4), "\\PC{0,6}").prop_map(|(k, id, t)| Step::Text(k, id, t)),
        2 => Just(Step::Tick),
        1 => Just(Step::RowBarrier),
        1 => Just(Step::Flush),
    ]
}

proptest! {
    /// STR-02: whatever the cuts, the pieces arrive complete and in order, row by row and overall.
    #[test]
    fn str_02_nothing_is_lost_or_reordered(steps in proptest::collection::vec(any_step(), 0..200)) {
        let mut coalescer = Coalescer::default();
        let mut now = ms(0);
        let mut outputs = Vec::new();
        let mut said = String::new();
        let mut appends_in_tick = BTreeMap::<u128, u32>::new();
        for step in steps {
            now += ms(7);
            match step {
                Step::Text(thought, id, text) => {
                    said.push_str(&text);
                    let kind = if thought { TextKind::Thought } else { TextKind::Message };
                    let id = id.map(|id| id.to_string());
                    outputs.extend(coalescer.push(kind, id.as_deref(), &text, now));
                }
                Step::Tick => if let Some(due) = coalescer.due() {
                    now = now.max(due);
                    *appends_in_tick.entry(now.as_millis() / 100).or_default() += 1;
                    outputs.extend(coalescer.flush());
                },
                Step::RowBarrier => outputs.extend(coalescer.row_barrier()),
                Step::Flush => outputs.extend(coalescer.flush()),
            }
        }
        outputs.extend(coalescer.flush());
        let mut opened = 0;
        let mut written = String::new();
        for output in &outputs {
            match output {
                Output::Open { row, text, .. } => {
                    prop_assert_eq!(row.0, opened, "rows open in order");
                    opened += 1;
                    written.push_str(text);
                }
                Output::Append { row, text } => {
                    prop_assert!(row.0 < opened, "a row is opened before it is appended to");
                    prop_assert!(!text.is_empty());
                    written.push_str(text);
                }
            }
        }
        prop_assert_eq!(written, said);
        prop_assert!(appends_in_tick.values().all(|&n| n <= 1), "one window append per tick");
    }
}
