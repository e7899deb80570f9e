//! `cargo xtask tidy`: the rules of this repository that no compiler and no linter knows.
//!
//! Every rule is a pure function over the text of the repository (`Tree`) or over its crates (`edges::Graph`),
//! and returns what it found; reading files and running Cargo happen here. A finding names the file, the line,
//! the rule and what to do.
//!
//! An exception stands in `xtask/exemptions.txt` with its reason. An exception that is no longer needed is
//! itself a finding, so that list can only shrink.

mod code;
mod documents;
mod edges;
mod exemptions;
mod files;
mod layout;
mod machines;
mod migrations;
mod protocol;
mod requirements;
mod test_code;

use crate::places::Places;
use crate::screen;
use files::Tree;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Relative to the root of the repository.
    pub(crate) path: String,
    /// Counted from 1; 0 when the whole file is meant.
    pub(crate) line: usize,
    /// The name that `exemptions.txt` uses.
    pub(crate) rule: &'static str,
    /// What is wrong and what to do.
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(
        path: &str,
        line: usize,
        rule: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            line,
            rule,
            message: message.into(),
        }
    }
}

/// Checks everything and prints what was found. `Ok(false)`: something was.
pub(crate) fn run(places: &Places) -> anyhow::Result<bool> {
    let tree = files::read(&places.root)?;
    let graph = edges::Graph::of_workspace(&places.root)?;
    let mut findings = check_tree(&tree);
    findings.extend(edges::check(&graph));
    let mut findings = exemptions::apply(&tree, findings);
    findings.sort();
    for finding in &findings {
        let Finding {
            path,
            line,
            rule,
            message,
        } = finding;
        let place = if *line == 0 {
            path.clone()
        } else {
            format!("{path}:{line}")
        };
        screen::line(&format!("{place}: [{rule}] {message}"));
    }
    screen::line(&format!(
        "tidy: {} files, {} findings",
        tree.len(),
        findings.len()
    ));
    Ok(findings.is_empty())
}

fn check_tree(tree: &Tree) -> Vec<Finding> {
    let rules: [fn(&Tree) -> Vec<Finding>; 7] = [
        layout::check,
        test_code::check,
        machines::check,
        migrations::check,
        documents::check,
        requirements::check,
        protocol::check,
    ];
    rules.iter().flat_map(|rule| rule(tree)).collect()
}
