//! The browser for the browser tests: found, or installed where that can be done without asking.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::packages::Installer;
use crate::{processes, tools};

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
    Installer::find(ADVICE, &PACKAGES)?.install(&PACKAGES)?;
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
