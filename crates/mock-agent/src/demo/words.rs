//! What the demo agent says, by topic.

use crate::demo::story::Change;
use crate::demo::topic::Topic;

/// The reasoning.
pub(crate) fn thought(topic: Topic, title: &str, files: usize) -> String {
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

/// The first words of the answer.
pub(crate) fn opening(topic: Topic) -> &'static str {
    match topic {
        Topic::Question => "Let me look at the code first.\n\n",
        Topic::Fix => "I will find the cause before changing anything.\n\n",
        Topic::Test => "I will look at what is covered today.\n\n",
        _ => "I will read what is there, then make one small change.\n\n",
    }
}

/// Three steps.
pub(crate) fn plan(topic: Topic, seen: &str) -> Vec<String> {
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

/// The last words, in Markdown.
pub(crate) fn summary(topic: Topic, title: &str, seen: &str, change: Option<&Change>) -> String {
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
