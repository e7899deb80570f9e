//! Which Git is new enough.
//!
//! An older one would be dangerous rather than merely unable: before 2.31 it ignores the variables by which
//! observing switches filters off, and would run them. Before 2.38 it cannot compute a merge beside the working
//! trees.

use crate::Work;
use crate::error::GitError;
use crate::process::Call;
use std::ffi::OsStr;
use std::path::Path;

/// Major and minor number.
const MINIMUM: (u32, u32) = (2, 38);

/// Asks the program for its version.
///
/// # Errors
/// It cannot be started, does not tell, or is too old.
pub(crate) async fn check(work: &Work) -> Result<(), GitError> {
    const COMMAND: &str = "version";
    let answer = work
        .run(Call {
            name: COMMAND,
            // Any folder will do, but the current one may be gone.
            folder: Path::new("/"),
            args: &[OsStr::new("version")],
            environment: &[],
            stdin: None,
            answers: &[0],
            writes: false,
        })
        .await?;
    let line = answer.line();
    match parse(&line) {
        None => Err(GitError::Malformed { command: COMMAND }),
        Some(found) if found < MINIMUM => Err(GitError::TooOld {
            found: format!("{}.{}", found.0, found.1),
            needed: format!("{}.{}", MINIMUM.0, MINIMUM.1),
        }),
        Some(_) => Ok(()),
    }
}

/// `git version 2.47.3` and whatever a distribution appends.
fn parse(line: &str) -> Option<(u32, u32)> {
    let mut numbers = line.strip_prefix("git version ")?.split(['.', ' ', '-']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_version_is_read_whatever_a_distribution_appends() {
        assert_eq!(parse("git version 2.47.3"), Some((2, 47)));
        assert_eq!(parse("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(parse("git version 3.0-rc1"), Some((3, 0)));
        assert_eq!(parse("usage: git"), None);
    }
}
