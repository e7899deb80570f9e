//! Claiming a name for a new branch.
//!
//! Invariant: a branch that existed before is never moved. Creating a ref fails for a name that exists, so creating
//! it is the claim, and of two simultaneous requests for one name each gets its own.

use crate::error::GitError;
use crate::read::Place;
use crate::refs::local_ref;
use crate::{Work, write};
use model::bounds;
use std::collections::BTreeSet;

/// The names of all local branches.
pub(crate) async fn names(place: &Place<'_>) -> Result<BTreeSet<String>, GitError> {
    let args = ["--format=%(refname:lstrip=2)", "refs/heads"];
    let answer = place.run("for-each-ref", args).await?;
    Ok(String::from_utf8_lossy(&answer.stdout)
        .lines()
        .map(str::to_owned)
        .collect())
}

/// `wanted`, or the first of `wanted-2`, `wanted-3`, … that is free.
pub(crate) fn free_name(taken: &BTreeSet<String>, wanted: &str) -> Result<String, GitError> {
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

/// Creates the branch at `commit` under the first free name.
pub(crate) async fn claim(
    work: &Work,
    place: &Place<'_>,
    wanted: &str,
    commit: &str,
) -> Result<String, GitError> {
    loop {
        let name = free_name(&names(place).await?, wanted)?;
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
            Err(GitError::Failed { .. }) if names(place).await?.contains(&name) => {}
            Err(problem) => return Err(problem),
        }
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
}
