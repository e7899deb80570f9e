//! `docs/requirements.md` has every requirement once, and code cites only requirements that exist.
//!
//! Tests carry the id of what they prove. An id that was mistyped would prove nothing while looking as if.

use std::collections::BTreeMap;

use super::Finding;
use super::code::numbered;
use super::files::{Tree, below};

const DOCUMENT: &str = "docs/requirements.md";

/// Areas, with their highest number; every area counts from 01 without gaps.
const AREAS: [(&str, u32); 14] = [
    ("SUM", 10),
    ("PEN", 8),
    ("ERR", 8),
    ("GIT", 6),
    ("PR", 5),
    ("PST", 5),
    ("API", 8),
    ("STR", 7),
    ("GWY", 7),
    ("WEB", 7),
    ("REC", 6),
    ("ENV", 13),
    ("MIG", 4),
    ("S", 28),
];

/// Cases are cited as `C07`, without a hyphen.
const CASES: u32 = 25;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = rows(tree.get(DOCUMENT).map_or("", String::as_str));
    for folder in ["crates/", "web/"] {
        for (path, text) in below(tree, folder, &[".rs", ".ts", ".tsx"]) {
            for (number, line) in numbered(text) {
                findings.extend(ids(line).filter(|id| !exists(id)).map(|id| {
                    Finding::new(
                        path,
                        number,
                        "requirement",
                        format!("there is no requirement {id}"),
                    )
                }));
            }
        }
    }
    findings
}

fn rows(document: &str) -> Vec<Finding> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for line in document.lines() {
        if let Some(id) = line
            .strip_prefix("| ")
            .and_then(|rest| rest.split(' ').next())
        {
            *seen.entry(id).or_default() += 1;
        }
    }
    AREAS
        .iter()
        .flat_map(|(area, highest)| (1..=*highest).map(move |number| format!("{area}-{number:02}")))
        .chain((1..=CASES).map(|number| format!("C{number:02}")))
        .filter_map(|id| match seen.get(id.as_str()).copied().unwrap_or(0) {
            1 => None,
            0 => Some(Finding::new(
                DOCUMENT,
                0,
                "requirement",
                format!("{id} has no row"),
            )),
            _ => Some(Finding::new(
                DOCUMENT,
                0,
                "requirement",
                format!("{id} has more than one row"),
            )),
        })
        .collect()
}

fn exists(id: &str) -> bool {
    id.split_once('-').is_some_and(|(area, number)| {
        let number: u32 = number.parse().unwrap_or(0);
        AREAS
            .iter()
            .any(|(known, highest)| *known == area && (1..=*highest).contains(&number))
    })
}

/// What looks like an id: an area that we know, `-`, and exactly two digits, with no word around it.
fn ids(line: &str) -> impl Iterator<Item = &str> {
    line.split(|character: char| !character.is_ascii_alphanumeric() && character != '-')
        .filter(|word| {
            word.split_once('-').is_some_and(|(area, number)| {
                AREAS.iter().any(|(known, _)| *known == area)
                    && number.len() == 2
                    && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        })
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    fn complete() -> String {
        AREAS
            .iter()
            .flat_map(|(area, highest)| {
                (1..=*highest).map(move |number| format!("| {area}-{number:02} | x |\n"))
            })
            .chain((1..=CASES).map(|number| format!("| C{number:02} | x |\n")))
            .collect()
    }

    #[test]
    fn a_complete_document_has_every_id_once() {
        assert!(check(&tree(&[(DOCUMENT, &complete())])).is_empty());
        let doubled = format!("{}| SUM-01 | again |\n", complete());
        assert_eq!(check(&tree(&[(DOCUMENT, &doubled)])).len(), 1);
        let shortened = complete().replace("| ENV-13 | x |\n", "");
        assert_eq!(check(&tree(&[(DOCUMENT, &shortened)])).len(), 1);
    }

    #[test]
    fn code_cites_requirements_that_exist() {
        let document = complete();
        let cites = |text: &str| {
            check(&tree(&[
                (DOCUMENT, &document),
                ("crates/git/tests/a.rs", text),
            ]))
            .len()
        };
        assert_eq!(cites("/// GIT-01: totals of every repository"), 0);
        assert_eq!(cites("/// GIT-07 and S-29"), 2);
        assert_eq!(cites("// UTF-16, SHA-256, S-expressions"), 0);
    }
}
