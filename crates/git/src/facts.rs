//! What a repository is: asked when a person registers one.
//!
//! A folder inside a repository registers that repository's top level, if the folder is tracked there. A folder that
//! merely lies below a repository (a home folder under version control) is refused: Git would answer for a
//! repository nobody meant.

use crate::error::GitError;
use crate::read::{Place, real_folder};
use crate::{Git, base};
use model::bounds;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A repository that can be worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// The top level of its working tree, without symbolic links; what is to be registered.
    pub top_level: PathBuf,
    /// Its default branch, when it can be told.
    pub default_branch: Option<String>,
    /// The checked-out branch; absent when detached.
    pub head_branch: Option<String>,
    /// It has no commit on its checked-out branch.
    pub is_empty: bool,
    /// The most recently committed branches, at most [`bounds::BRANCHES_LISTED`].
    pub branches: Vec<Branch>,
    /// Its remotes.
    pub remotes: Vec<Remote>,
}

/// A branch to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its short name; a remote-tracking one begins with its remote.
    pub name: String,
    /// A copy of a remote's branch.
    pub is_remote: bool,
}

/// A configured remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Its first address, without user name and password.
    pub url: String,
}

impl Git {
    /// Looks at the repository that `path` is in.
    ///
    /// # Errors
    /// The folder is missing, unreadable, no repository, bare, of another user, or not tracked by the repository
    /// that encloses it.
    pub async fn inspect(&self, path: &Path) -> Result<RepositoryFacts, GitError> {
        let work = self.admit(bounds::GIT_LOOKUP_TIMEOUT).await?;
        let folder = real_folder(path).await?;
        let from = Place::unchecked(&work, folder.clone());
        let top_level = from.top_level().await?;
        if top_level != folder && !is_tracked(&from).await? {
            return Err(GitError::InsideParent { top_level });
        }
        let place = Place::open(&work, &top_level).await?;
        let head = place.run_accepting("rev-parse", ["-q", "--verify", "HEAD"], None, &[0, 1]);
        let is_empty = head.await?.code != 0;
        let default_branch = match base::default_branch(&place).await {
            Ok(branch) => Some(branch),
            Err(GitError::DefaultBranchUnresolved) => None,
            Err(problem) => return Err(problem),
        };
        Ok(RepositoryFacts {
            default_branch,
            head_branch: head_branch(&place).await?,
            is_empty,
            branches: branches(&place, bounds::BRANCHES_LISTED).await?,
            remotes: remotes(&place).await?,
            top_level,
        })
    }

    /// The most recently committed branches, local and remote-tracking, at most `limit` and at most
    /// [`bounds::BRANCHES_LISTED`].
    ///
    /// # Errors
    /// The repository cannot be read.
    pub async fn branches(&self, repository: &Path, limit: usize) -> Result<Vec<Branch>, GitError> {
        let work = self.admit(bounds::GIT_LOOKUP_TIMEOUT).await?;
        let place = Place::open(&work, repository).await?;
        branches(&place, limit.min(bounds::BRANCHES_LISTED)).await
    }
}

/// Whether the commit that is checked out has this folder.
async fn is_tracked(folder: &Place<'_>) -> Result<bool, GitError> {
    let args = ["-q", "--verify", "HEAD:./"];
    Ok(folder
        .run_accepting("rev-parse", args, None, &[0, 1, 128])
        .await?
        .code
        == 0)
}

async fn head_branch(place: &Place<'_>) -> Result<Option<String>, GitError> {
    let args = ["-q", "--short", "HEAD"];
    let answer = place
        .run_accepting("symbolic-ref", args, None, &[0, 1])
        .await?;
    Ok((answer.code == 0).then(|| answer.line()))
}

async fn branches(place: &Place<'_>, limit: usize) -> Result<Vec<Branch>, GitError> {
    let args = [
        "--sort=-committerdate",
        "--format=%(refname)%00%(symref)",
        "refs/heads",
        "refs/remotes",
    ];
    let answer = place.run("for-each-ref", args).await?;
    let text = String::from_utf8_lossy(&answer.stdout);
    Ok(text.lines().filter_map(branch).take(limit).collect())
}

/// One line of the answer; none for a pointer such as `origin/HEAD`.
fn branch(line: &str) -> Option<Branch> {
    let (name, points_to) = line.split_once('\0')?;
    if !points_to.is_empty() {
        return None;
    }
    let local = name.strip_prefix("refs/heads/");
    let short = local.or_else(|| name.strip_prefix("refs/remotes/"))?;
    Some(Branch {
        name: short.to_owned(),
        is_remote: local.is_none(),
    })
}

async fn remotes(place: &Place<'_>) -> Result<Vec<Remote>, GitError> {
    let args = ["-z", "--get-regexp", r"^remote\..*\.url$"];
    let answer = place.run_accepting("config", args, None, &[0, 1]).await?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let mut first = BTreeMap::new();
    for entry in text.split('\0') {
        let Some((key, url)) = entry.split_once('\n') else {
            continue;
        };
        let name = key
            .strip_prefix("remote.")
            .and_then(|key| key.strip_suffix(".url"));
        if let Some(name) = name {
            first
                .entry(name.to_owned())
                .or_insert_with(|| without_credentials(url));
        }
    }
    Ok(first
        .into_iter()
        .map(|(name, url)| Remote { name, url })
        .collect())
}

/// `https://user:token@host/x` becomes `https://host/x`; `git@host:x` has no secret and stays.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secret() {
        for (given, shown) in [
            ("https://me:s3cret@host/a/b", "https://host/a/b"),
            ("https://host/a@b", "https://host/a@b"),
            ("git@host:a/b", "git@host:a/b"),
            ("/srv/repo.git", "/srv/repo.git"),
        ] {
            assert_eq!(without_credentials(given), shown);
        }
    }

    #[test]
    fn a_pointer_is_no_branch() {
        assert_eq!(
            branch("refs/remotes/origin/HEAD\0refs/remotes/origin/main"),
            None
        );
        let found = branch("refs/remotes/origin/feat/x\0").unwrap();
        assert_eq!(
            (found.name.as_str(), found.is_remote),
            ("origin/feat/x", true)
        );
    }
}
