//! Saying something to the demo agent, and what it does then.

use crate::bench::Bench;
use agentctl::connection::AgentConnection;
use agentctl::event::{AgentEvent, PromptId, StopReason, TextKind};
use agentctl::handoff::AgentEvents;
use agentctl::request::PromptPart;

/// A running demo agent with an open session.
pub(crate) async fn start(bench: &Bench, flags: &[&str]) -> (AgentConnection, AgentEvents) {
    let (agent, events) = AgentConnection::start(&bench.demo(flags), &bench.context())
        .await
        .expect("the agent starts");
    agent.new_session(&[]).await.expect("a session opens");
    (agent, events)
}

/// Sends a prompt.
pub(crate) fn prompt(agent: &AgentConnection, text: &str) -> PromptId {
    let prompt = PromptId::generate();
    agent
        .send_prompt(prompt.clone(), vec![PromptPart::Text(text.to_owned())])
        .expect("the prompt is taken");
    prompt
}

/// Events up to and including the end of the prompt.
pub(crate) async fn until_end(events: &mut AgentEvents) -> Vec<AgentEvent> {
    let mut seen = Vec::new();
    while let Some(delivered) = events.next().await {
        let ends = matches!(
            delivered.event,
            AgentEvent::PromptEnded { .. } | AgentEvent::Exited(_)
        );
        seen.push(delivered.event.clone());
        if ends {
            break;
        }
    }
    seen
}

/// All streamed text of a kind.
pub(crate) fn text_of(events: &[AgentEvent], wanted: TextKind) -> String {
    let text = |event: &AgentEvent| match event {
        AgentEvent::Text { kind, text, .. } if *kind == wanted => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

/// Why the prompt ended, when it ended well.
pub(crate) fn stop_reason(events: &[AgentEvent]) -> Option<StopReason> {
    match events.last() {
        Some(AgentEvent::PromptEnded {
            result: Ok(end), ..
        }) => Some(end.stop_reason.clone()),
        _ => None,
    }
}
