//! Debian packages, where they can be installed without asking anybody.
//!
//! Programs that tests need come from the system's packages, never from a download of our own: they get the
//! system's security updates and its libraries, and no second copy of them lies in a cache.

use std::path::Path;
use std::process::Command;

use anyhow::bail;

use crate::{processes, screen};

/// The right to install packages on this machine.
pub(crate) struct Installer {
    prefix: &'static [&'static str],
}

impl Installer {
    /// Fails with `advice` where packages cannot be installed: no Debian, or nobody who may.
    pub(crate) fn find(advice: &str, packages: &[&str]) -> anyhow::Result<Self> {
        if !Path::new("/etc/debian_version").exists() {
            bail!("{advice}");
        }
        match administrator() {
            Some(prefix) => Ok(Self { prefix }),
            None => bail!(
                "{advice} (Debian: sudo apt-get install {})",
                packages.join(" ")
            ),
        }
    }

    /// Installs these packages and what they depend on, quietly.
    pub(crate) fn install(&self, packages: &[&str]) -> anyhow::Result<()> {
        screen::line(&format!("installing {} with apt-get", packages.join(", ")));
        self.run(&["apt-get", "update"])?;
        let mut install = vec!["apt-get", "install", "--yes", "--no-install-recommends"];
        install.extend(packages);
        self.run(&install)
    }

    /// Runs a command as the administrator; its output matters only when it fails.
    pub(crate) fn run(&self, words: &[&str]) -> anyhow::Result<()> {
        processes::run_quietly(&mut command(self.prefix, words))
    }
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

fn command(prefix: &[&str], words: &[&str]) -> Command {
    let mut all = prefix
        .iter()
        .chain(&["env", "DEBIAN_FRONTEND=noninteractive"])
        .chain(words)
        .copied();
    let mut command = Command::new(all.next().unwrap_or("env"));
    command.args(all);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(prefix: &[&str]) -> Vec<String> {
        let command = command(prefix, &["apt-get", "update"]);
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
