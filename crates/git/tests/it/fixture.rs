//! Real repositories in throwaway folders.

use git::Git;
use git::config::GitConfig;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder tree that goes with the test, with one repository in `repo`.
pub(crate) struct Fixture {
    root: TempDir,
}

/// A working tree in it.
#[derive(Clone)]
pub(crate) struct Tree {
    pub(crate) path: PathBuf,
}

/// The environment of Git in tests: nothing of the machine's configuration.
fn environment() -> [(OsString, OsString); 4] {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    [
        ("PATH".into(), path),
        ("HOME".into(), "/nonexistent".into()),
        ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
        ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
    ]
}

/// Git under test.
pub(crate) fn config() -> GitConfig {
    GitConfig::new(environment())
}

pub(crate) fn git() -> Git {
    Git::new(config())
}

impl Fixture {
    /// Only the folder.
    pub(crate) fn empty() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        Self { root }
    }

    /// A repository without a commit, on `main`.
    pub(crate) fn unborn() -> (Self, Tree) {
        let fixture = Self::empty();
        let tree = fixture.init("repo");
        (fixture, tree)
    }

    /// A repository on `main` with one commit of these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> (Self, Tree) {
        let (fixture, tree) = Self::unborn();
        for (path, text) in files {
            tree.write(path, text);
        }
        tree.commit("start");
        (fixture, tree)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // Git names folders without symbolic links, and a temporary folder may lie behind one.
        let root = self.root.path().canonicalize().expect("the folder exists");
        root.join(name)
    }

    pub(crate) fn init(&self, name: &str) -> Tree {
        let path = self.path(name);
        fs::create_dir_all(&path).expect("a new folder");
        let tree = Tree { path };
        tree.git(&["init", "-q", "-b", "main"]);
        tree.identify();
        tree
    }

    /// A worktree of `repo` on a new branch from `base`.
    pub(crate) fn worktree(&self, repo: &Tree, branch: &str, base: &str) -> Tree {
        let path = self.path(&format!("trees/{branch}"));
        let target = path.to_str().expect("a UTF-8 folder");
        repo.git(&[
            "worktree",
            "add",
            "-q",
            "--no-track",
            "-b",
            branch,
            target,
            base,
        ]);
        Tree { path }
    }

    /// An executable script.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
        path
    }
}

impl Tree {
    /// Runs Git here; it must succeed. Its output without the last line end.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {complaint}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    pub(crate) fn try_git(&self, args: &[&str]) -> Output {
        Command::new("git")
            .args(args)
            .current_dir(&self.path)
            .env_clear()
            .envs(environment())
            .output()
            .expect("git starts")
    }

    pub(crate) fn identify(&self) {
        self.git(&["config", "user.name", "A Tester"]);
        self.git(&["config", "user.email", "tester@example.com"]);
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path.join(path);
        let folder = path.parent().expect("a file has a folder");
        fs::create_dir_all(folder).expect("its folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path.join(path)).expect("a file to read")
    }

    /// Commits everything and returns the commit.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
        self.head()
    }

    pub(crate) fn commit_empty(&self) {
        self.git(&["commit", "-q", "--allow-empty", "-m", "empty"]);
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// The folder that holds this tree's index.
    pub(crate) fn git_dir(&self) -> PathBuf {
        PathBuf::from(self.git(&["rev-parse", "--absolute-git-dir"]))
    }
}

/// `lines(3)` is "1\n2\n3\n".
pub(crate) fn lines(number: usize) -> String {
    (1..=number).map(|line| format!("{line}\n")).collect()
}

/// Every file below a folder with its size and time of change.
pub(crate) fn footprint(folder: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a readable folder") {
            let entry = entry.expect("an entry");
            let facts = entry.metadata().expect("its facts");
            let changed = facts.modified().expect("a time of change");
            found.push((entry.path(), facts.len(), changed));
            if facts.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    found
}
