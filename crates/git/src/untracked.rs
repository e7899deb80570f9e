//! Lines of untracked files, which no Git command counts (C17).
//!
//! Counted as Git would count them once they are added: a last line without an end counts, a file with a NUL near
//! its start is not text, a symbolic link is one line (its target). Reading is bounded per file and per
//! observation; beyond that a file counts as a file with no lines.

use crate::confined::{self, Found};
use crate::error::GitError;
use model::bounds;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tokio::time::Instant;

/// How far Git looks for a NUL before it takes a file for text.
const BINARY_PROBE_BYTES: usize = 8_000;

/// Lines by path; none for a file that has none to count. Files that vanished meanwhile are left out.
pub(crate) type Counted = BTreeMap<Vec<u8>, Option<u64>>;

/// Counts the lines of `paths` below `root`, away from the async threads.
///
/// # Errors
/// [`GitError::TimedOut`] when `deadline` passes.
pub(crate) async fn count_lines(
    root: PathBuf,
    paths: Vec<Vec<u8>>,
    deadline: Instant,
) -> Result<Counted, GitError> {
    const COMMAND: &str = "untracked files";
    let count = tokio::task::spawn_blocking(move || count_all(&root, paths, deadline));
    match count.await {
        Ok(Some(counted)) => Ok(counted),
        Ok(None) => Err(GitError::TimedOut { command: COMMAND }),
        Err(ended) => Err(GitError::Io {
            command: COMMAND,
            source: io::Error::other(ended),
        }),
    }
}

fn count_all(root: &Path, paths: Vec<Vec<u8>>, deadline: Instant) -> Option<Counted> {
    let mut left = bounds::UNTRACKED_TOTAL_BYTES;
    let mut counted = Counted::new();
    for path in paths {
        if deadline <= Instant::now() {
            return None;
        }
        match lines(root, &path, &mut left) {
            Ok(lines) => drop(counted.insert(path, lines)),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => {}
            // It is there but may not be read: a file with no lines.
            Err(_) => drop(counted.insert(path, None)),
        }
    }
    Some(counted)
}

fn lines(root: &Path, path: &[u8], left: &mut u64) -> io::Result<Option<u64>> {
    // A repository inside the worktree; its files are its own.
    if path.ends_with(b"/") {
        return Ok(None);
    }
    match confined::open(root, path)? {
        Found::Link(_) => Ok(Some(1)),
        Found::Other => Ok(None),
        Found::File(file, size) => {
            let most = bounds::UNTRACKED_FILE_BYTES.min(*left);
            if most < size {
                return Ok(None);
            }
            let mut text = Vec::new();
            // It may grow while it is read.
            file.take(most).read_to_end(&mut text)?;
            *left = left.saturating_sub(u64::try_from(text.len()).unwrap_or(u64::MAX));
            Ok((!is_binary(&text)).then(|| count(&text)))
        }
    }
}

/// Whether Git takes this content for something else than text.
pub(crate) fn is_binary(content: &[u8]) -> bool {
    content
        .iter()
        .take(BINARY_PROBE_BYTES)
        .any(|byte| *byte == 0)
}

/// Lines, the last one with or without an end.
pub(crate) fn count(text: &[u8]) -> u64 {
    let ends = text.iter().filter(|byte| **byte == b'\n').count();
    let open = usize::from(text.last().is_some_and(|last| *last != b'\n'));
    u64::try_from(ends + open).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_git_counts_them() {
        for (text, lines) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)] {
            assert_eq!(count(text.as_bytes()), lines, "{text:?}");
        }
    }

    #[test]
    fn reading_is_bounded_per_file_and_in_total() {
        let root = tempfile::tempdir().unwrap();
        let limit = usize::try_from(bounds::UNTRACKED_FILE_BYTES).unwrap();
        std::fs::write(root.path().join("fits"), "x\n".repeat(limit / 2)).unwrap();
        std::fs::write(root.path().join("large"), "x\n".repeat(limit / 2 + 1)).unwrap();

        let mut left = bounds::UNTRACKED_TOTAL_BYTES;
        assert_eq!(lines(root.path(), b"large", &mut left).unwrap(), None);
        let files = bounds::UNTRACKED_TOTAL_BYTES / bounds::UNTRACKED_FILE_BYTES;
        for _ in 0..files {
            assert!(lines(root.path(), b"fits", &mut left).unwrap().is_some());
        }
        assert_eq!(lines(root.path(), b"fits", &mut left).unwrap(), None);
    }
}
