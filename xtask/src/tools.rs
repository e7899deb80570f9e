//! The programs that must be there before anything else, and what to do when one is not.
//!
//! Checked first, because the errors of a missing tool deep inside a build tell nobody what to install.

use std::path::PathBuf;
use std::process::Command;

use anyhow::bail;

use crate::processes;

/// A program that is needed.
struct Tool {
    command: &'static str,
    /// Least version; `[0, 0]`: any.
    least: [u32; 2],
    /// Completes "install …".
    how: &'static str,
}

const GIT: Tool = Tool {
    command: "git",
    least: [2, 38],
    how: "Git 2.38 or newer (Debian: apt-get install git)",
};
const NODE: Tool = Tool {
    command: "node",
    least: [20, 19],
    how: "Node.js 20.19 or newer from https://nodejs.org (the package of Debian 12 is too old)",
};
const NPM: Tool = Tool {
    command: "npm",
    least: [9, 0],
    how: "npm 9 or newer; it comes with Node.js",
};
const C_COMPILER: Tool = Tool {
    command: "cc",
    least: [0, 0],
    how: "a C compiler (Debian: apt-get install gcc libc6-dev)",
};

/// What building needs.
const TO_BUILD: [Tool; 4] = [GIT, NODE, NPM, C_COMPILER];

/// Fails with one message that names everything missing.
pub(crate) fn check_for_building() -> anyhow::Result<()> {
    let missing: Vec<String> = TO_BUILD.iter().filter_map(problem).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        bail!("{}", missing.join("\n"))
    }
}

/// As for building, and the parts of the Rust toolchain that checks use.
pub(crate) fn check_for_testing() -> anyhow::Result<()> {
    check_for_building()?;
    for (component, name) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !processes::succeeds(cargo().args([component, "--version"])) {
            bail!("`cargo {component}` is missing: install it with `rustup component add {name}`");
        }
    }
    Ok(())
}

/// The Cargo that runs us.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The first of these programs that is on the PATH.
pub(crate) fn on_path(names: &[&str]) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
}

fn problem(tool: &Tool) -> Option<String> {
    let Ok(text) = processes::read(Command::new(tool.command).arg("--version")) else {
        return Some(format!(
            "`{}` is missing: install {}",
            tool.command, tool.how
        ));
    };
    match version(&text) {
        Some(found) if found < tool.least => {
            let [major, minor] = found;
            Some(format!(
                "`{}` is version {major}.{minor}: install {}",
                tool.command, tool.how
            ))
        }
        // A version that we cannot read is no reason to refuse a tool that answers.
        _ => None,
    }
}

/// The first `major.minor` in what a tool says about itself.
fn version(text: &str) -> Option<[u32; 2]> {
    text.split(|character: char| !character.is_ascii_digit() && character != '.')
        .find_map(|word| {
            let mut numbers = word.split('.').map(str::parse::<u32>);
            match (numbers.next(), numbers.next()) {
                (Some(Ok(major)), Some(Ok(minor))) => Some([major, minor]),
                _ => None,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_tools_say() {
        assert_eq!(version("v20.20.2\n"), Some([20, 20]));
        assert_eq!(version("git version 2.47.3\n"), Some([2, 47]));
        assert_eq!(version("git version 2.39.5 (Apple Git-154)"), Some([2, 39]));
        assert_eq!(version("cc (Debian 12.2.0-14) 12.2.0"), Some([12, 2]));
        assert_eq!(version("unknown"), None);
    }

    #[test]
    fn versions_compare_by_number_and_not_by_text() {
        assert!([20, 9] < [20, 19]);
        assert!([18, 19] < NODE.least);
    }
}
