//! Where things are: the repository, its build output and the web app.
//!
//! Everything else asks here, so that the commands work from any folder and with any target directory.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The folders that the commands work in, all absolute.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// The React app.
    pub(crate) web: PathBuf,
    /// Cargo's target directory, wherever the user has put it.
    pub(crate) target: PathBuf,
    /// Installed agents that nobody here wrote; git-ignored.
    pub(crate) agents: PathBuf,
}

impl Places {
    /// Finds the repository from the manifest that Cargo ran us from, and the target directory from our own
    /// executable (`TARGET/debug/xtask`), which holds however the target directory was chosen.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .parent()
            .context("xtask stands in the root of the repository")?
            .to_path_buf();
        let executable = std::env::current_exe().context("finding our own executable")?;
        let target = executable
            .parent()
            .and_then(Path::parent)
            .context("xtask runs from Cargo's target directory")?
            .to_path_buf();
        Ok(Self {
            web: root.join("web"),
            agents: root.join(".agents"),
            root,
            target,
        })
    }

    /// A stamp: a small file that says which state of the sources a past result belongs to.
    pub(crate) fn stamp(&self, name: &str) -> PathBuf {
        self.target.join("xtask").join(name)
    }
}
