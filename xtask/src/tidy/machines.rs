//! Nothing in the repository may name one machine: no home folders, no private package registries.
//!
//! A fresh clone must build and pass its tests anywhere. A path that exists on one machine only is found here
//! rather than by the next person.

use super::Finding;
use super::code::numbered;
use super::files::Tree;

/// Folders that lie on one machine whatever comes after them.
const PRIVATE_FOLDERS: [&str; 2] = ["/root/", "/work/"];

/// Folders that are private as soon as a person's name follows.
const HOMES: [&str; 2] = ["/home/", "/Users/"];

/// People that documentation and tests may invent.
const INVENTED_PEOPLE: [&str; 5] = ["you", "user", "someone", "alice", "bob"];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
const NPM: &str = "https://registry.npmjs.org/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree {
        if path.ends_with("Cargo.lock") {
            findings.extend(registries(path, text, "source = ", CRATES_IO));
        } else if path.ends_with("package-lock.json") {
            findings.extend(registries(path, text, "\"resolved\": ", NPM));
        } else if path != "xtask/src/tidy/machines.rs" {
            findings.extend(private_paths(path, text));
        }
    }
    findings
}

fn private_paths(path: &str, text: &str) -> Vec<Finding> {
    numbered(text)
        .filter_map(|(number, line)| {
            let found = private_path(line)?;
            let message = format!("`{found}` exists on one machine only");
            Some(Finding::new(path, number, "machine", message))
        })
        .collect()
}

/// The first absolute path in `line` that lies in a folder of one machine.
fn private_path(line: &str) -> Option<&str> {
    let private = PRIVATE_FOLDERS
        .iter()
        .find_map(|folder| paths_below(line, folder).next());
    private.or_else(|| {
        HOMES.iter().find_map(|home| {
            paths_below(line, home).find(|path| {
                let owner = path
                    .get(home.len()..)
                    .and_then(|rest| rest.split('/').next());
                owner.is_some_and(|name| !name.is_empty() && !INVENTED_PEOPLE.contains(&name))
            })
        })
    })
}

/// The absolute paths in `line` that begin with `folder`; not those where it stands inside a longer path.
fn paths_below<'a>(line: &'a str, folder: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(folder).filter_map(|(at, _)| {
        let before = line.get(..at)?.chars().next_back();
        let inside = before.is_some_and(|c| c.is_alphanumeric() || "._-/>}*)]~$".contains(c));
        let rest = line.get(at..)?;
        let end = rest
            .find(|c: char| c.is_whitespace() || "\"'`),;<>|\\".contains(c))
            .unwrap_or(rest.len());
        (!inside).then_some(rest.get(..end)?)
    })
}

fn registries(path: &str, text: &str, mark: &str, public: &str) -> Vec<Finding> {
    numbered(text)
        .filter(|(_, line)| {
            line.trim_start()
                .strip_prefix(mark)
                .is_some_and(|value| !value.trim_start_matches('"').starts_with(public))
        })
        .map(|(number, _)| {
            Finding::new(
                path,
                number,
                "registry",
                format!("packages come from {public}, so that anyone can fetch them"),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::files::tree;
    use super::*;

    fn found(line: &str) -> Option<&str> {
        private_path(line)
    }

    #[test]
    fn absolute_paths_of_one_machine_are_found() {
        assert_eq!(found("cd /root/project && ls"), Some("/root/project"));
        assert_eq!(found("\"/work/main/x.rs\""), Some("/work/main/x.rs"));
        assert_eq!(found("path=/home/jan/code"), Some("/home/jan/code"));
        assert_eq!(found("(/Users/jan/x)"), Some("/Users/jan/x"));
    }

    #[test]
    fn parts_of_other_paths_and_invented_people_are_not() {
        for line in [
            "crates/work/src",
            "<HOME>/work/x",
            "/home/you/code",
            "/home/ and",
            "https://x.test/work/y",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn lock_files_name_public_registries_only() {
        let public = format!("source = \"{CRATES_IO}\"\n");
        assert!(check(&tree(&[("Cargo.lock", &public)])).is_empty());
        assert_eq!(
            check(&tree(&[(
                "Cargo.lock",
                "source = \"registry+http://localhost/\"\n"
            )]))
            .len(),
            1
        );
        let resolved = "  \"resolved\": \"http://10.0.0.1/react.tgz\",\n";
        assert_eq!(
            check(&tree(&[("web/package-lock.json", resolved)])).len(),
            1
        );
    }
}
