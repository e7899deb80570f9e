//! Git facts: observations, their totals, and which observation is the current one.
//!
//! An observation belongs to a pair (environment, repository). Its `created_at` is when it *began to look*; the
//! newest one is current, whatever its type (ENV-03). A measured zero is a fact; a failed measurement is none.

use crate::clock::Timestamp;
use crate::error::words;
use crate::ids::{EnvironmentId, SessionId, SnapshotId};
use serde::{Deserialize, Serialize};

/// Numeric totals, the only Git facts a summary carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct GitTotals {
    /// Lines added since the merge-base.
    pub additions: u64,
    /// Lines removed since the merge-base.
    pub deletions: u64,
    /// Files changed, binary and empty ones included.
    pub changed_files: u64,
    /// Commits of `HEAD` that the base lacks; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// Commits of the base that `HEAD` lacks; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
}

impl GitTotals {
    /// Sums over repositories; ahead and behind are absent if any repository's is unknown.
    #[must_use]
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        let zero = Self {
            ahead: Some(0),
            behind: Some(0),
            ..Self::default()
        };
        let add = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        all.into_iter().fold(zero, |sum, one| Self {
            additions: sum.additions.saturating_add(one.additions),
            deletions: sum.deletions.saturating_add(one.deletions),
            changed_files: sum.changed_files.saturating_add(one.changed_files),
            ahead: add(sum.ahead, one.ahead),
            behind: add(sum.behind, one.behind),
        })
    }
}

words! {
    /// How a file changed.
    FileChangeKind {
        /// Its content changed.
        Modified = "modified",
        /// It is new and tracked.
        Added = "added",
        /// It is gone.
        Deleted = "deleted",
        /// It is new and not tracked.
        Untracked = "untracked",
        /// It has another name.
        Renamed = "renamed",
    }
}

/// One changed file of an observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct FileChange {
    /// Its path in the worktree.
    pub path: String,
    /// Its path before a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// How it changed.
    pub kind: FileChangeKind,
    /// Lines added; 0 for binary and skipped files.
    pub additions: u64,
    /// Lines removed; 0 for binary and skipped files.
    pub deletions: u64,
    /// Not text: counts as a file with no lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<bool>", optional))]
    pub binary: bool,
}

/// The status of one repository of one environment, as stored and as sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct GitStatus {
    /// The repository's name in its environment; absent for the root repository (ENV-02).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository_name: Option<String>,
    /// When the observation began to look; orders observations of the same pair.
    pub timestamp: Timestamp,
    /// The checked-out branch; absent when detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Its upstream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_branch: Option<String>,
    /// The commit checked out; absent before the first commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_commit: Option<String>,
    /// The merge-base the totals count from; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_commit: Option<String>,
    /// The base the environment recorded for this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// Whether a base could be found at all; without one totals say nothing.
    pub base_resolvable: bool,
    /// Totals of this repository.
    #[serde(flatten)]
    pub totals: GitTotals,
    /// Changed files with their lines, at most `bounds::OBSERVATION_FILES`. Absent: this row has no details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<FileChange>>,
    /// More files changed than are listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<bool>", optional))]
    pub truncated: bool,
}

words! {
    /// What made an observation.
    SnapshotTrigger {
        /// The monitor of a live environment, or a refresh.
        LiveMonitor = "live_monitor",
        /// The end of a turn.
        AgentCompleted = "agent_completed",
    }
}

/// A stored observation (`task_session_git_snapshots`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSnapshot {
    /// Its id.
    pub id: SnapshotId,
    /// The environment it belongs to; the scoping key.
    pub environment_id: EnvironmentId,
    /// The session that caused it: provenance only, gone with that session.
    pub session_id: Option<SessionId>,
    /// What made it.
    pub triggered_by: SnapshotTrigger,
    /// What was seen; its `timestamp` is the row's `created_at`.
    pub status: GitStatus,
}

/// The stored form of a repository name: the root repository is the empty text (ENV-02).
#[must_use]
pub fn normalised_repository(name: Option<&str>) -> &str {
    name.unwrap_or("")
}

/// Orders the observations of one pair: the greatest is current (ENV-03). Newest time first, then rows with file
/// details, then the greater id; type and provenance do not count.
#[must_use]
pub fn currency(snapshot: &GitSnapshot) -> (Timestamp, bool, &SnapshotId) {
    (
        snapshot.status.timestamp,
        snapshot.status.files.is_some(),
        &snapshot.id,
    )
}

/// Why a repository could not be measured; nothing stored changes (GIT-04).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub enum MeasureFailure {
    /// Git took too long.
    Timeout,
    /// Git answered with an error.
    GitFailed,
    /// The worktree is gone or unreadable.
    WorktreeMissing,
    /// Git answered for a repository around the worktree.
    NotThisRepository,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(additions: u64, ahead: Option<u64>) -> GitTotals {
        GitTotals {
            additions,
            deletions: 1,
            changed_files: 2,
            ahead,
            behind: Some(0),
        }
    }

    /// GIT-01.
    #[test]
    fn git_01_totals_are_sums_and_an_unknown_ahead_makes_the_sum_unknown() {
        assert_eq!(
            GitTotals::sum([totals(3, Some(1)), totals(4, Some(2))]),
            GitTotals {
                additions: 7,
                deletions: 2,
                changed_files: 4,
                ahead: Some(3),
                behind: Some(0)
            }
        );
        assert_eq!(
            GitTotals::sum([totals(3, Some(1)), totals(4, None)]).ahead,
            None
        );
    }

    #[test]
    fn env_03_time_beats_details_and_details_beat_ids() {
        let row = |id: &str, at: i64, files: bool| GitSnapshot {
            id: SnapshotId::parse(id).expect("a test id"),
            environment_id: EnvironmentId::parse("e").expect("a test id"),
            session_id: None,
            triggered_by: SnapshotTrigger::LiveMonitor,
            status: GitStatus {
                repository_name: None,
                timestamp: Timestamp::from_micros(at),
                branch: None,
                remote_branch: None,
                head_commit: None,
                base_commit: None,
                base_branch: None,
                base_resolvable: true,
                totals: GitTotals::default(),
                files: files.then(Vec::new),
                truncated: false,
            },
        };
        let newest = |rows: &[GitSnapshot]| {
            rows.iter()
                .max_by_key(|r| currency(r))
                .map(|r| r.id.to_string())
        };
        assert_eq!(
            newest(&[row("a", 2, false), row("b", 1, true)]),
            Some("a".to_owned())
        );
        assert_eq!(
            newest(&[row("a", 2, true), row("b", 2, false)]),
            Some("a".to_owned())
        );
        assert_eq!(
            newest(&[row("a", 2, false), row("b", 2, false)]),
            Some("b".to_owned())
        );
    }
}
