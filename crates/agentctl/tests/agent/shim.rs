//! Whatever ends, and however, no agent process is left.

use crate::bench::{Bench, members};
use agentctl::connection::AgentConnection;
use agentctl::event::{AgentStatus, ExitHow};
use agentctl::leftover::{LeftoverEnd, end_leftover_group};
use agentctl::process::{AgentCommand, ProcessIdentity};
use model::bounds;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// A shell line that becomes the demo agent after `before`.
fn then_demo(before: &str, flags: &str) -> Vec<String> {
    let program = Bench::program().display().to_string();
    vec![
        "-c".to_owned(),
        format!("{before}\nexec {program} demo-agent {flags}"),
    ]
}

fn sh(bench: &Bench, args: Vec<String>) -> AgentCommand {
    AgentCommand {
        program: "sh".to_owned(),
        args,
        env: bench.environment(),
        cwd: bench.worktree(),
    }
}

/// A server process with one agent; where its group is.
async fn server(bench: &Bench, agent: &[String]) -> (Child, ProcessIdentity) {
    let mut server = Command::new(Bench::program())
        .arg("server")
        .arg(bench.worktree())
        .arg("sh")
        .args(agent)
        .envs(bench.environment())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the server starts");
    let mut lines = BufReader::new(server.stdout.take().expect("piped")).lines();
    let line = lines.next_line().await.expect("readable").expect("a line");
    let (pid, start_time) = line.split_once(' ').expect("two numbers");
    let identity = ProcessIdentity {
        pid: pid.parse().expect("a number"),
        start_time: start_time.parse().expect("a number"),
    };
    assert!(!members(&identity.group_name()).is_empty());
    (server, identity)
}

async fn kill_dash_nine(pid: u32) {
    let status = Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status()
        .await
        .expect("kill runs");
    assert!(status.success());
}

#[tokio::test]
async fn kill_dash_nine_of_the_server_leaves_no_agent_that_ignores_everything() {
    let bench = Bench::new();
    let (mut server, group) = server(
        &bench,
        &then_demo("trap '' TERM; sleep 1000 &", "--ignore-eof"),
    )
    .await;
    server.kill().await.expect("killed");
    assert!(
        bench.group_is_gone(group).await,
        "{:?}",
        members(&group.group_name())
    );
}

#[tokio::test]
async fn descendants_that_left_the_group_end_with_the_agent() {
    let bench = Bench::new();
    let command = sh(
        &bench,
        then_demo(
            "sleep 1000 & setsid sleep 1000 & setsid sh -c 'sleep 1000 & wait' &",
            "",
        ),
    );
    let (agent, _events) = AgentConnection::start(&command, &bench.context())
        .await
        .expect("the agent starts");
    let group = agent.process().expect("a process");
    assert!(4 <= members(&group.group_name()).len());
    let exit = agent.stop().await;
    assert_eq!(
        (exit.how, exit.status),
        (ExitHow::Asked, Some(AgentStatus::Code(0)))
    );
    assert_eq!(members(&group.group_name()), Vec::<String>::new());
}

#[tokio::test]
async fn an_agent_that_ignores_term_is_killed() {
    let bench = Bench::new();
    let command = sh(&bench, then_demo("trap '' TERM", "--ignore-eof"));
    let (agent, _events) = AgentConnection::start(&command, &bench.context())
        .await
        .expect("the agent starts");
    let exit = agent.stop().await;
    assert_eq!(
        (exit.how, exit.status),
        (ExitHow::Killed, Some(AgentStatus::Signal(9)))
    );
    assert!(
        bench
            .group_is_gone(agent.process().expect("a process"))
            .await
    );
}

#[tokio::test]
async fn signals_from_the_agent_do_not_postpone_its_end() {
    let bench = Bench::new();
    // Its child signals the shim more often than any wait of the shim lasts.
    let nagging =
        "trap '' HUP TERM; shim=$PPID; sh -c \"while kill -HUP $shim; do sleep 0.2; done\" &";
    let (mut server, group) = server(&bench, &then_demo(nagging, "--ignore-eof")).await;
    server.kill().await.expect("killed");
    let all = bounds::STDIN_CLOSE_GRACE + 2 * bounds::TERM_GRACE;
    let slack = Duration::from_secs(5);
    let gone = tokio::time::timeout(all + slack, bench.group_is_gone(group)).await;
    assert_eq!(gone, Ok(true), "{:?}", members(&group.group_name()));
}

#[tokio::test]
async fn when_the_shim_is_killed_its_agent_is_ended_from_here() {
    let bench = Bench::new();
    let (agent, _events) = AgentConnection::start(&bench.demo(&["--ignore-eof"]), &bench.context())
        .await
        .expect("the agent starts");
    let group = agent.process().expect("a process");
    kill_dash_nine(group.pid).await;
    let exit = agent.ended().await;
    assert_eq!(
        (exit.how, exit.status),
        (ExitHow::Unasked, Some(AgentStatus::Signal(9)))
    );
    assert_eq!(members(&group.group_name()), Vec::<String>::new());
}

#[tokio::test]
async fn what_a_crash_of_server_and_shim_left_is_found_again() {
    let bench = Bench::new();
    let (mut server, group) =
        server(&bench, &then_demo("setsid sleep 1000 &", "--ignore-eof")).await;
    // The shim first: with the server gone it would already be ending the agent.
    kill_dash_nine(group.pid).await;
    server.kill().await.expect("killed");
    let someone_else = ProcessIdentity {
        start_time: group.start_time + 1,
        ..group
    };
    assert_eq!(end_leftover_group(someone_else).await, LeftoverEnd::Absent);
    // The server may have been quick enough to end it before it was killed.
    assert_ne!(end_leftover_group(group).await, LeftoverEnd::Survived);
    assert_eq!(members(&group.group_name()), Vec::<String>::new());
}

#[tokio::test]
async fn a_hang_up_is_seen_although_the_agent_does_not_read() {
    let mut shim = Command::new(Bench::program())
        .args(["agent-shim", "sleep", "1000"])
        .current_dir(Path::new("/"))
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("the shim starts");
    let mut stdin = shim.stdin.take().expect("piped");
    let text = vec![b'x'; 1024 * 1024];
    let written = tokio::time::timeout(Duration::from_millis(500), stdin.write_all(&text)).await;
    assert!(written.is_err(), "the pipe is full");
    drop(stdin);
    let status = shim.wait().await.expect("it ends");
    assert_eq!(status.code(), Some(128 + 15));
}
