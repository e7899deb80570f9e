//! Commands that change something, run as a person would run them.
//!
//! Hooks, filters, signing and merge drivers of the repository take part: whoever asks for a worktree or a merge
//! expects what their terminal would do. Only waiting for a person is impossible, so prompts and editors are off.

use crate::Work;
use crate::error::GitError;
use crate::process::{Answer, Call};
use std::ffi::{OsStr, OsString};
use std::path::Path;

const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("GIT_MERGE_AUTOEDIT", "no"),
    ("GIT_PAGER", "cat"),
];

/// Runs a writing command in `folder`; any exit code but 0 is a failure.
pub(crate) async fn run<A: AsRef<OsStr>>(
    work: &Work,
    folder: &Path,
    name: &'static str,
    args: impl IntoIterator<Item = A>,
) -> Result<Answer, GitError> {
    run_accepting(work, folder, name, args, &[0]).await
}

/// As [`run`], for an object that nobody will see: it needs no author, so none has to be configured.
pub(crate) async fn run_unnamed<A: AsRef<OsStr>>(
    work: &Work,
    folder: &Path,
    name: &'static str,
    args: impl IntoIterator<Item = A>,
) -> Result<Answer, GitError> {
    let nobody = ["AUTHOR", "COMMITTER"].into_iter().flat_map(|role| {
        let variable = |what: &str| OsString::from(format!("GIT_{role}_{what}"));
        [
            (variable("NAME"), "flightstrip".into()),
            (variable("EMAIL"), "flightstrip@localhost".into()),
        ]
    });
    run_with(work, folder, name, args, &[0], nobody).await
}

/// As [`run`], with exit codes that mean something.
pub(crate) async fn run_accepting<A: AsRef<OsStr>>(
    work: &Work,
    folder: &Path,
    name: &'static str,
    args: impl IntoIterator<Item = A>,
    answers: &[i32],
) -> Result<Answer, GitError> {
    run_with(work, folder, name, args, answers, []).await
}

async fn run_with<A: AsRef<OsStr>>(
    work: &Work,
    folder: &Path,
    name: &'static str,
    args: impl IntoIterator<Item = A>,
    answers: &[i32],
    more: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Answer, GitError> {
    let given: Vec<A> = args.into_iter().collect();
    let args: Vec<&OsStr> = [OsStr::new(name)]
        .into_iter()
        .chain(given.iter().map(AsRef::as_ref))
        .collect();
    let environment: Vec<(OsString, OsString)> = ENVIRONMENT
        .iter()
        .map(|(key, value)| (key.into(), value.into()))
        .chain(more)
        .collect();
    work.run(Call {
        name,
        folder,
        args: &args,
        environment: &environment,
        stdin: None,
        answers,
        writes: true,
    })
    .await
}
