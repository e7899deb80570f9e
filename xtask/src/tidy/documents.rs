//! The form of decision records.
//!
//! A decision is worth a page when somebody will ask later why it is not the other way. The four headings make
//! the page answer that question, including the part that is easily left out: what would change our mind.

use std::collections::BTreeMap;

use super::Finding;
use super::files::{Tree, below};

const FOLDER: &str = "docs/decisions/";
const HEADINGS: [&str; 4] = [
    "## Context",
    "## Decision",
    "## Cost",
    "## What would change our mind",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut numbers: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, text) in
        below(tree, FOLDER, &[".md"]).filter(|(path, _)| !path.ends_with("/README.md"))
    {
        for heading in HEADINGS
            .iter()
            .filter(|heading| !text.lines().any(|line| line == **heading))
        {
            findings.push(Finding::new(
                path,
                0,
                "decision",
                format!("the heading `{heading}` is missing"),
            ));
        }
        let name = path.strip_prefix(FOLDER).unwrap_or(path);
        match name.split_once('-') {
            Some((number, _))
                if number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                if let Some(first) = numbers.insert(number, path) {
                    findings.push(Finding::new(
                        path,
                        0,
                        "decision",
                        format!("{first} has the same number"),
                    ));
                }
            }
            _ => findings.push(Finding::new(
                path,
                0,
                "decision",
                "its name is four digits, `-`, and a title",
            )),
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    const COMPLETE: &str =
        "# T\n\n## Context\n\n## Decision\n\n## Cost\n\n## What would change our mind\n";

    #[test]
    fn a_decision_has_its_headings_and_a_number_of_its_own() {
        assert!(check(&tree(&[("docs/decisions/0001-two-pools.md", COMPLETE)])).is_empty());
        let files = tree(&[
            ("docs/decisions/0001-two-pools.md", COMPLETE),
            ("docs/decisions/0001-one-pool.md", COMPLETE),
            ("docs/decisions/undated.md", COMPLETE),
            (
                "docs/decisions/0002-short.md",
                "# T\n\n## Context\n\n## Decision\n\n## Cost\n",
            ),
        ]);
        assert_eq!(check(&files).len(), 3);
    }
}
