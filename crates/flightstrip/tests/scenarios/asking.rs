//! An agent asks while it waits: over HTTP, through the bridge, by a form. It gets the answer that was chosen, once.

use crate::questions::{
    answer, asked, asks, open, option, profile, refused, rejection, respond, row, says, start_with,
    words,
};
use crate::support::{Bench, text};
use anyhow::{Context, Result};
use serde_json::{Value, json};

testkit::on_every_engine!(crate::support::Bench =>
    pen_05_a_question_gets_the_answer_that_was_chosen_once,
    a_bundle_is_answered_as_a_whole_and_to_the_point,
    what_an_agent_asks_wrongly_it_is_told_at_the_place,
    a_declined_question_is_told_as_declined,
    an_agent_without_http_asks_through_the_bridge,
    a_form_is_filled_in_declined_or_taken_back,
    what_is_optional_may_be_left_empty_all_of_it_too,
    what_a_form_limits_is_asked_with_it_and_checked,
    pen_01_c03_each_of_many_requests_gets_its_own_answer,
    c07_helpers_in_the_background_may_ask_after_the_turn,
);

async fn watcher(bench: &Bench, session: &str) -> Result<testkit::client::Client> {
    let mut other = bench.server.connect().await?;
    let session = json!({ "session_id": session });
    other.request("session.subscribe", session).await?;
    Ok(other)
}

/// Waits for what is asked after this bundle.
async fn next_asked(bench: &mut Bench, task: &str, before: &[Value]) -> Result<Vec<Value>> {
    let before = before
        .first()
        .map(|row| row["pending_id"].clone())
        .context("a bundle")?;
    testkit::waiting::until("the next questions", async || {
        let bundle = open(bench, task).await?;
        let next = bundle
            .first()
            .is_some_and(|row| row["pending_id"] != before);
        Ok(next.then_some(bundle))
    })
    .await
}

/// PEN-05, PEN-06.
async fn pen_05_a_question_gets_the_answer_that_was_chosen_once(mut bench: Bench) -> Result<()> {
    let prompt = "/ask Which colour? | Red | Blue\n/say .";
    let task = bench.start_task("Ask", prompt).await?;
    let bundle = asked(&mut bench, &task).await?;
    let [question] = &bundle[..] else {
        panic!("one question: {bundle:?}")
    };
    assert_eq!(question["type"], "clarification_request");
    assert_eq!(question["title"], "Which colour?");
    let told = &question["clarification"]["question"];
    assert_eq!(told["options"][1]["label"], "Blue", "{question}");
    let session = text(&question["session_id"])?;
    let mut other = watcher(&bench, &session).await?;

    let blue = answer(&bundle, &[option("Blue")]);
    respond(&mut bench, &blue).await?;
    let heard = other
        .wait("the other client to hear of it", |frame| {
            frame["action"] == "session.pending_changed"
                && frame["payload"]["resolved"]["status"] == "answered"
        })
        .await?;
    let resolved = &heard["payload"]["resolved"];
    assert_eq!(resolved["pending_id"], question["pending_id"]);
    assert!(heard["payload"]["pending_action"].is_null(), "{heard}");

    for late in [answer(&bundle, &[option("Red")]), rejection(&bundle), blue] {
        assert_eq!(refused(&mut bench, &late).await?.0, "CONFLICT");
    }
    bench.settled(&task).await?;
    says(
        &mut bench,
        &session,
        "Question: Which colour?\nAnswer: Blue.",
    )
    .await?;
    let row = row(&mut bench, question).await?;
    assert_eq!(
        (&row["status"], &row["delivered"]),
        (&json!("answered"), &json!(true))
    );
    assert_eq!(row["metadata"]["answer"]["selected"], json!(["Blue"]));
    assert!(open(&mut bench, &task).await?.is_empty());
    bench.server.stop().await
}

async fn a_bundle_is_answered_as_a_whole_and_to_the_point(mut bench: Bench) -> Result<()> {
    let questions = json!({ "questions": [
        { "text": "One?", "options": [{ "label": "a" }, { "label": "b", "description": "the second" }], "free_text": false },
        { "text": "Some?", "options": [{ "label": "x" }, { "label": "y" }, { "label": "z" }], "multi_select": true },
        { "text": "Words?" },
    ] });
    let task = bench
        .start_task("Ask", &format!("/ask {questions}"))
        .await?;
    let bundle = asked(&mut bench, &task).await?;
    let ids: Vec<_> = bundle.iter().map(|row| &row["pending_id"]).collect();
    assert!(
        ids.len() == 3 && ids.iter().all(|id| *id == ids[0]),
        "{bundle:?}"
    );

    let some = json!({ "selected": ["z", "x"], "text": "and w" });
    for (answers, place) in [
        (vec![option("a"), some.clone()], "answers: every question"),
        (
            vec![option("c"), some.clone(), words("w")],
            "answers[0].selected",
        ),
        (
            vec![words("mine"), some.clone(), words("w")],
            "answers[0].text",
        ),
        (vec![option("a"), some.clone(), words(" ")], "answers[2]"),
    ] {
        let (code, message) = refused(&mut bench, &answer(&bundle, &answers)).await?;
        assert_eq!(code, "VALIDATION_ERROR");
        assert!(message.to_lowercase().contains(place), "{message}");
    }
    let mut foreign = answer(&bundle, &[option("a"), some.clone(), words("w")]);
    foreign["answers"][2]["message_id"] = json!("made-up");
    assert_eq!(refused(&mut bench, &foreign).await?.0, "VALIDATION_ERROR");
    let mut unknown = rejection(&bundle);
    unknown["pending_id"] = json!("0190aaaa-0000-7000-8000-000000000000");
    assert_eq!(refused(&mut bench, &unknown).await?.0, "NOT_FOUND");
    asks(&mut bench, &task, Some("clarification")).await?;

    respond(
        &mut bench,
        &answer(&bundle, &[option("b"), some, words("free")]),
    )
    .await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let wanted = "Question: One?\nAnswer: b\n\nQuestion: Some?\nAnswer: x; z; and w\n\n\
                  Question: Words?\nAnswer: free";
    says(&mut bench, &session, wanted).await?;
    bench.server.stop().await
}

async fn what_an_agent_asks_wrongly_it_is_told_at_the_place(mut bench: Bench) -> Result<()> {
    let options = |count: usize| {
        let options: Vec<_> = (0..count)
            .map(|n| json!({ "label": n.to_string() }))
            .collect();
        json!({ "questions": [{ "text": "a" }, { "text": "b", "options": options }] })
    };
    for (index, (arguments, place)) in [
        (json!({ "questions": [] }), "questions: expected 1 to 4"),
        (options(7), "questions[1].options: expected 2 to 6"),
        (
            json!({ "questions": [{ "text": "x".repeat(2_001) }] }),
            "questions[0].text",
        ),
        (
            json!({ "question": "Which?" }),
            "questions: expected a list",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let title = format!("Wrong {index}");
        let task = bench
            .start_task(&title, &format!("/ask {arguments}"))
            .await?;
        let summary = bench.settled(&task).await?;
        assert!(summary["pending_action"].is_null(), "{summary}");
        let session = bench.session(&task).await?;
        let transcript = bench.transcript(&session).await?;
        let said = crate::support::answers(&transcript);
        assert!(said.starts_with("tool error: Nothing was asked."), "{said}");
        assert!(said.contains(place), "{said}");
        let none = transcript
            .iter()
            .all(|row| row["type"] != "clarification_request");
        assert!(none, "{transcript:?}");
    }
    bench.server.stop().await
}

async fn a_declined_question_is_told_as_declined(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Ask", "/ask Really? | Yes | No").await?;
    let bundle = asked(&mut bench, &task).await?;
    respond(&mut bench, &rejection(&bundle)).await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let transcript = bench.transcript(&session).await?;
    let said = crate::support::answers(&transcript);
    assert!(said.starts_with("The person declined to answer."), "{said}");
    let row = row(&mut bench, &bundle[0]).await?;
    assert_eq!(
        (&row["status"], &row["delivered"]),
        (&json!("rejected"), &json!(true))
    );
    let again = answer(&bundle, &[option("Yes")]);
    assert_eq!(refused(&mut bench, &again).await?.0, "CONFLICT");
    bench.server.stop().await
}

async fn an_agent_without_http_asks_through_the_bridge(mut bench: Bench) -> Result<()> {
    let bridged = profile(&mut bench, "bridged", &["--no-mcp-http"]).await?;
    let prompt = "/ask Which? | A | B\n/ask And then?\n/ask {}";
    let task = start_with(&mut bench, &bridged, "Bridge", prompt).await?;
    let bundle = asked(&mut bench, &task).await?;
    let bridges = bench.server.agent_processes()?;
    let relays = |pid: &&u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("mcp-bridge")
    };
    assert_eq!(bridges.iter().filter(relays).count(), 1);
    respond(&mut bench, &answer(&bundle, &[option("B")])).await?;
    let bundle = next_asked(&mut bench, &task, &bundle).await?;
    respond(
        &mut bench,
        &answer(&bundle, &[words("naïve „quotes“ \n lines")]),
    )
    .await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let wanted = "Question: Which?\nAnswer: BQuestion: And then?\nAnswer: naïve „quotes“ \n lines\
                  tool error: Nothing was asked. questions: expected a list.";
    says(&mut bench, &session, wanted).await?;
    bench.server.stop().await
}

async fn a_form_is_filled_in_declined_or_taken_back(mut bench: Bench) -> Result<()> {
    let schema = json!({ "type": "object", "required": ["count"], "properties": {
        "count": { "type": "integer" }, "keep": { "type": "boolean" },
    } });
    let unfit = json!({ "type": "object", "properties": { "deep": { "type": "object" } } });
    let prompt = format!("/elicit {unfit}\n/elicit {schema}\n/elicit Sure? | yes | no");
    let task = bench.start_task("Form", &prompt).await?;
    let bundle = asked(&mut bench, &task).await?;
    assert_eq!(bundle.len(), 2, "{bundle:?}");
    let title = text(&bundle[0]["title"])?;
    assert_eq!(title, "Please fill this in\n\ncount");
    let wrong = answer(&bundle, &[words("three"), option("true")]);
    assert_eq!(refused(&mut bench, &wrong).await?.0, "VALIDATION_ERROR");
    respond(&mut bench, &answer(&bundle, &[words("3"), option("false")])).await?;
    let bundle = next_asked(&mut bench, &task, &bundle).await?;
    respond(&mut bench, &rejection(&bundle)).await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let declined = "elicited: {\"action\":\"decline\"}";
    let filled = "elicited: {\"action\":\"accept\",\"content\":{\"count\":3,\"keep\":false}}";
    let so_far = format!("{declined}{filled}{declined}");
    says(&mut bench, &session, &so_far).await?;

    // Stopped, the agent takes its form back: it is over, and nobody can answer it.
    bench
        .send(&task, &session, "m-2", "/elicit Sure? | yes | no")
        .await?;
    let bundle = asked(&mut bench, &task).await?;
    let stop = json!({ "session_id": session });
    bench.client.request("agent.cancel", stop).await?;
    bench.settled(&task).await?;
    let row = row(&mut bench, &bundle[0]).await?;
    let code = refused(&mut bench, &answer(&bundle, &[option("yes")])).await;
    if row["status"] == "cancelled" {
        assert_eq!(code?.0, "CONFLICT");
    } else {
        // The turn's end was faster than the agent: the form is detached, and its answer goes as a message.
        assert_eq!(row["status"], "pending", "{row}");
    }
    bench.server.stop().await
}

async fn what_is_optional_may_be_left_empty_all_of_it_too(mut bench: Bench) -> Result<()> {
    let fields = json!({ "name": { "type": "string" }, "keep": { "type": "boolean" } });
    let optional = json!({ "type": "object", "properties": fields });
    let required = json!({ "type": "object", "properties": fields, "required": ["name"] });
    let prompt = format!("/elicit {required}\n/elicit {optional}");
    let task = bench.start_task("Form", &prompt).await?;
    let bundle = asked(&mut bench, &task).await?;
    for lacks in [answer(&bundle, &[]), answer(&bundle, &[words(" ")])] {
        let (code, message) = refused(&mut bench, &lacks).await?;
        assert_eq!(code, "VALIDATION_ERROR");
        assert!(
            message.contains("every question needs an answer"),
            "{message}"
        );
    }
    let mut silent = rejection(&bundle);
    silent["rejected"] = json!(false);
    let (code, message) = refused(&mut bench, &silent).await?;
    assert_eq!(code, "VALIDATION_ERROR");
    assert!(message.contains("answers or with rejected"), "{message}");
    respond(&mut bench, &answer(&bundle, &[words("One")])).await?;

    let bundle = next_asked(&mut bench, &task, &bundle).await?;
    respond(&mut bench, &answer(&bundle, &[])).await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let told = "elicited: {\"action\":\"accept\",\"content\":{\"name\":\"One\"}}\
                elicited: {\"action\":\"accept\",\"content\":{}}";
    says(&mut bench, &session, told).await?;
    let row = row(&mut bench, &bundle[1]).await?;
    assert_eq!(
        (&row["status"], &row["delivered"]),
        (&json!("answered"), &json!(true))
    );
    bench.server.stop().await
}

async fn what_a_form_limits_is_asked_with_it_and_checked(mut bench: Bench) -> Result<()> {
    let schema = json!({ "type": "object", "required": ["count", "tag", "many"], "properties": {
        "count": { "type": "integer", "minimum": 1, "maximum": 9 },
        "many": { "type": "array", "minItems": 2, "items": { "type": "string", "enum": ["x", "y", "z"] } },
        "tag": { "type": "string", "minLength": 3, "pattern": "^v\\d+$" },
    } });
    let uncheckable = json!({ "type": "object", "properties": {
        "tag": { "type": "string", "pattern": "^(?!v)" },
    } });
    let prompt = format!("/elicit {uncheckable}\n/elicit {schema}");
    let task = bench.start_task("Form", &prompt).await?;
    let bundle = asked(&mut bench, &task).await?;
    let told: Vec<_> = bundle
        .iter()
        .map(|row| &row["clarification"]["question"]["limits"])
        .collect();
    let limits = [
        json!({ "minimum": 1, "maximum": 9 }),
        json!({ "min_items": 2 }),
        json!({ "min_length": 3, "pattern": "^v\\d+$" }),
    ];
    assert_eq!(told, limits.iter().collect::<Vec<_>>());
    let many = |ids: &[&str]| json!({ "selected": ids });
    let fits = [words("9"), many(&["z", "x"]), words("v12")];
    for (index, wrong, said) in [
        (0, words("0"), "nswers[0].text: a number, from 1 to 9"),
        (1, many(&["x"]), "nswers[1].selected: at least 2 options"),
        (2, words("v1"), "nswers[2].text: at least 3 characters"),
        (
            2,
            words("v1x"),
            "nswers[2].text: a text that matches the pattern ^v\\d+$",
        ),
    ] {
        let mut answers = fits.clone();
        answers[index] = wrong;
        let (code, message) = refused(&mut bench, &answer(&bundle, &answers)).await?;
        assert_eq!(code, "VALIDATION_ERROR");
        assert!(message.contains(said), "{message}");
    }
    respond(&mut bench, &answer(&bundle, &fits)).await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let told = "elicited: {\"action\":\"decline\"}\
                elicited: {\"action\":\"accept\",\"content\":{\"count\":9,\"many\":[\"x\",\"z\"],\"tag\":\"v12\"}}";
    says(&mut bench, &session, told).await?;
    bench.server.stop().await
}

/// PEN-01; case C03 with the question of a sibling.
async fn pen_01_c03_each_of_many_requests_gets_its_own_answer(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Many", "/permissions 3\n/say .").await?;
    bench.pending(&task).await?;
    let first = bench.session(&task).await?;
    let launch = json!({
        "task_id": task, "client_id": "sibling", "prompt": "/ask Which? | A | B",
        "client_message_id": "sibling-1", "environment": "task",
    });
    bench.client.request("session.launch", launch).await?;
    let all = testkit::waiting::until("four requests", async || {
        let all = open(&mut bench, &task).await?;
        Ok((all.len() == 4).then_some(all))
    })
    .await?;
    let (questions, permissions): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|request| request["type"] == "clarification_request");
    let [p1, p2, p3] = &permissions[..] else {
        panic!("three permissions: {permissions:?}")
    };
    asks(&mut bench, &task, Some("permission")).await?;
    bench.answer(p2, "allow_once").await?;
    asks(&mut bench, &task, Some("permission")).await?;
    bench.answer(p1, "reject_once").await?;
    asks(&mut bench, &task, Some("permission")).await?;
    bench.answer(p3, "allow_once").await?;
    asks(&mut bench, &task, Some("clarification")).await?;
    respond(&mut bench, &answer(&questions, &[option("A")])).await?;
    asks(&mut bench, &task, None).await?;
    says(&mut bench, &first, "1:rejected 2:allowed 3:allowed .").await?;
    let sibling = text(&questions[0]["session_id"])?;
    says(&mut bench, &sibling, "Question: Which?\nAnswer: A").await?;
    bench.server.stop().await
}

/// Case C07: the main turn is over, helpers go on; one asks for a permission, one asks a question.
async fn c07_helpers_in_the_background_may_ask_after_the_turn(mut bench: Bench) -> Result<()> {
    let gate = tempfile::tempdir()?;
    let go = gate.path().join("go");
    let prompt = format!(
        "/subagent start A\n/subagent start B\n/say main\n/after\n/wait-file {}\n/permission Deploy\n\
         /say deployed\n/subagent end A\n/ask Which? | X | Y\n/subagent end B",
        go.display()
    );
    let task = bench.start_task("Helpers", &prompt).await?;
    let over = |s: &Value| s["primary_session"]["state"] == "WAITING_FOR_INPUT";
    let row = bench
        .summary(&task, "the main turn to be over", |s| {
            over(s) && s["active_subagent_count"] == 2
        })
        .await?;
    assert_eq!(row["foreground_activity"], "background", "{row}");
    assert!(row["pending_action"].is_null(), "{row}");
    std::fs::write(&go, "")?;
    let request = bench.pending(&task).await?;
    let row = bench.task(&task).await?["status_summary"].clone();
    assert!(over(&row), "a request after the turn opens none: {row}");
    bench.answer(&request, "allow_once").await?;
    bench
        .summary(&task, "one helper less", |s| {
            s["active_subagent_count"] == 1
        })
        .await?;
    let bundle = asked(&mut bench, &task).await?;
    respond(&mut bench, &answer(&bundle, &[option("Y")])).await?;
    let row = bench
        .summary(&task, "no helper left", |s| {
            s["active_subagent_count"].is_null() && s["foreground_activity"].is_null()
        })
        .await?;
    assert!(row["pending_action"].is_null(), "{row}");
    let session = bench.session(&task).await?;
    says(
        &mut bench,
        &session,
        "maindeployedQuestion: Which?\nAnswer: Y",
    )
    .await?;
    let transcript = bench.transcript(&session).await?;
    let turns: std::collections::BTreeSet<_> = transcript
        .iter()
        .filter_map(|row| row["turn_id"].as_str())
        .collect();
    assert_eq!(turns.len(), 1, "all of it belongs to the one turn");
    let prompts = transcript.iter().filter(|row| row["author"] == "user");
    assert_eq!(prompts.count(), 1);
    transcript.first().context("no transcript")?;
    bench.server.stop().await
}
