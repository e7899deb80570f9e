//! Real agents for `cargo xtask test --real-agents`: programs that nobody here wrote, from npm.
//!
//! They are installed into `.agents/`, which Git ignores, at exactly these versions: a test that drives a
//! stranger's program must at least know which one. The tests give them a model of their own on the loopback
//! interface, so no account and no network is needed once they are installed.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::places::Places;
use crate::{fingerprint, processes, screen};

/// An agent with an open licence that runs on Node 20 and as root.
struct Agent {
    name: &'static str,
    package: &'static str,
}

const AGENTS: [Agent; 2] = [
    Agent {
        name: "opencode",
        package: "opencode-ai@1.18.33",
    },
    Agent {
        name: "gemini",
        package: "@google/gemini-cli@0.61.0",
    },
];

/// Installs the named agents, unless exactly these are there.
pub(crate) fn install(places: &Places, names: &[String]) -> anyhow::Result<()> {
    let mut packages = Vec::new();
    for name in names {
        let Some(agent) = AGENTS.iter().find(|agent| agent.name == name) else {
            let known: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
            bail!(
                "`{name}` is no agent that we install; there are: {}",
                known.join(", ")
            );
        };
        packages.push(agent.package);
    }
    packages.sort_unstable();
    packages.dedup();
    let wanted = fingerprint::of_parts(packages.iter().map(|package| package.as_bytes()));
    let stamp = places.agents.join("installed");
    if fingerprint::is_stamped(&stamp, &wanted) {
        return Ok(());
    }
    fs::create_dir_all(&places.agents)
        .with_context(|| format!("creating {}", places.agents.display()))?;
    screen::line(&format!(
        "installing {} (some hundred megabytes)",
        packages.join(", ")
    ));
    processes::run_quietly(
        Command::new("npm")
            .current_dir(&places.agents)
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--no-save",
                "--prefix",
                ".",
            ])
            .args(&packages),
    )?;
    fingerprint::stamp(&stamp, &wanted)
}
