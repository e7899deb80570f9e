//! TypeScript from Rust: `web/src/wire/generated` is what `wire` and `model` say, never written by hand.
//!
//! The export is a set of tests of these two crates under their feature `ts`, named `export_bindings…`. They
//! always write into a fresh folder below the target directory; that folder then replaces the committed one,
//! or is compared with it. So a type that was removed in Rust goes, and a check changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use crate::places::Places;
use crate::{processes, screen, tools};

/// File name and content of every generated file.
type Generated = BTreeMap<PathBuf, String>;

/// Replaces the committed types.
pub(crate) fn write(places: &Places) -> anyhow::Result<()> {
    let fresh = export(places)?;
    let committed = committed_folder(places);
    if committed.exists() {
        fs::remove_dir_all(&committed)
            .with_context(|| format!("clearing {}", committed.display()))?;
    }
    for (name, content) in &fresh {
        let path = committed.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
    }
    screen::line(&format!(
        "{} files written to {}",
        fresh.len(),
        committed.display()
    ));
    Ok(())
}

/// Fails when the committed types are not what Rust says now.
pub(crate) fn check(places: &Places) -> anyhow::Result<()> {
    let fresh = export(places)?;
    let differences = differences(&read(&committed_folder(places))?, &fresh);
    if !differences.is_empty() {
        bail!(
            "web/src/wire/generated is out of date; run `cargo xtask types`\n{}",
            differences.join("\n")
        );
    }
    screen::line(&format!("{} generated files are current", fresh.len()));
    Ok(())
}

fn committed_folder(places: &Places) -> PathBuf {
    places.web.join("src").join("wire").join("generated")
}

fn export(places: &Places) -> anyhow::Result<Generated> {
    let folder = places.target.join("xtask").join("types");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("clearing {}", folder.display()))?;
    }
    // Both crates: what travels as untyped metadata inside a message is reachable from `model` only.
    processes::run(
        tools::cargo()
            .current_dir(&places.root)
            .env("TS_RS_EXPORT_DIR", &folder)
            .args(["test", "--quiet", "--package", "model", "--package", "wire"])
            .args(["--features", "model/ts,wire/ts", "--lib", "export_bindings"]),
    )?;
    let fresh = read(&folder)?;
    ensure!(!fresh.is_empty(), "`model` and `wire` exported no types");
    Ok(fresh)
}

fn read(folder: &Path) -> anyhow::Result<Generated> {
    let mut files = Generated::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        if !next.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let content = fs::read_to_string(&path)
                    .with_context(|| format!("reading {}", path.display()))?;
                files.insert(
                    path.strip_prefix(folder).unwrap_or(&path).to_path_buf(),
                    content,
                );
            }
        }
    }
    Ok(files)
}

fn differences(committed: &Generated, fresh: &Generated) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, content) in fresh {
        match committed.get(name) {
            None => lines.push(format!("  missing: {}", name.display())),
            Some(held) if held != content => lines.push(format!("  differs: {}", name.display())),
            Some(_) => {}
        }
    }
    for name in committed.keys().filter(|name| !fresh.contains_key(*name)) {
        lines.push(format!("  no longer generated: {}", name.display()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> Generated {
        list.iter()
            .map(|(name, content)| (PathBuf::from(name), (*content).to_owned()))
            .collect()
    }

    #[test]
    fn every_kind_of_drift_is_named() {
        let committed = files(&[("Same.ts", "a"), ("Changed.ts", "a"), ("Gone.ts", "a")]);
        let fresh = files(&[("Same.ts", "a"), ("Changed.ts", "b"), ("New.ts", "a")]);
        assert_eq!(
            differences(&committed, &fresh),
            [
                "  differs: Changed.ts",
                "  missing: New.ts",
                "  no longer generated: Gone.ts"
            ]
        );
        assert!(differences(&fresh, &fresh).is_empty());
    }
}
