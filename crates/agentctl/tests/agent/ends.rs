//! Starts that fail, and connections that end.

use crate::bench::Bench;
use crate::talk::{prompt, start, text_of, until_end};
use agentctl::connection::AgentConnection;
use agentctl::error::AgentError;
use agentctl::event::{AgentEvent, AgentStatus, ExitHow, PromptId, TextKind};
use model::bounds;

#[tokio::test]
async fn a_crash_ends_the_prompt_and_tells_why() {
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    prompt(&agent, "/say before\n/crash out of cheese");
    let seen = until_end(&mut events).await;
    assert_eq!(text_of(&seen, TextKind::Message), "before");
    assert!(matches!(
        seen.last(),
        Some(AgentEvent::PromptEnded {
            result: Err(AgentError::Gone),
            ..
        })
    ));
    let AgentEvent::Exited(exit) = events.next().await.expect("the last").event.clone() else {
        panic!("not an end")
    };
    assert_eq!(
        (exit.how, exit.status),
        (ExitHow::Unasked, Some(AgentStatus::Signal(6)))
    );
    assert_eq!(exit.stderr_tail, "out of cheese");
    assert_eq!(
        agent.send_prompt(PromptId::generate(), Vec::new()),
        Err(AgentError::Gone)
    );
}

#[tokio::test]
async fn failed_starts_are_told_apart() {
    let bench = Bench::new();
    let context = bench.context();
    let start = async |command| {
        AgentConnection::start(&command, &context)
            .await
            .map(|_| ())
            .expect_err("it fails")
    };

    let mut missing = bench.demo(&[]);
    missing.program = "no-such-agent".to_owned();
    assert_eq!(
        start(missing).await,
        AgentError::CommandNotFound {
            program: "no-such-agent".to_owned()
        }
    );

    let mut nowhere = bench.demo(&[]);
    nowhere.cwd = bench.worktree().join("gone");
    assert_eq!(start(nowhere).await, AgentError::WorkspaceMissing);

    let at_once = start(bench.demo(&["--exit-at-once", "3"])).await;
    let stderr_tail = "mock-agent: told to exit at once".to_owned();
    assert_eq!(
        at_once,
        AgentError::ExitedAtOnce {
            status: Some(AgentStatus::Code(3)),
            stderr_tail
        }
    );

    let noisy = bench.shell("echo no protocol here; exit 0");
    assert!(matches!(
        start(noisy).await,
        AgentError::ExitedAtOnce {
            status: Some(AgentStatus::Code(0)),
            ..
        }
    ));

    let endless = bench.shell("head -c 40000000 /dev/zero | tr '\\0' 'x'; sleep 60");
    assert_eq!(
        start(endless).await,
        AgentError::LineTooLong {
            limit: bounds::AGENT_LINE_BYTES
        }
    );
}

#[tokio::test]
async fn an_agent_that_ignores_the_end_of_its_input_is_ended_by_a_signal() {
    let bench = Bench::new();
    let (agent, _events) = start(&bench, &["--ignore-eof"]).await;
    let exit = agent.stop().await;
    assert_eq!(
        (exit.how, exit.status),
        (ExitHow::Terminated, Some(AgentStatus::Signal(15)))
    );
    assert!(
        bench
            .group_is_gone(agent.process().expect("it had one"))
            .await
    );
}

#[tokio::test]
async fn dropping_the_events_ends_the_agent() {
    let bench = Bench::new();
    let (agent, events) = start(&bench, &[]).await;
    drop(events);
    prompt(&agent, "/say into the void");
    let exit = agent.ended().await;
    assert_eq!(exit.status, Some(AgentStatus::Code(0)));
}
