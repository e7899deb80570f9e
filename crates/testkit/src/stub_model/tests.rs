//! What the stub model answers, and that both protocols carry it.

use super::script::{Asked, DONE_TEXT, EDIT_TEXT, Step, THOUGHT, Tool, answer, plan};
use super::{StubModel, gemini, openai};
use crate::http;
use crate::waiting::until;
use anyhow::Result;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn write_schema() -> Value {
    json!({
        "properties": {
            "filePath": { "type": "string" },
            "content": { "type": "string" },
            "overwrite": { "type": "boolean" },
            "hint": { "type": "string" },
        },
        "required": ["filePath", "content", "overwrite"],
    })
}

fn asked(prompt: &str) -> Asked {
    Asked {
        prompt: prompt.to_owned(),
        tools: vec![Tool {
            name: "write".to_owned(),
            schema: write_schema(),
        }],
        ..Asked::default()
    }
}

#[test]
fn words_of_the_prompt_script_the_answer() {
    assert_eq!(plan(&asked("hello there")), [Step::Say(answer("there"))]);
    assert_eq!(
        plan(&asked("THINK well")),
        [Step::Think(THOUGHT), Step::Say(answer("well"))]
    );
    assert_eq!(plan(&asked("SLOW")), [Step::Drip]);
    assert_eq!(plan(&asked("Be SLOWER")), [Step::Say(answer("SLOWER"))]);
    let steps = plan(&asked("please EDIT a.txt now"));
    let arguments = json!({ "filePath": "a.txt", "content": EDIT_TEXT, "overwrite": false });
    let tool = "write".to_owned();
    assert_eq!(steps.last(), Some(&Step::Call { tool, arguments }));
}

#[test]
fn a_missing_tool_is_said_and_an_answered_one_ends_the_turn() {
    assert!(matches!(&plan(&asked("RUN"))[..], [Step::Say(text)] if text.contains("None")));
    let answered = Asked {
        tool_answered: true,
        ..asked("EDIT a.txt")
    };
    assert_eq!(plan(&answered), [Step::Say(DONE_TEXT.to_owned())]);
}

#[test]
fn a_side_question_gets_a_short_answer_whatever_it_quotes() {
    let aside = Asked {
        tools: Vec::new(),
        ..asked("A title for: SLOW")
    };
    assert!(matches!(&plan(&aside)[..], [Step::Say(_)]));
}

#[test]
fn chat_messages_are_read_up_to_the_last_prompt() {
    let request = json!({
        "messages": [
            { "role": "system", "content": "EDIT nothing" },
            { "role": "user", "content": "one" },
            { "role": "assistant", "content": "1" },
            { "role": "user", "content": [{ "type": "text", "text": "EDIT" }, { "type": "text", "text": "a.txt" }] },
            { "role": "tool", "content": "written" },
        ],
        "tools": [{ "function": { "name": "write", "parameters": write_schema() } }],
    });
    let expected = Asked {
        earlier: vec!["one".to_owned()],
        tool_answered: true,
        tool_said: "written".to_owned(),
        ..asked("EDIT a.txt")
    };
    assert_eq!(openai::read(&request), expected);
}

#[test]
fn gemini_contents_are_read_up_to_the_last_prompt() {
    let request = json!({
        "contents": [
            { "role": "user", "parts": [{ "text": "one" }] },
            { "role": "model", "parts": [{ "text": "1" }] },
            { "role": "user", "parts": [{ "text": "EDIT a.txt" }] },
            { "role": "model", "parts": [{ "functionCall": { "name": "write" } }] },
            { "role": "user", "parts": [{ "functionResponse": { "name": "write", "response": { "output": "written" } } }] },
        ],
        "tools": [{ "functionDeclarations": [{ "name": "write", "parametersJsonSchema": write_schema() }] }],
    });
    let expected = Asked {
        earlier: vec!["one".to_owned()],
        tool_answered: true,
        tool_said: r#"{"output":"written"}"#.to_owned(),
        ..asked("EDIT a.txt")
    };
    assert_eq!(gemini::read(&request), expected);
}

#[test]
fn a_call_in_pieces_is_the_same_call() {
    let arguments = json!({ "filePath": "ä.txt", "content": EDIT_TEXT });
    let call = Step::Call {
        tool: "write".to_owned(),
        arguments: arguments.clone(),
    };
    let joined: String = openai::events(&call, 7)
        .iter()
        .map(|event| event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].clone())
        .filter_map(|piece| piece.as_str().map(str::to_owned))
        .collect();
    assert_eq!(serde_json::from_str::<Value>(&joined).unwrap(), arguments);
    let ending = openai::ending(&[call]);
    assert_eq!(ending[0]["choices"][0]["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn an_answer_is_streamed_and_remembered() -> Result<()> {
    let model = StubModel::start().await?;
    let request = json!({
        "stream": true,
        "messages": [{ "role": "user", "content": "hello there" }],
        "tools": [{ "function": { "name": "write", "parameters": {} } }],
    });
    let kind = [("Content-Type", "application/json")];
    let path = "/v1/chat/completions";
    let body = request.to_string();
    let answered = http::send(model.port, "POST", path, &kind, &body).await?;
    assert_eq!(answered.status, 200);
    assert!(
        answered.body.contains(r#""content":"there. ""#),
        "{answered:?}"
    );
    assert!(answered.body.ends_with("data: [DONE]\n\n"), "{answered:?}");
    assert!(
        model
            .asked("hello")
            .is_some_and(|asked| asked.earlier.is_empty())
    );
    assert_eq!(model.given_up(), 0);
    Ok(())
}

#[tokio::test]
async fn an_answer_without_end_ends_with_whoever_asked() -> Result<()> {
    let model = StubModel::start().await?;
    let body = json!({
        "contents": [{ "role": "user", "parts": [{ "text": "SLOW" }] }],
        "tools": [{ "functionDeclarations": [{ "name": "write" }] }],
    })
    .to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", model.port)).await?;
    let head = format!(
        "POST /v1beta/models/any:streamGenerateContent?alt=sse HTTP/1.1\r\nHost: localhost\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    let mut text = String::new();
    while !text.contains("drip2") {
        let mut bytes = [0; 1024];
        let read = stream.read(&mut bytes).await?;
        text.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    drop(stream);
    until("the answer to be given up", async || {
        Ok((model.given_up() == 1).then_some(()))
    })
    .await
}

#[test]
fn asking_finds_the_tool_under_whatever_name() {
    let mut question = asked("please ASK them");
    assert!(matches!(&plan(&question)[..], [Step::Say(text)] if text.contains("Nobody")));
    question.tools.push(Tool {
        name: "flightstrip_ask_user".to_owned(),
        schema: json!({}),
    });
    let steps = plan(&question);
    let [Step::Call { tool, arguments }] = &steps[..] else {
        panic!("no call: {steps:?}")
    };
    assert_eq!(tool, "flightstrip_ask_user");
    assert_eq!(arguments["questions"][0]["options"][1]["label"], "Blue");
}
