//! Which Git is run, how much of it at once, and with which environment.
//!
//! The server's environment reaches Git except for two families: `GIT_*`, because a variable left over from a hook
//! or a terminal (`GIT_DIR`, `GIT_INDEX_FILE`, `GIT_EXTERNAL_DIFF`) would redirect every repository at once, and
//! `FLIGHTSTRIP_*`, because hooks and filters of a repository have no business with our secrets. The variables that
//! only say where a person's own Git configuration lies are kept.

use model::bounds;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

/// `GIT_*` variables that name configuration files rather than redirect a command.
const KEPT: &[&str] = &[
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// How [`crate::Git`] runs Git.
#[derive(Clone, Debug)]
pub struct GitConfig {
    pub(crate) program: PathBuf,
    pub(crate) concurrency: usize,
    pub(crate) environment: Arc<[(OsString, OsString)]>,
}

impl GitConfig {
    /// `git` from the search path, with as much concurrent work as there are cores (at least
    /// [`bounds::GIT_WORK_MIN`]), under the cleaned `environment` of the server.
    ///
    /// `environment` is what `std::env::vars_os()` returns; the binary reads it, not this crate.
    pub fn new(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            program: PathBuf::from("git"),
            concurrency: cores.max(bounds::GIT_WORK_MIN),
            environment: environment
                .into_iter()
                .filter(|(name, _)| reaches_git(name))
                .collect(),
        }
    }

    /// Uses this program instead of `git` from the search path.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Bounds the operations that run at once; at least one.
    #[must_use]
    pub fn with_concurrency(mut self, operations: usize) -> Self {
        self.concurrency = operations.max(1);
        self
    }
}

fn reaches_git(name: &OsStr) -> bool {
    // A name that is not text cannot be one of ours or Git's; both are ASCII.
    let Some(name) = name.to_str() else {
        return true;
    };
    KEPT.contains(&name) || !(name.starts_with("GIT_") || name.starts_with("FLIGHTSTRIP_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_configuration_files_survive_of_gits_own_variables() {
        let given = [
            "PATH",
            "GIT_DIR",
            "GIT_INDEX_FILE",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_COUNT",
            "FLIGHTSTRIP_SECRET",
        ];
        let config = GitConfig::new(given.map(|name| (OsString::from(name), OsString::from("x"))));
        let names: Vec<_> = config
            .environment
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        assert_eq!(names, ["PATH", "GIT_CONFIG_GLOBAL"]);
    }
}
