//! Copies of a SQLite database: the one made before a migration, and `flightstrip backup`.
//!
//! A copy is one file, consistent as of one moment, made while others write (`VACUUM INTO`), readable by its owner
//! only, checked, and flushed to the disk before anything relies on it. Nothing is ever overwritten. PostgreSQL has
//! its own programs for this.

use crate::cli::BackupOptions;
use crate::clock::process_clock;
use crate::data_dir;
use crate::database::Database;
use anyhow::{Context, bail, ensure};
use model::bounds;
use model::clock::Timestamp;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use store::backup::{CopyOutcome, is_sound};
use store::open::Store;

/// A finished copy.
pub(crate) struct Copied {
    pub(crate) file: PathBuf,
    pub(crate) bytes: u64,
}

/// `flightstrip backup`.
pub(crate) async fn backup(options: BackupOptions) -> anyhow::Result<ExitCode> {
    let dir = data_dir::choose(options.data_dir, "flightstrip")?;
    let database = Database::choose(options.database.url.as_deref(), &dir)?;
    if matches!(database, Database::Postgres(_)) {
        bail!(
            "a PostgreSQL database is copied by its own programs: pg_dump --format=custom --file=FILE, and pg_restore \
             to bring it back; nothing was copied"
        );
    }
    let store = database.open_existing(Arc::new(process_clock())).await?;
    let file = match options.file {
        Some(file) => std::path::absolute(file).context("the path of the copy cannot be used")?,
        None => folder(&dir)?.join(format!("flightstrip-{}.db", digits(store.now()))),
    };
    let copied = copy(&store, &file).await;
    store.close().await;
    let Copied { file, bytes } = copied?;
    writeln!(std::io::stdout(), "{} ({bytes} bytes)", file.display())
        .context("the copy is made, but its path cannot be printed")?;
    Ok(ExitCode::SUCCESS)
}

/// The copy that a migration waits for. Older ones beyond the bounds are removed, unless that fails: a start does not
/// depend on it.
pub(crate) async fn before_migration(
    store: &Store,
    dir: &Path,
    schema: i64,
) -> anyhow::Result<Copied> {
    let folder = folder(dir)?;
    let file = folder.join(name(schema, store.now()));
    let copied = copy(store, &file).await?;
    if let Err(error) = prune(&folder) {
        tracing::warn!(kind = ?error.kind(), "old backups could not be removed");
    }
    Ok(copied)
}

fn folder(dir: &Path) -> anyhow::Result<PathBuf> {
    let folder = dir.join("backups");
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    Ok(folder)
}

async fn copy(store: &Store, file: &Path) -> anyhow::Result<Copied> {
    let shown = file.display();
    // It exists, empty and closed to others, before anything is written into it.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .with_context(|| format!("the backup {shown} cannot be made"))?;
    let finished = fill(store, file).await;
    if finished.is_err() {
        // A part of a copy helps nobody; that it cannot be removed either is no news.
        let _ = std::fs::remove_file(file);
    }
    let bytes = finished.with_context(|| {
        format!("the backup {shown} could not be finished and was removed; is the disk full?")
    })?;
    Ok(Copied {
        file: file.to_path_buf(),
        bytes,
    })
}

async fn fill(store: &Store, file: &Path) -> anyhow::Result<u64> {
    let outcome = store.copy_into(file).await?;
    ensure!(
        outcome == CopyOutcome::Copied,
        "this engine has programs of its own for that"
    );
    ensure!(
        is_sound(file).await?,
        "the copy is damaged, so the database may be: run `flightstrip doctor`"
    );
    let open = File::open(file)?;
    open.sync_all()?;
    if let Some(parent) = file.parent() {
        File::open(parent)?.sync_all()?; // its name lasts as well
    }
    Ok(open.metadata()?.len())
}

/// `20260102T030405.678901Z`: sorts by time.
fn digits(at: Timestamp) -> String {
    at.to_string()
        .chars()
        .filter(|char| !matches!(char, '-' | ':'))
        .collect()
}

fn name(schema: i64, at: Timestamp) -> String {
    format!("flightstrip-{schema}-{}.db", digits(at))
}

/// Schema and time of a copy made before a migration; nothing for any other file, which is never touched.
fn read_name(name: &str) -> Option<(i64, &str)> {
    let (schema, at) = name
        .strip_prefix("flightstrip-")?
        .strip_suffix(".db")?
        .split_once('-')?;
    let ours = at.ends_with('Z')
        && at
            .chars()
            .all(|char| char.is_ascii_digit() || matches!(char, 'T' | '.' | 'Z'));
    ours.then_some((schema.parse().ok()?, at))
}

/// Which of these files are too many: per schema the newest stay, and of those the newest of all.
fn too_many(names: &[String]) -> Vec<&String> {
    let mut ours: Vec<(&str, i64, &String)> = names
        .iter()
        .filter_map(|name| read_name(name).map(|(schema, at)| (at, schema, name)))
        .collect();
    ours.sort();
    let mut kept: Vec<i64> = Vec::new();
    let mut surplus = Vec::new();
    for (_, schema, name) in ours.into_iter().rev() {
        let alike = kept.iter().filter(|&&other| other == schema).count();
        if alike < bounds::BACKUPS_OF_ONE_SCHEMA && kept.len() < bounds::BACKUPS_KEPT {
            kept.push(schema);
        } else {
            surplus.push(name);
        }
    }
    surplus
}

fn prune(folder: &Path) -> std::io::Result<()> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string());
    }
    for name in too_many(&names) {
        std::fs::remove_file(folder.join(name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_schema_and_time_and_sort_by_it() {
        let at = Timestamp::from_micros(1_767_323_045_678_901);
        let made = name(12, at);
        assert_eq!(made, "flightstrip-12-20260102T030405.678901Z.db");
        assert_eq!(read_name(&made), Some((12, "20260102T030405.678901Z")));
        for other in [
            "flightstrip.db",
            "flightstrip-20260102T030405.678901Z.db",
            "flightstrip-1-mine.db",
            "flightstrip-x-20260102T030405.678901Z.db",
            "notes.txt",
        ] {
            assert_eq!(read_name(other), None, "{other}");
        }
    }

    #[test]
    fn starts_that_fail_again_and_again_do_not_push_out_older_schemas() {
        let at = |n: i64| Timestamp::from_micros(1_767_323_045_000_000 + n);
        let mut names = vec![
            name(1, at(0)),
            "flightstrip-20260102T030405.678901Z.db".to_owned(),
        ];
        names.extend((1..=50).map(|n| name(2, at(n))));
        let surplus = too_many(&names);
        let kept: Vec<&String> = names
            .iter()
            .filter(|name| !surplus.contains(name))
            .collect();
        let newest: Vec<String> = (48..=50).map(|n| name(2, at(n))).collect();
        let expected: Vec<&String> = names.iter().take(2).chain(&newest).collect();
        assert_eq!(kept, expected);
        let many: Vec<String> = (0..30).map(|n| name(n, at(n))).collect();
        let surplus = too_many(&many);
        assert_eq!(surplus.len(), 30 - bounds::BACKUPS_KEPT);
        assert!(surplus.contains(&&many[0]) && !surplus.contains(&&many[29]));
    }
}
