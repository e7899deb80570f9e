//! An agent that answers late, wrongly or never, played over in-memory pipes with paused time.

use agentctl::connection::AgentConnection;
use agentctl::error::AgentError;
use agentctl::event::{AgentEvent, ExitHow};
use agentctl::handoff::AgentEvents;
use model::bounds;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::io::{duplex, split};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The agent's side of the pipes.
struct Fake {
    from_client: Lines<BufReader<ReadHalf<DuplexStream>>>,
    to_client: WriteHalf<DuplexStream>,
}

type Attached = Result<(AgentConnection, AgentEvents), AgentError>;

fn attach() -> (Fake, JoinHandle<Attached>) {
    let (ours, theirs) = duplex(64 * 1024);
    let (from_client, to_client) = split(theirs);
    let (from_agent, to_agent) = split(ours);
    let attaching = tokio::spawn(AgentConnection::attach(from_agent, to_agent, "/w".into()));
    (
        Fake {
            from_client: BufReader::new(from_client).lines(),
            to_client,
        },
        attaching,
    )
}

/// A connection whose agent can load sessions, named `name`.
async fn introduced(name: &str) -> (Fake, AgentConnection, AgentEvents) {
    let (mut fake, attaching) = attach();
    let introduction = json!({
        "protocolVersion": 1, "agentInfo": { "name": name }, "agentCapabilities": { "loadSession": true },
    });
    fake.answer(&introduction).await;
    let (agent, events) = attaching.await.expect("no panic").expect("introduced");
    (fake, agent, events)
}

impl Fake {
    /// The next request of the client.
    async fn asked(&mut self) -> Value {
        let line = self
            .from_client
            .next_line()
            .await
            .expect("readable")
            .expect("a line");
        serde_json::from_str(&line).expect("a message")
    }

    async fn write(&mut self, message: &Value) {
        self.to_client
            .write_all(format!("{message}\n").as_bytes())
            .await
            .expect("room");
    }

    async fn reply(&mut self, asked: &Value, result: &Value) {
        self.write(&json!({ "id": asked.get("id"), "result": result }))
            .await;
    }

    async fn answer(&mut self, result: &Value) {
        let asked = self.asked().await;
        self.reply(&asked, result).await;
    }

    async fn say(&mut self, text: &str) {
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
        self.write(&json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } })).await;
    }
}

async fn next_text(events: &mut AgentEvents) -> Option<String> {
    match &events.next().await?.event {
        AgentEvent::Text { text, .. } => Some(text.clone()),
        other => panic!("not text: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_never_introduces_itself_is_given_up_in_time() {
    let begin = Instant::now();
    let (_fake, attaching) = attach();
    assert_eq!(
        attaching.await.expect("no panic").map(|_| ()),
        Err(AgentError::InitializeTimeout)
    );
    let slack = 2 * bounds::STDIN_CLOSE_GRACE;
    assert!(begin.elapsed() < bounds::AGENT_START_TIMEOUT + slack);
}

#[tokio::test(start_paused = true)]
async fn a_strange_introduction_is_a_broken_protocol() {
    for introduction in [json!({ "protocolVersion": 2 }), json!({}), Value::Null] {
        let (mut fake, attaching) = attach();
        fake.answer(&introduction).await;
        let started = attaching.await.expect("no panic").map(|_| ());
        assert!(
            matches!(started, Err(AgentError::Protocol { .. })),
            "{started:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_has_a_deadline_and_its_late_reply_is_counted() {
    let (mut fake, agent, _events) = introduced("someone").await;
    assert_eq!(agent.cancel(), Err(AgentError::NoSession));
    let opening = tokio::spawn({
        let agent = agent.clone();
        async move { agent.new_session(&[]).await }
    });
    let modes = json!({ "currentModeId": "a", "availableModes": [{ "id": "a" }, { "id": "b" }] });
    fake.answer(&json!({ "sessionId": "s", "modes": modes }))
        .await;
    opening.await.expect("no panic").expect("opened");

    let begin = Instant::now();
    let setting = tokio::spawn({
        let agent = agent.clone();
        async move { agent.set_mode("b").await }
    });
    let asked = fake.asked().await;
    let timed_out = setting.await.expect("no panic");
    assert_eq!(
        timed_out,
        Err(AgentError::RequestTimeout {
            method: "session/set_mode"
        })
    );
    assert!(begin.elapsed() <= bounds::AGENT_REQUEST_TIMEOUT + bounds::AGENT_REQUEST_TIMEOUT / 10);
    fake.reply(&asked, &Value::Null).await;
    while agent.counters().late_replies == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(agent.settings().current_mode.as_deref(), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn a_failed_load_closes_the_replay_window() {
    let (mut fake, agent, mut events) = introduced("someone").await;
    let loading = tokio::spawn({
        let agent = agent.clone();
        async move { agent.load_session("s", &[]).await }
    });
    let asked = fake.asked().await;
    for _ in 0..20 {
        fake.say("history").await;
    }
    let error = json!({ "code": -32_603, "message": "no" });
    fake.write(&json!({ "id": asked.get("id"), "result": null, "error": error }))
        .await;
    let failed = loading.await.expect("no panic");
    assert!(matches!(failed, Err(AgentError::Rpc { .. })), "{failed:?}");
    fake.say("news").await;
    assert_eq!(next_text(&mut events).await.as_deref(), Some("news"));
    assert_eq!(agent.counters().replayed, 20);
}

#[tokio::test(start_paused = true)]
async fn a_load_may_answer_null_and_one_agent_replays_afterwards() {
    let (mut fake, agent, mut events) = introduced("gemini-cli").await;
    let loading = tokio::spawn({
        let agent = agent.clone();
        async move { agent.load_session("s", &[]).await }
    });
    fake.answer(&Value::Null).await;
    fake.say("history").await;
    let opened = loading.await.expect("no panic").expect("opened");
    assert_eq!(opened.acp_session_id, "s");
    fake.say("news").await;
    assert_eq!(next_text(&mut events).await.as_deref(), Some("news"));
    assert_eq!(agent.counters().replayed, 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_process_the_end_of_the_pipes_is_the_end() {
    let (fake, agent, mut events) = introduced("someone").await;
    drop(fake);
    let AgentEvent::Exited(exit) = events.next().await.expect("the last").event.clone() else {
        panic!("not an end")
    };
    assert_eq!((exit.how, exit.status), (ExitHow::Unasked, None));
    assert!(events.next().await.is_none());

    let (_fake, agent_two, mut events) = introduced("someone").await;
    agent_two.stop().await;
    assert!(
        matches!(&events.next().await.expect("the last").event, AgentEvent::Exited(exit) if exit.how == ExitHow::Asked)
    );
    drop(agent);
}
