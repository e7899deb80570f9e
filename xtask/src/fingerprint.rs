//! Has anything changed since the last time? Answered by content, never by file times.
//!
//! A fingerprint is a SHA-256 over names and contents. A stamp is a file that holds the fingerprint of a past
//! success. Checking out another branch and coming back therefore costs nothing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

/// SHA-256 of the given parts, each preceded by its length so that no two lists of parts agree by accident.
pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Fingerprint of every file below `folder`, except in folders whose name is in `without`.
pub(crate) fn of_folder(folder: &Path, without: &[&str]) -> anyhow::Result<String> {
    let mut files = Vec::new();
    collect(folder, without, &mut files)?;
    files.sort();
    let mut parts: Vec<Vec<u8>> = Vec::with_capacity(files.len() * 2);
    for file in &files {
        let name = file.strip_prefix(folder).unwrap_or(file);
        parts.push(name.to_string_lossy().into_owned().into_bytes());
        parts.push(fs::read(file).with_context(|| format!("reading {}", file.display()))?);
    }
    Ok(of_parts(parts.iter().map(Vec::as_slice)))
}

fn collect(folder: &Path, without: &[&str], files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !without.iter().any(|name| entry.file_name() == *name) {
                collect(&entry.path(), without, files)?;
            }
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Whether the stamp at `path` holds exactly this fingerprint.
pub(crate) fn is_stamped(path: &Path, fingerprint: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|held| held.trim() == fingerprint)
}

/// Records a success.
pub(crate) fn stamp(path: &Path, fingerprint: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    fs::write(path, fingerprint).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(
            of_parts([b"ab".as_slice(), b"c"]),
            of_parts([b"a".as_slice(), b"bc"])
        );
    }
}
