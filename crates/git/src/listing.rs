//! Every file that differs from a tree, with its lines: the one set behind row, Changes and phone.
//!
//! Invariant: files and lines describe the same set, and a path is in it once. A file that an agent commits between
//! two commands is both untracked (then) and added (now); the later answer wins.

use crate::attributes;
use crate::compare;
use crate::error::GitError;
use crate::raw::{self, Entries};
use crate::read::Place;
use crate::status::Status;
use crate::untracked;
use model::git::{FileChange, FileChangeKind};
use std::collections::BTreeSet;

/// The files that differ between the tree `from` and the working tree, in the order of their paths.
pub(crate) async fn read(
    place: &Place<'_>,
    from: &str,
    status: &Status,
) -> Result<Vec<FileChange>, GitError> {
    let answer = compare::run(place, &["--raw", "--numstat", "-z"], from, &[]).await?;
    let command = compare::COMMAND;
    let mut tracked = raw::parse(&answer.stdout).ok_or(GitError::Malformed { command })?;
    drop_touched(place, &mut tracked, status).await?;
    let untracked: Vec<Vec<u8>> = status
        .untracked
        .iter()
        .filter(|path| !tracked.contains_key(*path))
        .cloned()
        .collect();

    // Without configured filters only untracked files need their attributes: Git applies the rest itself.
    let filtering = !place.filters.is_empty();
    let asked = tracked.keys().filter(|_| filtering).chain(&untracked);
    let lineless = attributes::without_lines(place, asked).await?;
    let (skipped, readable): (Vec<_>, Vec<_>) = untracked
        .into_iter()
        .partition(|path| lineless.contains(path));
    let counted =
        untracked::count_lines(place.top_level.clone(), readable, place.deadline()).await?;

    let mut files = tracked_changes(tracked, &lineless);
    files.extend(
        skipped
            .into_iter()
            .map(|path| untracked_change(&path, None)),
    );
    files.extend(
        counted
            .iter()
            .map(|(path, lines)| untracked_change(path, *lines)),
    );
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Drops binary files of which only the time-stamp differs, by comparing their content.
async fn drop_touched(
    place: &Place<'_>,
    tracked: &mut Entries,
    status: &Status,
) -> Result<(), GitError> {
    let suspects: Vec<Vec<u8>> = tracked
        .iter()
        .filter(|(path, entry)| entry.may_be_touched_only && !status.changed.contains(*path))
        // The command reads one path per line and takes a leading quote for quoting. Such a file stays listed.
        .filter(|(path, _)| !path.contains(&b'\n') && !path.starts_with(b"\""))
        .map(|(path, _)| path.clone())
        .collect();
    if suspects.is_empty() {
        return Ok(());
    }
    let input = suspects
        .iter()
        .flat_map(|path| [path, &b"\n"[..]].concat())
        .collect();
    let args = ["--stdin-paths"];
    let answer = place
        .run_accepting("hash-object", args, Some(input), &[0])
        .await?;
    let objects = String::from_utf8_lossy(&answer.stdout);
    for (path, object) in suspects.iter().zip(objects.lines()) {
        if tracked
            .get(path)
            .is_some_and(|entry| entry.old_object == object)
        {
            tracked.remove(path);
        }
    }
    Ok(())
}

fn tracked_changes(tracked: Entries, lineless: &BTreeSet<Vec<u8>>) -> Vec<FileChange> {
    tracked
        .into_iter()
        .map(|(path, entry)| {
            let counts = !entry.is_submodule() && !lineless.contains(&path);
            let lines = entry.lines.filter(|_| counts);
            let (additions, deletions) = lines.unwrap_or_default();
            FileChange {
                path: shown(&path),
                old_path: entry.old_path.as_deref().map(shown),
                kind: entry.kind,
                additions,
                deletions,
                binary: lines.is_none(),
            }
        })
        .collect()
}

fn untracked_change(path: &[u8], lines: Option<u64>) -> FileChange {
    FileChange {
        path: shown(path),
        old_path: None,
        kind: FileChangeKind::Untracked,
        additions: lines.unwrap_or(0),
        deletions: 0,
        binary: lines.is_none(),
    }
}

/// A path as text. One that is not UTF-8 is shown with replacement characters.
pub(crate) fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
