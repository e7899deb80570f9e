//! Worktrees: one per task repository, made from a base, gone with their environment.
//!
//! Invariant: a branch that existed before is never moved or reused. The name is claimed by creating the ref, which
//! only one of two simultaneous requests can do; a taken name gets a number.
//! Invariant: the main working tree is never removed, and no branch but the one the caller names.

use crate::base::{self, local_ref};
use crate::error::GitError;
use crate::read::{Place, path_of};
use crate::status::Status;
use crate::{Git, Work, name, write};
use model::bounds;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

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

/// A working tree of a repository, as `git worktree list` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkout {
    pub(crate) path: PathBuf,
    /// Absent before the first commit.
    pub(crate) head: Option<String>,
    /// Absent when detached, or in the middle of a rebase.
    pub(crate) branch: Option<String>,
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
        let work = self.admit(bounds::GIT_WRITE_TIMEOUT).await?;
        let place = Place::open(&work, repository).await?;
        if !name::is_branch(branch) {
            return Err(GitError::InvalidBranchName);
        }
        let start = base::resolve(&place, Some(base)).await?.commit;
        prepare_folder(worktree).await?;
        let branch = match &start {
            Some(commit) => claim(&work, &place, branch, commit).await?,
            None => free_name(&branches(&place).await?, branch)?,
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
        let work = self.admit(bounds::GIT_WRITE_TIMEOUT).await?;
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
            if !elsewhere && branches(&place).await?.contains(branch) {
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

/// The names of all local branches.
async fn branches(place: &Place<'_>) -> Result<BTreeSet<String>, GitError> {
    let args = ["--format=%(refname:lstrip=2)", "refs/heads"];
    let answer = place.run("for-each-ref", args).await?;
    Ok(String::from_utf8_lossy(&answer.stdout)
        .lines()
        .map(str::to_owned)
        .collect())
}

/// `wanted`, or the first of `wanted-2`, `wanted-3`, … that is free.
fn free_name(taken: &BTreeSet<String>, wanted: &str) -> Result<String, GitError> {
    // A branch and a folder of branches cannot have the same name.
    let is_free = |name: &String| {
        let below = format!("{name}/");
        !taken.iter().any(|one| {
            one == name || one.starts_with(&below) || name.starts_with(&format!("{one}/"))
        })
    };
    (1..=bounds::BRANCH_SUFFIXES)
        .map(|number| match number {
            1 => wanted.to_owned(),
            _ => format!("{wanted}-{number}"),
        })
        .find(is_free)
        .ok_or(GitError::BranchNameTaken)
}

/// Creates the branch under the first free name. Creating fails for a name that exists, so it is the claim.
async fn claim(
    work: &Work,
    place: &Place<'_>,
    wanted: &str,
    commit: &str,
) -> Result<String, GitError> {
    loop {
        let name = free_name(&branches(place).await?, wanted)?;
        // An empty old value means: must not exist.
        let args = [
            "-m",
            "branch: created for a task",
            &local_ref(&name),
            commit,
            "",
        ];
        match write::run(work, &place.top_level, "update-ref", args).await {
            Ok(_) => return Ok(name),
            // Somebody was faster; the next round sees their branch and takes the next number.
            Err(GitError::Failed { .. }) if branches(place).await?.contains(&name) => {}
            Err(problem) => return Err(problem),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_gets_a_number_and_a_folder_counts_as_taken() {
        let taken = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let free = |names: &[&str], wanted: &str| free_name(&taken(names), wanted).ok();
        assert_eq!(free(&[], "a").as_deref(), Some("a"));
        assert_eq!(free(&["a", "a-2"], "a").as_deref(), Some("a-3"));
        assert_eq!(free(&["a/b"], "a").as_deref(), Some("a-2"));
        assert_eq!(free(&["a"], "a/b"), None);
    }

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
