//! Stopping a whole server at one moment of one transaction, so that a test can kill it there.
//!
//! A test that starts the real program cannot reach into it; it names the moment in the environment of that process
//! ([`VARIABLE`]) and arms it with a file. Whoever reaches the moment while the file is there writes a second file
//! beside it and goes no further; everybody else goes on until they need what that one holds.

use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// `<moment> <file> <fragment>`: the moment of a transaction that runs a statement with this fragment, while the file
/// exists. `statement`: before that statement. `before-commit`, `after-commit`: of its transaction.
pub const VARIABLE: &str = "FLIGHTSTRIP_TEST_HALT";

/// When.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Statement,
    BeforeCommit,
    AfterCommit,
}

#[derive(Debug, PartialEq, Eq)]
struct Halt {
    moment: Moment,
    armed: PathBuf,
    fragment: String,
}

/// The file that says that the moment is reached.
#[must_use]
pub fn reached(armed: &Path) -> PathBuf {
    armed.with_extension("reached")
}

fn halt() -> Option<&'static Halt> {
    static HALT: OnceLock<Option<Halt>> = OnceLock::new();
    HALT.get_or_init(|| read(&std::env::var(VARIABLE).ok()?))
        .as_ref()
}

fn read(text: &str) -> Option<Halt> {
    let mut words = text.splitn(3, ' ');
    let moment = match words.next()? {
        "statement" => Moment::Statement,
        "before-commit" => Moment::BeforeCommit,
        "after-commit" => Moment::AfterCommit,
        _ => return None,
    };
    Some(Halt {
        moment,
        armed: words.next()?.into(),
        fragment: words.next()?.to_owned(),
    })
}

/// Says whether this is the statement; goes no further when that is the moment.
pub(crate) async fn at_statement(text: &str) -> bool {
    let Some(halt) = halt().filter(|halt| text.contains(&halt.fragment)) else {
        return false;
    };
    if halt.moment == Moment::Statement {
        stop(halt).await;
    }
    true
}

/// A transaction that did or did not run the statement.
pub(crate) async fn at_commit(ran: bool, moment: Moment) {
    if let Some(halt) = halt().filter(|halt| ran && halt.moment == moment) {
        stop(halt).await;
    }
}

async fn stop(halt: &Halt) {
    if halt.armed.exists() {
        // A test that cannot see this waits in vain and says so.
        let _ = std::fs::write(reached(&halt.armed), "");
        pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_from_one_text() {
        let expected = Halt {
            moment: Moment::AfterCommit,
            armed: "/tmp/x".into(),
            fragment: "INSERT INTO a".to_owned(),
        };
        assert_eq!(read("after-commit /tmp/x INSERT INTO a"), Some(expected));
        assert_eq!(read("sometime /tmp/x y"), None);
        assert_eq!(read("statement /tmp/x"), None);
    }
}
