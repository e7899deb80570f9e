//! Clean text out of JSON, as UTF-16 sees it.
//!
//! Agents cut their streams in UTF-16 units, so one character may arrive as a high surrogate at the end of one chunk
//! and a low one at the start of the next. A JSON parser for UTF-8 strings refuses such a line whole. [`clean_line`]
//! therefore rewrites a line before it is parsed: every lone surrogate and every U+0000 becomes U+FFFD, one unit for one
//! unit, so lengths still agree. When a surrogate stands at the very edge of a string the untouched line is kept beside
//! it, and [`Piece::decode`] reads the halves from there; joining them is [`crate::surrogates`].
//!
//! Invariant: nothing else in a line changes; a line without such escapes is not even copied.

/// A line whose strings a JSON parser accepts.
#[derive(Debug, PartialEq, Eq)]
pub struct CleanLine {
    /// The line, rewritten where needed.
    pub text: String,
    /// The line as it came, when some string begins or ends with half a character.
    pub with_halves: Option<String>,
}

/// Text of one chunk with the halves of characters at its edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// A low surrogate before the text.
    pub leading_low: Option<u16>,
    /// The text between.
    pub text: String,
    /// A high surrogate after the text.
    pub trailing_high: Option<u16>,
}

/// Rewrites what a UTF-8 JSON parser refuses or the store cannot hold.
///
/// Bytes that are not UTF-8 become U+FFFD too: a line is better kept with a scar than lost.
#[must_use]
pub fn clean_line(line: &[u8]) -> CleanLine {
    let text = String::from_utf8_lossy(line).into_owned();
    let found = Surgery::of(text.as_bytes());
    if found.wounds.is_empty() {
        return CleanLine {
            text,
            with_halves: None,
        };
    }
    let with_halves = found.at_an_edge.then(|| text.clone());
    let mut clean = String::with_capacity(text.len());
    let mut copied = 0;
    for start in found.wounds {
        clean.push_str(text.get(copied..start).unwrap_or_default());
        clean.push_str("\\ufffd");
        copied = start + ESCAPE;
    }
    clean.push_str(text.get(copied..).unwrap_or_default());
    CleanLine {
        text: clean,
        with_halves,
    }
}

/// Length of `\uXXXX`.
const ESCAPE: usize = 6;

/// Where a line must be cut: offsets of escapes that stand for no storable character.
#[derive(Default)]
struct Surgery {
    wounds: Vec<usize>,
    at_an_edge: bool,
}

impl Surgery {
    fn of(line: &[u8]) -> Self {
        let mut found = Self::default();
        let mut at = 0;
        // Outside of strings valid JSON has no backslash, so strings need not be tracked.
        while let Some(offset) = line
            .get(at..)
            .and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
        {
            let start = at + offset;
            at = match unit_at(line, start) {
                Some(high)
                    if is_high(high) && unit_at(line, start + ESCAPE).is_some_and(is_low) =>
                {
                    start + 2 * ESCAPE
                }
                Some(unit) => {
                    found.look_at(line, start, unit);
                    start + ESCAPE
                }
                None => start + 2,
            };
        }
        found
    }

    fn look_at(&mut self, line: &[u8], start: usize, unit: u16) {
        let ends = line.get(start + ESCAPE) == Some(&b'"');
        let begins = start.checked_sub(1).and_then(|before| line.get(before)) == Some(&b'"');
        if is_high(unit) || is_low(unit) || unit == 0 {
            self.wounds.push(start);
            self.at_an_edge |= (is_high(unit) && ends) || (is_low(unit) && begins);
        }
    }
}

impl Piece {
    /// A piece that has no halves.
    #[must_use]
    pub fn whole(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Whether it holds nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.leading_low.is_none() && self.text.is_empty() && self.trailing_high.is_none()
    }

    /// Decodes a JSON string literal, quotes included. Anything else decodes to an empty piece.
    #[must_use]
    pub fn decode(literal: &str) -> Self {
        let inner = literal
            .trim()
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .unwrap_or_default();
        let mut units = units_of(inner);
        let leading_low = units.first().copied().filter(|unit| is_low(*unit));
        if leading_low.is_some() {
            units.remove(0);
        }
        let trailing_high = units.last().copied().filter(|unit| is_high(*unit));
        if trailing_high.is_some() {
            units.pop();
        }
        let text = String::from_utf16_lossy(&units).replace('\0', "\u{FFFD}");
        Self {
            leading_low,
            text,
            trailing_high,
        }
    }
}

/// The character of two halves.
#[must_use]
pub fn pair(high: u16, low: u16) -> char {
    char::decode_utf16([high, low])
        .next()
        .and_then(Result::ok)
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn units_of(inner: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        units.extend(rest.get(..at).unwrap_or_default().encode_utf16());
        let escape = rest.get(at..).unwrap_or_default();
        let (unit, length) = match unit_at(escape.as_bytes(), 0) {
            Some(unit) => (unit, ESCAPE),
            None => (short_escape(escape.as_bytes().get(1).copied()), 2),
        };
        units.push(unit);
        rest = escape.get(length..).unwrap_or_default();
    }
    units.extend(rest.encode_utf16());
    units
}

fn short_escape(letter: Option<u8>) -> u16 {
    u16::from(match letter {
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(other) => other,
        None => b'\\',
    })
}

/// The unit of the `\uXXXX` that starts at `start`.
fn unit_at(line: &[u8], start: usize) -> Option<u16> {
    let digits = line.get(start..start + ESCAPE)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

const fn is_high(unit: u16) -> bool {
    matches!(unit, 0xD800..=0xDBFF)
}

const fn is_low(unit: u16) -> bool {
    matches!(unit, 0xDC00..=0xDFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, clean: &str, halves: bool) {
        let cleaned = clean_line(line.as_bytes());
        assert_eq!(cleaned.text, clean, "{line}");
        assert_eq!(cleaned.with_halves.is_some(), halves, "{line}");
        if line.starts_with('"') {
            serde_json::from_str::<String>(&cleaned.text).expect("a clean line parses");
        }
    }

    #[test]
    fn whole_characters_and_other_escapes_stay_as_they_are() {
        check(r#""plain""#, r#""plain""#, false);
        check(
            r#""\ud83e\udd80 \n \\ud83e \u00e9 \"""#,
            r#""\ud83e\udd80 \n \\ud83e \u00e9 \"""#,
            false,
        );
    }

    #[test]
    fn lone_surrogates_and_nul_become_the_replacement_character() {
        check(r#""a\ud83eb""#, r#""a\ufffdb""#, false);
        check(r#""a\udd80\ud83eb""#, r#""a\ufffd\ufffdb""#, false);
        check(r#""a\u0000b""#, r#""a\ufffdb""#, false);
        check(
            r#""a\ud83e\ud83e\udd80b""#,
            r#""a\ufffd\ud83e\udd80b""#,
            false,
        );
    }

    #[test]
    fn halves_at_the_edge_of_a_string_are_kept_beside_the_line() {
        check(r#""a\ud83e""#, r#""a\ufffd""#, true);
        check(r#""\udd80b""#, r#""\ufffdb""#, true);
        check(r#""\udd80""#, r#""\ufffd""#, true);
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_lose_the_line() {
        assert_eq!(clean_line(b"\"a\xffb\"").text, "\"a\u{FFFD}b\"");
    }

    #[test]
    fn a_cut_escape_is_left_to_the_parser() {
        check("\\u12", "\\u12", false);
        check("\\", "\\", false);
    }

    #[test]
    fn a_literal_decodes_to_text_and_its_halves() {
        let check = |literal: &str, low: Option<u16>, text: &str, high: Option<u16>| {
            let expected = Piece {
                leading_low: low,
                text: text.to_owned(),
                trailing_high: high,
            };
            assert_eq!(Piece::decode(literal), expected, "{literal}");
        };
        check(
            r#""h\u00e9 \t\"\\ \/ \ud83e\udd80é🦀""#,
            None,
            "hé \t\"\\ / 🦀é🦀",
            None,
        );
        check(r#""\udd80x\ud83e""#, Some(0xDD80), "x", Some(0xD83E));
        check(r#""\ud83e""#, None, "", Some(0xD83E));
        check(r#""a\ud83eb\u0000""#, None, "a\u{FFFD}b\u{FFFD}", None);
        check("17", None, "", None);
        assert_eq!(pair(0xD83E, 0xDD80), '🦀');
    }
}
