//! What we say to an agent, built from the protocol's own types.
//!
//! Reading is tolerant, writing is strict: parameters are values of `agent-client-protocol-schema`, so a message of a
//! wrong shape does not compile. The one exception is `session/set_model`, which no schema has (see
//! [`crate::settings`]).

use crate::event::PermissionAnswer;
use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, BlobResourceContents, CancelNotification, ClientCapabilities, ContentBlock,
    ElicitationCapabilities, ElicitationFormCapabilities, EmbeddedResource,
    EmbeddedResourceResource, EnvVariable, HttpHeader, ImageContent, Implementation,
    InitializeRequest, LoadSessionRequest, McpServer as WireServer, McpServerHttp, McpServerStdio,
    NewSessionRequest, PromptRequest, RequestPermissionOutcome, RequestPermissionResponse,
    ResourceLink, ResumeSessionRequest, SelectedPermissionOutcome, TextContent,
    TextResourceContents,
};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// One part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptPart {
    /// Text, at most `bounds::USER_CONTENT_BYTES` in all.
    Text(String),
    /// An image, for agents with `AgentInfo::image`.
    Image {
        /// E.g. `image/png`.
        mime_type: String,
        /// The bytes in base64.
        base64: String,
    },
    /// A file's text, for agents with `AgentInfo::embedded_context`.
    File {
        /// Where it stands, e.g. a `file://` address.
        uri: String,
        /// Its text.
        text: String,
    },
    /// Bytes of a file in base64, for agents with `AgentInfo::embedded_context`.
    Blob {
        /// Where it stands.
        uri: String,
        /// The bytes in base64.
        base64: String,
    },
    /// A file to look at.
    Link {
        /// How it is shown.
        name: String,
        /// Where it stands.
        uri: String,
    },
}

/// An MCP server the agent should connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpServer {
    /// Over HTTP, for agents with `AgentInfo::mcp_http`.
    Http {
        /// How the agent names it.
        name: String,
        /// Where it listens.
        url: String,
        /// Header names and values; they may hold secrets.
        headers: Vec<(String, String)>,
    },
    /// As a program the agent starts.
    Stdio {
        /// How the agent names it.
        name: String,
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment.
        env: Vec<(String, String)>,
    },
}

/// A request or notification: method and parameters.
pub type Call = (&'static str, Value);

/// `initialize`. Forms are offered. Neither the file system nor terminals are: agents use their own.
#[must_use]
pub fn initialize() -> Call {
    let client = Implementation::new("flightstrip", env!("CARGO_PKG_VERSION"))
        .title("flightstrip".to_owned());
    let forms = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
    let request = InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(ClientCapabilities::new().elicitation(forms))
        .client_info(client);
    (AGENT_METHOD_NAMES.initialize, wire(&request))
}

/// `session/new`.
#[must_use]
pub fn new_session(cwd: &Path, mcp: &[McpServer]) -> Call {
    (
        AGENT_METHOD_NAMES.session_new,
        wire(&NewSessionRequest::new(cwd).mcp_servers(servers(mcp))),
    )
}

/// `session/load`.
#[must_use]
pub fn load_session(session: &str, cwd: &Path, mcp: &[McpServer]) -> Call {
    let request = LoadSessionRequest::new(session.to_owned(), cwd).mcp_servers(servers(mcp));
    (AGENT_METHOD_NAMES.session_load, wire(&request))
}

/// `session/resume`.
#[must_use]
pub fn resume_session(session: &str, cwd: &Path, mcp: &[McpServer]) -> Call {
    let request = ResumeSessionRequest::new(session.to_owned(), cwd).mcp_servers(servers(mcp));
    (AGENT_METHOD_NAMES.session_resume, wire(&request))
}

/// `session/prompt`.
#[must_use]
pub fn prompt(session: &str, parts: Vec<PromptPart>) -> Call {
    let blocks = parts.into_iter().map(block).collect();
    (
        AGENT_METHOD_NAMES.session_prompt,
        wire(&PromptRequest::new(session.to_owned(), blocks)),
    )
}

/// `session/cancel`, a notification.
#[must_use]
pub fn cancel(session: &str) -> Call {
    (
        AGENT_METHOD_NAMES.session_cancel,
        wire(&CancelNotification::new(session.to_owned())),
    )
}

/// The result of a permission request.
#[must_use]
pub fn permission_result(answer: PermissionAnswer) -> Value {
    let outcome = match answer {
        PermissionAnswer::Selected(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option))
        }
        PermissionAnswer::Cancelled => RequestPermissionOutcome::Cancelled,
    };
    wire(&RequestPermissionResponse::new(outcome))
}

fn block(part: PromptPart) -> ContentBlock {
    let resource = |contents| ContentBlock::Resource(EmbeddedResource::new(contents));
    match part {
        PromptPart::Text(text) => ContentBlock::Text(TextContent::new(text)),
        PromptPart::Image { mime_type, base64 } => {
            ContentBlock::Image(ImageContent::new(base64, mime_type))
        }
        PromptPart::File { uri, text } => resource(EmbeddedResourceResource::TextResourceContents(
            TextResourceContents::new(text, uri),
        )),
        PromptPart::Blob { uri, base64 } => resource(
            EmbeddedResourceResource::BlobResourceContents(BlobResourceContents::new(base64, uri)),
        ),
        PromptPart::Link { name, uri } => ContentBlock::ResourceLink(ResourceLink::new(name, uri)),
    }
}

fn servers(mcp: &[McpServer]) -> Vec<WireServer> {
    mcp.iter().map(server).collect()
}

fn server(server: &McpServer) -> WireServer {
    match server {
        McpServer::Http { name, url, headers } => {
            let headers = headers
                .iter()
                .map(|(name, value)| HttpHeader::new(name.clone(), value.clone()))
                .collect();
            WireServer::Http(McpServerHttp::new(name.clone(), url.clone()).headers(headers))
        }
        McpServer::Stdio {
            name,
            command,
            args,
            env,
        } => {
            let env = env
                .iter()
                .map(|(name, value)| EnvVariable::new(name.clone(), value.clone()))
                .collect();
            WireServer::Stdio(
                McpServerStdio::new(name.clone(), command)
                    .args(args.clone())
                    .env(env),
            )
        }
    }
}

fn wire(message: &impl Serialize) -> Value {
    serde_json::to_value(message)
        .expect("the protocol's types have text keys and no failing serializer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_have_the_protocols_shape() {
        let (method, params) = initialize();
        assert_eq!(method, "initialize");
        assert_eq!(params.get("protocolVersion"), Some(&json!(1)));
        assert_eq!(
            params.pointer("/clientCapabilities/fs/writeTextFile"),
            Some(&json!(false))
        );
        assert_eq!(
            params.pointer("/clientCapabilities/terminal"),
            Some(&json!(false))
        );

        assert_eq!(
            params.pointer("/clientCapabilities/elicitation"),
            Some(&json!({ "form": {} }))
        );

        let server = McpServer::Http {
            name: "ask".into(),
            url: "http://h/mcp".into(),
            headers: vec![("a".into(), "b".into())],
        };
        let (_, params) = new_session(Path::new("/w"), &[server]);
        let http = json!({ "type": "http", "name": "ask", "url": "http://h/mcp", "headers": [{ "name": "a", "value": "b" }] });
        assert_eq!(params, json!({ "cwd": "/w", "mcpServers": [http] }));

        let (_, params) = prompt("s", vec![PromptPart::Text("hi".into())]);
        assert_eq!(
            params,
            json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "hi" }] })
        );
        let selected = permission_result(PermissionAnswer::Selected("once".into()));
        assert_eq!(
            selected,
            json!({ "outcome": { "outcome": "selected", "optionId": "once" } })
        );
        let cancelled = permission_result(PermissionAnswer::Cancelled);
        assert_eq!(cancelled, json!({ "outcome": { "outcome": "cancelled" } }));
    }
}
