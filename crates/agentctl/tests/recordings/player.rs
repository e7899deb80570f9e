//! Plays a recording: the agent's lines as they were, the client's through our interface.

use crate::describe;
use crate::pipes::{FromClient, ToClient, at, next_line, put_id, write};
use agentctl::connection::AgentConnection;
use agentctl::connection::opening::OpenedSession;
use agentctl::error::AgentError;
use agentctl::event::{AgentEvent, PermissionAnswer, PermissionTicket, PromptId};
use agentctl::handoff::AgentEvents;
use agentctl::request::PromptPart;
use model::agent::AgentSettings;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, BufReader, duplex, split};
use tokio::task::JoinHandle;

/// Room in the pipes: more than any recorded line.
const PIPE: usize = 1024 * 1024;

/// What is seen while the recording plays, shared with the task that drains the events.
#[derive(Default)]
struct Seen {
    events: Vec<String>,
    /// Tickets of permission requests, in order of arrival.
    tickets: Vec<PermissionTicket>,
}

struct Player {
    agent: AgentConnection,
    from_client: FromClient,
    to_client: ToClient,
    /// Recorded ids of the client's requests and our own.
    ids: HashMap<u64, u64>,
    /// Recorded ids of the agent's permission requests, in order of arrival.
    asked: Vec<Value>,
    answers: Vec<String>,
    running: Option<JoinHandle<String>>,
    written: u64,
    seen: Arc<Mutex<Seen>>,
}

/// Plays `tests/recordings/transcripts/NAME.jsonl`; what came of it, as text.
pub(crate) async fn play(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!(
        "tests/recordings/transcripts/{}.jsonl",
        name.replace('_', "-")
    ));
    let text = std::fs::read_to_string(file).expect("a recording");
    let records: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    let mut records = records
        .iter()
        .filter(|record| at(record, "/dir") != "#")
        .map(|record| (at(record, "/dir") == "<", at(record, "/msg").clone()));

    let (ours, theirs) = duplex(PIPE);
    let (from_client, mut to_client) = split(theirs);
    let mut from_client = BufReader::new(from_client).lines();
    let (from_agent, to_agent) = split(ours);
    let attaching = tokio::spawn(AgentConnection::attach(
        from_agent,
        to_agent,
        "<CWD>".into(),
    ));
    let asked = next_line(&mut from_client).await;
    assert_eq!(*at(&asked, "/method"), "initialize");
    let mut introduction = records
        .by_ref()
        .find(|(from_agent, _)| *from_agent)
        .expect("an introduction")
        .1;
    put_id(&mut introduction, at(&asked, "/id").clone());
    write(&mut to_client, &introduction).await;
    let (agent, events) = attaching.await.expect("no panic").expect("introduced");

    let seen = Arc::new(Mutex::new(Seen::default()));
    let draining = tokio::spawn(drain(events, Arc::clone(&seen)));
    let mut player = Player {
        agent,
        from_client,
        to_client,
        ids: HashMap::new(),
        asked: Vec::new(),
        answers: Vec::new(),
        running: None,
        written: 1,
        seen,
    };
    for (from_agent, message) in records {
        if from_agent {
            player.agent_says(message).await
        } else {
            player.client_says(&message).await
        }
    }
    player.finish(draining).await
}

async fn drain(mut events: AgentEvents, seen: Arc<Mutex<Seen>>) {
    while let Some(delivered) = events.next().await {
        let mut seen = seen.lock().expect("no panic");
        seen.events.push(describe::event(&delivered.event));
        if let AgentEvent::Permission { ticket, .. } = &delivered.event {
            seen.tickets.push(*ticket);
        }
    }
}

impl Player {
    async fn agent_says(&mut self, mut message: Value) {
        if at(&message, "/method") == "session/request_permission" {
            self.asked.push(at(&message, "/id").clone());
        }
        if message.get("method").is_none() {
            let recorded = at(&message, "/id")
                .as_u64()
                .expect("the recorded client counted");
            // Replies to requests that we never send keep an id that is none of ours.
            let id = self
                .ids
                .get(&recorded)
                .map_or(json!(format!("recorded {recorded}")), |id| json!(id));
            put_id(&mut message, id);
        }
        write(&mut self.to_client, &message).await;
        self.written += 1;
        self.settle().await;
        if at(&message, "/method")
            .as_str()
            .is_some_and(|method| method.starts_with("fs/"))
        {
            let refusal = next_line(&mut self.from_client).await;
            assert_eq!(
                (at(&refusal, "/id"), at(&refusal, "/error/code")),
                (at(&message, "/id"), &json!(-32_601))
            );
        }
        if at(&message, "/method") == "$/cancel_request" {
            let answer = next_line(&mut self.from_client).await;
            let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
            assert_eq!(
                (at(&answer, "/id"), at(&answer, "/result")),
                (at(&message, "/params/requestId"), &cancelled)
            );
        }
    }

    /// Waits until every line written so far has been read and its events have been seen.
    async fn settle(&self) {
        while self.agent.counters().lines < self.written {
            tokio::task::yield_now().await;
        }
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    async fn client_says(&mut self, message: &Value) {
        let params = at(message, "/params");
        let text = |key: &str| {
            at(params, &format!("/{key}"))
                .as_str()
                .expect("a text")
                .to_owned()
        };
        let agent = self.agent.clone();
        match at(message, "/method").as_str() {
            Some("session/prompt") => {
                let parts = vec![PromptPart::Text(
                    at(params, "/prompt/0/text")
                        .as_str()
                        .expect("a text")
                        .to_owned(),
                )];
                agent
                    .send_prompt(PromptId::generate(), parts)
                    .expect("taken");
                self.pair(message, "session/prompt").await;
            }
            Some("session/cancel") => {
                agent.cancel().expect("taken");
                assert_eq!(
                    *at(&next_line(&mut self.from_client).await, "/method"),
                    "session/cancel"
                );
            }
            Some("session/new") => {
                self.start(message, "session/new", async move {
                    opened(agent.new_session(&[]).await)
                })
                .await;
            }
            Some(method @ ("session/load" | "session/resume")) => {
                let (id, method) = (text("sessionId"), method.to_owned());
                let resumes = agent.info().resume;
                let expected = if resumes {
                    "session/resume"
                } else {
                    "session/load"
                };
                assert!(resumes || method == expected);
                self.start(message, expected, async move {
                    opened(agent.load_session(&id, &[]).await)
                })
                .await;
            }
            Some("session/set_mode") => {
                let mode = text("modeId");
                self.set(message, async move { agent.set_mode(&mode).await })
                    .await;
            }
            Some("session/set_model") => {
                let model = text("modelId");
                self.set(message, async move { agent.set_model(&model).await })
                    .await;
            }
            Some("session/set_config_option") => {
                let (option, value) = (text("configId"), text("value"));
                self.set(
                    message,
                    async move { agent.set_option(&option, &value).await },
                )
                .await;
            }
            None if message.get("result").is_some() => self.answer(message).await,
            // Listing, forking, closing, unknown methods: nothing that we ever say.
            _ => {}
        }
    }

    async fn set(
        &mut self,
        message: &Value,
        call: impl Future<Output = Result<AgentSettings, AgentError>> + Send + 'static,
    ) {
        let told = async move {
            match call.await {
                Ok(settings) => format!("set: {}", describe::settings(&settings)),
                Err(error) => format!("not set: {error}"),
            }
        };
        self.start(message, "", told).await;
    }

    /// Runs a call of ours whose answer is in the recording.
    async fn start(
        &mut self,
        message: &Value,
        method: &str,
        call: impl Future<Output = String> + Send + 'static,
    ) {
        self.finish_running().await;
        self.running = Some(tokio::spawn(call));
        self.pair(message, method).await;
    }

    async fn pair(&mut self, message: &Value, method: &str) {
        let ours = next_line(&mut self.from_client).await;
        if !method.is_empty() {
            assert_eq!(*at(&ours, "/method"), method);
        }
        let recorded = at(message, "/id")
            .as_u64()
            .expect("the recorded client counted");
        self.ids
            .insert(recorded, at(&ours, "/id").as_u64().expect("we count"));
    }

    /// Answers the newest permission request with the recorded id as it was answered then.
    async fn answer(&mut self, message: &Value) {
        let Some(option) = at(message, "/result/outcome").as_object() else {
            return;
        };
        let index = self
            .asked
            .iter()
            .rposition(|id| *id == *at(message, "/id"))
            .expect("it was asked");
        let ticket = *self
            .seen
            .lock()
            .expect("no panic")
            .tickets
            .get(index)
            .expect("it was seen");
        let answer = match option.get("optionId").and_then(Value::as_str) {
            Some(option) => PermissionAnswer::Selected(option.to_owned()),
            None => PermissionAnswer::Cancelled,
        };
        let delivery = self.agent.answer_permission(ticket, answer);
        self.answers
            .push(format!("permission {}: {delivery:?}", ticket.0));
        let ours = next_line(&mut self.from_client).await;
        assert_eq!(
            (at(&ours, "/id"), at(&ours, "/result")),
            (at(message, "/id"), at(message, "/result"))
        );
    }

    async fn finish_running(&mut self) {
        if let Some(running) = self.running.take() {
            self.answers.push(running.await.expect("no panic"));
        }
    }

    async fn finish(mut self, draining: JoinHandle<()>) -> String {
        self.finish_running().await;
        let counters = self.agent.counters();
        let accounted = counters.events
            + counters.replies
            + counters.noise
            + counters.replayed
            + counters.foreign
            + counters.empty
            + counters.extensions
            + counters.refused
            + counters.late_withdrawals
            + counters.late_replies;
        assert_eq!(
            (counters.lines, accounted),
            (self.written, self.written),
            "{counters:?}"
        );
        drop((self.to_client, self.from_client));
        draining.await.expect("no panic");
        let info = self.agent.info();
        let seen = self.seen.lock().expect("no panic");
        format!(
            "{} {}: resume {}, load {}\n\n{}\n\n{}\n\n{counters:#?}",
            info.name,
            info.version,
            info.resume,
            info.load_session,
            self.answers.join("\n"),
            seen.events.join("\n"),
        )
    }
}

fn opened(answer: Result<OpenedSession, AgentError>) -> String {
    match answer {
        Ok(opened) => format!(
            "opened {}: {}, commands {:?}",
            opened.acp_session_id,
            describe::settings(&opened.settings),
            opened.commands.map(|commands| commands.len()),
        ),
        Err(error) => format!("not opened: {error}"),
    }
}
