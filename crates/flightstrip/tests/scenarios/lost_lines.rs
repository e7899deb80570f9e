//! A PostgreSQL whose line breaks at commits, under a running server with a real agent.

use crate::support::{BINARY, Bench, answers};
use anyhow::Result;
use serde_json::json;
use testkit::cut_line::CutLine;
use testkit::postgres::Database;
use testkit::server::Server;

/// The answers of a turn's commits get lost, one after the other: the send is accepted, its prompt is written once, who
/// watches is told of everything, and the next turn is like any other.
///
/// API-06, REC-05.
#[tokio::test]
async fn api_06_a_turn_whose_commits_are_not_answered_postgres() -> Result<()> {
    let database = Database::create().await?;
    let line = CutLine::to(database.url())?;
    let env = [("FLIGHTSTRIP_DATABASE_URL", line.url())];
    let mut bench = Bench::with(Server::start_with(BINARY, &[], &env).await?).await?;
    let task = bench.start_task("Talk", "/say first").await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;

    // At least those of the send, of the mark before the prompt is written, of its text and of the turn's end.
    line.lose_answers(4);
    let sent = bench.send(&task, &session, "m-1", "/say second").await?;
    assert_eq!(sent["id"], "m-1");
    bench.settled(&task).await?;
    assert_eq!(line.broken(), 4);
    assert_eq!(answers(&bench.transcript(&session).await?), "firstsecond");

    // One that does not arrive is an error to whoever sends, and a repeat is the one message.
    line.lose_commit_of("/say third");
    let send = json!({
        "task_id": task, "session_id": session, "client_message_id": "m-2", "content": "/say third",
    });
    let refused = bench.client.refused("message.add", send).await?;
    assert_eq!(refused["code"], "INTERNAL_ERROR", "{refused}");
    bench.send(&task, &session, "m-2", "/say third").await?;
    bench.settled(&task).await?;
    assert_eq!(
        answers(&bench.transcript(&session).await?),
        "firstsecondthird"
    );
    bench.server.stop().await
}
