//! Forms of an agent, on real pipes: asked, answered once, declined at once, taken back.

use crate::bench::Bench;
use crate::talk::{prompt, start, stop_reason, text_of, until_end};
use agentctl::elicitation::{ElicitationAnswer, Form};
use agentctl::event::{AgentEvent, PermissionDelivery, PermissionTicket, StopReason, TextKind};
use agentctl::handoff::AgentEvents;
use model::clarification::{Answer, Clarification};

async fn form(events: &mut AgentEvents) -> (PermissionTicket, Form) {
    while let Some(delivered) = events.next().await {
        if let AgentEvent::Elicitation { ticket, form } = &delivered.event {
            return (*ticket, form.clone());
        }
    }
    panic!("the agent asked nothing");
}

#[tokio::test]
async fn a_form_gets_one_answer_and_an_unfit_one_is_declined_at_once() {
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    prompt(
        &agent,
        "/elicit {\"type\":\"object\"}\n/elicit Channel? | stable | beta",
    );
    let (ticket, form) = form(&mut events).await;
    let chosen = Clarification {
        index: 0,
        count: 1,
        question: form.questions[0].clone(),
        answer: Some(Answer {
            selected: vec!["beta".to_owned()],
            text: None,
        }),
    };
    let filled = form.fill(&[chosen]);
    assert_eq!(
        agent.answer_elicitation(ticket, filled.clone()),
        PermissionDelivery::Delivered
    );
    for late in [filled, ElicitationAnswer::Declined] {
        assert_eq!(
            agent.answer_elicitation(ticket, late),
            PermissionDelivery::AlreadyAnswered
        );
    }
    let seen = until_end(&mut events).await;
    let said = text_of(&seen, TextKind::Message);
    assert!(
        said.ends_with("elicited: {\"action\":\"accept\",\"content\":{\"choice\":\"beta\"}}"),
        "{said}"
    );
    assert_eq!(agent.counters().refused, 1, "the unfit form was declined");
    agent.stop().await;
    assert_eq!(
        agent.answer_elicitation(ticket, ElicitationAnswer::Cancelled),
        PermissionDelivery::Gone
    );
}

#[tokio::test]
async fn a_form_that_the_agent_takes_back_cannot_be_answered() {
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    prompt(&agent, "/elicit Channel? | stable | beta");
    let (ticket, _) = form(&mut events).await;
    agent.cancel().expect("it listens");
    let seen = until_end(&mut events).await;
    assert_eq!(stop_reason(&seen), Some(StopReason::Cancelled));
    let withdrawn = AgentEvent::ElicitationWithdrawn { ticket };
    assert!(seen.contains(&withdrawn), "{seen:?}");
    assert_eq!(
        agent.answer_elicitation(ticket, ElicitationAnswer::Declined),
        PermissionDelivery::AlreadyAnswered
    );
}
