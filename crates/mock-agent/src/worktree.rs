//! What the agent does to its worktree: files, commands, commits. Paths never leave it.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// A file inside `cwd`; `None` when the path points outside.
#[must_use]
pub fn inside(cwd: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path);
    let plain = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    (plain && !path.is_empty()).then(|| cwd.join(relative))
}

/// Writes a file, with its folders; its text before, if it had one.
///
/// # Errors
/// When the file system refuses.
pub fn write(path: &Path, text: &str) -> io::Result<Option<String>> {
    let before = fs::read_to_string(path).ok();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)?;
    Ok(before)
}

/// The files of a worktree, relative, sorted, without hidden ones and heavy folders; at most `limit`.
#[must_use]
pub fn files(cwd: &Path, limit: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![cwd.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let heavy = matches!(
                name.as_str(),
                "node_modules" | "target" | "dist" | "build" | "vendor"
            );
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if name.starts_with('.') || (kind.is_dir() && heavy) {
                continue;
            }
            if kind.is_dir() {
                folders.push(entry.path());
            } else if let Ok(relative) = entry.path().strip_prefix(cwd) {
                found.push(relative.to_string_lossy().into_owned());
            }
            if limit <= found.len() {
                return found;
            }
        }
    }
    found.sort();
    found
}

/// A running shell command whose output is being collected.
#[derive(Debug)]
pub struct Running {
    child: Child,
    output: thread::JoinHandle<String>,
}

/// Starts `command` in a shell in `cwd`.
///
/// # Errors
/// When no shell can be started.
pub fn shell(cwd: &Path, command: &str) -> io::Result<Running> {
    let mut child = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let pipe = child.stdout.take();
    let output = thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still output.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    Ok(Running { child, output })
}

impl Running {
    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it.
    pub fn kill(&mut self) {
        // It may have ended by itself in between.
        let _ = self.child.kill();
    }

    /// Its exit code and its output, once it has ended.
    pub fn finish(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().ok().and_then(|status| status.code());
        (code, self.output.join().unwrap_or_default())
    }
}

/// The command that commits everything, in the name of the demo agent where the repository knows no other.
#[must_use]
pub fn commit_command(message: &str) -> String {
    let quoted = message.replace('\'', r"'\''");
    format!(
        "git add -A && git -c user.name=\"$(git config user.name || echo 'Demo agent')\" \
         -c user.email=\"$(git config user.email || echo demo@localhost)\" commit -q --no-gpg-sign -m '{quoted}' && \
         git log -1 --format='%h %s'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_do_not_leave_the_worktree() {
        let cwd = Path::new("/w");
        assert_eq!(inside(cwd, "a/b"), Some(PathBuf::from("/w/a/b")));
        for path in ["../a", "/etc/passwd", "a/../../b", ""] {
            assert_eq!(inside(cwd, path), None, "{path}");
        }
    }

    #[test]
    fn files_are_found_and_commands_run() {
        let folder = tempfile::tempdir().expect("a folder");
        write(&folder.path().join("b/c.txt"), "x").expect("written");
        write(&folder.path().join("node_modules/d.txt"), "x").expect("written");
        assert_eq!(
            write(&folder.path().join("a.txt"), "1").expect("written"),
            None
        );
        assert_eq!(
            write(&folder.path().join("a.txt"), "2").expect("written"),
            Some("1".into())
        );
        assert_eq!(files(folder.path(), 10), ["a.txt", "b/c.txt"]);
        let (code, output) = shell(folder.path(), "cat a.txt; echo no >&2; exit 3")
            .expect("started")
            .finish();
        assert_eq!((code, output.as_str()), (Some(3), "2no\n"));
    }
}
