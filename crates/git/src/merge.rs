//! Taking a task's result: its branch goes into the base.
//!
//! Invariant: nothing is lost and nothing is left half done. The merge is computed beside all working trees first,
//! so a conflict touches none of them. If the base is checked out somewhere, that checkout must be clean and the
//! merge is made there, because moving a checked-out branch behind its files' back would look like a revert.
//! Otherwise the ref moves by compare-and-set.
//!
//! Untracked files in the base's checkout do not make it dirty; Git itself refuses to overwrite one.

use crate::checkouts::{Checkout, checkouts};
use crate::error::GitError;
use crate::read::Place;
use crate::refs::local_ref;
use crate::status::Status;
use crate::{Git, Work, listing, name, write};
use model::bounds;
use std::path::Path;

/// What came of taking a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The base had everything already.
    AlreadyUpToDate {
        /// The base's commit.
        head: String,
    },
    /// The base had nothing of its own and moved to the branch's commit.
    FastForward {
        /// The base's commit now.
        head: String,
    },
    /// A merge commit was made.
    Merged {
        /// That commit.
        head: String,
    },
    /// Nothing was changed.
    Refused(MergeRefusal),
}

/// Why a result cannot be taken as things are. A person can act on each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeRefusal {
    /// The worktree has changed, staged or untracked files; they would not be part of the result.
    UncommittedChanges,
    /// The worktree is not on the task's branch.
    OtherBranch,
    /// The branch has no commit yet.
    NothingCommitted,
    /// The base exists only on a remote, or not at all.
    BaseNotLocal,
    /// The working tree that has the base checked out has changes, or is in the middle of something.
    BaseCheckoutDirty,
    /// Both sides changed the same lines.
    Conflict {
        /// Where, at most [`bounds::CONFLICTS_LISTED`].
        paths: Vec<String>,
    },
    /// The branch and the base have no common ancestor.
    UnrelatedHistories,
    /// A merge commit is needed, and Git knows no name and address to sign it with.
    IdentityMissing,
    /// The base moved meanwhile; trying again is safe.
    BaseMoved,
    /// Git refused in the base's checkout: a hook said no, or an untracked file is in the way.
    CheckoutRefused {
        /// Git's words, for the person who asked; they may name files.
        explanation: String,
    },
}

/// The two sides of a merge, checked.
struct Sides<'a> {
    work: &'a Work,
    place: &'a Place<'a>,
    branch: &'a str,
    base: &'a str,
    /// The branch's commit.
    head: String,
}

impl Git {
    /// Merges the worktree's committed work on `branch` into the local branch `base`.
    ///
    /// # Errors
    /// The repository or the worktree could not be looked at, or Git failed. A refusal is no error.
    pub async fn merge_into_base(
        &self,
        repository: &Path,
        worktree: &Path,
        branch: &str,
        base: &str,
    ) -> Result<MergeOutcome, GitError> {
        let work = self
            .admit_writer(repository, bounds::GIT_WRITE_TIMEOUT)
            .await?;
        let place = Place::open(&work, repository).await?;
        let there = Place::open(&work, worktree).await?;
        let trees = checkouts(&place).await?;
        if !trees.iter().any(|tree| tree.path == there.top_level) {
            return Err(GitError::NotAWorktree);
        }
        if !name::is_branch(base) {
            return Ok(MergeOutcome::Refused(MergeRefusal::BaseNotLocal));
        }
        let status = Status::read(&there).await?;
        let head = match check_worktree(&status, branch) {
            Ok(head) => head,
            Err(refusal) => return Ok(MergeOutcome::Refused(refusal)),
        };
        let sides = Sides {
            work: &work,
            place: &place,
            branch,
            base,
            head,
        };
        sides.merge(&trees).await
    }
}

fn check_worktree(status: &Status, branch: &str) -> Result<String, MergeRefusal> {
    if status.branch.as_deref() != Some(branch) {
        return Err(MergeRefusal::OtherBranch);
    }
    if !status.is_clean() {
        return Err(MergeRefusal::UncommittedChanges);
    }
    status.head.clone().ok_or(MergeRefusal::NothingCommitted)
}

impl Sides<'_> {
    async fn merge(&self, trees: &[Checkout]) -> Result<MergeOutcome, GitError> {
        let holder = trees.iter().find(|tree| {
            // A worktree whose folder was deleted still stands in the list; nothing there can be overwritten.
            tree.branch.as_deref() == Some(self.base) && tree.path.is_dir()
        });
        let Some(base) = self.commit_of_base().await? else {
            return match holder {
                Some(unborn) => self.merge_in(unborn, true).await,
                None => Ok(MergeOutcome::Refused(MergeRefusal::BaseNotLocal)),
            };
        };
        if self.is_ancestor(&self.head, &base).await? {
            return Ok(MergeOutcome::AlreadyUpToDate { head: base });
        }
        let forward = self.is_ancestor(&base, &self.head).await?;
        let tree = match forward {
            true => None,
            false => match self.try_merge(&base).await? {
                Ok(tree) => Some(tree),
                Err(refusal) => return Ok(MergeOutcome::Refused(refusal)),
            },
        };
        match (holder, tree) {
            (Some(checkout), _) => self.merge_in(checkout, forward).await,
            (None, None) => self.move_base(&self.head, &base, true).await,
            (None, Some(tree)) => {
                let message = self.message();
                let args = [&tree, "-p", &base, "-p", &self.head, "-m", &message];
                let made =
                    write::run(self.work, &self.place.top_level, "commit-tree", args).await?;
                self.move_base(&made.line(), &base, false).await
            }
        }
    }

    /// Computes the merge without touching a working tree: the merged tree, or why there is none.
    async fn try_merge(&self, base: &str) -> Result<Result<String, MergeRefusal>, GitError> {
        const COMMAND: &str = "merge-tree";
        let related = [base, self.head.as_str()];
        if self
            .place
            .run_accepting("merge-base", related, None, &[0, 1])
            .await?
            .code
            == 1
        {
            return Ok(Err(MergeRefusal::UnrelatedHistories));
        }
        let args = [
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            base,
            &self.head,
        ];
        let folder = &self.place.top_level;
        let answer = write::run_accepting(self.work, folder, COMMAND, args, &[0, 1]).await?;
        let mut tokens = answer.stdout.split(|byte| *byte == 0).map(listing::shown);
        let tree = tokens
            .next()
            .ok_or(GitError::Malformed { command: COMMAND })?;
        if answer.code == 1 {
            let paths = tokens
                .filter(|path| !path.is_empty())
                .take(bounds::CONFLICTS_LISTED);
            return Ok(Err(MergeRefusal::Conflict {
                paths: paths.collect(),
            }));
        }
        let identity = ["GIT_COMMITTER_IDENT"];
        let known = write::run_accepting(self.work, folder, "var", identity, &[0, 128]).await?;
        Ok(match known.code {
            0 => Ok(tree),
            _ => Err(MergeRefusal::IdentityMissing),
        })
    }

    /// Merges in the working tree that has the base checked out.
    async fn merge_in(&self, checkout: &Checkout, forward: bool) -> Result<MergeOutcome, GitError> {
        let place = Place::open(self.work, &checkout.path).await?;
        let status = Status::read(&place).await?;
        let is_still_there = status.branch.as_deref() == Some(self.base);
        if !is_still_there || !status.changed.is_empty() || is_in_the_middle(&place).await? {
            return Ok(MergeOutcome::Refused(MergeRefusal::BaseCheckoutDirty));
        }
        let message = self.message();
        // Spelled out, so that no setting of the user turns the merge into something else.
        let args = [
            "--ff",
            "--commit",
            "--no-squash",
            "--no-autostash",
            "--no-edit",
            "-m",
            &message,
            &self.head,
        ];
        if let Err(problem) = write::run(self.work, &checkout.path, "merge", args).await {
            let work = self.work.again(bounds::GIT_LOOKUP_TIMEOUT);
            if is_in_the_middle(&Place::open(&work, &checkout.path).await?).await? {
                write::run(&work, &checkout.path, "merge", ["--abort"]).await?;
            }
            let explanation = problem.explanation().map(str::to_owned);
            return match explanation {
                Some(explanation) => Ok(MergeOutcome::Refused(MergeRefusal::CheckoutRefused {
                    explanation,
                })),
                None => Err(problem),
            };
        }
        let head = self.commit_of_base().await?;
        let head = head.ok_or(GitError::Malformed { command: "merge" })?;
        Ok(done(head, forward))
    }

    /// Moves the base from `old` to `new`, unless it moved meanwhile.
    async fn move_base(
        &self,
        new: &str,
        old: &str,
        forward: bool,
    ) -> Result<MergeOutcome, GitError> {
        let message = format!("merge {}", self.branch);
        let args = ["-m", &message, &local_ref(self.base), new, old];
        match write::run(self.work, &self.place.top_level, "update-ref", args).await {
            Ok(_) => Ok(done(new.to_owned(), forward)),
            Err(GitError::Failed { .. })
                if self.commit_of_base().await?.as_deref() != Some(old) =>
            {
                Ok(MergeOutcome::Refused(MergeRefusal::BaseMoved))
            }
            Err(problem) => Err(problem),
        }
    }

    async fn commit_of_base(&self) -> Result<Option<String>, GitError> {
        let wanted = local_ref(self.base);
        let args = ["-q", "--verify", &wanted];
        let answer = self
            .place
            .run_accepting("rev-parse", args, None, &[0, 1])
            .await?;
        Ok((answer.code == 0).then(|| answer.line()))
    }

    async fn is_ancestor(&self, one: &str, of: &str) -> Result<bool, GitError> {
        let args = ["--is-ancestor", one, of];
        Ok(self
            .place
            .run_accepting("merge-base", args, None, &[0, 1])
            .await?
            .code
            == 0)
    }

    fn message(&self) -> String {
        format!("Merge branch '{}' into {}", self.branch, self.base)
    }
}

/// Whether a merge, cherry-pick or revert waits to be finished there.
async fn is_in_the_middle(place: &Place<'_>) -> Result<bool, GitError> {
    for pending in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"] {
        let args = ["-q", "--verify", pending];
        if place
            .run_accepting("rev-parse", args, None, &[0, 1])
            .await?
            .code
            == 0
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn done(head: String, forward: bool) -> MergeOutcome {
    match forward {
        true => MergeOutcome::FastForward { head },
        false => MergeOutcome::Merged { head },
    }
}
