//! The demo agent: what happens when a prompt holds no directive.
//!
//! It plays a [`story::Story`] chosen from the words of the prompt and the files of the worktree: thinks, shows a plan,
//! reads, asks, edits, runs a harmless command, sums up. Everything it claims it really does; nothing leaves the
//! worktree.

mod change;
pub mod story;
pub mod topic;
mod words;

use crate::demo::story::{Change, Story};
use crate::turn::{Cancelled, Decision, End, Turn};
use crate::worktree;
use serde_json::json;
use std::fs;

/// Files of the worktree that are looked at.
const FILES: usize = 500;
/// Characters of a file that a read shows.
const EXCERPT: usize = 400;

/// Works on `prompt`.
pub fn run(turn: &Turn, prompt: &str) -> End {
    let files = worktree::files(turn.cwd(), FILES);
    let read = |path: &str| {
        worktree::inside(turn.cwd(), path).and_then(|path| fs::read_to_string(path).ok())
    };
    let story = Story::of(prompt, &files, read);
    match play(turn, &story) {
        Ok(()) => End::Done,
        Err(Cancelled) => End::Cancelled,
    }
}

fn play(turn: &Turn, story: &Story) -> Result<(), Cancelled> {
    turn.update(&json!({ "sessionUpdate": "session_info_update", "title": story.title }));
    speak(turn, &story.thought, Turn::think)?;
    turn.breathe(900)?;
    speak(turn, &story.opening, Turn::say)?;
    turn.plan(&story.plan, 0);
    read_files(turn, story)?;
    turn.plan(&story.plan, 1);
    turn.report_usage();
    let changed = match &story.change {
        Some(change) => make(turn, change)?,
        None => true,
    };
    if changed {
        turn.plan(&story.plan, 2);
        run_command(turn, &story.command)?;
    }
    turn.plan(&story.plan, story.plan.len());
    speak(
        turn,
        if changed {
            &story.summary
        } else {
            &story.refused
        },
        Turn::say,
    )?;
    turn.report_usage();
    Ok(())
}

/// Streams text, a few words at a time.
fn speak(turn: &Turn, text: &str, say: impl Fn(&Turn, &str)) -> Result<(), Cancelled> {
    for words in text.split_inclusive(' ').collect::<Vec<_>>().chunks(2) {
        say(turn, &words.concat());
        turn.breathe(80)?;
    }
    Ok(())
}

/// Reads what the story names; a helper, if there is one, ends with the reading, cancelled or not.
fn read_files(turn: &Turn, story: &Story) -> Result<(), Cancelled> {
    let Some(helper) = &story.helper else {
        return story
            .reads
            .iter()
            .try_for_each(|path| read_file(turn, path));
    };
    turn.begin_subagent(helper);
    let read = story
        .reads
        .iter()
        .try_for_each(|path| read_file(turn, path))
        .and_then(|()| turn.breathe(1_500));
    turn.end_subagent(helper);
    read
}

fn read_file(turn: &Turn, path: &str) -> Result<(), Cancelled> {
    let tool = turn.begin_tool(
        "read",
        &format!("Read {path}"),
        Some(path),
        &json!({ "path": path }),
    );
    turn.run_tool(&tool);
    turn.within_tool(&tool, || turn.breathe(1_100))?;
    let text = worktree::inside(turn.cwd(), path).and_then(|path| fs::read_to_string(path).ok());
    let excerpt: String = text
        .as_deref()
        .unwrap_or_default()
        .chars()
        .take(EXCERPT)
        .collect();
    turn.end_tool(
        &tool,
        text.is_some(),
        &Turn::text_content(&format!("```\n{}\n```", excerpt.trim_end())),
    );
    Ok(())
}

/// Makes the change when allowed; whether it was.
fn make(turn: &Turn, change: &Change) -> Result<bool, Cancelled> {
    let title = format!(
        "{} {}",
        if change.is_new { "Write" } else { "Edit" },
        change.path
    );
    let tool = turn.begin_tool(
        "edit",
        &title,
        Some(&change.path),
        &json!({ "path": change.path }),
    );
    let decision = turn.within_tool(&tool, || {
        turn.breathe(1_000)?;
        turn.ask(&tool, "edit", &title)
    })?;
    if decision == Decision::Rejected {
        turn.end_tool(&tool, false, &Turn::text_content("not allowed"));
        return Ok(false);
    }
    turn.run_tool(&tool);
    turn.within_tool(&tool, || turn.breathe(1_200))?;
    let outcome = worktree::inside(turn.cwd(), &change.path)
        .ok_or_else(|| "that path is not inside the worktree".to_owned())
        .and_then(|path| {
            let before = worktree::write(&path, &change.text).map_err(|error| error.to_string())?;
            Ok(json!({ "type": "diff", "path": path, "oldText": before, "newText": change.text }))
        });
    turn.end_tool(
        &tool,
        outcome.is_ok(),
        &outcome.unwrap_or_else(|reason| Turn::text_content(&reason)),
    );
    Ok(true)
}

fn run_command(turn: &Turn, command: &str) -> Result<(), Cancelled> {
    let tool = turn.begin_tool("execute", command, None, &json!({ "command": command }));
    turn.run_tool(&tool);
    let (well, output) = turn.within_tool(&tool, || {
        turn.breathe(1_400)?;
        turn.shell(command)
    })?;
    let shown: String = output.chars().take(EXCERPT * 4).collect();
    turn.end_tool(
        &tool,
        well,
        &Turn::text_content(&format!("```\n{}\n```", shown.trim_end())),
    );
    Ok(())
}
