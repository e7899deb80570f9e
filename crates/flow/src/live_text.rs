//! The text of messages that may still grow, as the pieces that were appended.
//!
//! A writer that is behind needs the *suffix* a client lacks, not a copy per client: pieces are shared, and only their
//! lengths are kept as counters. What is not retained here is read from the store, which has everything; this
//! structure is a cache and may forget any message at any time.
//!
//! Overflow: per message the oldest pieces go beyond [`bounds::LIVE_TEXT_BYTES`]; over all messages those of the
//! message that was appended to least recently go beyond [`bounds::LIVE_TEXT_TOTAL_BYTES`].
//!
//! Invariants:
//! - offsets are UTF-16 code units of the stored text; the pieces of a message are contiguous up to its end;
//! - a suffix starts exactly where it was asked for and never inside a character.

use model::bounds;
use model::ids::MessageId;
use model::text::utf16_len;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// What a client lacks of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// It has all of it.
    Nothing,
    /// This text follows what it has.
    Text {
        /// The missing text.
        text: String,
        /// The length of the whole text with it, in UTF-16 code units.
        end: u64,
        /// The message's revision with it.
        revision: i64,
    },
    /// It cannot be told from what is retained: the whole message has to be read.
    NotRetained,
}

#[derive(Debug)]
struct Piece {
    start: u64,
    text: Arc<str>,
}

#[derive(Debug)]
struct Growing {
    pieces: VecDeque<Piece>,
    bytes: usize,
    end: u64,
    revision: i64,
    touched: u64,
}

/// The retained text of all unsettled messages.
#[derive(Debug)]
pub struct LiveText {
    per_message: usize,
    in_all: usize,
    messages: HashMap<MessageId, Growing>,
    by_touch: BTreeMap<u64, MessageId>,
    bytes: usize,
    next_touch: u64,
}

impl Default for LiveText {
    fn default() -> Self {
        Self::new(bounds::LIVE_TEXT_BYTES, bounds::LIVE_TEXT_TOTAL_BYTES)
    }
}

impl LiveText {
    /// An empty structure that retains at most `per_message` bytes of one message and `in_all` of all.
    #[must_use]
    pub fn new(per_message: usize, in_all: usize) -> Self {
        Self {
            per_message,
            in_all,
            messages: HashMap::new(),
            by_touch: BTreeMap::new(),
            bytes: 0,
            next_touch: 0,
        }
    }

    /// Records that `text` was appended to a message whose length was `offset`.
    ///
    /// A repeated append changes nothing; one that leaves a gap makes the message start anew behind the gap.
    pub fn append(&mut self, id: &MessageId, offset: u64, text: &Arc<str>, revision: i64) {
        let end = offset.saturating_add(utf16_len(text) as u64);
        match self.messages.get(id) {
            Some(growing) if end <= growing.end => return,
            Some(growing) if growing.end != offset => self.forget(id),
            _ => {}
        }
        let touch = self.next_touch;
        self.next_touch += 1;
        let growing = self.messages.entry(id.clone()).or_insert_with(|| Growing {
            pieces: VecDeque::new(),
            bytes: 0,
            end: offset,
            revision,
            touched: touch,
        });
        self.by_touch.remove(&growing.touched);
        self.by_touch.insert(touch, id.clone());
        growing.touched = touch;
        growing.pieces.push_back(Piece {
            start: offset,
            text: Arc::clone(text),
        });
        growing.bytes += text.len();
        growing.end = end;
        growing.revision = revision;
        self.bytes += text.len();
        while self.per_message < growing.bytes {
            let Some(piece) = growing.pieces.pop_front() else {
                break;
            };
            growing.bytes -= piece.text.len();
            self.bytes -= piece.text.len();
        }
        self.keep_total();
    }

    /// What follows offset `from` of a message, as far as it is known here.
    #[must_use]
    pub fn suffix(&self, id: &MessageId, from: u64) -> Suffix {
        let Some(growing) = self.messages.get(id) else {
            return Suffix::NotRetained;
        };
        if growing.end <= from {
            return Suffix::Nothing;
        }
        let first = growing.pieces.partition_point(|piece| piece.start <= from);
        let Some(first) = first.checked_sub(1) else {
            return Suffix::NotRetained;
        };
        let mut text = String::new();
        for piece in growing.pieces.iter().skip(first) {
            let Some(part) = from_utf16(&piece.text, from.saturating_sub(piece.start)) else {
                return Suffix::NotRetained;
            };
            text.push_str(part);
        }
        Suffix::Text {
            text,
            end: growing.end,
            revision: growing.revision,
        }
    }

    /// Forgets a message: it settled, was deleted, or changed otherwise than by an append.
    pub fn forget(&mut self, id: &MessageId) {
        if let Some(growing) = self.messages.remove(id) {
            self.by_touch.remove(&growing.touched);
            self.bytes -= growing.bytes;
        }
    }

    /// Bytes retained of all messages.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Messages something is known of.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether nothing is retained.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    fn keep_total(&mut self) {
        while self.in_all < self.bytes {
            let Some((_, oldest)) = self.by_touch.first_key_value() else {
                break;
            };
            let oldest = oldest.clone();
            self.forget(&oldest);
        }
    }
}

/// The text from a UTF-16 offset on; nothing when that is beyond it or inside a character.
fn from_utf16(text: &str, offset: u64) -> Option<&str> {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        if units == offset {
            return text.get(at..);
        }
        units += c.len_utf16() as u64;
    }
    (units == offset).then_some("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(text: &str) -> MessageId {
        MessageId::parse(text).expect("a test id")
    }

    fn text(suffix: Suffix) -> Option<String> {
        match suffix {
            Suffix::Text { text, .. } => Some(text),
            Suffix::Nothing => Some(String::new()),
            Suffix::NotRetained => None,
        }
    }

    #[test]
    fn a_suffix_starts_where_it_is_asked_for() {
        let mut live = LiveText::default();
        let m = id("m");
        live.append(&m, 0, &"ab".into(), 1);
        live.append(&m, 2, &"🦀c".into(), 2);
        assert_eq!(
            live.suffix(&m, 1),
            Suffix::Text {
                text: "b🦀c".into(),
                end: 5,
                revision: 2
            }
        );
        assert_eq!(text(live.suffix(&m, 4)), Some("c".into()));
        assert_eq!(live.suffix(&m, 5), Suffix::Nothing);
        assert_eq!(
            live.suffix(&m, 9),
            Suffix::Nothing,
            "a client may know more than was published"
        );
        assert_eq!(
            live.suffix(&m, 3),
            Suffix::NotRetained,
            "inside a character"
        );
        assert_eq!(live.suffix(&id("other"), 0), Suffix::NotRetained);
    }

    #[test]
    fn a_message_that_is_joined_late_is_known_from_there() {
        let mut live = LiveText::default();
        live.append(&id("m"), 10, &"x".into(), 3);
        assert_eq!(text(live.suffix(&id("m"), 10)), Some("x".into()));
        assert_eq!(live.suffix(&id("m"), 9), Suffix::NotRetained);
    }

    #[test]
    fn repeats_change_nothing_and_gaps_start_anew() {
        let mut live = LiveText::default();
        let m = id("m");
        live.append(&m, 0, &"ab".into(), 1);
        live.append(&m, 0, &"ab".into(), 1);
        assert_eq!(text(live.suffix(&m, 0)), Some("ab".into()));
        live.append(&m, 5, &"f".into(), 4);
        assert_eq!(live.suffix(&m, 0), Suffix::NotRetained);
        assert_eq!(text(live.suffix(&m, 5)), Some("f".into()));
        assert_eq!(live.bytes(), 1);
    }

    #[test]
    fn the_head_of_a_message_goes_first_and_then_the_quietest_message() {
        let mut live = LiveText::new(4, 6);
        let (a, b) = (id("a"), id("b"));
        live.append(&a, 0, &"123".into(), 1);
        live.append(&a, 3, &"456".into(), 2);
        assert_eq!(live.suffix(&a, 0), Suffix::NotRetained);
        assert_eq!(text(live.suffix(&a, 3)), Some("456".into()));
        live.append(&b, 0, &"1234".into(), 1);
        assert_eq!(live.suffix(&a, 3), Suffix::NotRetained);
        assert_eq!((live.bytes(), live.len()), (4, 1));
        live.forget(&b);
        assert!(live.is_empty() && live.bytes() == 0);
    }

    #[test]
    fn a_piece_beyond_the_bound_is_not_kept() {
        let mut live = LiveText::new(4, 100);
        live.append(&id("a"), 0, &"12345".into(), 1);
        assert_eq!(live.bytes(), 0);
        assert_eq!(live.suffix(&id("a"), 0), Suffix::NotRetained);
        assert_eq!(live.suffix(&id("a"), 5), Suffix::Nothing);
    }

    proptest! {
        /// Whatever is retained is byte for byte what was appended.
        #[test]
        fn str_every_suffix_equals_the_text(
            pieces in proptest::collection::vec("[a-zé🦀\u{fffd}]{0,6}", 1..40),
            from in 0_u64..120,
        ) {
            let mut live = LiveText::new(64, 96);
            let m = id("m");
            let mut whole = String::new();
            for (revision, piece) in pieces.iter().enumerate() {
                let offset = utf16_len(&whole) as u64;
                live.append(&m, offset, &piece.as_str().into(), revision as i64);
                whole.push_str(piece);
                if let Suffix::Text { text, end, .. } = live.suffix(&m, from) {
                    prop_assert_eq!(end, utf16_len(&whole) as u64);
                    prop_assert_eq!(Some(text.as_str()), from_utf16(&whole, from));
                }
                prop_assert!(live.bytes() <= 64);
            }
        }
    }
}
