//! Joins characters that an agent cut in half between two chunks.
//!
//! A high surrogate at the end of a chunk is held for the next chunk of the same record (kind and protocol id). When
//! another record's text comes first, or a barrier, it becomes U+FFFD: one unit for one unit.
//!
//! Invariant: at most one unit is held, and [`SurrogateJoiner::flush`] at every barrier lets none be forgotten.

use crate::event::TextKind;
use crate::text::{Piece, pair};

/// Clean text of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPiece {
    /// Answer or thought.
    pub kind: TextKind,
    /// The agent's message id.
    pub protocol_id: Option<String>,
    /// The text; never empty.
    pub text: String,
}

/// The unit that is held, if any.
#[derive(Debug, Default)]
pub struct SurrogateJoiner {
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    kind: TextKind,
    protocol_id: Option<String>,
    high: u16,
}

impl SurrogateJoiner {
    /// Takes the next chunk; gives the text that can be shown now, in order, at most two pieces.
    pub fn join(
        &mut self,
        kind: TextKind,
        protocol_id: Option<String>,
        piece: Piece,
    ) -> Vec<TextPiece> {
        if piece.is_empty() {
            return Vec::new();
        }
        let mut out = Vec::new();
        let held = match self.held.take() {
            Some(held) if held.kind == kind && held.protocol_id == protocol_id => Some(held.high),
            other => {
                self.held = other;
                out.extend(self.flush());
                None
            }
        };
        let mut text = String::with_capacity(piece.text.len() + 4);
        match (held, piece.leading_low) {
            (Some(high), Some(low)) => text.push(pair(high, low)),
            (Some(_), None) | (None, Some(_)) => text.push(char::REPLACEMENT_CHARACTER),
            (None, None) => {}
        }
        text.push_str(&piece.text);
        self.held = piece.trailing_high.map(|high| Held {
            kind,
            protocol_id: protocol_id.clone(),
            high,
        });
        if !text.is_empty() {
            out.push(TextPiece {
                kind,
                protocol_id,
                text,
            });
        }
        out
    }

    /// A barrier: what is held has lost its other half.
    pub fn flush(&mut self) -> Option<TextPiece> {
        let held = self.held.take()?;
        Some(TextPiece {
            kind: held.kind,
            protocol_id: held.protocol_id,
            text: char::REPLACEMENT_CHARACTER.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(joiner: &mut SurrogateJoiner, kind: TextKind, id: &str, literal: &str) -> Vec<String> {
        let pieces = joiner.join(kind, Some(id.to_owned()), Piece::decode(literal));
        pieces
            .into_iter()
            .map(|piece| format!("{}:{}", piece.protocol_id.unwrap(), piece.text))
            .collect()
    }

    #[test]
    fn a_cut_character_is_joined_within_its_record() {
        let mut joiner = SurrogateJoiner::default();
        assert_eq!(
            join(&mut joiner, TextKind::Message, "m", r#""a\ud83e""#),
            ["m:a"]
        );
        assert!(join(&mut joiner, TextKind::Message, "m", r#""""#).is_empty());
        assert_eq!(
            join(&mut joiner, TextKind::Message, "m", r#""\udd80b""#),
            ["m:🦀b"]
        );
        assert_eq!(joiner.flush(), None);
    }

    #[test]
    fn a_half_without_its_other_half_is_replaced_unit_for_unit() {
        let mut joiner = SurrogateJoiner::default();
        assert!(join(&mut joiner, TextKind::Message, "m", r#""\ud83e""#).is_empty());
        assert_eq!(
            join(&mut joiner, TextKind::Message, "m", r#""\ud83e""#),
            ["m:\u{FFFD}"]
        );
        assert_eq!(
            join(&mut joiner, TextKind::Message, "m", r#""b""#),
            ["m:\u{FFFD}b"]
        );
        assert_eq!(
            join(&mut joiner, TextKind::Message, "m", r#""\udd80""#),
            ["m:\u{FFFD}"]
        );
    }

    #[test]
    fn another_record_or_a_barrier_ends_the_wait() {
        let mut joiner = SurrogateJoiner::default();
        assert!(join(&mut joiner, TextKind::Message, "m", r#""\ud83e""#).is_empty());
        assert_eq!(
            join(&mut joiner, TextKind::Message, "n", r#""\udd80b""#),
            ["m:\u{FFFD}", "n:\u{FFFD}b"]
        );
        assert!(join(&mut joiner, TextKind::Thought, "n", r#""\ud83e""#).is_empty());
        assert_eq!(
            joiner.flush().map(|piece| piece.text),
            Some("\u{FFFD}".to_owned())
        );
        assert_eq!(joiner.flush(), None);
    }
}
