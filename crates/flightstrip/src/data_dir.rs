//! The data directory: found or chosen, made, and closed to everyone else.

use anyhow::{Context, bail};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The directory that was asked for, or the default one named `name` in the user's data home.
pub(crate) fn choose(given: Option<PathBuf>, name: &str) -> anyhow::Result<PathBuf> {
    if let Some(given) = given {
        return std::path::absolute(&given).context("the data directory's path cannot be used");
    }
    let variable = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let home = variable("XDG_DATA_HOME").or_else(|| Some(variable("HOME")?.join(".local/share")));
    match home {
        Some(home) => Ok(home.join(name)),
        None => bail!("neither HOME nor XDG_DATA_HOME is set; say where data goes with --data-dir"),
    }
}

/// Makes the directory with rights for its owner only.
pub(crate) fn prepare(dir: &Path) -> anyhow::Result<()> {
    let shown = dir.display();
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| format!("the data directory {shown} cannot be made"))?;
    let mode = std::fs::metadata(dir)
        .with_context(|| format!("{shown} cannot be read"))?
        .permissions()
        .mode();
    if mode & 0o077 != 0 {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).with_context(
            || format!("{shown} is open to other users and cannot be closed to them"),
        )?;
    }
    Ok(())
}
