//! One look at one worktree (GIT-01, C16, C17).
//!
//! Totals count from the merge-base of the head with the recorded base to the working tree, untracked files
//! included and ignored ones not. Binary, empty, oversized and filtered files count as files with no lines. A failed
//! look is an error and says nothing about the worktree; a successful one with nothing in it is a real zero.

use crate::Git;
use crate::base;
use crate::error::GitError;
use crate::listing;
use crate::read::Place;
use crate::status::Status;
use model::bounds;
use model::clock::Timestamp;
use model::git::{FileChange, GitStatus, GitTotals};
use std::path::Path;

/// What a listed file costs beside its paths when it is serialised: field names, kind and counts.
const FILE_OVERHEAD_BYTES: usize = 100;

/// A worktree as it was seen. When the look *began* is the caller's to note before it asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The checked-out branch; absent when detached.
    pub branch: Option<String>,
    /// The branch's upstream, as configured.
    pub remote_branch: Option<String>,
    /// The commit checked out; absent before the first commit.
    pub head_commit: Option<String>,
    /// The merge-base the totals count from; absent before the first commit and without a resolvable base.
    pub base_commit: Option<String>,
    /// Whether a base was found. If not, the totals count from the head and say nothing about the task.
    pub base_resolvable: bool,
    /// Totals of *all* changed files, also of those not listed. Ahead and behind are absent when detached, before
    /// the first commit, and without a resolvable base.
    pub totals: GitTotals,
    /// Changed files in the order of their paths, at most [`bounds::OBSERVATION_FILES`] and about
    /// [`bounds::OBSERVATION_BYTES`] when serialised.
    pub files: Vec<FileChange>,
    /// More files changed than are listed; the rest by [`Git::changes_page`], from the last path on.
    pub truncated: bool,
}

impl Observation {
    /// This observation as it is stored and sent: with the repository's name in its environment (empty: the root
    /// repository), when the look began, and the base that was recorded.
    #[must_use]
    pub fn status(
        &self,
        repository_name: &str,
        looked_at: Timestamp,
        base_branch: Option<&str>,
    ) -> GitStatus {
        GitStatus {
            repository_name: (!repository_name.is_empty()).then(|| repository_name.to_owned()),
            timestamp: looked_at,
            branch: self.branch.clone(),
            remote_branch: self.remote_branch.clone(),
            head_commit: self.head_commit.clone(),
            base_commit: self.base_commit.clone(),
            base_branch: base_branch.map(str::to_owned),
            base_resolvable: self.base_resolvable,
            totals: self.totals,
            files: Some(self.files.clone()),
            truncated: self.truncated,
        }
    }
}

/// Some of the files that differ right now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangesPage {
    /// In the order of their paths, bounded like [`Observation::files`].
    pub files: Vec<FileChange>,
    /// The cursor of the next page; absent on the last one.
    pub next: Option<String>,
    /// All files that differ, on every page.
    pub changed_files: u64,
}

impl Git {
    /// Looks at the worktree, comparing with the recorded base (none: the default branch).
    ///
    /// Takes at most [`bounds::GIT_OBSERVE_TIMEOUT`] once it has its turn.
    ///
    /// # Errors
    /// The worktree could not be measured; nothing may be concluded about it.
    pub async fn observe(
        &self,
        worktree: &Path,
        base: Option<&str>,
    ) -> Result<Observation, GitError> {
        let work = self.admit(bounds::GIT_OBSERVE_TIMEOUT).await?;
        let place = Place::open(&work, worktree).await?;
        let status = Status::read(&place).await?;
        let scope = base::scope(&place, base, &status).await?;
        let files = listing::read(&place, &scope.from, &status).await?;
        let sum = |of: fn(&FileChange) -> u64| files.iter().map(of).fold(0, u64::saturating_add);
        let totals = GitTotals {
            additions: sum(|file| file.additions),
            deletions: sum(|file| file.deletions),
            changed_files: sum(|_| 1),
            ahead: scope.ahead,
            behind: scope.behind,
        };
        let (files, rest) = cut(files);
        Ok(Observation {
            branch: status.branch,
            remote_branch: status.upstream,
            head_commit: status.head,
            base_commit: scope.base_commit,
            base_resolvable: scope.resolvable,
            totals,
            files,
            truncated: rest,
        })
    }

    /// Lists the files that differ right now, from the path after `after` on.
    ///
    /// # Errors
    /// As [`Git::observe`].
    pub async fn changes_page(
        &self,
        worktree: &Path,
        base: Option<&str>,
        after: Option<&str>,
    ) -> Result<ChangesPage, GitError> {
        let work = self.admit(bounds::GIT_OBSERVE_TIMEOUT).await?;
        let place = Place::open(&work, worktree).await?;
        let status = Status::read(&place).await?;
        let scope = base::scope(&place, base, &status).await?;
        let all = listing::read(&place, &scope.from, &status).await?;
        let changed_files = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let later = |file: &FileChange| after.is_none_or(|after| after < file.path.as_str());
        let (files, rest) = cut(all.into_iter().filter(later));
        let next = files.last().filter(|_| rest).map(|file| file.path.clone());
        Ok(ChangesPage {
            files,
            next,
            changed_files,
        })
    }
}

/// As many files as may be listed, at least one if there is one, and whether any is left.
fn cut(files: impl IntoIterator<Item = FileChange>) -> (Vec<FileChange>, bool) {
    let mut files = files.into_iter();
    let mut listed: Vec<FileChange> = Vec::new();
    let mut bytes = 0_usize;
    for file in files.by_ref() {
        let old = file.old_path.as_ref().map_or(0, String::len);
        bytes += file.path.len() + old + FILE_OVERHEAD_BYTES;
        let full = bounds::OBSERVATION_FILES <= listed.len() || bounds::OBSERVATION_BYTES < bytes;
        if full && !listed.is_empty() {
            return (listed, true);
        }
        listed.push(file);
    }
    (listed, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::git::FileChangeKind;

    fn files(number: usize, path_bytes: usize) -> Vec<FileChange> {
        let file = |n: usize| FileChange {
            path: format!("{n:06}{}", "x".repeat(path_bytes - 6)),
            old_path: None,
            kind: FileChangeKind::Added,
            additions: 0,
            deletions: 0,
            binary: false,
        };
        (0..number).map(file).collect()
    }

    #[test]
    fn a_list_is_cut_by_number_and_by_bytes() {
        let cut_at = |number, path_bytes| {
            let (listed, rest) = cut(files(number, path_bytes));
            (listed.len(), rest)
        };
        assert_eq!(cut_at(0, 6), (0, false));
        assert_eq!(
            cut_at(bounds::OBSERVATION_FILES, 6),
            (bounds::OBSERVATION_FILES, false)
        );
        assert_eq!(
            cut_at(bounds::OBSERVATION_FILES + 1, 6),
            (bounds::OBSERVATION_FILES, true)
        );
        let (long, rest) = cut_at(1_000, 1_000);
        assert!(rest && long * 1_000 <= bounds::OBSERVATION_BYTES);
        assert_eq!(cut_at(2, bounds::OBSERVATION_BYTES), (1, true));
    }
}
