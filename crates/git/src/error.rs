//! Why Git could not do or say something, and what of it may be shown.
//!
//! Invariant: `Display` never names a folder or repeats Git's words, so an error can be logged as it is. What Git
//! itself said is in [`GitError::explanation`], for the person who asked; paths are fields.
//! Refusals that a person can act on (a conflict, a dirty checkout) are outcomes, not errors: see
//! [`crate::merge::MergeRefusal`].

use model::git::MeasureFailure;
use std::io;
use std::path::PathBuf;

/// What can go wrong with Git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// Git cannot be started; most likely it is not installed.
    #[error("git cannot be started")]
    NoProgram(#[source] io::Error),
    /// Git is older than what observing safely needs.
    #[error("git {found} is too old; {needed} or newer is needed")]
    TooOld {
        /// The installed version.
        found: String,
        /// The oldest that will do.
        needed: String,
    },
    /// The folder does not exist (any more).
    #[error("the folder does not exist")]
    NotFound,
    /// The folder, or something in it that is needed, may not be read or is no folder.
    #[error("the folder cannot be read")]
    Unreadable,
    /// No repository there.
    #[error("the folder is not a Git repository")]
    NotARepository,
    /// The folder has no repository of its own: Git answers for one that encloses it. A failed observation; when
    /// registering, a folder that its parent does not even track.
    #[error("the folder has no repository of its own; Git answers for one that encloses it")]
    InsideParent {
        /// The enclosing repository.
        top_level: PathBuf,
    },
    /// The repository has no working tree.
    #[error("the repository is bare")]
    Bare,
    /// Git refuses a repository of another user (`safe.directory`).
    #[error("the repository belongs to another user, so Git refuses to read it")]
    NotOwned,
    /// The wanted base branch does not exist.
    #[error("the base branch does not exist")]
    BaseBranchMissing {
        /// As it was asked for.
        branch: String,
    },
    /// No base was named, and the repository does not say which branch is its default.
    #[error("the default branch cannot be determined")]
    DefaultBranchUnresolved,
    /// Git would not accept this as a branch's name.
    #[error("not a valid branch name")]
    InvalidBranchName,
    /// The branch name and all its numbered variants are taken.
    #[error("the branch name is taken")]
    BranchNameTaken,
    /// Something is already where the worktree should go.
    #[error("the worktree's folder already exists")]
    WorktreePathTaken,
    /// The folder is not a worktree of this repository.
    #[error("the folder is not a worktree of this repository")]
    NotAWorktree,
    /// The path leads out of the worktree, or through a symbolic link.
    #[error("the path is not inside the worktree")]
    PathOutside,
    /// The file does not differ from the base.
    #[error("the file does not differ from the base")]
    PathUnchanged,
    /// The repository configures more filter drivers than are switched off by name.
    #[error("the repository configures too many filter drivers")]
    TooManyFilters,
    /// The command did not end in time; it and everything it started was ended.
    #[error("git {command} did not answer in time")]
    TimedOut {
        /// Which.
        command: &'static str,
    },
    /// The answer exceeds its bound, so its numbers would be wrong.
    #[error("the answer of git {command} is too large")]
    OutputTooLarge {
        /// Which.
        command: &'static str,
    },
    /// The command failed.
    #[error("git {command} failed ({})", code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit {code}")))]
    Failed {
        /// Which.
        command: &'static str,
        /// Its exit code; none when a signal ended it.
        code: Option<i32>,
        /// What it complained about, cut at [`model::bounds::GIT_STDERR_BYTES`]. May name folders: for the person, not for logs.
        stderr: String,
    },
    /// The answer does not have the documented form.
    #[error("the answer of git {command} cannot be understood")]
    Malformed {
        /// Which.
        command: &'static str,
    },
    /// Reading or writing around a command failed.
    #[error("input or output of git {command} failed")]
    Io {
        /// Which.
        command: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl GitError {
    /// Git's own words, when it had any. They may name folders and files: for the person who asked, never for logs.
    #[must_use]
    pub fn explanation(&self) -> Option<&str> {
        match self {
            Self::Failed { stderr, .. } if !stderr.is_empty() => Some(stderr),
            _ => None,
        }
    }

    /// What a failed observation is called in `session.git.measure_failed` (GIT-04).
    #[must_use]
    pub fn measure_failure(&self) -> MeasureFailure {
        match self {
            Self::TimedOut { .. } => MeasureFailure::Timeout,
            Self::NotFound | Self::Unreadable | Self::NotOwned | Self::NotARepository => {
                MeasureFailure::WorktreeMissing
            }
            Self::InsideParent { .. } | Self::NotAWorktree | Self::Bare => {
                MeasureFailure::NotThisRepository
            }
            _ => MeasureFailure::GitFailed,
        }
    }
}
