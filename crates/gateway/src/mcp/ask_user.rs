//! The tool by which an agent asks a person.
//!
//! A call waits for the answer as long as `orchestrator::keys` lets it. Whoever asked to be told of progress is told
//! every [`bounds::QUESTION_PROGRESS`], so that a client's own deadline does not end the call; one that gives up all the
//! same loses nothing, because the answer then comes as a message.

use super::HungUp;
use super::arguments;
use axum::http::request::Parts;
use model::bounds;
use model::clarification::{Answer, Clarification, Misfit, as_text, check_bundle};
use orchestrator::clarifications::Verdict;
use orchestrator::keys::{Asker, TooMany};
use orchestrator::orchestrator::Orchestrator;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The name of the tool.
const NAME: &str = "ask_user";

const DESCRIPTION: &str = "Ask the person you work for, and wait for the answer. Use it when a decision is theirs or \
    when you cannot go on without knowing something; do not use it to report or to be polite. Ask everything you need \
    at once: up to four questions, each with two to six options, or without options for an answer in words.";

/// Serves the tool to one agent.
#[derive(Clone)]
pub(super) struct AskUser {
    pub(super) orchestrator: Orchestrator,
    pub(super) asker: Asker,
}

impl ServerHandler for AskUser {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        config.server_info = Implementation::new("flightstrip", env!("CARGO_PKG_VERSION"));
        config
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![tool()]))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == NAME).then(tool)
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if call.name != NAME {
            let text = format!("There is no tool {}; there is {NAME}.", call.name);
            return Ok(refused(text).into());
        }
        let read = arguments::read(call.arguments.as_ref())
            .and_then(|questions| check_bundle(&questions).map(|()| questions));
        let questions = match read {
            Ok(questions) => questions,
            Err(misfit) => return Ok(refused(misread(&misfit)).into()),
        };
        let given_up = CancellationToken::new();
        let asking = self.orchestrator.ask(&self.asker, questions, &given_up);
        let outcome = tokio::select! {
            outcome = asking => outcome,
            () = until_given_up(&context, &given_up) => Ok(Verdict::Detached),
            () = progress(&context) => Ok(Verdict::Detached),
        };
        Ok(match outcome {
            Ok(verdict) => result(&verdict),
            Err(TooMany) => refused(format!(
                "You are waiting for {} answers already. Wait for one of them first.",
                bounds::OPEN_QUESTIONS
            )),
        }
        .into())
    }
}

/// Notes when the client cancels its call or stops reading; never returns.
async fn until_given_up(context: &RequestContext<RoleServer>, given_up: &CancellationToken) {
    let parts = context.extensions.get::<Parts>();
    let hung_up = parts.and_then(|parts| parts.extensions.get::<HungUp>());
    let hung_up = hung_up.map_or_else(CancellationToken::new, |hung_up| hung_up.0.clone());
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = hung_up.cancelled() => {}
    }
    given_up.cancel();
    std::future::pending::<()>().await;
}

/// Tells a client that wants to know that its call goes on; never returns.
async fn progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut told = 0.0;
    loop {
        tokio::time::sleep(bounds::QUESTION_PROGRESS).await;
        told += 1.0;
        let mut note = ProgressNotificationParam::new(token.clone(), told);
        note.message = Some("waiting for the person's answer".to_owned());
        // A client that is gone is noticed by its response.
        let _ = context.peer.notify_progress(note).await;
    }
}

fn refused(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn misread(misfit: &Misfit) -> String {
    format!(
        "Nothing was asked. {}: expected {}.",
        misfit.place, misfit.expected
    )
}

fn result(verdict: &Verdict) -> CallToolResult {
    let (outcome, text) = match verdict {
        Verdict::Answered(answered) => ("answered", as_text(answered)),
        Verdict::Rejected => (
            "rejected",
            "The person declined to answer. Go on by your own judgement, or say what you would need.".to_owned(),
        ),
        Verdict::Detached => (
            "detached",
            "Nobody has answered yet. The question stays open, and the answer will come as a message. Do what does not \
             depend on it, then end your turn."
                .to_owned(),
        ),
        Verdict::Superseded => (
            "superseded",
            "Nothing was asked: the person has sent a newer message, which you get next.".to_owned(),
        ),
    };
    let answers: Vec<Value> = match verdict {
        Verdict::Answered(answered) => answered.iter().map(answer).collect(),
        _ => Vec::new(),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({ "outcome": outcome, "answers": answers }));
    result
}

fn answer(clarification: &Clarification) -> Value {
    let nothing = Answer::default();
    let answer = clarification.answer.as_ref().unwrap_or(&nothing);
    let question = &clarification.question;
    let labels = answer.selected.iter().filter_map(|id| question.option(id));
    let labels: Vec<&str> = labels.map(|option| option.label.as_str()).collect();
    json!({ "question": question.text, "selected": labels, "text": answer.text })
}

fn tool() -> Tool {
    Tool::new(NAME, DESCRIPTION, Arc::new(schema())).with_title("Ask the person")
}

/// What a call takes, as JSON Schema; [`arguments`] reads it.
fn schema() -> JsonObject {
    let text = |limit: usize| json!({ "type": "string", "minLength": 1, "maxLength": limit });
    let option = json!({
        "type": "object",
        "properties": {
            "label": text(bounds::OPTION_LABEL_CHARS),
            "description": { "type": "string", "maxLength": bounds::OPTION_DESCRIPTION_CHARS, "description": "What choosing it means." },
        },
        "required": ["label"],
    });
    let question = json!({
        "type": "object",
        "properties": {
            "text": text(bounds::QUESTION_CHARS),
            "options": {
                "type": "array", "items": option,
                "minItems": bounds::QUESTION_OPTIONS_MIN, "maxItems": bounds::QUESTION_OPTIONS_MAX,
                "description": "What can be chosen. Leave it out for an answer in words.",
            },
            "multi_select": { "type": "boolean", "description": "Several options may be chosen. Default: false." },
            "free_text": { "type": "boolean", "description": "The person may answer in their own words instead. Default: true." },
        },
        "required": ["text"],
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "questions": { "type": "array", "items": question, "minItems": 1, "maxItems": bounds::QUESTIONS },
        },
        "required": ["questions"],
    });
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}
