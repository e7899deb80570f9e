//! The browser for the browser tests: found, or installed where that can be done without asking.
//!
//! Chromium comes from the system's packages, never from a download of our own: it gets the system's security
//! updates and its libraries, and no second copy of it lies in a cache.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::{processes, screen, tools};

/// Names under which distributions install it.
const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "google-chrome-beta",
];

/// With the browser a font is needed: on a bare machine there is none, and every text would be boxes.
const PACKAGES: [&str; 2] = ["chromium", "fonts-liberation"];

const ADVICE: &str = "the browser tests need Chromium or Chrome: install one, \
    or set CHROMIUM to the path of its executable";

/// The executable, installed first when there is none and the machine lets us.
pub(crate) fn find_or_install() -> anyhow::Result<PathBuf> {
    if let Some(path) = find()? {
        return Ok(path);
    }
    if !Path::new("/etc/debian_version").exists() {
        bail!("{ADVICE}");
    }
    let Some(prefix) = administrator() else {
        bail!(
            "{ADVICE} (Debian: sudo apt-get install {})",
            PACKAGES.join(" ")
        );
    };
    screen::line("no browser found; installing Chromium with apt-get");
    processes::run_quietly(&mut apt_get(prefix, &["update"]))?;
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(PACKAGES);
    processes::run_quietly(&mut apt_get(prefix, &install))?;
    find()?.context("apt-get installed Chromium, but there is none on the PATH")
}

/// `CHROMIUM` if set, else the first browser on the PATH that starts.
fn find() -> anyhow::Result<Option<PathBuf>> {
    if let Some(path) = std::env::var_os("CHROMIUM").map(PathBuf::from) {
        if !starts(&path) {
            bail!("CHROMIUM names {}, which does not start", path.display());
        }
        return Ok(Some(path));
    }
    // Ubuntu's `chromium` package is a stub that needs a running snap service: ask it for its version.
    Ok(NAMES
        .iter()
        .filter_map(|name| tools::on_path(&[name]))
        .find(|path| starts(path)))
}

fn starts(path: &Path) -> bool {
    processes::succeeds(Command::new(path).arg("--version"))
}

/// How to run a command as root without a prompt: nothing in front, `sudo -n`, or not at all.
fn administrator() -> Option<&'static [&'static str]> {
    if rustix::process::geteuid().is_root() {
        Some(&[])
    } else if processes::succeeds(Command::new("sudo").args(["-n", "true"])) {
        Some(&["sudo", "-n"])
    } else {
        None
    }
}

fn apt_get(prefix: &[&str], arguments: &[&str]) -> Command {
    let mut words = prefix
        .iter()
        .chain(&["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"])
        .copied();
    let mut command = Command::new(words.next().unwrap_or("env"));
    command.args(words).args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(prefix: &[&str]) -> Vec<String> {
        let command = apt_get(prefix, &["update"]);
        let program = command.get_program().to_string_lossy().into_owned();
        let arguments = command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned());
        std::iter::once(program).chain(arguments).collect()
    }

    #[test]
    fn the_package_manager_asks_nobody() {
        assert_eq!(
            words(&[]),
            ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "update"]
        );
        let with_sudo = [
            "sudo",
            "-n",
            "env",
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "update",
        ];
        assert_eq!(words(&["sudo", "-n"]), with_sudo);
    }
}
