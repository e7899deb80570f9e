//! Conversations with the scripted agent as a real process under the real shim.

use crate::bench::Bench;
use crate::talk::{prompt, start, stop_reason, text_of, until_end};
use agentctl::connection::AgentConnection;
use agentctl::error::AgentError;
use agentctl::event::{
    AgentEvent, AgentStatus, ExitHow, PermissionAnswer, PermissionDelivery, StopReason, TextKind,
    ToolStatus,
};

#[tokio::test]
async fn a_prompt_is_answered_in_order_and_late_text_still_arrives() {
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    assert_eq!(agent.info().title, "Demo agent");
    assert_eq!(agent.settings().current_mode.as_deref(), Some("ask"));

    let id = prompt(
        &agent,
        "/think hm\n/say one\n/tool read Look\n/unknown-update\n/noise hello\n/say two\n/late three",
    );
    let seen = until_end(&mut events).await;
    assert_eq!(text_of(&seen, TextKind::Thought), "hm");
    assert_eq!(text_of(&seen, TextKind::Message), "onetwo");
    assert!(matches!(seen.last(), Some(AgentEvent::PromptEnded { prompt, .. }) if *prompt == id));
    assert_eq!(stop_reason(&seen), Some(StopReason::EndTurn));
    assert!(
        seen.iter()
            .any(|event| matches!(event, AgentEvent::Unknown { kind, .. } if kind == "hologram"))
    );
    let statuses: Vec<_> = seen
        .iter()
        .filter_map(|event| {
            if let AgentEvent::ToolCall(call) = event {
                call.status
            } else {
                None
            }
        })
        .collect();
    assert_eq!(
        statuses,
        [
            ToolStatus::Pending,
            ToolStatus::InProgress,
            ToolStatus::Completed
        ]
    );

    let late = events.next().await.expect("late text");
    assert!(matches!(&late.event, AgentEvent::Text { text, .. } if text == "three"));
    assert_eq!(agent.counters().noise, 1);
    assert_eq!(agent.counters().unknown_updates, 1);

    let exit = agent.stop().await;
    assert_eq!(
        (exit.how, exit.status),
        (ExitHow::Asked, Some(AgentStatus::Code(0)))
    );
    assert!(matches!(
        events.next().await.expect("the last").event,
        AgentEvent::Exited(_)
    ));
    assert!(events.next().await.is_none());
    assert!(
        bench
            .group_is_gone(agent.process().expect("it had one"))
            .await
    );
}

#[tokio::test]
async fn several_permissions_are_open_at_once_and_each_gets_its_own_answer() {
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    prompt(&agent, "/permissions 3");
    let mut tickets = Vec::new();
    while tickets.len() < 3 {
        let delivered = events.next().await.expect("an event");
        if let AgentEvent::Permission {
            ticket,
            options,
            tool_call,
        } = &delivered.event
        {
            assert_eq!(options.len(), 3);
            assert!(
                tool_call
                    .title
                    .as_deref()
                    .is_some_and(|title| title.starts_with("Question"))
            );
            tickets.push(*ticket);
        }
    }
    let allow = PermissionAnswer::Selected("allow".to_owned());
    let reject = PermissionAnswer::Selected("reject".to_owned());
    assert_eq!(
        agent.answer_permission(tickets[2], allow.clone()),
        PermissionDelivery::Delivered
    );
    assert_eq!(
        agent.answer_permission(tickets[0], reject.clone()),
        PermissionDelivery::Delivered
    );
    assert_eq!(
        agent.answer_permission(tickets[0], allow.clone()),
        PermissionDelivery::AlreadyAnswered
    );
    assert_eq!(
        agent.answer_permission(tickets[1], allow),
        PermissionDelivery::Delivered
    );
    let seen = until_end(&mut events).await;
    assert_eq!(
        text_of(&seen, TextKind::Message),
        "1:rejected 2:allowed 3:allowed "
    );
    agent.stop().await;
    assert_eq!(
        agent.answer_permission(tickets[1], reject),
        PermissionDelivery::Gone
    );
}

#[tokio::test]
async fn a_cancel_ends_the_prompt_and_withdraws_its_permission() {
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    prompt(&agent, "/permission Delete everything\n/edit gone x");
    let ticket = loop {
        let delivered = events.next().await.expect("an event");
        if let AgentEvent::Permission { ticket, .. } = delivered.event {
            break ticket;
        }
    };
    agent.cancel().expect("handed over");
    let seen = until_end(&mut events).await;
    assert_eq!(stop_reason(&seen), Some(StopReason::Cancelled));
    assert!(
        seen.contains(&AgentEvent::PermissionWithdrawn { ticket }),
        "{seen:?}"
    );
    let late = agent.answer_permission(ticket, PermissionAnswer::Selected("allow".into()));
    assert_eq!(late, PermissionDelivery::AlreadyAnswered);

    prompt(&agent, "/permission Again\n/edit kept x");
    while !matches!(
        events.next().await.expect("an event").event,
        AgentEvent::Permission { .. }
    ) {}
    assert_eq!(agent.cancel_open_permissions().len(), 1);
    let seen = until_end(&mut events).await;
    assert_eq!(stop_reason(&seen), Some(StopReason::EndTurn));
    assert!(
        !bench.worktree().join("kept").exists(),
        "what was not allowed is skipped"
    );
    agent.stop().await;
}

#[tokio::test]
async fn models_and_modes_are_set_and_what_we_do_not_offer_is_refused() {
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    let settings = agent.set_mode("auto").await.expect("set");
    assert_eq!(settings.current_mode.as_deref(), Some("auto"));
    let settings = agent.set_model("demo-thorough").await.expect("set");
    assert_eq!(settings.current_model.as_deref(), Some("demo-thorough"));
    assert!(matches!(
        agent.set_model("nonsense").await,
        Err(AgentError::Rpc { code: -32_602, .. })
    ));

    prompt(
        &agent,
        "/permission No question in this mode\n/request fs/write_text_file\n/request terminal/create",
    );
    let seen = until_end(&mut events).await;
    let said = text_of(&seen, TextKind::Message);
    assert_eq!(
        said,
        "fs/write_text_file: error -32601terminal/create: error -32601"
    );
    assert!(
        !seen
            .iter()
            .any(|event| matches!(event, AgentEvent::Permission { .. }))
    );
    assert_eq!(agent.counters().refused, 2);
    agent.stop().await;
}

#[tokio::test]
async fn history_replayed_while_loading_reaches_nobody() {
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    prompt(&agent, "/say remember this\n/tool read Look");
    until_end(&mut events).await;
    agent.stop().await;
    let session = bench.only_session();

    for flags in [&["--no-resume"][..], &[]] {
        let (agent, mut events) = AgentConnection::start(&bench.demo(flags), &bench.context())
            .await
            .expect("the agent starts");
        let unknown = agent.load_session("nobody", &[]).await;
        assert!(
            matches!(unknown, Err(AgentError::Rpc { .. })),
            "{unknown:?}"
        );
        let opened = agent
            .load_session(&session, &[])
            .await
            .expect("the session is continued");
        assert_eq!(opened.acp_session_id, session);
        assert_eq!(agent.counters().replayed == 0, flags.is_empty());
        prompt(&agent, "/say news");
        let seen = until_end(&mut events).await;
        assert_eq!(text_of(&seen, TextKind::Message), "news");
        assert!(
            !seen
                .iter()
                .any(|event| matches!(event, AgentEvent::ToolCall(_) | AgentEvent::UserEcho))
        );
        agent.stop().await;
    }

    let (agent, _events) = AgentConnection::start(&bench.demo(&["--no-load"]), &bench.context())
        .await
        .expect("the agent starts");
    assert!(matches!(
        agent.load_session(&session, &[]).await,
        Err(AgentError::Unsupported { .. })
    ));
}

#[tokio::test]
async fn a_cut_character_and_broken_lines_do_not_lose_text() {
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    let chunk = |text: &str| {
        format!(
            r#"/noise {{"method":"session/update","params":{{"update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}"#
        )
    };
    let script = [
        chunk(r"a\ud83e"),
        chunk(r"\udd80b"),
        chunk(r"nul\u0000"),
        "/noise {broken".into(),
        chunk(r"c\ud83e"),
    ];
    prompt(&agent, &script.join("\n"));
    let seen = until_end(&mut events).await;
    assert_eq!(
        text_of(&seen, TextKind::Message),
        "a🦀bnul\u{FFFD}c\u{FFFD}"
    );
    assert_eq!(agent.counters().noise, 1);
    agent.stop().await;
}

#[tokio::test]
async fn the_demo_asks_edits_and_sums_up() {
    let bench = Bench::new();
    bench.write("README.md", "# Sample\n");
    let (agent, mut events) = start(&bench, &[]).await;
    prompt(&agent, "Improve the readme");
    loop {
        let delivered = events.next().await.expect("an event");
        if let AgentEvent::Permission { ticket, .. } = delivered.event {
            agent.answer_permission(ticket, PermissionAnswer::Selected("allow".into()));
            break;
        }
    }
    let seen = until_end(&mut events).await;
    assert_eq!(stop_reason(&seen), Some(StopReason::EndTurn));
    assert!(text_of(&seen, TextKind::Message).contains("Done: **Improve the readme**"));
    let readme = std::fs::read_to_string(bench.worktree().join("README.md")).expect("still there");
    assert!(
        readme.starts_with("# Sample\n\n## Improve the readme\n"),
        "{readme}"
    );
    agent.stop().await;
}
