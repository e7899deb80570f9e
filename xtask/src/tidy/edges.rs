//! Which crate may use which: the table of `ARCHITECTURE.md`, checked from Cargo's own metadata.
//!
//! The product's shape is a pure core with I/O at its edge. This is the tool that fails the build when the edge
//! moves. A new edge is added here, in one commit, with a page in `docs/decisions/`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::Finding;
use crate::{processes, tools};

/// A crate of ours and the crates of ours that it may use.
const MAY_USE: [(&str, &[&str]); 15] = [
    ("model", &[]),
    ("flow", &["model"]),
    ("summary", &["model"]),
    ("wire", &["model"]),
    ("store", &["model", "summary"]),
    ("projector", &["model", "flow", "summary", "store"]),
    ("git", &["model", "flow"]),
    ("agentctl", &["model", "flow", "git"]),
    (
        "orchestrator",
        &[
            "model",
            "flow",
            "summary",
            "store",
            "projector",
            "agentctl",
            "git",
        ],
    ),
    (
        "gateway",
        &[
            "model",
            "flow",
            "wire",
            "summary",
            "store",
            "projector",
            "orchestrator",
        ],
    ),
    (
        "flightstrip",
        &[
            "model",
            "flow",
            "summary",
            "wire",
            "store",
            "projector",
            "git",
            "agentctl",
            "orchestrator",
            "gateway",
            "mock-agent",
        ],
    ),
    ("mock-agent", &["model"]),
    (
        "testkit",
        &[
            "model",
            "flow",
            "summary",
            "wire",
            "store",
            "projector",
            "git",
            "agentctl",
            "orchestrator",
            "gateway",
        ],
    ),
    (
        "loadgen",
        &["model", "summary", "store", "projector", "testkit"],
    ),
    ("xtask", &[]),
];

/// What any crate of ours may use in its tests besides its own row.
const FOR_TESTS: [&str; 2] = ["testkit", "mock-agent"];

/// Crates that hold rules as plain data: no runtime, no clock, no I/O.
const PURE: [&str; 4] = ["model", "flow", "summary", "wire"];

/// All that pure crates may use from elsewhere.
const FOR_PURE: [&str; 8] = [
    "regex",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
    "time",
    "ts-rs",
    "uuid",
];

/// Foreign crates that belong to one concern: nobody else speaks SQL, HTTP or the agents' protocol.
const RESERVED: [(&str, &[&str]); 6] = [
    ("sqlx", &["store"]),
    ("axum", &["gateway"]),
    ("tower-http", &["gateway"]),
    ("rmcp", &["gateway"]),
    ("agent-client-protocol", &["agentctl"]),
    ("anyhow", &["flightstrip", "loadgen", "xtask"]),
];

/// One `[dependencies]`, `[build-dependencies]` or `[dev-dependencies]` entry.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) only_for_tests: bool,
}

/// The crates of the workspace and what they declare to use.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) crates: BTreeSet<String>,
    pub(super) edges: Vec<Edge>,
}

impl Graph {
    /// Asks Cargo. Resolves nothing, so it needs no network.
    pub(super) fn of_workspace(root: &Path) -> anyhow::Result<Self> {
        let text = processes::read(tools::cargo().current_dir(root).args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
        ]))?;
        let metadata: Value = serde_json::from_str(&text).context("reading Cargo's metadata")?;
        Self::of_metadata(&metadata).context("Cargo's metadata has another shape than we know")
    }

    fn of_metadata(metadata: &Value) -> Option<Self> {
        let mut graph = Self::default();
        for package in metadata.get("packages")?.as_array()? {
            let from = package.get("name")?.as_str()?;
            graph.crates.insert(from.to_owned());
            for dependency in package.get("dependencies")?.as_array()? {
                graph.edges.push(Edge {
                    from: from.to_owned(),
                    to: dependency.get("name")?.as_str()?.to_owned(),
                    only_for_tests: dependency.get("kind")?.as_str() == Some("dev"),
                });
            }
        }
        Some(graph)
    }
}

pub(super) fn check(graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in graph.crates.iter().filter(|name| may_use(name).is_none()) {
        findings.push(finding(
            name,
            "has no row in the table of crates (`xtask/src/tidy/edges.rs`)".to_owned(),
        ));
    }
    findings.extend(graph.edges.iter().filter_map(|edge| {
        let message = if graph.crates.contains(&edge.to) {
            inside(edge)
        } else {
            outside(edge)
        };
        Some(finding(&edge.from, message?))
    }));
    findings
}

/// Why an edge between two crates of ours is wrong; `None` when it is right.
fn inside(edge: &Edge) -> Option<String> {
    let Edge {
        from,
        to,
        only_for_tests,
    } = edge;
    let allowed = may_use(from)?.contains(&to.as_str())
        || *only_for_tests && FOR_TESTS.contains(&to.as_str());
    (!allowed).then(|| {
        format!("`{from}` must not use `{to}`: the table in ARCHITECTURE.md has no such edge")
    })
}

/// Why an edge to a foreign crate is wrong; `None` when it is right. Tests may use what they need.
fn outside(edge: &Edge) -> Option<String> {
    let Edge {
        from,
        to,
        only_for_tests,
    } = edge;
    if *only_for_tests {
        return None;
    }
    if PURE.contains(&from.as_str()) && !FOR_PURE.contains(&to.as_str()) {
        return Some(format!(
            "`{from}` is pure: it may use {}, not `{to}`",
            FOR_PURE.join(", ")
        ));
    }
    let (_, owners) = RESERVED.iter().find(|(reserved, _)| to == reserved)?;
    let allowed = owners.contains(&from.as_str()) || from == "testkit";
    (!allowed).then(|| {
        format!(
            "`{to}` is used by {} alone, not by `{from}`",
            owners.join(" and ")
        )
    })
}

fn may_use(name: &str) -> Option<&'static [&'static str]> {
    MAY_USE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, row)| *row)
}

fn finding(name: &str, message: String) -> Finding {
    let folder = if name == "xtask" {
        name.to_owned()
    } else {
        format!("crates/{name}")
    };
    Finding::new(&format!("{folder}/Cargo.toml"), 0, "edge", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str, bool)]) -> Graph {
        let ours = MAY_USE.iter().map(|(name, _)| (*name).to_owned()).collect();
        let edges = edges.iter().map(|(from, to, only_for_tests)| Edge {
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            only_for_tests: *only_for_tests,
        });
        Graph {
            crates: ours,
            edges: edges.collect(),
        }
    }

    fn refused(from: &str, to: &str, only_for_tests: bool) -> bool {
        !check(&graph(&[(from, to, only_for_tests)])).is_empty()
    }

    #[test]
    fn edges_of_the_table_pass_and_others_do_not() {
        assert!(!refused("gateway", "orchestrator", false));
        assert!(refused("orchestrator", "gateway", false));
        assert!(refused("git", "store", false));
        assert!(refused("xtask", "model", false));
    }

    #[test]
    fn tests_may_use_the_test_kit_and_products_may_not() {
        assert!(!refused("gateway", "testkit", true));
        assert!(refused("gateway", "testkit", false));
        assert!(refused("git", "store", true));
    }

    #[test]
    fn pure_crates_have_no_runtime() {
        assert!(refused("flow", "tokio", false));
        assert!(!refused("flow", "proptest", true));
        assert!(!refused("model", "serde", false));
    }

    #[test]
    fn concerns_have_one_owner() {
        assert!(refused("gateway", "sqlx", false));
        assert!(refused("orchestrator", "axum", false));
        assert!(!refused("store", "sqlx", false));
    }

    #[test]
    fn a_new_crate_must_be_placed_in_the_table() {
        let mut graph = graph(&[]);
        graph.crates.insert("extras".to_owned());
        assert_eq!(check(&graph).len(), 1);
    }

    #[test]
    fn metadata_is_read() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "flow", "dependencies": [
                { "name": "model", "kind": null },
                { "name": "proptest", "kind": "dev" },
            ] },
        ] });
        let graph = Graph::of_metadata(&metadata).unwrap();
        let kinds: Vec<bool> = graph.edges.iter().map(|edge| edge.only_for_tests).collect();
        assert_eq!(kinds, [false, true]);
    }
}
