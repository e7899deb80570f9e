//! What tests may not do: be switched off, expect any panic at all, or wait by guessing.
//!
//! A sleep in a test is either too short on a busy machine or too long on every other; waiting for the state
//! that the test needs is neither. A known bug is asserted as it is, with a comment, not ignored.

use super::Finding;
use super::code::{has_word, inline_tests, numbered, only_code};
use super::files::{Tree, below};

const WAIT_FOR_THE_STATE: &str =
    "wait for the state that the test needs, with a deadline, instead of guessing a time";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in below(tree, "", &[".rs"]) {
        let code = only_code(text);
        findings.extend(switched_off(path, &code));
        findings.extend(sleeping(path, &code));
    }
    for (path, text) in below(tree, "web/", &[".ts", ".tsx"]) {
        findings.extend(in_the_browser(path, text));
    }
    findings
}

fn switched_off(path: &str, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in numbered(code) {
        if line.contains("#[ignore") {
            let message = "a test runs or is deleted; what needs more than a bare machine sits behind a feature";
            findings.push(Finding::new(path, number, "ignored-test", message));
        }
        if has_word(line, "should_panic") {
            let message = "assert the error that is returned; any panic at all proves nothing";
            findings.push(Finding::new(path, number, "should-panic", message));
        }
    }
    findings
}

fn sleeping(path: &str, code: &str) -> Vec<Finding> {
    let only_tests = path.contains("/tests/") || path.ends_with("tests.rs");
    let lines: Vec<(usize, &str)> = if only_tests {
        numbered(code).collect()
    } else {
        inline_tests(code)
    };
    lines
        .into_iter()
        .filter(|(_, line)| has_word(line, "sleep(") || has_word(line, "sleep_until("))
        .map(|(number, _)| Finding::new(path, number, "sleep", WAIT_FOR_THE_STATE))
        .collect()
}

fn in_the_browser(path: &str, text: &str) -> Vec<Finding> {
    let is_test = path.starts_with("web/e2e/") || path.contains(".test.");
    let mut findings = Vec::new();
    for (number, line) in numbered(text).filter(|_| is_test) {
        if line.contains("waitForTimeout(") {
            findings.push(Finding::new(path, number, "sleep", WAIT_FOR_THE_STATE));
        }
        if ["test.only(", "it.only(", "describe.only("]
            .iter()
            .any(|call| line.contains(call))
        {
            let message = "remove `.only`: it switches off every other test";
            findings.push(Finding::new(path, number, "ignored-test", message));
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
    fn switched_off_tests_are_found_and_words_about_them_are_not() {
        assert_eq!(
            rules(
                "crates/git/tests/a.rs",
                "#[test]\n#[ignore = \"slow\"]\nfn a() {}"
            ),
            ["ignored-test"]
        );
        assert_eq!(
            rules("crates/git/tests/a.rs", "#[should_panic]\nfn a() {}"),
            ["should-panic"]
        );
        assert_eq!(
            rules("crates/git/src/a.rs", "// no #[ignore] here\n"),
            [""; 0]
        );
        assert_eq!(
            rules("web/src/row.test.ts", "it.only('x', () => {})"),
            ["ignored-test"]
        );
    }

    #[test]
    fn tests_do_not_sleep_and_products_may() {
        let sleeping = "async fn a() { tokio::time::sleep(x).await; }";
        assert_eq!(rules("crates/git/tests/a.rs", sleeping), ["sleep"]);
        assert_eq!(rules("crates/git/src/a/tests.rs", sleeping), ["sleep"]);
        assert_eq!(rules("crates/git/src/a.rs", sleeping), [""; 0]);
        let inline = format!("#[cfg(test)]\nmod tests {{\n{sleeping}\n}}\n");
        assert_eq!(rules("crates/git/src/a.rs", &inline), ["sleep"]);
        assert_eq!(
            rules("web/e2e/a.spec.ts", "await page.waitForTimeout(500)"),
            ["sleep"]
        );
    }

    #[test]
    fn a_process_called_sleep_is_a_fair_subject() {
        assert_eq!(
            rules(
                "crates/git/tests/a.rs",
                "Command::new(\"sleep\").arg(\"60\");"
            ),
            [""; 0]
        );
    }
}
