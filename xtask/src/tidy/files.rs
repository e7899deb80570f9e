//! The text of the repository, read once.
//!
//! Git says which files belong to it: those it tracks and those it would track, so a forgotten `git add` is
//! checked too and nothing that is ignored can fail a check. Files that are not UTF-8 have no rules.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::processes;

/// Path relative to the root, with `/`, to content.
pub(crate) type Tree = BTreeMap<String, String>;

/// Reads every text file that Git knows or would take.
pub(crate) fn read(root: &Path) -> anyhow::Result<Tree> {
    // A build machine may check out as another user than it runs as; we only list, so that is no danger.
    let names = processes::read(Command::new("git").current_dir(root).args([
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .filter_map(|name| {
            Some((
                name.to_owned(),
                std::fs::read_to_string(root.join(name)).ok()?,
            ))
        })
        .collect())
}

/// The files whose name ends in one of `endings`, below `folder` (empty: anywhere).
pub(crate) fn below<'a>(
    tree: &'a Tree,
    folder: &'a str,
    endings: &'a [&str],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    tree.iter()
        .filter(move |(path, _)| path.starts_with(folder))
        .filter(move |(path, _)| endings.iter().any(|ending| path.ends_with(ending)))
        .map(|(path, text)| (path.as_str(), text.as_str()))
}

/// A tree for tests.
#[cfg(test)]
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}
