//! What `git status` says: the head, the branch, and which paths are untracked or touched.
//!
//! Porcelain version 2 with `-z`, so any path is one token. Status refreshes the index in memory only, which makes
//! it the one command that knows a touched file from a changed one.

use crate::error::GitError;
use crate::read::Place;
use std::collections::BTreeSet;

const COMMAND: &str = "status";

/// A worktree at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// Absent before the first commit.
    pub(crate) head: Option<String>,
    /// Absent when detached.
    pub(crate) branch: Option<String>,
    /// The upstream's short name, whether or not it exists.
    pub(crate) upstream: Option<String>,
    /// Tracked paths that differ from the index or the head.
    pub(crate) changed: BTreeSet<Vec<u8>>,
    /// Untracked files, ignored ones not; a repository inside the worktree is one entry with a trailing slash.
    pub(crate) untracked: BTreeSet<Vec<u8>>,
}

impl Status {
    pub(crate) async fn read(place: &Place<'_>) -> Result<Self, GitError> {
        let args = [
            "--porcelain=v2",
            "--branch",
            "--no-ahead-behind",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            // Looks at the commit a submodule has checked out, never into it: no Git runs there.
            "--ignore-submodules=dirty",
        ];
        let answer = place.run(COMMAND, args).await?;
        Self::parse(&answer.stdout).ok_or(GitError::Malformed { command: COMMAND })
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.changed.is_empty() && self.untracked.is_empty()
    }

    fn parse(answer: &[u8]) -> Option<Self> {
        let mut status = Self::default();
        let mut named_head = false;
        for token in answer
            .split(|byte| *byte == 0)
            .filter(|token| !token.is_empty())
        {
            match token.split_first()? {
                (b'#', header) => named_head |= status.header(header)?,
                (b'1', entry) => drop(status.changed.insert(path_after(entry, 8)?)),
                (b'u', entry) => drop(status.changed.insert(path_after(entry, 10)?)),
                (b'?', entry) => drop(status.untracked.insert(path_after(entry, 1)?)),
                _ => return None,
            }
        }
        // An answer without a head is no answer: empty output must never read as a clean tree (C16).
        named_head.then_some(status)
    }

    /// Takes one header; true for the one that names the head commit. Unknown headers are to be ignored.
    fn header(&mut self, header: &[u8]) -> Option<bool> {
        let text = std::str::from_utf8(header).ok()?;
        let Some((key, value)) = text.trim_start().split_once(' ') else {
            return Some(false);
        };
        match key {
            "branch.oid" => self.head = (value != "(initial)").then(|| value.to_owned()),
            "branch.head" => self.branch = (value != "(detached)").then(|| value.to_owned()),
            "branch.upstream" => self.upstream = Some(value.to_owned()),
            _ => {}
        }
        Some(key == "branch.oid")
    }
}

/// What follows `fields` spaces.
fn path_after(entry: &[u8], fields: usize) -> Option<Vec<u8>> {
    entry
        .splitn(fields + 1, |byte| *byte == b' ')
        .nth(fields)
        .map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_an_empty_answer_is_no_clean_tree() {
        assert_eq!(Status::parse(b""), None);
    }

    #[test]
    fn every_kind_of_entry_gives_its_path() {
        let answer = b"# branch.oid abc\0# branch.head feat/x\0# branch.upstream o/x\0\
            1 .M N... 100644 100644 100644 1 2 a b.txt\0\
            u UU N... 100644 100644 100644 100644 1 2 3 c\0\
            ? d \xff\0";
        let status = Status::parse(answer).unwrap();
        assert_eq!(status.head.as_deref(), Some("abc"));
        assert_eq!(status.branch.as_deref(), Some("feat/x"));
        assert_eq!(status.upstream.as_deref(), Some("o/x"));
        assert_eq!(
            status.changed,
            BTreeSet::from([b"a b.txt".to_vec(), b"c".to_vec()])
        );
        assert_eq!(status.untracked, BTreeSet::from([b"d \xff".to_vec()]));
    }

    #[test]
    fn c18_neither_a_detached_nor_an_unborn_head_has_a_name() {
        let status = Status::parse(b"# branch.oid (initial)\0# branch.head (detached)\0").unwrap();
        assert_eq!(status, Status::default());
    }
}
