//! Opening a file of a worktree without ever leaving it.
//!
//! Invariant: no symbolic link is followed, not even in the middle of a path, however quickly an agent swaps a
//! folder for a link. Each part is opened relative to the one before it.
//! Invariant: opening never blocks; a named pipe is recognised and left alone.

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat, readlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What stands at a path.
pub(crate) enum Found {
    /// A regular file of this many bytes.
    File(File, u64),
    /// A symbolic link, not followed: where it points.
    Link(Vec<u8>),
    /// A folder, a pipe, a device.
    Other,
}

/// Whether a path names something below a root by its form alone: relative, with no empty, `.` or `..` part.
pub(crate) fn is_plain(path: &[u8]) -> bool {
    !path.contains(&0)
        && path
            .split(|byte| *byte == b'/')
            .all(|part| !matches!(part, b"" | b"." | b".."))
}

/// Opens `path` below `root`.
///
/// # Errors
/// Those of the file system; `InvalidInput` for a path that is not plain, `NotADirectory` for one that leads through
/// a symbolic link.
pub(crate) fn open(root: &Path, path: &[u8]) -> io::Result<Found> {
    if !is_plain(path) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, root, folder, Mode::empty())?;
    let mut parts = path
        .split(|byte| *byte == b'/')
        .map(OsStr::from_bytes)
        .peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return open_last(&at, part);
        }
        at = openat(&at, part, folder | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Err(io::ErrorKind::InvalidInput.into())
}

fn open_last(folder: &OwnedFd, name: &OsStr) -> io::Result<Found> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = match openat(folder, name, flags, Mode::empty()) {
        Ok(opened) => opened,
        // The two spellings of "it is a symbolic link".
        Err(Errno::LOOP | Errno::MLINK) => {
            return Ok(Found::Link(
                readlinkat(folder, name, Vec::new())?.into_bytes(),
            ));
        }
        Err(problem) => return Err(problem.into()),
    };
    let facts = fstat(&opened)?;
    Ok(match FileType::from_raw_mode(facts.st_mode) {
        FileType::RegularFile => Found::File(
            File::from(opened),
            u64::try_from(facts.st_size).unwrap_or(0),
        ),
        _ => Found::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_neither_followed_at_the_end_nor_in_the_middle() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("d")).unwrap();
        std::fs::write(root.path().join("d/f"), "text").unwrap();
        symlink("d", root.path().join("e")).unwrap();
        symlink("d/f", root.path().join("g")).unwrap();

        assert!(matches!(
            open(root.path(), b"d/f").unwrap(),
            Found::File(_, 4)
        ));
        assert!(matches!(open(root.path(), b"g").unwrap(), Found::Link(to) if to == b"d/f"));
        assert!(open(root.path(), b"e/f").is_err());
        assert!(matches!(open(root.path(), b"d").unwrap(), Found::Other));
    }

    #[test]
    fn only_plain_relative_paths_are_opened() {
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "./a",
            "a\0b",
        ] {
            assert!(!is_plain(path.as_bytes()), "{path:?}");
        }
        assert!(is_plain(b"a/..b/c"));
    }
}
