//! Events as short lines, for snapshots that a person can read.

use agentctl::event::{AgentEvent, PermissionOption, ToolCallUpdate, ToolContent};
use model::agent::AgentSettings;

/// One line about an event.
pub(crate) fn event(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Text {
            kind,
            protocol_id,
            text,
        } => {
            let id = protocol_id
                .as_deref()
                .map(|id| format!(" {id}"))
                .unwrap_or_default();
            let kind = format!("{kind:?}").to_lowercase();
            format!("{kind}{id} {text:?}")
        }
        AgentEvent::UserEcho => "user echo".to_owned(),
        AgentEvent::ToolCall(call) => format!("tool {}", tool_call(call)),
        AgentEvent::Plan(entries) => format!("plan of {}", entries.len()),
        AgentEvent::Permission {
            ticket,
            tool_call: call,
            options,
        } => {
            format!(
                "permission {} for {}, options {}",
                ticket.0,
                tool_call(call),
                choices(options)
            )
        }
        AgentEvent::PermissionWithdrawn { ticket } => format!("permission {} withdrawn", ticket.0),
        AgentEvent::Elicitation { ticket, form } => {
            format!("elicitation {} {:?}", ticket.0, form.questions)
        }
        AgentEvent::ElicitationWithdrawn { ticket } => {
            format!("elicitation {} withdrawn", ticket.0)
        }
        AgentEvent::Settings(settings) => format!("settings {}", self::settings(settings)),
        AgentEvent::Commands(commands) => format!("{} commands", commands.len()),
        AgentEvent::Usage(usage) => {
            format!("usage {} of {} {:?}", usage.used, usage.size, usage.cost)
        }
        AgentEvent::Title(title) => format!("title {title:?}"),
        AgentEvent::Unknown { kind, raw } => format!("unknown {kind} {raw}"),
        AgentEvent::PromptEnded { result, .. } => format!("prompt ended {result:?}"),
        AgentEvent::Exited(exit) => format!("exited {:?} {:?}", exit.how, exit.fault),
    }
}

/// Models, modes and options in one line.
pub(crate) fn settings(settings: &AgentSettings) -> String {
    let options: Vec<_> = settings
        .options
        .iter()
        .map(|option| format!("{}={}", option.id, option.current))
        .collect();
    format!(
        "model {:?} of {}, mode {:?} of {}, options {options:?}",
        settings.current_model,
        settings.models.len(),
        settings.current_mode,
        settings.modes.len(),
    )
}

fn tool_call(call: &ToolCallUpdate) -> String {
    let content = call
        .content
        .as_deref()
        .map(|content| content.iter().map(content_word).collect::<Vec<_>>());
    format!(
        "{} {:?} {:?} {:?} locations {:?} content {content:?} input {} output {}{}",
        call.id,
        call.status,
        call.kind.as_deref().unwrap_or("-"),
        call.title.as_deref().unwrap_or("-"),
        call.locations.as_ref().map(Vec::len),
        call.raw_input.is_some(),
        call.raw_output.is_some(),
        if call.subagent { " subagent" } else { "" },
    )
}

fn content_word(content: &ToolContent) -> String {
    match content {
        ToolContent::Text { text } => format!("text of {}", text.len()),
        ToolContent::Diff { path, .. } => format!("diff of {path}"),
        ToolContent::Other { raw } => format!("other {raw}"),
    }
}

fn choices(options: &[PermissionOption]) -> String {
    let choices: Vec<_> = options
        .iter()
        .map(|option| format!("{}={:?}", option.id, option.kind))
        .collect();
    choices.join(" ")
}
