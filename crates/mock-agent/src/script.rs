//! Carries out directives, one after the other.

use crate::directive::{Directive, stream_chunk};
use crate::mcp;
use crate::turn::{Cancelled, Decision, End, Turn};
use crate::worktree;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;

/// Whether to go on as written.
enum Next {
    Go,
    SkipOne,
    Fail(String),
}

/// Carries out `directives`; how the turn ends, and what to do after its reply.
pub fn run(turn: &Turn, directives: Vec<Directive>) -> (End, Vec<Directive>) {
    let mut late = Vec::new();
    let mut skip = false;
    let mut directives = directives.into_iter();
    while let Some(directive) = directives.next() {
        if std::mem::take(&mut skip) {
            continue;
        }
        if turn.agent().options.noise {
            turn.agent()
                .peer
                .raw("working on it (this line is not a message)");
        }
        if let Directive::Late(text) = directive {
            late.push(Directive::Say(text));
            continue;
        }
        if directive == Directive::After {
            late.extend(directives);
            break;
        }
        match carry_out(turn, directive) {
            Ok(Next::Go) => {}
            Ok(Next::SkipOne) => skip = true,
            Ok(Next::Fail(message)) => return (End::Failed(message), late),
            Err(Cancelled) => return (End::Cancelled, late),
        }
    }
    (End::Done, late)
}

fn carry_out(turn: &Turn, directive: Directive) -> Result<Next, Cancelled> {
    match directive {
        Directive::Say(text) => turn.say(&text),
        Directive::Think(text) => turn.think(&text),
        Directive::Stream {
            count,
            bytes,
            delay,
        } => {
            for index in 0..count {
                turn.pause(delay)?;
                turn.say(&stream_chunk(index, bytes));
            }
        }
        Directive::Thoughts { count, bytes } => {
            for index in 0..count {
                turn.pause(std::time::Duration::ZERO)?;
                turn.think(&stream_chunk(index, bytes));
            }
        }
        Directive::Tool { kind, title } => {
            let tool = turn.begin_tool(&kind, &title, None, &json!({}));
            turn.run_tool(&tool);
            turn.end_tool(&tool, true, &Turn::text_content("done"));
        }
        Directive::Permission { title, kind } => return permission(turn, &title, &kind),
        Directive::Permissions(count) => permissions(turn, count)?,
        Directive::Edit { path, text } => change(turn, &path, |_| Some(text)),
        Directive::Append { path, text } => change(turn, &path, |before| Some(before + &text)),
        Directive::Delete(path) => change(turn, &path, |_| None),
        Directive::Run(command) => run_command(turn, &command)?,
        Directive::Commit(message) => run_command(turn, &worktree::commit_command(&message))?,
        Directive::Plan(steps) => turn.plan(&steps, 0),
        Directive::Sleep(duration) => turn.pause(duration)?,
        Directive::WaitFile(path) => {
            let path = turn.cwd().join(path);
            turn.wait_until(|| path.exists())?;
        }
        Directive::Title(title) => {
            turn.update(&json!({ "sessionUpdate": "session_info_update", "title": title }))
        }
        Directive::SubagentStart(name) => turn.begin_subagent(&name),
        Directive::SubagentEnd(name) => turn.end_subagent(&name),
        Directive::Usage => turn.report_usage(),
        Directive::UnknownUpdate => {
            turn.update(&json!({ "sessionUpdate": "hologram", "shape": "cube" }))
        }
        Directive::Request(method) => say_answer(turn, &method)?,
        Directive::Ask { arguments, until } => ask(turn, &arguments, until)?,
        Directive::Elicit(schema) => {
            let result = turn.elicit(&schema)?;
            turn.say(&format!("elicited: {result}"));
        }
        Directive::Error(message) => return Ok(Next::Fail(message)),
        other => misbehave(turn, other),
    }
    Ok(Next::Go)
}

/// What no agent should do.
fn misbehave(turn: &Turn, directive: Directive) {
    match directive {
        Directive::Noise(text) => turn.agent().peer.raw(&text),
        Directive::Stderr(text) => complain(&text),
        Directive::IgnoreEof => turn.agent().ignore_eof.store(true, Ordering::SeqCst),
        Directive::Crash(text) => {
            complain(&text);
            std::process::abort();
        }
        Directive::Exit(code) => exit(code),
        Directive::Hang => loop {
            thread::park();
        },
        _ => {}
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "ending in the middle of everything is what the directive asks for"
)]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}

fn complain(text: &str) {
    // A closed stderr is as good as a read one here.
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn permission(turn: &Turn, title: &str, kind: &str) -> Result<Next, Cancelled> {
    let tool = turn.begin_tool(kind, title, None, &json!({ "command": title }));
    let decision = turn.ask(&tool, kind, title);
    let allowed = decision == Ok(Decision::Allowed);
    turn.end_tool(
        &tool,
        allowed,
        &Turn::text_content(if allowed { "done" } else { "not allowed" }),
    );
    decision.map(|decision| {
        if decision == Decision::Allowed {
            Next::Go
        } else {
            Next::SkipOne
        }
    })
}

fn permissions(turn: &Turn, count: usize) -> Result<(), Cancelled> {
    let ask = |number: usize| {
        let title = format!("Question {}", number + 1);
        let tool = turn.begin_tool("execute", &title, None, &json!({}));
        let request = turn.request_permission(&tool, "execute", &title);
        (tool, request)
    };
    let asked: Vec<_> = (0..count).map(ask).collect();
    let mut cancelled = false;
    for (number, (tool, request)) in asked.into_iter().enumerate() {
        let decision = turn.decision(request);
        cancelled |= decision.is_err();
        let allowed = decision == Ok(Decision::Allowed);
        turn.end_tool(
            &tool,
            allowed,
            &Turn::text_content(if allowed { "done" } else { "not allowed" }),
        );
        if !cancelled {
            turn.say(&format!(
                "{}:{} ",
                number + 1,
                if allowed { "allowed" } else { "rejected" }
            ));
        }
    }
    if cancelled { Err(Cancelled) } else { Ok(()) }
}

/// Changes a file: `new` gives its text, or `None` to delete it.
fn change(turn: &Turn, path: &str, new: impl FnOnce(String) -> Option<String>) {
    let tool = turn.begin_tool(
        "edit",
        &format!("Edit {path}"),
        Some(path),
        &json!({ "path": path }),
    );
    turn.run_tool(&tool);
    match change_file(turn.cwd(), path, new) {
        Ok(diff) => turn.end_tool(&tool, true, &diff),
        Err(reason) => turn.end_tool(&tool, false, &Turn::text_content(&reason)),
    }
}

fn change_file(
    cwd: &Path,
    path: &str,
    new: impl FnOnce(String) -> Option<String>,
) -> Result<Value, String> {
    let file = worktree::inside(cwd, path).ok_or("that path is not inside the worktree")?;
    let before = fs::read_to_string(&file).ok();
    let after = new(before.clone().unwrap_or_default());
    match &after {
        Some(text) => worktree::write(&file, text).map(drop),
        None => fs::remove_file(&file),
    }
    .map_err(|error| error.to_string())?;
    Ok(
        json!({ "type": "diff", "path": file, "oldText": before, "newText": after.unwrap_or_default() }),
    )
}

fn run_command(turn: &Turn, command: &str) -> Result<(), Cancelled> {
    let tool = turn.begin_tool("execute", command, None, &json!({ "command": command }));
    turn.run_tool(&tool);
    let (well, output) = turn.within_tool(&tool, || turn.shell(command))?;
    turn.end_tool(&tool, well, &Turn::text_content(&output));
    Ok(())
}

/// Calls the tool on a thread of its own, so that a cancelled turn ends at once.
fn ask(turn: &Turn, arguments: &Value, until: Option<String>) -> Result<(), Cancelled> {
    let tool = turn.begin_tool("other", "ask_user", None, arguments);
    let until = until.map(|path| turn.cwd().join(path));
    let answer = turn.call_tool("ask_user", arguments, move || {
        until.as_ref().is_some_and(|path| path.exists())
    });
    let said = match &answer {
        Ok(Ok(result)) => mcp::words(result),
        Ok(Err(reason)) => format!("the call failed: {reason}"),
        Err(Cancelled) => "cancelled".to_owned(),
    };
    turn.end_tool(&tool, answer.is_ok(), &Turn::text_content(&said));
    answer.map(|_| turn.say(&said))
}

fn say_answer(turn: &Turn, method: &str) -> Result<(), Cancelled> {
    let answer = turn.request(method)?;
    let said = match answer.pointer("/error/code") {
        Some(code) => format!("{method}: error {code}"),
        None => format!("{method}: ok"),
    };
    turn.say(&said);
    Ok(())
}
