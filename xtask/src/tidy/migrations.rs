//! Every migration exists once per database engine, under the same number and name, and says why.
//!
//! Two engines share one history: a schema that one of them lacks is a bug that only some users meet.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::files::{Tree, below};

const FOLDER: &str = "crates/store/migrations/";

/// The engines that share the history, as their folders are named.
const ENGINES: [&str; 2] = ["sqlite", "postgres"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut engines: BTreeMap<&str, BTreeSet<&str>> = ENGINES
        .iter()
        .map(|&engine| (engine, BTreeSet::new()))
        .collect();
    let mut findings = Vec::new();
    for (path, text) in below(tree, FOLDER, &[".sql"]) {
        let Some((engine, name)) = path
            .strip_prefix(FOLDER)
            .and_then(|rest| rest.split_once('/'))
        else {
            findings.push(Finding::new(
                path,
                0,
                "migration",
                "a migration lies in the folder of its engine",
            ));
            continue;
        };
        engines.entry(engine).or_default().insert(name);
        findings.extend(form(path, name, text));
    }
    for (engine, names) in &engines {
        findings.extend(repeated_numbers(engine, names));
        for (other, others) in engines.iter().filter(|(other, _)| *other != engine) {
            for name in names.difference(others) {
                let message = format!("its twin {FOLDER}{other}/{name} is missing");
                findings.push(Finding::new(
                    &format!("{FOLDER}{engine}/{name}"),
                    0,
                    "migration",
                    message,
                ));
            }
        }
    }
    findings
}

fn form(path: &str, name: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let number = number(name);
    if number.len() != 4
        || !name
            .get(number.len()..)
            .is_some_and(|rest| rest.starts_with('_'))
    {
        findings.push(Finding::new(
            path,
            0,
            "migration",
            "its name is four digits, `_`, and what it does",
        ));
    }
    if !text.starts_with("--") {
        findings.push(Finding::new(
            path,
            1,
            "migration",
            "open with a comment that says why",
        ));
    }
    findings
}

fn number(name: &str) -> &str {
    let end = name
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(name.len());
    name.get(..end).unwrap_or(name)
}

fn repeated_numbers(engine: &str, names: &BTreeSet<&str>) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    names
        .iter()
        .filter(|name| !seen.insert(number(name)))
        .map(|name| {
            let path = format!("{FOLDER}{engine}/{name}");
            Finding::new(&path, 0, "migration", "another migration has this number")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    const FIRST: &str = "-- Tasks.\nCREATE TABLE tasks (id TEXT);\n";

    #[test]
    fn an_engine_without_a_folder_lacks_every_twin() {
        let path = "crates/store/migrations/sqlite/0001_tasks.sql";
        let findings = check(&tree(&[(path, FIRST)]));
        let message = "its twin crates/store/migrations/postgres/0001_tasks.sql is missing";
        assert_eq!(findings, [Finding::new(path, 0, "migration", message)]);
    }

    #[test]
    fn every_migration_has_its_twin() {
        let files = tree(&[
            ("crates/store/migrations/sqlite/0001_tasks.sql", FIRST),
            ("crates/store/migrations/postgres/0001_tasks.sql", FIRST),
            ("crates/store/migrations/sqlite/0002_turns.sql", FIRST),
        ]);
        let findings = check(&files);
        assert_eq!(findings.len(), 1);
        assert!(
            findings
                .iter()
                .all(|finding| finding.message.contains("postgres/0002_turns.sql"))
        );
    }

    #[test]
    fn a_migration_has_a_number_of_its_own_and_a_reason() {
        let files = tree(&[
            ("crates/store/migrations/sqlite/0001_tasks.sql", FIRST),
            ("crates/store/migrations/sqlite/0001_turns.sql", FIRST),
            (
                "crates/store/migrations/sqlite/2_more.sql",
                "CREATE TABLE more (id TEXT);\n",
            ),
        ]);
        let findings = check(&files);
        let form = findings
            .iter()
            .filter(|finding| !finding.message.contains("twin"));
        assert_eq!(form.count(), 3);
    }
}
