//! Stopping an agent that asks: the request ends with the turn, and nothing of it comes back later.

use crate::support::Bench;
use anyhow::Result;
use serde_json::{Value, json};

testkit::on_every_engine!(crate::support::Bench =>
    pen_05_a_cancelled_request_is_not_delivered_again,
);

/// PEN-05: a request that Stop cancelled owes the agent nothing. The next answer is delivered without it, and no error
/// appears that nobody caused.
async fn pen_05_a_cancelled_request_is_not_delivered_again(mut bench: Bench) -> Result<()> {
    let prompt = "/permission Write A.md as edit\n/edit A.md one";
    let task = bench.start_task("Ask twice", prompt).await?;
    let first = bench.pending(&task).await?;
    let session = bench.session(&task).await?;
    let stop = json!({ "session_id": session });
    bench.client.request("agent.cancel", stop).await?;
    bench.settled(&task).await?;

    let again = "/permission Write B.md as edit\n/edit B.md two";
    bench.send(&task, &session, "m-again", again).await?;
    let second = bench.pending(&task).await?;
    assert_ne!(first["pending_id"], second["pending_id"]);
    bench.answer(&second, "allow_once").await?;
    let row = bench.settled(&task).await?;
    assert!(row["active_error"].is_null(), "{row}");

    let worktree = bench.worktree(&task).await?;
    assert!(!worktree.join("A.md").exists(), "it was cancelled");
    assert!(worktree.join("B.md").exists(), "it was allowed");
    let transcript = bench.transcript(&session).await?;
    let outcomes: Vec<&Value> = transcript
        .iter()
        .filter(|message| message["type"] == "permission_request")
        .map(|message| &message["status"])
        .collect();
    assert_eq!(outcomes, ["cancelled", "approved"]);
    bench.server.stop().await
}
