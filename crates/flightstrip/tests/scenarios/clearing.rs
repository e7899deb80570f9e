//! What ends a session's error and what does not, and errors that happen while the database has troubles of its own.

use crate::scripted::Scripted;
use crate::support::{Bench, answers};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use store::sql::{Statement, sql};
use testkit::server::Server;
use testkit::store::Engine;
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    err_04_an_answer_ends_the_error_and_thoughts_and_tools_do_not,
    err_04_a_turn_that_ends_normally_ends_the_error,
    err_08_a_session_that_cannot_be_read_is_cleaned_up_all_the_same,
    err_08_a_session_that_is_gone_needs_no_cleaning_up,
    err_08_an_error_that_the_database_refuses_for_a_while_is_stored_later,
);

/// Waits until the row shows an error; gives it.
async fn failed(bench: &mut Bench, task: &str) -> Result<Value> {
    let summary = bench
        .summary(task, "an error", |s| s["active_error"].is_object())
        .await?;
    Ok(summary["active_error"].clone())
}

/// The rows of a session's transcript of this type.
async fn rows(bench: &mut Bench, session: &str, kind: &str) -> Result<usize> {
    let transcript = bench.transcript(session).await?;
    Ok(transcript.iter().filter(|row| row["type"] == kind).count())
}

/// ERR-04, S-07.
async fn err_04_an_answer_ends_the_error_and_thoughts_and_tools_do_not(
    mut bench: Bench,
) -> Result<()> {
    let scripted = Scripted::new()?;
    let task = bench.start_task("Fails", "/exit 3").await?;
    let error = failed(&mut bench, &task).await?;
    let session = bench.session(&task).await?;
    let gate = scripted.gate("answer");
    let prompt = format!(
        "/think let me see\n/tool read Look at it\n/wait-file {}\n/say here it is\n/sleep 600000",
        gate.display()
    );
    bench.send(&task, &session, "again", &prompt).await?;
    until("thought and tool", async || {
        let thought = rows(&mut bench, &session, "thought").await?;
        let tool = rows(&mut bench, &session, "tool_call").await?;
        Ok((0 < thought.min(tool)).then_some(()))
    })
    .await?;
    let working = |s: &Value| s["foreground_activity"] == "generating";
    let summary = bench.summary(&task, "work", working).await?;
    assert_eq!(summary["active_error"], error, "neither of them ends it");
    scripted.open("answer")?;
    let summary = bench
        .summary(&task, "the error to go", |s| s["active_error"].is_null())
        .await?;
    assert_eq!(
        summary["foreground_activity"], "generating",
        "with the first words, not with the end of the turn"
    );
    // The answer is deleted later, which revives nothing.
    let cancel = json!({ "session_id": session });
    bench.client.request("agent.cancel", cancel).await?;
    bench.settled(&task).await?;
    let transcript = bench.transcript(&session).await?;
    let answer = transcript
        .iter()
        .find(|row| row["type"] == "message" && row["author"] == "agent");
    let answer = &answer.context("the answer")?["id"];
    let delete = json!({ "session_id": session, "message_id": answer });
    bench.client.request("message.delete", delete).await?;
    let after = bench.task(&task).await?;
    assert!(after["status_summary"]["active_error"].is_null(), "{after}");
    bench.server.stop().await
}

/// ERR-04. A turn that ends normally without a word ends the error; one that was cancelled does not.
async fn err_04_a_turn_that_ends_normally_ends_the_error(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Fails", "/exit 3").await?;
    let error = failed(&mut bench, &task).await?;
    let session = bench.session(&task).await?;
    bench.send(&task, &session, "long", "/sleep 600000").await?;
    let working = |s: &Value| s["foreground_activity"] == "generating";
    bench.summary(&task, "work", working).await?;
    let cancel = json!({ "session_id": session });
    bench.client.request("agent.cancel", cancel).await?;
    let summary = bench.settled(&task).await?;
    assert_eq!(summary["active_error"], error, "cancelled");
    bench
        .send(&task, &session, "wordless", "/tool read Look at it")
        .await?;
    bench
        .summary(&task, "the error to go", |s| s["active_error"].is_null())
        .await?;
    bench.server.stop().await
}

/// A task whose agent ends with an error as soon as the gate `end` is opened.
async fn doomed(bench: &mut Bench, scripted: &Scripted) -> Result<(String, String)> {
    let gate = scripted.gate("end");
    let prompt = format!("/say I work\n/wait-file {}\n/exit 3", gate.display());
    let task = bench.start_task("Doomed", &prompt).await?;
    let session = bench.session(&task).await?;
    until("its words", async || {
        let said = answers(&bench.transcript(&session).await?);
        Ok((said == "I work").then_some(()))
    })
    .await?;
    Ok((task, session))
}

/// What another program does to the database of a running server.
async fn tamper(server: &Server, statement: Statement) -> Result<()> {
    let store = server.open_store().await?;
    let mut tx = store.write().await?;
    tx.execute(statement).await?;
    let _ = tx.commit().await?; // whoever tampers publishes nothing
    Ok(())
}

async fn count(server: &Server, statement: Statement) -> Result<i64> {
    let store = server.open_store().await?;
    let mut tx = store.read().await?;
    Ok(tx.one(statement, "count").await?.int("n")?)
}

/// The agent ends while its session's row holds a word that nobody knows. The turn is over all the same, no process is
/// noted, the error stands, and the session goes on.
///
/// ERR-08, REC-03.
async fn err_08_a_session_that_cannot_be_read_is_cleaned_up_all_the_same(
    mut bench: Bench,
) -> Result<()> {
    let scripted = Scripted::new()?;
    let (task, session) = doomed(&mut bench, &scripted).await?;
    let damage = sql("UPDATE task_sessions SET state = 'DREAMING' WHERE id = $1");
    tamper(&bench.server, damage.bind(session.as_str())).await?;
    scripted.open("end")?;
    let summary = bench
        .summary(&task, "the error", |s| s["active_error"].is_object())
        .await?;
    assert_eq!(summary["active_error"]["category"], "agent_exited");
    assert_eq!(summary["active_error"]["session_id"], json!(session));
    let at_rest = |s: &Value| {
        s["primary_session"]["state"] == "WAITING_FOR_INPUT" && s["foreground_activity"].is_null()
    };
    bench.summary(&task, "rest", at_rest).await?;
    let open = "SELECT count(*) AS n FROM task_session_turns WHERE completed_at IS NULL";
    assert_eq!(count(&bench.server, sql(open)).await?, 0);
    let noted = "SELECT count(*) AS n FROM executors_running";
    assert_eq!(count(&bench.server, sql(noted)).await?, 0);
    let task_now = bench.task(&task).await?;
    assert_eq!(task_now["state"], "REVIEW", "{task_now}");
    let log = bench.server.log();
    assert!(log.contains("could not be read"), "{log}");
    assert!(log.contains(&session), "it says which: {log}");

    bench.send(&task, &session, "next", "/say again").await?;
    bench
        .summary(&task, "an answer", |s| s["active_error"].is_null())
        .await?;
    bench.settled(&task).await?;
    bench.server.stop().await
}

/// ERR-08. Only a session that is authoritatively gone suppresses the cleaning up.
async fn err_08_a_session_that_is_gone_needs_no_cleaning_up(mut bench: Bench) -> Result<()> {
    let scripted = Scripted::new()?;
    let (task, session) = doomed(&mut bench, &scripted).await?;
    let removal = sql("DELETE FROM task_sessions WHERE id = $1");
    tamper(&bench.server, removal.bind(session.as_str())).await?;
    scripted.open("end")?;
    bench.server.no_agents_left().await?;
    until("the log to say so", async || {
        Ok(bench
            .server
            .log()
            .contains("needs no cleaning up")
            .then_some(()))
    })
    .await?;
    assert!(!bench.server.log().contains("cleaned up unread"));
    let after = bench.task(&task).await?;
    assert!(after["status_summary"]["active_error"].is_null(), "{after}");
    // The server works on.
    let other = bench.start_task("Other", "/say hello").await?;
    bench.settled(&other).await?;
    bench.server.stop().await
}

/// A trigger that takes no error of a session, in the engine's own words.
const fn refusing(engine: Engine) -> &'static [&'static str] {
    match engine {
        Engine::Sqlite => &[
            "CREATE TRIGGER refusing BEFORE UPDATE OF error_stamp ON task_sessions
             BEGIN SELECT RAISE(ABORT, 'not now'); END",
        ],
        Engine::Postgres => &[
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
             AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END'",
            "CREATE TRIGGER refusing BEFORE UPDATE OF error_stamp ON task_sessions
             FOR EACH ROW EXECUTE FUNCTION refuse()",
        ],
    }
}

/// Takes that trigger away.
const fn lifting(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "DROP TRIGGER refusing",
        Engine::Postgres => "DROP TRIGGER refusing ON task_sessions",
    }
}

/// The database refuses the error for a while: it is tried again until it is stored.
///
/// ERR-08.
async fn err_08_an_error_that_the_database_refuses_for_a_while_is_stored_later(
    mut bench: Bench,
) -> Result<()> {
    let scripted = Scripted::new()?;
    let (task, _) = doomed(&mut bench, &scripted).await?;
    for refusal in refusing(bench.server.engine()) {
        tamper(&bench.server, sql(refusal)).await?;
    }
    scripted.open("end")?;
    until("the log to say that it waits", async || {
        Ok(bench.server.log().contains("takes no writes").then_some(()))
    })
    .await?;
    let waiting = bench.task(&task).await?;
    assert_eq!(
        waiting["status_summary"]["foreground_activity"],
        "generating"
    );
    tamper(&bench.server, sql(lifting(bench.server.engine()))).await?;
    let error = failed(&mut bench, &task).await?;
    assert_eq!(error["category"], "agent_exited");
    bench.settled(&task).await?;
    bench.server.stop().await
}
