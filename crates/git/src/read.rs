//! How observing is made safe: the folder is checked, and everything a repository could run is switched off by name.
//!
//! Git runs what configuration tells it to, and an agent can write configuration. Most of it has a switch (below).
//! Filters have none: `git status` runs the clean filter of any file whose time-stamp changed. So the drivers that
//! the configuration names are listed first (listing runs nothing), and each is overridden with an empty command,
//! which Git takes as "no filter". The overrides travel as environment variables, which rank above every file and,
//! unlike `-c`, allow any driver name.
//!
//! Invariant: a [`Place`] is the only way to run an observing command, and it exists only for a folder that is the
//! top level of its own working tree. A ceiling keeps later commands from answering for an enclosing repository
//! should the folder's own one vanish in between.
//!
//! The price of taking no lock: a refreshed index is never stored, so every look at a touched file reads it again
//! until the agent's own Git stores one. That costs time in very large repositories and is worth it: a lock taken by
//! a poll makes an agent's commit fail.
//!
//! A driver configured in the instant between listing and use could still run. It would run as the user whose agent
//! wrote it, who needs no such trick; this guards against accidents and against repositories from elsewhere.

use crate::Work;
use crate::error::GitError;
use crate::process::{Answer, Call};
use model::bounds;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Fixed settings of every observing command.
const ENVIRONMENT: &[(&str, &str)] = &[
    // Never takes `index.lock` to store a refreshed index (C19).
    ("GIT_OPTIONAL_LOCKS", "0"),
    // Paths are names, not patterns.
    ("GIT_LITERAL_PATHSPECS", "1"),
    // A partial clone would fetch missing objects: no network while observing. The second is for older Gits.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("GIT_PAGER", "cat"),
    // Refusals are recognised by their words.
    ("LC_ALL", "C"),
];

/// Configuration of every observing command; see `ENVIRONMENT` for why the rest has no entry here.
const OVERRIDES: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.alternateRefsCommand", "true"),
    ("diff.external", ""),
    ("diff.renameLimit", "1000"),
    ("submodule.recurse", "false"),
];

/// A folder that is the top level of its own working tree, ready to be observed.
pub(crate) struct Place<'w> {
    work: &'w Work,
    pub(crate) top_level: PathBuf,
    /// Names of the filter drivers that are switched off.
    pub(crate) filters: BTreeSet<String>,
    environment: Vec<(OsString, OsString)>,
}

impl<'w> Place<'w> {
    /// Checks the folder and switches its configuration off.
    ///
    /// # Errors
    /// The folder is missing, unreadable, no repository, or Git answers for another folder than this one.
    pub(crate) async fn open(work: &'w Work, folder: &Path) -> Result<Self, GitError> {
        let folder = real_folder(folder).await?;
        let mut place = Self::unchecked(work, folder.clone());
        place.forbid_parents();
        let top_level = place.top_level().await?;
        if top_level != folder {
            return Err(GitError::InsideParent { top_level });
        }
        place.switch_filters_off().await?;
        Ok(place)
    }

    /// A folder about which nothing is known yet; only for finding its top level.
    pub(crate) fn unchecked(work: &'w Work, folder: PathBuf) -> Self {
        Self {
            work,
            top_level: folder,
            filters: BTreeSet::new(),
            environment: environment(OVERRIDES.iter().map(|(key, value)| (*key, *value))),
        }
    }

    /// The top level that Git finds from this folder.
    pub(crate) async fn top_level(&self) -> Result<PathBuf, GitError> {
        let answer = self.run("rev-parse", ["--show-toplevel"]).await;
        match answer {
            Ok(answer) => Ok(path_of(&answer.stdout)),
            // Inside `.git`, or in a bare repository, there is no working tree to name.
            Err(GitError::Failed {
                code: Some(128), ..
            }) => {
                let bare = self.run("rev-parse", ["--is-bare-repository"]).await?;
                Err(if bare.line() == "true" {
                    GitError::Bare
                } else {
                    GitError::NotARepository
                })
            }
            Err(problem) => Err(problem),
        }
    }

    fn forbid_parents(&mut self) {
        if let Some(parent) = self.top_level.parent() {
            self.environment.push((
                OsString::from("GIT_CEILING_DIRECTORIES"),
                parent.as_os_str().to_owned(),
            ));
        }
    }

    async fn switch_filters_off(&mut self) -> Result<(), GitError> {
        let pattern = r"^filter\..*\.(clean|smudge|process|required)$";
        let args = ["-z", "--name-only", "--get-regexp", pattern];
        let listed = self.run_accepting("config", args, None, &[0, 1]).await?;
        let drivers: BTreeSet<String> = listed
            .stdout
            .split(|byte| *byte == 0)
            .filter_map(driver_of)
            .collect();
        if bounds::GIT_FILTER_DRIVERS < drivers.len() {
            return Err(GitError::TooManyFilters);
        }
        let off: Vec<(String, &str)> = drivers.iter().flat_map(|driver| without(driver)).collect();
        let all = OVERRIDES
            .iter()
            .map(|(key, value)| (*key, *value))
            .chain(off.iter().map(|(key, value)| (key.as_str(), *value)));
        self.environment = environment(all);
        self.forbid_parents();
        self.filters = drivers;
        Ok(())
    }

    /// Runs an observing command; any exit code but 0 is a failure.
    pub(crate) async fn run<const N: usize>(
        &self,
        name: &'static str,
        args: [&str; N],
    ) -> Result<Answer, GitError> {
        self.run_accepting(name, args, None, &[0]).await
    }

    /// Runs an observing command that may read input and whose `answers` are exit codes that mean something.
    pub(crate) async fn run_accepting<A: AsRef<OsStr>>(
        &self,
        name: &'static str,
        args: impl IntoIterator<Item = A>,
        stdin: Option<Vec<u8>>,
        answers: &[i32],
    ) -> Result<Answer, GitError> {
        let given: Vec<A> = args.into_iter().collect();
        let args: Vec<&OsStr> = [OsStr::new("--no-pager"), OsStr::new(name)]
            .into_iter()
            .chain(given.iter().map(AsRef::as_ref))
            .collect();
        self.work
            .run(Call {
                name,
                folder: &self.top_level,
                args: &args,
                environment: &self.environment,
                stdin,
                answers,
                writes: false,
            })
            .await
    }

    /// When the work must be over; for reading files beside Git.
    pub(crate) fn deadline(&self) -> tokio::time::Instant {
        self.work.deadline
    }
}

/// The folder without symbolic links, as Git names it.
pub(crate) async fn real_folder(folder: &Path) -> Result<PathBuf, GitError> {
    let real = tokio::fs::canonicalize(folder)
        .await
        .map_err(|problem| match problem.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => GitError::NotFound,
            _ => GitError::Unreadable,
        })?;
    // Asking for an entry needs both that it is a folder and that it may be read.
    match tokio::fs::read_dir(&real).await {
        Ok(_) => Ok(real),
        Err(_) => Err(GitError::Unreadable),
    }
}

/// A path that Git printed on a line of its own; a path may itself hold line ends.
pub(crate) fn path_of(line: &[u8]) -> PathBuf {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    PathBuf::from(OsString::from_vec(line.to_vec()))
}

/// The driver's name in `filter.<name>.<variable>`; the name keeps its case and may hold dots.
fn driver_of(key: &[u8]) -> Option<String> {
    let key = std::str::from_utf8(key).ok()?;
    let (name, _variable) = key.strip_prefix("filter.")?.rsplit_once('.')?;
    Some(name.to_owned())
}

fn without(driver: &str) -> [(String, &'static str); 4] {
    let key = |variable: &str| format!("filter.{driver}.{variable}");
    [
        (key("clean"), ""),
        (key("smudge"), ""),
        // Set but empty: Git then looks at neither `process` nor `clean`.
        (key("process"), ""),
        (key("required"), "false"),
    ]
}

fn environment<'a>(
    overrides: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = ENVIRONMENT
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    let mut count = 0_usize;
    for (key, value) in overrides {
        all.push((format!("GIT_CONFIG_KEY_{count}").into(), key.into()));
        all.push((format!("GIT_CONFIG_VALUE_{count}").into(), value.into()));
        count += 1;
    }
    all.push(("GIT_CONFIG_COUNT".into(), count.to_string().into()));
    all
}

/// A path of the worktree as an argument.
pub(crate) fn as_arg(path: &[u8]) -> &OsStr {
    OsStr::from_bytes(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drivers_name_may_hold_dots_equals_signs_and_capitals() {
        let name = |key: &str| driver_of(key.as_bytes());
        assert_eq!(name("filter.lfs.clean").as_deref(), Some("lfs"));
        assert_eq!(name("filter.a.B=c.process").as_deref(), Some("a.B=c"));
        assert_eq!(name("filter.clean"), None);
    }

    #[test]
    fn the_number_of_overrides_matches_their_names() {
        let made = environment([("a", "1"), ("b", "2")].into_iter());
        let value = |name: &str| {
            made.iter()
                .find(|(key, _)| key == name)
                .map(|(_, v)| v.clone())
        };
        assert_eq!(value("GIT_CONFIG_COUNT"), Some("2".into()));
        assert_eq!(value("GIT_CONFIG_KEY_1"), Some("b".into()));
        assert_eq!(value("GIT_CONFIG_VALUE_1"), Some("2".into()));
    }
}
