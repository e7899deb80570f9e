//! The web app, as far as npm is concerned.
//!
//! `npm ci` runs when the lock file changed, `npm run build` when any source changed; both are decided by
//! content (`fingerprint`). What the scripts do is decided in `web/package.json`.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::places::Places;
use crate::stopwatch::Stopwatch;
use crate::{fingerprint, processes, screen};

/// Folders below `web/` that are made by tools or do not end up in the app.
const NOT_SOURCES: [&str; 5] = [
    "node_modules",
    "dist",
    "test-results",
    "playwright-report",
    "e2e",
];

/// Builds the app for `cargo xtask web`: packages, then the build, each only when needed.
pub(crate) fn build(places: &Places) -> anyhow::Result<()> {
    install(places)?;
    bundle(places)
}

/// Installs the packages of the lock file, unless exactly these are there.
pub(crate) fn install(places: &Places) -> anyhow::Result<()> {
    let watch = Stopwatch::start();
    let lock = places.web.join("package-lock.json");
    let lock = fs::read(&lock).with_context(|| format!("reading {}", lock.display()))?;
    let node = processes::read(Command::new("node").arg("--version"))?;
    let here = places.web.to_string_lossy();
    let wanted = fingerprint::of_parts([lock.as_slice(), node.as_bytes(), here.as_bytes()]);
    let stamp = places.stamp("web-install");
    let packages = places.web.join("node_modules");
    if packages.is_dir() && fingerprint::is_stamped(&stamp, &wanted) {
        screen::done("web packages are current", watch.elapsed());
        return Ok(());
    }
    processes::run_quietly(npm(places).args([
        "ci",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
    ]))?;
    fingerprint::stamp(&stamp, &wanted)?;
    screen::done("web packages installed", watch.elapsed());
    Ok(())
}

/// Bundles the app into `web/dist`, unless the bundle there was made from exactly these sources.
pub(crate) fn bundle(places: &Places) -> anyhow::Result<()> {
    let watch = Stopwatch::start();
    let wanted = fingerprint::of_folder(&places.web, &NOT_SOURCES)?;
    let stamp = places.stamp("web-build");
    let page = places.web.join("dist").join("index.html");
    if page.is_file() && fingerprint::is_stamped(&stamp, &wanted) {
        screen::done("web app is current", watch.elapsed());
        return Ok(());
    }
    processes::run_quietly(npm(places).args(["run", "build"]))?;
    ensure!(page.is_file(), "`npm run build` left no {}", page.display());
    fingerprint::stamp(&stamp, &wanted)?;
    screen::done("web app built", watch.elapsed());
    Ok(())
}

/// Runs a script of `web/package.json` with its output passed through.
pub(crate) fn script(places: &Places, name: &str) -> anyhow::Result<()> {
    processes::run(npm(places).args(["run", name]))
}

/// npm in `web/`, told that nobody is watching: no prompts, no watch modes, no browser downloads.
pub(crate) fn npm(places: &Places) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(&places.web)
        .env("CI", "1")
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
        .env("npm_config_update_notifier", "false");
    npm
}
