//! What a branch is compared with (C18).
//!
//! A base is a *name*. It may exist twice: as a local branch and as the remote-tracking copy of it. Both are the
//! base: what either has is not this task's work. Hence the scope of totals starts at the merge-base of the head
//! with both together, so neither a local base that was not pushed yet nor a local one that was not pulled for weeks
//! inflates a task. The remote copy is the configured upstream when it has the same name (a branch made *from*
//! `origin/main` has that as its upstream, yet is not a copy of it), else the branch of that name on `origin`, else
//! on the only remote that has one. A base that exists only locally is used as it is.
//!
//! No base named: the default branch, which is what `origin/HEAD` points to, else the first that exists of
//! `init.defaultBranch`, `main`, `master`, else what the main working tree has checked out.

use crate::Git;
use crate::checkouts::checkouts;
use crate::error::GitError;
use crate::name;
use crate::read::Place;
use crate::refs::{Copies, Reference, local_ref};
use crate::status::Status;
use model::bounds;
use std::path::Path;

/// A base that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedBase {
    /// Its short name, as recorded with the environment.
    pub branch: String,
    /// The commit new work starts from: the copy that has everything of the other, the upstream when they went
    /// apart. Absent in a repository without a commit.
    pub commit: Option<String>,
    /// The distinct commits of its copies.
    pub(crate) tips: Vec<String>,
}

/// From where a worktree's totals count.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The tree or commit to compare with.
    pub(crate) from: String,
    /// The merge-base, when there is one.
    pub(crate) base_commit: Option<String>,
    /// Whether the base means something; if not, `from` is the head itself.
    pub(crate) resolvable: bool,
    pub(crate) ahead: Option<u64>,
    pub(crate) behind: Option<u64>,
}

impl Git {
    /// Finds the base named `wanted`, or the default branch.
    ///
    /// # Errors
    /// [`GitError::BaseBranchMissing`], [`GitError::DefaultBranchUnresolved`], or the repository cannot be read.
    pub async fn resolve_base(
        &self,
        repository: &Path,
        wanted: Option<&str>,
    ) -> Result<ResolvedBase, GitError> {
        let work = self.admit(bounds::GIT_LOOKUP_TIMEOUT).await?;
        let place = Place::open(&work, repository).await?;
        resolve(&place, wanted).await
    }
}

pub(crate) async fn resolve(
    place: &Place<'_>,
    wanted: Option<&str>,
) -> Result<ResolvedBase, GitError> {
    let branch = match wanted {
        Some(branch) => branch.to_owned(),
        None => default_branch(place).await?,
    };
    let missing = || GitError::BaseBranchMissing {
        branch: branch.clone(),
    };
    if !name::is_branch(&branch) {
        return Err(missing());
    }
    let refs = Copies::read(place, &branch).await?;
    let tips = refs.tips();
    let commit = match tips.as_slice() {
        [] if is_unborn(place, &branch).await? => None,
        [] => return Err(missing()),
        [upstream, local] if is_ancestor(place, upstream, local).await? => Some(local.clone()),
        [first, ..] => Some(first.clone()),
    };
    Ok(ResolvedBase {
        branch,
        commit,
        tips,
    })
}

/// From where the totals of a worktree count.
///
/// # Errors
/// A command failed. A base that cannot be resolved is no error but a scope that says so.
pub(crate) async fn scope(
    place: &Place<'_>,
    wanted: Option<&str>,
    status: &Status,
) -> Result<Scope, GitError> {
    let Some(head) = &status.head else {
        return from_nothing(place).await;
    };
    let base = match resolve(place, wanted).await {
        Ok(base) => base,
        Err(GitError::BaseBranchMissing { .. } | GitError::DefaultBranchUnresolved) => {
            return Ok(Scope::unresolvable(head));
        }
        Err(problem) => return Err(problem),
    };
    if base.commit.is_none() {
        return from_nothing(place).await;
    }
    // With several commits Git looks for the best ancestor with all of them merged.
    let args = [head].into_iter().chain(&base.tips);
    let answer = place
        .run_accepting("merge-base", args, None, &[0, 1])
        .await?;
    if answer.code == 1 {
        return Ok(Scope::unresolvable(head));
    }
    let merge_base = answer.line();
    let (ahead, behind) = if status.branch.is_none() {
        (None, None)
    } else {
        let tips: Vec<&str> = base.tips.iter().map(String::as_str).collect();
        let ahead = count_commits(place, &[head], &tips).await?;
        (
            Some(ahead),
            Some(count_commits(place, &tips, &[head]).await?),
        )
    };
    Ok(Scope {
        from: merge_base.clone(),
        base_commit: Some(merge_base),
        resolvable: true,
        ahead,
        behind,
    })
}

impl Scope {
    fn unresolvable(head: &str) -> Self {
        Self {
            from: head.to_owned(),
            base_commit: None,
            resolvable: false,
            ahead: None,
            behind: None,
        }
    }
}

/// Before the first commit everything is new: the base is the empty tree, which every repository knows.
async fn from_nothing(place: &Place<'_>) -> Result<Scope, GitError> {
    // Asked for rather than written down here: its id depends on the repository's hash.
    let empty_tree = place
        .run("hash-object", ["-t", "tree", "--stdin"])
        .await?
        .line();
    Ok(Scope {
        from: empty_tree,
        base_commit: None,
        resolvable: true,
        ahead: None,
        behind: None,
    })
}

/// Commits that `of` has and `without` lacks.
async fn count_commits(place: &Place<'_>, of: &[&str], without: &[&str]) -> Result<u64, GitError> {
    const COMMAND: &str = "rev-list";
    // The common case while nothing happens, and it costs no process.
    if of == without {
        return Ok(0);
    }
    let args = ["--count"]
        .iter()
        .chain(of)
        .chain(&["--not"])
        .chain(without);
    let answer = place.run_accepting(COMMAND, args, None, &[0]).await?;
    answer
        .line()
        .parse()
        .map_err(|_| GitError::Malformed { command: COMMAND })
}

async fn is_ancestor(place: &Place<'_>, one: &str, of: &str) -> Result<bool, GitError> {
    let args = ["--is-ancestor", one, of];
    Ok(place
        .run_accepting("merge-base", args, None, &[0, 1])
        .await?
        .code
        == 0)
}

async fn is_unborn(place: &Place<'_>, branch: &str) -> Result<bool, GitError> {
    let main = checkouts(place).await?.into_iter().next();
    Ok(main.is_some_and(|main| main.head.is_none() && main.branch.as_deref() == Some(branch)))
}

pub(crate) async fn default_branch(place: &Place<'_>) -> Result<String, GitError> {
    let configured = place
        .run_accepting("config", ["--get", "init.defaultBranch"], None, &[0, 1])
        .await?
        .line();
    let candidates = [configured.as_str(), "main", "master"]
        .into_iter()
        .filter(|branch| name::is_branch(branch));
    let patterns: Vec<String> = candidates
        .clone()
        .flat_map(|branch| [local_ref(branch), format!("refs/remotes/origin/{branch}")])
        .chain(["refs/remotes/origin/HEAD".to_owned()])
        .collect();
    let refs = Reference::list(place, &patterns).await?;
    let pointed = refs
        .iter()
        .find_map(|found| found.points_to.strip_prefix("refs/remotes/origin/"));
    if let Some(branch) = pointed {
        return Ok(branch.to_owned());
    }
    let exists = |branch: &&str| {
        let remote = format!("refs/remotes/origin/{branch}");
        refs.iter()
            .any(|found| found.name == local_ref(branch) || found.name == remote)
    };
    if let Some(branch) = candidates.clone().find(exists) {
        return Ok(branch.to_owned());
    }
    // The main working tree, not this one: a task's worktree has the task's own branch checked out.
    let main = checkouts(place).await?.into_iter().next();
    main.and_then(|main| main.branch)
        .ok_or(GitError::DefaultBranchUnresolved)
}
