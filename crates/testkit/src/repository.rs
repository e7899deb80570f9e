//! Real Git repositories, made by the Git command line with a configuration of their own.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A repository in a folder that goes with this value.
#[derive(Debug)]
pub struct Repository {
    dir: TempDir,
}

impl Repository {
    /// A repository with one commit on `main`: a README and a source file.
    ///
    /// # Errors
    /// When Git fails.
    pub fn new() -> Result<Self> {
        let repository = Self {
            dir: tempfile::Builder::new().prefix("repository-").tempdir()?,
        };
        repository.git(&["init", "--quiet", "--initial-branch=main"])?;
        for (name, value) in [
            ("user.name", "Test"),
            ("user.email", "test@example.invalid"),
        ] {
            repository.git(&["config", name, value])?;
        }
        repository.write("README.md", "# Sample\n\nA sample project.\n")?;
        repository.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n")?;
        repository.commit("first")?;
        Ok(repository)
    }

    /// Its top level, without symbolic links.
    ///
    /// # Errors
    /// When the folder is gone.
    pub fn path(&self) -> Result<PathBuf> {
        self.dir
            .path()
            .canonicalize()
            .context("the repository's folder is gone")
    }

    /// Writes a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        let file = self.dir.path().join(path);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)?;
        }
        Ok(std::fs::write(file, text)?)
    }

    /// Commits everything.
    ///
    /// # Errors
    /// When Git fails.
    pub fn commit(&self, message: &str) -> Result<()> {
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message])
            .map(drop)
    }

    /// Runs Git in it and gives its output.
    ///
    /// # Errors
    /// When Git fails.
    pub fn git(&self, args: &[&str]) -> Result<String> {
        git(self.dir.path(), args)
    }
}

/// Runs Git in a folder and gives its output, without the user's own configuration.
///
/// # Errors
/// When Git fails; the error holds what it said.
pub fn git(dir: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .current_dir(dir)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .context("git cannot be started")?;
    ensure!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned())
}
