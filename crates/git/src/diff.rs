//! The shown diff of one file, in the same scope as the totals.
//!
//! Invariant: only a file that Git lists as changed is ever opened, and no symbolic link is followed to it.
//! Invariant: what is not shown has a named reason; an empty diff is never the answer to "too large".

use crate::base;
use crate::compare;
use crate::confined::{self, Found};
use crate::error::GitError;
use crate::listing::shown;
use crate::raw::{self, Entry, SYMLINK};
use crate::read::{Place, as_arg};
use crate::status::Status;
use crate::untracked;
use crate::{Git, attributes, new_file};
use model::bounds;
use model::git::FileChangeKind;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// How one file differs from the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// Its path in the worktree.
    pub path: String,
    /// Its path before a rename.
    pub old_path: Option<String>,
    /// How it changed.
    pub kind: FileChangeKind,
    /// A unified diff with Git's header, at most [`bounds::DIFF_FILE_BYTES`]; empty when skipped. Bytes that are not
    /// UTF-8 are shown as replacement characters.
    pub patch: String,
    /// Why there is no diff to show.
    pub skipped: Option<SkipReason>,
}

/// Why a changed file is not shown as a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// It is not text.
    Binary,
    /// A filter stands between its stored and its working form (LFS, …), or its attributes say not to compare it.
    Filtered,
    /// One side exceeds [`bounds::DIFF_SOURCE_BYTES`].
    SourceTooLarge,
    /// The diff exceeds [`bounds::DIFF_FILE_BYTES`].
    DiffTooLarge,
    /// It is a repository of its own.
    Submodule,
    /// It may not be read.
    Unreadable,
}

impl SkipReason {
    /// The word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Filtered => "filtered",
            Self::SourceTooLarge => "source_too_large",
            Self::DiffTooLarge => "diff_too_large",
            Self::Submodule => "submodule",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A diff, or why there is none.
type Patch = Result<String, SkipReason>;

impl Git {
    /// Compares one file of the worktree with the recorded base (none: the default branch).
    ///
    /// `path` is one that an observation or a page of changes listed.
    ///
    /// # Errors
    /// [`GitError::PathOutside`], [`GitError::PathUnchanged`], or the worktree could not be measured.
    pub async fn diff_file(
        &self,
        worktree: &Path,
        base: Option<&str>,
        path: &str,
    ) -> Result<FileDiff, GitError> {
        if !confined::is_plain(path.strip_suffix('/').unwrap_or(path).as_bytes()) {
            return Err(GitError::PathOutside);
        }
        let work = self.admit(bounds::GIT_OBSERVE_TIMEOUT).await?;
        let place = Place::open(&work, worktree).await?;
        let status = Status::read(&place).await?;
        let from = base::scope(&place, base, &status).await?.from;
        if let Some((name, entry)) = find_tracked(&place, &from, path).await? {
            let patch = tracked_patch(&place, &from, &name, &entry).await?;
            return Ok(file_diff(&name, Some(&entry), patch));
        }
        let untracked = status
            .untracked
            .into_iter()
            .find(|name| shown(name) == path);
        let name = untracked.ok_or(GitError::PathUnchanged)?;
        let lineless = attributes::without_lines(&place, [&name].into_iter()).await?;
        let patch = match lineless.is_empty() {
            true => untracked_patch(&place, &name).await?,
            false => Err(SkipReason::Filtered),
        };
        Ok(file_diff(&name, None, patch))
    }
}

fn file_diff(name: &[u8], tracked: Option<&Entry>, patch: Patch) -> FileDiff {
    let (patch, skipped) = match patch {
        Ok(patch) => (patch, None),
        Err(reason) => (String::new(), Some(reason)),
    };
    FileDiff {
        path: shown(name),
        old_path: tracked
            .and_then(|entry| entry.old_path.as_deref())
            .map(shown),
        kind: tracked.map_or(FileChangeKind::Untracked, |entry| entry.kind),
        patch,
        skipped,
    }
}

/// The tracked file of this name, compared with all others so that a rename is found.
async fn find_tracked(
    place: &Place<'_>,
    from: &str,
    path: &str,
) -> Result<Option<(Vec<u8>, Entry)>, GitError> {
    let answer = compare::run(place, &["--raw", "-z"], from, &[]).await?;
    let command = compare::COMMAND;
    let entries = raw::parse_names(&answer.stdout).ok_or(GitError::Malformed { command })?;
    Ok(entries.into_iter().find(|(name, _)| shown(name) == path))
}

async fn tracked_patch(
    place: &Place<'_>,
    from: &str,
    name: &[u8],
    entry: &Entry,
) -> Result<Patch, GitError> {
    if entry.is_submodule() {
        return Ok(Err(SkipReason::Submodule));
    }
    let owned = name.to_vec();
    if !place.filters.is_empty()
        && !attributes::without_lines(place, [&owned].into_iter())
            .await?
            .is_empty()
    {
        return Ok(Err(SkipReason::Filtered));
    }
    if bounds::DIFF_SOURCE_BYTES < largest_side(place, name, entry).await? {
        return Ok(Err(SkipReason::SourceTooLarge));
    }
    let format = [
        "--patch",
        "--no-color",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    ];
    let old_path = entry.old_path.iter().map(Vec::as_slice);
    let paths: Vec<&OsStr> = old_path.chain([name]).map(as_arg).collect();
    let patch = compare::run(place, &format, from, &paths).await?.stdout;
    let patch = shown(&patch);
    if !patch.contains("\n@@ ") && patch.contains("\nBinary files ") {
        return Ok(Err(SkipReason::Binary));
    }
    // A file that was only touched has a header at most.
    if patch.lines().count() < 2 {
        return Err(GitError::PathUnchanged);
    }
    Ok(within_bound(patch))
}

/// The larger of the stored and the working form, in bytes.
async fn largest_side(place: &Place<'_>, name: &[u8], entry: &Entry) -> Result<u64, GitError> {
    const COMMAND: &str = "cat-file";
    let stored = match entry.kind {
        FileChangeKind::Added => 0,
        _ => {
            let answer = place.run(COMMAND, ["-s", &entry.old_object]).await?;
            answer
                .line()
                .parse()
                .map_err(|_| GitError::Malformed { command: COMMAND })?
        }
    };
    let working = match confined::open(&place.top_level, name) {
        Ok(Found::File(_, size)) => size,
        _ => 0,
    };
    Ok(working.max(stored))
}

/// Git compares an untracked file with nothing only in its porcelain, which obeys settings; so it is done here.
async fn untracked_patch(place: &Place<'_>, name: &[u8]) -> Result<Patch, GitError> {
    if name.ends_with(b"/") {
        return Ok(Err(SkipReason::Submodule));
    }
    let (root, path) = (place.top_level.clone(), name.to_vec());
    let read = tokio::task::spawn_blocking(move || read_new(&root, &path)).await;
    let failed = |source| GitError::Io {
        command: "diff",
        source,
    };
    match read.map_err(|ended| failed(io::Error::other(ended)))? {
        Ok(Ok((mode, content))) if !untracked::is_binary(&content) => {
            Ok(within_bound(new_file::patch(&shown(name), mode, &content)))
        }
        Ok(Ok(_)) => Ok(Err(SkipReason::Binary)),
        Ok(Err(reason)) => Ok(Err(reason)),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Err(GitError::PathUnchanged),
        Err(_) => Ok(Err(SkipReason::Unreadable)),
    }
}

/// The mode and content of a new file; the content of a symbolic link is its target.
fn read_new(root: &Path, path: &[u8]) -> io::Result<Result<(&'static str, Vec<u8>), SkipReason>> {
    Ok(match confined::open(root, path)? {
        Found::Link(target) => Ok((SYMLINK, target)),
        Found::Other => Err(SkipReason::Unreadable),
        Found::File(_, size) if bounds::DIFF_SOURCE_BYTES < size => Err(SkipReason::SourceTooLarge),
        Found::File(file, _) => {
            let executable = file.metadata()?.permissions().mode() & 0o100 != 0;
            let mut content = Vec::new();
            file.take(bounds::DIFF_SOURCE_BYTES)
                .read_to_end(&mut content)?;
            Ok((if executable { "100755" } else { "100644" }, content))
        }
    })
}

fn within_bound(patch: String) -> Patch {
    if bounds::DIFF_FILE_BYTES < patch.len() {
        return Err(SkipReason::DiffTooLarge);
    }
    Ok(patch)
}
