//! Observations of Git, as few words as a test needs for one.

use model::clock::Timestamp;
use model::git::{FileChange, FileChangeKind, GitSnapshot, GitStatus, GitTotals, SnapshotTrigger};
use model::ids::{EnvironmentId, SessionId, SnapshotId};

/// An observation to store. [`Look::at`] gives a clean root repository; tests change the fields they care about.
#[derive(Clone, Debug)]
pub struct Look {
    /// The repository; absent for the root.
    pub repository: Option<String>,
    /// When it began to look.
    pub at: Timestamp,
    /// What made it.
    pub by: SnapshotTrigger,
    /// The session that caused it.
    pub session: Option<SessionId>,
    /// Lines added; the other totals follow from it.
    pub additions: u64,
    /// Whether a base was found.
    pub base_resolvable: bool,
    /// Whether it lists its files.
    pub detailed: bool,
}

impl Look {
    /// A look of the live monitor at a root repository with `additions` new lines in one file.
    #[must_use]
    pub const fn at(at: Timestamp, additions: u64) -> Self {
        Self {
            repository: None,
            at,
            by: SnapshotTrigger::LiveMonitor,
            session: None,
            additions,
            base_resolvable: true,
            detailed: false,
        }
    }

    /// The row this look makes.
    #[must_use]
    pub fn snapshot(&self, environment_id: &EnvironmentId) -> GitSnapshot {
        let file = FileChange {
            path: "src/lib.rs".to_owned(),
            old_path: None,
            kind: FileChangeKind::Modified,
            additions: self.additions,
            deletions: 0,
            binary: false,
        };
        GitSnapshot {
            id: SnapshotId::generate(),
            environment_id: environment_id.clone(),
            session_id: self.session.clone(),
            triggered_by: self.by,
            status: GitStatus {
                repository_name: self.repository.clone(),
                timestamp: self.at,
                branch: Some("work".to_owned()),
                remote_branch: None,
                head_commit: Some("c0ffee".to_owned()),
                base_commit: Some("ba5e".to_owned()),
                base_branch: Some("main".to_owned()),
                base_resolvable: self.base_resolvable,
                totals: GitTotals {
                    additions: self.additions,
                    deletions: 0,
                    changed_files: u64::from(0 < self.additions),
                    ahead: Some(1),
                    behind: Some(0),
                },
                files: self.detailed.then(|| vec![file]),
                truncated: false,
            },
        }
    }
}
