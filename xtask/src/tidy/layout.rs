//! How files are named, how long they may be and how they begin.
//!
//! A file should be readable in one sitting and say at its top what it owns. A name like `utils` says only that
//! nobody decided where a thing belongs.

use super::Finding;
use super::code::{has_word, numbered, only_code};
use super::files::{Tree, below};

/// Rust files: aim below 300.
const LONGEST_RUST: usize = 600;

/// TypeScript and React files: aim below 200.
const LONGEST_WEB: usize = 400;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 11] = [
    "common", "helper", "helpers", "manager", "managers", "misc", "service", "services", "shared",
    "util", "utils",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in below(tree, "", &[".rs"]) {
        findings.extend(length_of_rust(path, text));
        findings.extend(inline_modules(path, text));
        if path.contains("/src/") {
            findings.extend(header(path, text));
        }
    }
    for (path, text) in below(tree, "web/", &[".ts", ".tsx"]) {
        findings.extend(length_of_web(path, text));
    }
    findings.extend(below(tree, "", &[".rs", ".ts", ".tsx"]).filter_map(|(path, _)| name(path)));
    findings
}

/// The lines of the module header, without their marks.
fn header_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
}

fn header(path: &str, text: &str) -> Option<Finding> {
    let words = header_lines(text)
        .filter(|line| !line.is_empty() && !line.starts_with("TODO"))
        .count();
    (words == 0).then(|| {
        Finding::new(
            path,
            1,
            "header",
            "start with `//!`: what this owns, its invariants, what it must not do",
        )
    })
}

fn length_of_rust(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    let excused = header_lines(text).any(|line| line.starts_with("Length:"));
    (lines > LONGEST_RUST && !excused).then(|| {
        let message = format!(
            "{lines} lines: split it by noun or verb, or say `//! Length: why` in its header"
        );
        Finding::new(path, 0, "length", message)
    })
}

fn length_of_web(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    (lines > LONGEST_WEB && !path.contains("/generated/")).then(|| {
        Finding::new(
            path,
            0,
            "length",
            format!("{lines} lines: split it by noun or verb"),
        )
    })
}

fn name(path: &str) -> Option<Finding> {
    if path.ends_with("/mod.rs") {
        let message = "a module is `name.rs` beside the folder `name/`, never `mod.rs`";
        return Some(Finding::new(path, 0, "name", message));
    }
    let empty = path
        .split('/')
        .map(stem)
        .find(|part| EMPTY_NAMES.contains(part))?;
    Some(Finding::new(
        path,
        0,
        "name",
        format!("`{empty}` says nothing: name what is inside"),
    ))
}

/// `utils.test.ts` and `utils.rs` are both `utils`.
fn stem(part: &str) -> &str {
    part.split('.').next().unwrap_or(part)
}

fn inline_modules(path: &str, text: &str) -> Vec<Finding> {
    let code = only_code(text);
    let mut findings = Vec::new();
    for (number, line) in numbered(&code) {
        for empty in EMPTY_NAMES {
            if has_word(line, &format!("mod {empty};"))
                || has_word(line, &format!("mod {empty} {{"))
            {
                let message = format!("`mod {empty}` says nothing: name what is inside");
                findings.push(Finding::new(path, number, "name", message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<&'static str> {
        check(&tree(&[(path, text)]))
            .into_iter()
            .map(|finding| finding.rule)
            .collect()
    }

    #[test]
    fn a_source_file_begins_with_its_header() {
        assert_eq!(rules("crates/flow/src/gate.rs", "//! The gate.\n"), [""; 0]);
        assert_eq!(
            rules("crates/flow/src/gate.rs", "use std::fmt;\n"),
            ["header"]
        );
        assert_eq!(rules("crates/flow/src/gate.rs", "//! TODO\n"), ["header"]);
        assert_eq!(
            rules("crates/flow/tests/gate.rs", "use std::fmt;\n"),
            [""; 0]
        );
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        let long = "\n".repeat(LONGEST_RUST + 1);
        assert_eq!(
            rules("crates/flow/src/a.rs", &format!("//! A.\n{long}")),
            ["length"]
        );
        assert_eq!(
            rules(
                "crates/flow/src/a.rs",
                &format!("//! A.\n//! Length: one table.\n{long}")
            ),
            [""; 0]
        );
        assert_eq!(
            rules("web/src/app.tsx", &"\n".repeat(LONGEST_WEB + 1)),
            ["length"]
        );
        assert_eq!(rules("web/src/wire/generated/all.ts", &long), [""; 0]);
    }

    #[test]
    fn empty_names_are_refused_as_file_folder_and_module() {
        assert_eq!(
            rules("crates/flow/src/utils.rs", "//! Odds and ends.\n"),
            ["name"]
        );
        assert_eq!(rules("web/src/helpers/date.ts", ""), ["name"]);
        assert_eq!(rules("crates/flow/tests/common/mod.rs", ""), ["name"]);
        assert_eq!(
            rules("crates/flow/src/a.rs", "//! A.\nmod helpers {\n}\n"),
            ["name"]
        );
        assert_eq!(
            rules("crates/flow/src/a.rs", "//! A.\n// mod helpers {\n"),
            [""; 0]
        );
    }
}
