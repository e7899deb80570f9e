//! Worktrees: one per task repository, made from a base, gone with their environment.
//!
//! Invariant: a branch that existed before is never moved or reused. The name is claimed by creating the ref, which
//! only one of two simultaneous requests can do; a taken name gets a number.
//! Invariant: the main working tree is never removed, and no branch but the one the caller names.

use crate::base;
use crate::branch;
use crate::checkouts::checkouts;
use crate::error::GitError;
use crate::read::Place;
use crate::refs::local_ref;
use crate::status::Status;
use crate::{Git, Work, name, write};
use model::bounds;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// A worktree that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its branch: as wanted, or with a number when that was taken.
    pub branch: String,
    /// The commit it starts from; absent in a repository without a commit.
    pub head_commit: Option<String>,
    /// The base's commit at that moment; the same commit.
    pub base_commit: Option<String>,
}

/// What removing a worktree found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// It was there and is gone.
    Removed,
    /// Neither the folder nor its registration existed.
    AlreadyGone,
}

impl Git {
    /// Makes a worktree with a new branch that starts at `base`.
    ///
    /// `branch` gets a number when it is taken. In a repository without a commit the branch is as unborn as the
    /// base. A `post-checkout` hook runs; when it fails the worktree stands all the same.
    ///
    /// # Errors
    /// The base does not exist, the name or the folder cannot be used, or Git fails; then nothing is left behind.
    pub async fn add_worktree(
        &self,
        repository: &Path,
        worktree: &Path,
        branch: &str,
        base: &str,
    ) -> Result<Worktree, GitError> {
        let work = self
            .admit_writer(repository, bounds::GIT_WRITE_TIMEOUT)
            .await?;
        let place = Place::open(&work, repository).await?;
        if !name::is_branch(branch) {
            return Err(GitError::InvalidBranchName);
        }
        let start = base::resolve(&place, Some(base)).await?.commit;
        prepare_folder(worktree).await?;
        let branch = match &start {
            Some(commit) => branch::claim(&work, &place, branch, commit).await?,
            None => branch::free_name(&branch::names(&place).await?, branch)?,
        };
        let made = match &start {
            Some(_) => checkout(&work, &place, worktree, &branch).await,
            None => checkout_unborn(&work, &place, worktree, &branch).await,
        };
        if let Err(problem) = made {
            let work = work.again(bounds::GIT_LOOKUP_TIMEOUT);
            if !stands(&work, worktree, &branch, start.as_deref()).await {
                undo(&work, &place, worktree, &branch, start.as_deref()).await;
                return Err(problem);
            }
            tracing::warn!(problem = %problem, "the worktree stands, but a hook of its repository failed");
        }
        Ok(Worktree {
            branch,
            head_commit: start.clone(),
            base_commit: start,
        })
    }

    /// Removes a worktree with everything in it, then the branch `delete_branch`, unless that is checked out
    /// elsewhere.
    ///
    /// Safe to repeat, also after the folder was deleted by hand. Whether its work may be lost is the caller's
    /// question to ask first; see [`Git::has_uncommitted`].
    ///
    /// # Errors
    /// The folder is no worktree of this repository, or Git fails.
    pub async fn remove_worktree(
        &self,
        repository: &Path,
        worktree: &Path,
        delete_branch: Option<&str>,
    ) -> Result<Removal, GitError> {
        let work = self
            .admit_writer(repository, bounds::GIT_WRITE_TIMEOUT)
            .await?;
        let place = Place::open(&work, repository).await?;
        let real = tokio::fs::canonicalize(worktree).await;
        let path = real.as_deref().unwrap_or(worktree);
        // The first is the main working tree.
        let registered = checkouts(&place)
            .await?
            .into_iter()
            .skip(1)
            .find(|one| one.path == path);
        let removal = match registered {
            Some(found) => {
                // Once for changes, once for a lock.
                let args = [OsStr::new("remove"), "--force".as_ref(), "--force".as_ref()];
                let args = args
                    .into_iter()
                    .chain([OsStr::new("--"), found.path.as_os_str()]);
                write::run(&work, &place.top_level, "worktree", args).await?;
                Removal::Removed
            }
            None if real.is_err() => Removal::AlreadyGone,
            None => return Err(GitError::NotAWorktree),
        };
        if let Some(branch) = delete_branch.filter(|branch| name::is_branch(branch)) {
            let used = checkouts(&place).await?;
            let elsewhere = used.iter().any(|one| one.branch.as_deref() == Some(branch));
            if !elsewhere && branch::names(&place).await?.contains(branch) {
                write::run(&work, &place.top_level, "branch", ["-D", "--", branch]).await?;
            }
        }
        Ok(removal)
    }

    /// Whether the worktree holds anything that is in no commit: changed, staged or untracked files.
    ///
    /// # Errors
    /// It could not be measured, which is not the same as clean.
    pub async fn has_uncommitted(&self, worktree: &Path) -> Result<bool, GitError> {
        let work = self.admit(bounds::GIT_OBSERVE_TIMEOUT).await?;
        let place = Place::open(&work, worktree).await?;
        Ok(!Status::read(&place).await?.is_clean())
    }
}

/// The folder must be free; its parents are made.
async fn prepare_folder(worktree: &Path) -> Result<(), GitError> {
    let failed = |source| GitError::Io {
        command: "worktree",
        source,
    };
    match tokio::fs::read_dir(worktree).await {
        Ok(mut entries) => match entries.next_entry().await.map_err(failed)? {
            None => Ok(()),
            Some(_) => Err(GitError::WorktreePathTaken),
        },
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => match worktree.parent() {
            Some(parent) => tokio::fs::create_dir_all(parent).await.map_err(failed),
            None => Ok(()),
        },
        Err(_) => Err(GitError::WorktreePathTaken),
    }
}

async fn checkout(
    work: &Work,
    place: &Place<'_>,
    worktree: &Path,
    branch: &str,
) -> Result<(), GitError> {
    let args = [
        OsStr::new("add"),
        "--".as_ref(),
        worktree.as_os_str(),
        branch.as_ref(),
    ];
    write::run(work, &place.top_level, "worktree", args)
        .await
        .map(drop)
}

/// A worktree needs a commit to start from, so it is given an empty one that nothing refers to afterwards. Newer
/// Gits have `--orphan` for this.
async fn checkout_unborn(
    work: &Work,
    place: &Place<'_>,
    worktree: &Path,
    branch: &str,
) -> Result<(), GitError> {
    let repository = place.top_level.as_path();
    let tree = write::run(
        work,
        repository,
        "hash-object",
        ["-w", "-t", "tree", "--stdin"],
    )
    .await?;
    let commit = write::run_unnamed(
        work,
        repository,
        "commit-tree",
        [tree.line().as_str(), "-m", "start"],
    )
    .await?
    .line();
    let args = ["add", "--detach", "--no-checkout", "--"].map(OsStr::new);
    let args = args
        .into_iter()
        .chain([worktree.as_os_str(), commit.as_ref()]);
    write::run(work, repository, "worktree", args).await?;
    write::run(work, worktree, "symbolic-ref", ["HEAD", &local_ref(branch)])
        .await
        .map(drop)
}

/// Whether the worktree is what was asked for, although the command that made it complained.
async fn stands(work: &Work, worktree: &Path, branch: &str, start: Option<&str>) -> bool {
    let Ok(place) = Place::open(work, worktree).await else {
        return false;
    };
    let status = Status::read(&place).await;
    status.is_ok_and(|status| {
        status.head.as_deref() == start
            && status.branch.as_deref() == Some(branch)
            && status.changed.is_empty()
    })
}

/// Removes what a failed attempt left. Best effort: the attempt's own error is the one to tell.
async fn undo(work: &Work, place: &Place<'_>, worktree: &Path, branch: &str, start: Option<&str>) {
    let remove = [
        OsStr::new("remove"),
        "--force".as_ref(),
        "--".as_ref(),
        worktree.as_os_str(),
    ];
    // Most often Git has done this itself; what counts is whether the folder is gone.
    let _ = write::run(work, &place.top_level, "worktree", remove).await;
    let is_gone = matches!(tokio::fs::try_exists(worktree).await, Ok(false));
    let is_unclaimed = match start {
        // Only while it is still where it was created.
        Some(commit) => {
            let args = ["-d", &local_ref(branch), commit];
            write::run(work, &place.top_level, "update-ref", args)
                .await
                .is_ok()
        }
        None => true,
    };
    if !is_gone || !is_unclaimed {
        tracing::warn!("a failed attempt to make a worktree left a folder or a branch behind");
    }
}
