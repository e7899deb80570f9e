//! What the demo agent does for a prompt: pure, from the prompt and the worktree's files.
//!
//! Invariant: a change is small and safe: a new file beside the others, or lines added to the end of a text file. No
//! existing line is altered, so a demo cannot break the repository it is shown on.

use crate::demo::change::pick_change;
use crate::demo::topic::Topic;
use crate::demo::words::{opening, plan, summary, thought};

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

/// The part of a file name after its last dot.
pub(crate) fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn is_source(path: &str) -> bool {
    matches!(
        extension(path),
        "rs" | "py" | "js" | "jsx" | "ts" | "tsx" | "go" | "java" | "rb" | "c" | "cpp" | "css"
    )
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
