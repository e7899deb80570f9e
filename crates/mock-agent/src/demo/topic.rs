//! What a prompt is about, told from its words.

/// The kinds of work the demo agent can play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Only wants to know something; nothing is changed.
    Question,
    /// Tests.
    Test,
    /// Readme, guides, comments.
    Docs,
    /// Something is broken.
    Fix,
    /// Same behaviour, better shape.
    Refactor,
    /// Colours, layout, dark mode.
    Look,
    /// Speed, memory.
    Speed,
    /// Pipelines, releases, dependencies.
    Upkeep,
    /// Anything else: a new thing.
    Feature,
}

/// The first row with one of its words in the prompt wins. Words match as beginnings of the prompt's words.
const WORDS: &[(Topic, &[&str])] = &[
    (
        Topic::Question,
        &[
            "explain",
            "why",
            "what",
            "how",
            "where",
            "summarise",
            "summarize",
            "review",
            "look",
        ],
    ),
    (Topic::Test, &["test", "coverage", "flaky", "assert"]),
    (
        Topic::Docs,
        &["readme", "doc", "guide", "comment", "changelog", "typo"],
    ),
    (
        Topic::Fix,
        &[
            "fix", "bug", "crash", "broken", "fail", "error", "wrong", "repair",
        ],
    ),
    (
        Topic::Refactor,
        &[
            "refactor", "rename", "clean", "split", "extract", "simplify", "tidy", "move",
        ],
    ),
    (
        Topic::Look,
        &[
            "css", "style", "dark", "colour", "color", "layout", "button", "icon", "theme",
        ],
    ),
    (
        Topic::Speed,
        &[
            "fast", "slow", "speed", "perf", "cache", "memory", "latency", "optimi",
        ],
    ),
    (
        Topic::Upkeep,
        &[
            "ci", "pipeline", "release", "upgrade", "update", "depend", "bump", "lint", "docker",
        ],
    ),
];

impl Topic {
    /// What `prompt` is about.
    #[must_use]
    pub fn of(prompt: &str) -> Self {
        let prompt = prompt.to_lowercase();
        let words: Vec<_> = prompt
            .split(|letter: char| !letter.is_alphanumeric())
            .collect();
        // A question word counts only where questions have it: at the beginning.
        let asks = |starts: &[&str]| words.first().is_some_and(|first| starts.contains(first));
        let names = |starts: &[&str]| {
            words.iter().any(|word| {
                starts
                    .iter()
                    .any(|start| word == start || (2 < start.len() && word.starts_with(start)))
            })
        };
        let found = WORDS.iter().find(|(topic, starts)| match topic {
            Self::Question => asks(starts),
            _ => names(starts),
        });
        found.map_or(Self::Feature, |(topic, _)| *topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_decide() {
        let check = |prompt: &str, topic: Topic| assert_eq!(Topic::of(prompt), topic, "{prompt}");
        check("Why is the build slow?", Topic::Question);
        check("Add tests for the parser", Topic::Test);
        check("Fix what breaks on empty input", Topic::Fix);
        check("Improve the README", Topic::Docs);
        check("Make a decision page", Topic::Feature);
        check("Set up CI", Topic::Upkeep);
        check("", Topic::Feature);
    }
}
