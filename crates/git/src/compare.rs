//! Comparing a tree with the working tree, which an agent changes meanwhile.

use crate::error::GitError;
use crate::process::Answer;
use crate::read::Place;
use model::bounds;
use std::ffi::OsStr;

/// The command that compares.
pub(crate) const COMMAND: &str = "diff-index";

/// What every comparison shares: renames found, nothing of the repository run.
const OPTIONS: [&str; 4] = [
    "--find-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
];

/// What `git diff-index` says of the tree `from` and the working tree, of these `paths` only if there are any.
///
/// Git ends a comparison at the first file that vanishes under it, as many do in an agent's checkout or rebase. That
/// says nothing about the worktree, so it is compared again, [`bounds::GIT_COMPARE_TRIES`] times in all (C19).
pub(crate) async fn run(
    place: &Place<'_>,
    format: &[&str],
    from: &str,
    paths: &[&OsStr],
) -> Result<Answer, GitError> {
    let words = format.iter().copied().chain(OPTIONS).chain([from, "--"]);
    let args: Vec<&OsStr> = words.map(OsStr::new).chain(paths.iter().copied()).collect();
    let mut left = bounds::GIT_COMPARE_TRIES;
    loop {
        left = left.saturating_sub(1);
        match place.run_accepting(COMMAND, &args, None, &[0]).await {
            Err(failure) if 0 < left && is_overtaken(&failure) => {}
            answer => return answer,
        }
    }
}

/// A file was there when Git listed it and gone when Git read it. The words are Git's own under `LC_ALL=C`.
fn is_overtaken(failure: &GitError) -> bool {
    let GitError::Failed {
        code: Some(128),
        stderr,
        ..
    } = failure
    else {
        return false;
    };
    let last = stderr.lines().last().unwrap_or_default();
    let gone = last.starts_with("fatal: stat '") && last.ends_with("': No such file or directory");
    gone || last == "fatal: unable to read files to diff"
}
