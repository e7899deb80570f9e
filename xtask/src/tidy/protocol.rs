//! The wire and its document move together.
//!
//! `docs/protocol.md` names every action, and carries a hash of the code of `crates/wire/src`. When the code
//! changes, somebody must read the document again and then write down the new hash: the check cannot tell
//! whether the document is right, but it can tell that nobody looked.

use super::Finding;
use super::code::numbered;
use super::files::{Tree, below};
use crate::fingerprint;

const DOCUMENT: &str = "docs/protocol.md";
const SOURCES: &str = "crates/wire/src/";
const ACTIONS: &str = "crates/wire/src/action.rs";
const MARK: &str = "<!-- wire code: ";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = unnamed_actions(tree);
    findings.extend(mismatch(tree));
    findings
}

/// Actions are the string literals of their file that consist of lower-case words and dots.
fn unnamed_actions(tree: &Tree) -> Vec<Finding> {
    let document = tree.get(DOCUMENT).map_or("", String::as_str);
    let source = tree.get(ACTIONS).map_or("", String::as_str);
    numbered(source)
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .flat_map(|(number, line)| {
            line.split('"')
                .skip(1)
                .step_by(2)
                .map(move |word| (number, word))
        })
        .filter(|(_, word)| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || "._".contains(c))
        })
        .filter(|(_, action)| !document.contains(&format!("`{action}`")))
        .map(|(number, action)| {
            Finding::new(
                ACTIONS,
                number,
                "protocol",
                format!("{DOCUMENT} does not name `{action}`"),
            )
        })
        .collect()
}

fn mismatch(tree: &Tree) -> Option<Finding> {
    let wanted = hash(tree)?;
    let text = tree.get(DOCUMENT).map_or("", String::as_str);
    let held = text
        .lines()
        .find_map(|line| line.strip_prefix(MARK)?.strip_suffix(" -->"));
    (held != Some(wanted.as_str())).then(|| {
        let message = format!("{SOURCES} has changed: bring this document up to date, then end it with `{MARK}{wanted} -->`");
        Finding::new(DOCUMENT, 0, "protocol", message)
    })
}

/// A hash over what the compiler sees: comments, indentation and test modules do not count.
fn hash(tree: &Tree) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for (path, text) in
        below(tree, SOURCES, &[".rs"]).filter(|(path, _)| !path.ends_with("tests.rs"))
    {
        parts.push(path.to_owned());
        parts.extend(
            text.lines()
                .map(str::trim)
                .filter(|line| !line.starts_with("//"))
                .map(str::to_owned),
        );
    }
    (!parts.is_empty()).then(|| {
        let hash = fingerprint::of_parts(
            parts
                .iter()
                .filter(|part| !part.is_empty())
                .map(String::as_bytes),
        );
        hash.chars().take(16).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    fn with(wire: &str, document: &str) -> Option<Finding> {
        mismatch(&tree(&[
            ("crates/wire/src/lib.rs", wire),
            (DOCUMENT, document),
        ]))
    }

    #[test]
    fn the_document_is_asked_for_when_the_code_moves() {
        let code = "//! Words.\npub struct Hello;\n";
        let finding = with(code, "# Protocol\n").expect("a document without a hash is out of date");
        let (_, mark) = finding
            .message
            .split_once('`')
            .expect("the message quotes the line to write");
        let document = format!("# Protocol\n{}\n", mark.trim_end_matches('`'));

        assert_eq!(with(code, &document), None);
        assert_eq!(
            with("//! Other words.\n\npub struct Hello;\n", &document),
            None
        );
        assert!(with("//! Words.\npub struct Hello { id: u8 }\n", &document).is_some());
    }

    #[test]
    fn every_action_is_named_in_the_document() {
        let actions = "/// Says \"hello\".\nHELLO = \"hello\",\nTASK_LIST = \"task.list\",\n";
        let findings = unnamed_actions(&tree(&[
            (ACTIONS, actions),
            (DOCUMENT, "The first frame is `hello`."),
        ]));
        assert_eq!(
            findings
                .iter()
                .map(|finding| finding.line)
                .collect::<Vec<_>>(),
            [3]
        );
    }

    #[test]
    fn without_a_wire_there_is_nothing_to_document() {
        assert_eq!(mismatch(&tree(&[])), None);
    }
}
