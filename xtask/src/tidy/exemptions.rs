//! Findings that somebody has argued for, from `xtask/exemptions.txt`.
//!
//! One line each: `rule | path | reason`. A line covers all findings of that rule in that file. A line that
//! covers nothing, or gives no reason, is a finding.

use super::Finding;
use super::code::numbered;
use super::files::Tree;

const LIST: &str = "xtask/exemptions.txt";

struct Exemption<'a> {
    line: usize,
    rule: &'a str,
    path: &'a str,
}

/// Takes out what is exempt and adds what is wrong with the exemptions themselves.
pub(super) fn apply(tree: &Tree, findings: Vec<Finding>) -> Vec<Finding> {
    let list = tree.get(LIST).map_or("", String::as_str);
    let mut kept = Vec::new();
    let mut exemptions = Vec::new();
    for (line, text) in
        numbered(list).filter(|(_, text)| !text.trim().is_empty() && !text.starts_with('#'))
    {
        match parse(line, text) {
            Some(exemption) => exemptions.push(exemption),
            None => kept.push(Finding::new(
                LIST,
                line,
                "exemption",
                "write `rule | path | reason`",
            )),
        }
    }
    let covers = |exemption: &Exemption<'_>, finding: &Finding| {
        exemption.rule == finding.rule && exemption.path == finding.path
    };
    for exemption in &exemptions {
        if !findings.iter().any(|finding| covers(exemption, finding)) {
            kept.push(Finding::new(
                LIST,
                exemption.line,
                "exemption",
                "no longer needed: remove it",
            ));
        }
    }
    kept.extend(findings.into_iter().filter(|finding| {
        !exemptions
            .iter()
            .any(|exemption| covers(exemption, finding))
    }));
    kept
}

fn parse(line: usize, text: &str) -> Option<Exemption<'_>> {
    let mut fields = text.splitn(3, '|').map(str::trim);
    let (rule, path, reason) = (fields.next()?, fields.next()?, fields.next()?);
    (!rule.is_empty() && !path.is_empty() && !reason.is_empty()).then_some(Exemption {
        line,
        rule,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    fn left(list: &str) -> Vec<&'static str> {
        let finding = Finding::new("crates/a/tests/b.rs", 3, "sleep", "…");
        apply(&tree(&[(LIST, list)]), vec![finding])
            .into_iter()
            .map(|finding| finding.rule)
            .collect()
    }

    #[test]
    fn an_exemption_covers_its_rule_in_its_file() {
        assert_eq!(
            left("# why\nsleep | crates/a/tests/b.rs | measures real time\n"),
            [""; 0]
        );
        assert_eq!(left(""), ["sleep"]);
    }

    #[test]
    fn an_exemption_needs_a_reason_and_a_use() {
        assert_eq!(
            left("sleep | crates/a/tests/b.rs |\n"),
            ["exemption", "sleep"]
        );
        assert_eq!(
            left("sleep | crates/a/tests/c.rs | gone\n"),
            ["exemption", "sleep"]
        );
    }
}
