//! The processes the tests of this crate need, in one program: `agent-shim` and `demo-agent` as in the real binary, and
//! `server`, which starts an agent, says where it is, and waits to be killed.

use agentctl::connection::AgentConnection;
use agentctl::process::{AgentCommand, LaunchContext};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args
        .next()
        .and_then(|word| word.into_string().ok())
        .as_deref()
    {
        Some("agent-shim") => agentctl::shim::run(args),
        Some("demo-agent") => mock_agent::run(args.filter_map(|arg| arg.into_string().ok())),
        Some("server") => serve(args.filter_map(|arg| arg.into_string().ok()).collect()),
        _ => ExitCode::from(64),
    }
}

/// `server CWD PROGRAM ARGS…`: prints `PID START_TIME` of the agent's group once it runs a session.
fn serve(args: Vec<String>) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut args = args.into_iter();
        let cwd = PathBuf::from(args.next().expect("a folder"));
        let program = args.next().expect("a program");
        let command = AgentCommand {
            program,
            args: args.collect(),
            env: std::env::vars().collect(),
            cwd,
        };
        let context = LaunchContext {
            shim_program: std::env::current_exe().expect("its own path"),
            shim_args: vec!["agent-shim".into()],
            server_env: std::env::vars().collect(),
        };
        let (agent, mut events) = AgentConnection::start(&command, &context)
            .await
            .expect("the agent starts");
        agent.new_session(&[]).await.expect("a session");
        let identity = agent.process().expect("a process");
        writeln!(
            std::io::stdout(),
            "{} {}",
            identity.pid,
            identity.start_time
        )
        .expect("stdout");
        while events.next().await.is_some() {}
    });
    ExitCode::SUCCESS
}
