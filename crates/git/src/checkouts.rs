//! The working trees of a repository: which exist, and what each has checked out.

use crate::error::GitError;
use crate::read::{Place, path_of};
use std::path::PathBuf;

/// A working tree of a repository, as `git worktree list` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkout {
    pub(crate) path: PathBuf,
    /// Absent before the first commit.
    pub(crate) head: Option<String>,
    /// Absent when detached, or in the middle of a rebase.
    pub(crate) branch: Option<String>,
}

/// The working trees of the repository, the main one first.
pub(crate) async fn checkouts(place: &Place<'_>) -> Result<Vec<Checkout>, GitError> {
    const COMMAND: &str = "worktree";
    let answer = place.run(COMMAND, ["list", "--porcelain", "-z"]).await?;
    parse_checkouts(&answer.stdout).ok_or(GitError::Malformed { command: COMMAND })
}

fn parse_checkouts(answer: &[u8]) -> Option<Vec<Checkout>> {
    let mut found: Vec<Checkout> = Vec::new();
    for line in answer
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
    {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            found.push(Checkout {
                path: path_of(path),
                head: None,
                branch: None,
            });
            continue;
        }
        let current = found.last_mut()?;
        let text = String::from_utf8_lossy(line);
        if let Some(head) = text.strip_prefix("HEAD ") {
            let born = head.bytes().any(|digit| digit != b'0');
            current.head = born.then(|| head.to_owned());
        } else if let Some(branch) = text.strip_prefix("branch refs/heads/") {
            current.branch = Some(branch.to_owned());
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_checkout_is_read() {
        let answer = b"worktree /r\0HEAD 00\0branch refs/heads/main\0\0\
            worktree /w\0HEAD a1\0branch refs/heads/feat/x\0locked\0\0worktree /d\0HEAD a2\0detached\0\0";
        let found = parse_checkouts(answer).unwrap();
        let facts: Vec<_> = found
            .iter()
            .map(|one| (one.head.as_deref(), one.branch.as_deref()))
            .collect();
        let expected = [
            (None, Some("main")),
            (Some("a1"), Some("feat/x")),
            (Some("a2"), None),
        ];
        assert_eq!(facts, expected);
    }
}
