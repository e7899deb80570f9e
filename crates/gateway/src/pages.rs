//! Lists page by rows and by bytes, with at least one row (GWY-07): no content makes a page that cannot be sent.

use model::bounds;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::io::{self, Write};

/// The two around a text.
const QUOTES: usize = 2;

/// Counts what would be written.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The size of a value on the wire.
pub(crate) fn wire_bytes<T: Serialize>(value: &T) -> usize {
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX, // cannot be: wire types serialise and counting does not fail
    }
}

/// The rows that fit into one page, taken in that order, each serialised once: a list is measured and sent from the
/// same text.
pub(crate) fn written<'a, T: Serialize + 'a>(
    rows: impl IntoIterator<Item = &'a T>,
) -> Vec<Box<RawValue>> {
    let mut bytes = 0_usize;
    let mut written = Vec::new();
    for row in rows {
        let text = to_raw_value(row).expect("wire types have string keys and finite numbers only");
        bytes = bytes.saturating_add(text.get().len()).saturating_add(1);
        if !written.is_empty() && bounds::PAGE_BYTES < bytes {
            break;
        }
        written.push(text);
    }
    written
}

/// How many of `rows`, taken in that order, fit into one page.
pub(crate) fn fitting<'a, T: Serialize + 'a>(rows: impl IntoIterator<Item = &'a T>) -> usize {
    let mut bytes = 0_usize;
    let mut count = 0;
    for row in rows {
        bytes = bytes.saturating_add(wire_bytes(row)).saturating_add(1);
        if 0 < count && bounds::PAGE_BYTES < bytes {
            break;
        }
        count += 1;
    }
    count
}

/// The longest beginning of `text` that takes at most `limit` bytes between its quotes on the wire.
pub(crate) fn fitting_text(text: &str, limit: usize) -> &str {
    let mut bytes = 0_usize;
    for (at, char) in text.char_indices() {
        bytes = bytes.saturating_add(wire_bytes(&char).saturating_sub(QUOTES));
        if limit < bytes {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gwy_07_a_page_has_one_row_at_least_and_a_bound_of_bytes() {
        let large = "x".repeat(2 * bounds::PAGE_BYTES);
        let half = "y".repeat(bounds::PAGE_BYTES / 2 - 10);
        assert_eq!(fitting::<String>([]), 0);
        assert_eq!(fitting([&large, &half]), 1);
        assert_eq!(fitting([&half, &half, &half]), 2);
        for rows in [vec![], vec![&large, &half], vec![&half, &half, &half]] {
            let texts = written(rows.iter().copied());
            assert_eq!(texts.len(), fitting(rows.iter().copied()));
            for (text, row) in texts.iter().zip(rows) {
                assert_eq!(text.get(), format!("\"{row}\""));
            }
        }
        let escaped = "\u{1}".repeat(bounds::PAGE_BYTES / 4);
        assert_eq!(
            fitting([&escaped, &half]),
            1,
            "what counts is the size on the wire"
        );
    }

    #[test]
    fn a_text_is_cut_by_its_size_on_the_wire() {
        assert_eq!(fitting_text("abc", 3), "abc");
        assert_eq!(fitting_text("a\nb", 3), "a\n");
        assert_eq!(fitting_text("\u{1}\u{1}", 11), "\u{1}");
        assert_eq!(fitting_text("éé", 3), "é");
    }
}
