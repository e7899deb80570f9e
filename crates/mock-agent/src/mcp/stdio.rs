//! MCP through a program: one message a line on its stdin and stdout.

use super::{call_message, cancelled, initialize, initialized, outcome};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often patience is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Starts the program, calls the tool, and ends the program.
pub(super) fn call(
    command: &str,
    args: &[String],
    env: &[(String, String)],
    tool: &str,
    arguments: &Value,
    given_up: impl Fn() -> bool + Send + Sync,
) -> Result<Value, String> {
    let failed = |error: std::io::Error| format!("{command}: {error}");
    let mut child = Command::new(command)
        .args(args)
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(format!("{command}: no pipes"));
    };
    let input = Mutex::new(Some(input));
    let say = |message: &Value| {
        let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
        match input.as_mut() {
            Some(pipe) => writeln!(pipe, "{message}").and_then(|()| pipe.flush()),
            None => Ok(()),
        }
    };
    let over = AtomicBool::new(false);
    let answer = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                if given_up() {
                    // Whether it arrives shows in the answer to the call.
                    let _ = say(&cancelled());
                    return;
                }
                thread::park_timeout(LOOK_EVERY);
            }
        });
        let answer = (|| {
            say(&initialize()).map_err(failed)?;
            let mut lines = BufReader::new(output).lines();
            let mut next = || match lines.next() {
                Some(Ok(line)) => Ok(serde_json::from_str::<Value>(&line).unwrap_or_default()),
                _ => Err(format!("{command} ended without an answer")),
            };
            while next()?.get("result").is_none() {}
            say(&initialized()).map_err(failed)?;
            say(&call_message(tool, arguments)).map_err(failed)?;
            loop {
                if let Some(answer) = outcome(&next()?) {
                    return answer;
                }
            }
        })();
        over.store(true, Ordering::SeqCst);
        answer
    });
    // Its input closes, and it ends.
    input.lock().unwrap_or_else(PoisonError::into_inner).take();
    let _ = child.wait();
    answer
}
