//! The one change the demo agent makes.
//!
//! Invariant: a new file beside the others, or lines added to the end of a text file. No existing line is altered.

use crate::demo::story::{Change, extension};
use crate::demo::topic::Topic;

/// The change for a topic: to a file that is there when one fits, else a new file.
pub(crate) fn pick_change(
    topic: Topic,
    title: &str,
    files: &[String],
    read: impl Fn(&str) -> Option<String>,
) -> Change {
    let append = |path: &str, lines: &str| {
        let before = read(path)?;
        let gap = if before.is_empty() || before.ends_with("\n\n") {
            ""
        } else {
            "\n"
        };
        let end = if before.is_empty() || before.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        Some(Change {
            path: path.to_owned(),
            text: format!("{before}{end}{gap}{lines}"),
            is_new: false,
        })
    };
    let changed = match topic {
        Topic::Test => Some(new_test(title, files)),
        Topic::Docs => find(files, "readme").and_then(|path| append(path, &section(title))),
        Topic::Look => files
            .iter()
            .find(|path| path.ends_with(".css"))
            .and_then(|path| append(path, &css(title))),
        Topic::Fix | Topic::Upkeep => {
            find(files, "changelog").and_then(|path| append(path, &format!("- {title}\n")))
        }
        _ => None,
    };
    changed.unwrap_or_else(|| note(topic, title))
}

fn section(title: &str) -> String {
    format!(
        "## {title}\n\n1. Clone the repository and install its tools.\n2. Run the checks once before you change anything.\n3. Keep each commit to one idea.\n"
    )
}

fn css(title: &str) -> String {
    format!(
        "/* {title} */\n@media (prefers-color-scheme: dark) {{\n  :root {{\n    --surface: #16181d;\n    --text: #e8eaee;\n  }}\n}}\n"
    )
}

fn new_test(title: &str, files: &[String]) -> Change {
    let uses = |wanted: &str| files.iter().any(|path| extension(path) == wanted);
    let name = slug(title, "_");
    let (path, text) = if uses("rs") {
        let body = "    let words: Vec<_> = \"one two\".split(' ').collect();\n    assert_eq!(words.len(), 2);\n";
        (
            format!("tests/{name}.rs"),
            format!("//! {title}.\n\n#[test]\nfn {name}() {{\n{body}}}\n"),
        )
    } else if uses("py") {
        let body = "    words = \"one two\".split()\n    assert len(words) == 2\n";
        (
            format!("tests/test_{name}.py"),
            format!("\"\"\"{title}.\"\"\"\n\n\ndef test_{name}():\n{body}"),
        )
    } else if uses("ts") || uses("js") || uses("tsx") {
        let body = "  expect(\"one two\".split(\" \")).toHaveLength(2);\n";
        let extension = if uses("ts") || uses("tsx") {
            "ts"
        } else {
            "js"
        };
        (
            format!("test/{}.test.{extension}", slug(title, "-")),
            format!("test({title:?}, () => {{\n{body}}});\n"),
        )
    } else {
        (
            format!("tests/{name}.md"),
            format!("# {title}\n\n- [ ] empty input\n- [ ] one entry\n- [ ] many entries\n"),
        )
    };
    Change {
        path,
        text,
        is_new: true,
    }
}

fn note(topic: Topic, title: &str) -> Change {
    let points = match topic {
        Topic::Fix => {
            "- Cause: an empty list was taken for a missing one.\n- Guard added where the list is read.\n"
        }
        Topic::Refactor => {
            "- Two callers share one path now.\n- Names say what a value is, not where it came from.\n"
        }
        Topic::Speed => {
            "- The result of the first look-up is kept.\n- Measure before and after with the same input.\n"
        }
        Topic::Upkeep => "- Versions are pinned in one place.\n- The check runs on every push.\n",
        _ => "- Smallest useful version first.\n- Limits and error texts are part of it.\n",
    };
    let text = format!("# {title}\n\n{points}");
    Change {
        path: format!("docs/{}.md", slug(title, "-")),
        text,
        is_new: true,
    }
}

/// Lower case words joined by `separator`, fit for a file name.
fn slug(title: &str, separator: &str) -> String {
    let words = title
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let slug = words
        .take(4)
        .collect::<Vec<_>>()
        .join(separator)
        .to_lowercase();
    if slug.is_empty() {
        "notes".to_owned()
    } else {
        slug
    }
}

fn find<'a>(files: &'a [String], part: &str) -> Option<&'a String> {
    files.iter().find(|path| path.to_lowercase().contains(part))
}
