//! What the demo agent does for a prompt: pure, from the prompt and the worktree's files.
//!
//! Invariant: a change is small and safe: a new file beside the others, or lines added to the end of a text file. No
//! existing line is altered, so a demo cannot break the repository it is shown on.

use crate::demo::topic::Topic;

/// Everything the demo agent will say and do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// The name of the conversation.
    pub title: String,
    /// Its reasoning.
    pub thought: String,
    /// The first words of its answer.
    pub opening: String,
    /// Its plan, three steps.
    pub plan: Vec<String>,
    /// A helper that works beside it.
    pub helper: Option<String>,
    /// Files it reads.
    pub reads: Vec<String>,
    /// The change it makes, if any.
    pub change: Option<Change>,
    /// A harmless command.
    pub command: String,
    /// Its last words, in Markdown.
    pub summary: String,
    /// Its last words when the change was not allowed.
    pub refused: String,
}

/// A file with its whole new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the worktree.
    pub path: String,
    /// The new text.
    pub text: String,
    /// Whether the file is new.
    pub is_new: bool,
}

/// Files read at most.
const READS: usize = 3;

impl Story {
    /// The story for `prompt` in a worktree with these files; `read` gives a file's text.
    pub fn of(prompt: &str, files: &[String], read: impl Fn(&str) -> Option<String>) -> Self {
        let topic = Topic::of(prompt);
        let title = title(prompt);
        let reads = pick_reads(topic, prompt, files);
        let change = (topic != Topic::Question).then(|| pick_change(topic, &title, files, read));
        let seen = if reads.is_empty() {
            "the worktree".to_owned()
        } else {
            reads.join(", ")
        };
        let helper = (topic == Topic::Refactor || topic == Topic::Speed)
            .then(|| "Survey the call sites".to_owned());
        Self {
            thought: thought(topic, &title, files.len()),
            opening: opening(topic).to_owned(),
            plan: plan(topic, &seen),
            summary: summary(topic, &title, &seen, change.as_ref()),
            refused:
                "Understood, I left everything as it was. Tell me what you would rather have, \
                      and I will try again."
                    .to_owned(),
            command: if change.is_some() {
                "git status --short".to_owned()
            } else {
                "git log --oneline -5".to_owned()
            },
            title,
            helper,
            reads,
            change,
        }
    }
}

/// The first line of the prompt, short.
fn title(prompt: &str) -> String {
    let line = prompt
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("Have a look around");
    let line = line.trim_end_matches(['.', '!', '?']);
    match line.char_indices().nth(60) {
        None => line.to_owned(),
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default().trim_end()),
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

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn is_source(path: &str) -> bool {
    matches!(
        extension(path),
        "rs" | "py" | "js" | "jsx" | "ts" | "tsx" | "go" | "java" | "rb" | "c" | "cpp" | "css"
    )
}

fn find<'a>(files: &'a [String], part: &str) -> Option<&'a String> {
    files.iter().find(|path| path.to_lowercase().contains(part))
}

/// Files whose names share a word with the prompt come first, then what the topic is about, then any source.
fn pick_reads(topic: Topic, prompt: &str, files: &[String]) -> Vec<String> {
    let prompt = prompt.to_lowercase();
    let words: Vec<_> = prompt
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| 3 < word.len())
        .collect();
    let named = files
        .iter()
        .filter(|path| words.iter().any(|word| path.to_lowercase().contains(word)));
    let about = files.iter().filter(|path| match topic {
        Topic::Docs => path.ends_with(".md"),
        Topic::Test => path.contains("test"),
        Topic::Look => matches!(extension(path), "css" | "tsx" | "html"),
        Topic::Upkeep => path.ends_with(".toml") || path.ends_with(".json") || path.contains("ci"),
        _ => is_source(path),
    });
    let any = files
        .iter()
        .filter(|path| is_source(path) || path.ends_with(".md"));
    let mut picked: Vec<String> = Vec::new();
    for path in named.chain(about).chain(any) {
        if !picked.contains(path) {
            picked.push(path.clone());
        }
        if picked.len() == READS {
            break;
        }
    }
    picked
}

fn pick_change(
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

fn thought(topic: Topic, title: &str, files: usize) -> String {
    let idea = match topic {
        Topic::Question => "Nothing needs to change for this; I should read before I answer.",
        Topic::Test => "I want a test that fails for the right reason first.",
        Topic::Docs => "The reader is new here, so the first command matters most.",
        Topic::Fix => "Before I touch anything I want to see where it goes wrong.",
        Topic::Refactor => "Behaviour must stay the same, so small steps.",
        Topic::Look => "One place for the colours, then the rest follows.",
        Topic::Speed => "Measure first; guesses are usually wrong.",
        Topic::Upkeep => "Pin it, run it, write down how.",
        Topic::Feature => "The smallest useful version first.",
    };
    format!("The task is “{title}”. There are {files} files here. {idea}")
}

fn opening(topic: Topic) -> &'static str {
    match topic {
        Topic::Question => "Let me look at the code first.\n\n",
        Topic::Fix => "I will find the cause before changing anything.\n\n",
        Topic::Test => "I will look at what is covered today.\n\n",
        _ => "I will read what is there, then make one small change.\n\n",
    }
}

fn plan(topic: Topic, seen: &str) -> Vec<String> {
    let middle = match topic {
        Topic::Question => "Collect what matters",
        Topic::Test => "Write the test",
        Topic::Docs => "Write the section",
        Topic::Fix => "Fix the cause",
        Topic::Refactor => "Move in small steps",
        Topic::Look => "Adjust the styles",
        Topic::Speed => "Keep the first result",
        Topic::Upkeep => "Pin and record it",
        Topic::Feature => "Write the first version",
    };
    vec![
        format!("Read {seen}"),
        middle.to_owned(),
        "Check the result".to_owned(),
    ]
}

fn summary(topic: Topic, title: &str, seen: &str, change: Option<&Change>) -> String {
    let Some(change) = change else {
        return format!(
            "Here is what I found about **{title}**:\n\n- I read {seen}.\n- The parts are small and \
             depend on each other in one direction.\n- The history shows recent work in the same place.\n\n\
             ```sh\ngit log --oneline -5\n```\n\nNothing was changed."
        );
    };
    let verb = if change.is_new { "Added" } else { "Extended" };
    let next = match topic {
        Topic::Test => "Run it once without the code it covers, to see it fail.",
        Topic::Docs => "Read it once as somebody who is new here.",
        Topic::Speed => "Compare the numbers before you merge.",
        _ => "Have a look at the diff before you merge.",
    };
    format!(
        "Done: **{title}**.\n\n- Read {seen}\n- {verb} `{path}`\n- Checked the state of the worktree\n\n\
         ```sh\ngit diff HEAD -- {path}\n```\n\n{next}",
        path = change.path
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(prompt: &str, files: &[&str]) -> Story {
        let files: Vec<_> = files.iter().map(|path| (*path).to_owned()).collect();
        Story::of(prompt, &files, |path| Some(format!("text of {path}")))
    }

    #[test]
    fn different_tasks_look_different() {
        let files = ["CHANGELOG.md", "README.md", "src/lib.rs", "web/app.css"];
        let path = |prompt: &str| story(prompt, &files).change.map(|change| change.path);
        assert_eq!(
            path("Add tests for the parser").as_deref(),
            Some("tests/add_tests_for_the.rs")
        );
        assert_eq!(
            path("Write a readme section about set-up").as_deref(),
            Some("README.md")
        );
        assert_eq!(
            path("Fix the crash on empty input").as_deref(),
            Some("CHANGELOG.md")
        );
        assert_eq!(path("Dark theme").as_deref(), Some("web/app.css"));
        assert_eq!(
            path("Let people export a list").as_deref(),
            Some("docs/let-people-export-a.md")
        );
        assert_eq!(path("Why is it slow?"), None);
    }

    #[test]
    fn an_existing_file_only_grows() {
        let change = story("Improve the readme", &["README.md"])
            .change
            .expect("a change");
        assert!(
            change
                .text
                .starts_with("text of README.md\n\n## Improve the readme\n")
        );
        assert!(!change.is_new);
    }

    #[test]
    fn an_empty_worktree_and_an_empty_prompt_are_no_trouble() {
        let story = story("", &[]);
        assert_eq!(story.title, "Have a look around");
        assert!(story.reads.is_empty() && story.change.is_some());
    }

    #[test]
    fn files_named_in_the_prompt_are_read_first() {
        let story = story(
            "Rename the parser",
            &["src/a.rs", "src/b.rs", "src/c.rs", "src/parser.rs"],
        );
        assert_eq!(story.reads, ["src/parser.rs", "src/a.rs", "src/b.rs"]);
        assert_eq!(story.helper.as_deref(), Some("Survey the call sites"));
    }
}
