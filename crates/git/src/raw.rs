//! What `git diff-index --raw --numstat -z` says: which paths differ from a tree, and by how many lines.
//!
//! The plumbing command is used because the porcelain one obeys a dozen settings of the user and rewrites the index
//! even when optional locks are off. Its price: it names files that were only touched. Those have no line counts,
//! so they are told apart here, except for binary files, which [`Entry::may_be_touched_only`] marks.

use model::git::FileChangeKind;
use std::collections::BTreeMap;

/// The mode of a symbolic link.
pub(crate) const SYMLINK: &str = "120000";
/// The mode of a submodule.
pub(crate) const SUBMODULE: &str = "160000";

const ABSENT: &str = "000000";

/// One path that differs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: FileChangeKind,
    /// Where a renamed file was.
    pub(crate) old_path: Option<Vec<u8>>,
    pub(crate) old_mode: String,
    pub(crate) new_mode: String,
    /// The object in the tree.
    pub(crate) old_object: String,
    /// Added and removed lines; none for a file that is not text.
    pub(crate) lines: Option<(u64, u64)>,
    /// Same mode, not text, content of the working tree not yet compared: perhaps only the time-stamp differs.
    pub(crate) may_be_touched_only: bool,
}

/// The entries by path.
pub(crate) type Entries = BTreeMap<Vec<u8>, Entry>;

/// Reads the answer; none when it does not have the documented form.
pub(crate) fn parse(answer: &[u8]) -> Option<Entries> {
    let mut tokens = answer.split(|byte| *byte == 0);
    let mut entries = Entries::new();
    let mut counted = Entries::new();
    while let Some(token) = tokens.next().filter(|token| !token.is_empty()) {
        if let Some(meta) = token.strip_prefix(b":") {
            let (path, entry) = raw_entry(std::str::from_utf8(meta).ok()?, &mut tokens)?;
            entries.insert(path, entry);
        } else {
            let (path, lines) = line_counts(token, &mut tokens)?;
            if let Some(mut entry) = entries.remove(&path) {
                entry.may_be_touched_only = lines.is_none() && entry.is_same_mode_change();
                entry.lines = lines;
                counted.insert(path, entry);
            }
        }
    }
    // An unchanged mode and no counts: only touched. Anything else without counts (a conflict about a file that is
    // gone) did change.
    entries.retain(|_, entry| !entry.is_same_mode_change());
    counted.append(&mut entries);
    Some(counted)
}

/// Reads the answer to `--raw` alone; touched files are among its entries.
pub(crate) fn parse_names(answer: &[u8]) -> Option<Entries> {
    let mut tokens = answer.split(|byte| *byte == 0);
    let mut entries = Entries::new();
    while let Some(token) = tokens.next().filter(|token| !token.is_empty()) {
        let meta = std::str::from_utf8(token.strip_prefix(b":")?).ok()?;
        let (path, entry) = raw_entry(meta, &mut tokens)?;
        entries.insert(path, entry);
    }
    Some(entries)
}

impl Entry {
    fn is_same_mode_change(&self) -> bool {
        self.kind == FileChangeKind::Modified
            && self.old_mode == self.new_mode
            && self.old_mode != ABSENT
    }

    pub(crate) fn is_submodule(&self) -> bool {
        self.old_mode == SUBMODULE || self.new_mode == SUBMODULE
    }
}

/// `<old mode> <new mode> <old object> <new object> <letter><score>` and then one path, or two for a rename.
fn raw_entry<'a>(
    meta: &str,
    paths: &mut impl Iterator<Item = &'a [u8]>,
) -> Option<(Vec<u8>, Entry)> {
    let mut fields = meta.split(' ');
    let (old_mode, new_mode) = (fields.next()?, fields.next()?);
    let (old_object, _new_object) = (fields.next()?, fields.next()?);
    let mut path = || {
        paths
            .next()
            .filter(|path| !path.is_empty())
            .map(<[u8]>::to_vec)
    };
    let first = path()?;
    let (kind, path, old_path) = match fields.next()?.chars().next()? {
        'A' => (FileChangeKind::Added, first, None),
        'D' => (FileChangeKind::Deleted, first, None),
        'R' => (FileChangeKind::Renamed, path()?, Some(first)),
        // Changed content, changed type, or a conflict not yet resolved.
        'M' | 'T' | 'U' => (FileChangeKind::Modified, first, None),
        _ => return None,
    };
    let entry = Entry {
        kind,
        old_path,
        old_mode: old_mode.to_owned(),
        new_mode: new_mode.to_owned(),
        old_object: old_object.to_owned(),
        lines: None,
        may_be_touched_only: false,
    };
    Some((path, entry))
}

/// `<added>\t<removed>\t<path>`, with `-` for what is not text; a rename has an empty path and then both.
#[expect(
    clippy::type_complexity,
    reason = "a path and what may be its two counts"
)]
fn line_counts<'a>(
    token: &[u8],
    paths: &mut impl Iterator<Item = &'a [u8]>,
) -> Option<(Vec<u8>, Option<(u64, u64)>)> {
    let mut fields = token.splitn(3, |byte| *byte == b'\t');
    let (added, removed, path) = (fields.next()?, fields.next()?, fields.next()?);
    let path = if path.is_empty() {
        let _old = paths.next()?;
        paths.next()?
    } else {
        path
    };
    let lines = if added == b"-" {
        None
    } else {
        Some((number(added)?, number(removed)?))
    };
    Some((path.to_vec(), lines))
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touched_text_is_dropped_and_touched_binary_is_marked() {
        let answer = b":100644 100644 aa 00 M\0touched\0:100644 100644 bb 00 M\0blob\0\
            :100644 100644 cc 00 R090\0old\0new\0-\t-\tblob\x001\t2\t\0old\0new\0";
        let entries = parse(answer).unwrap();
        assert_eq!(entries.len(), 2);
        assert!(entries[&b"blob".to_vec()].may_be_touched_only);
        let renamed = &entries[&b"new".to_vec()];
        assert_eq!(renamed.lines, Some((1, 2)));
        assert_eq!(renamed.old_path.as_deref(), Some(&b"old"[..]));
    }

    #[test]
    fn a_cut_answer_is_no_answer() {
        assert_eq!(parse(b":100644 100644 aa 00 R090\0old\0"), None);
        assert_eq!(parse(b"fatal: oops\0"), None);
    }
}
