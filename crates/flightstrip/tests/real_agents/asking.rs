//! An agent that nobody here wrote calls the tool that asks a person, and its model reads the answer.

use crate::agents::requested;
use crate::questions::{answer, open, option, respond, row};
use crate::support::answers;
use crate::workplace::Workplace;
use anyhow::{Context, Result};
use testkit::stub_model::script::{ASK_TEXT, DONE_TEXT};
use testkit::waiting::until;

/// PEN-01, PEN-05: asked, answered, and the model got exactly that, with each agent that was asked for.
#[tokio::test]
async fn pen_05_real_agents_ask_through_the_tool() -> Result<()> {
    for name in requested()? {
        asks(&name)
            .await
            .with_context(|| format!("a question of {name}"))?;
    }
    Ok(())
}

async fn asks(name: &str) -> Result<()> {
    let mut place = Workplace::new(name).await?;
    let task = place.start_task("Ask", "Please ASK the person").await?;
    let wants = |summary: &serde_json::Value| summary["pending_action"].is_string();
    let row_says = place.bench.summary(&task, "a request", wants).await?;
    if row_says["pending_action"] == "permission" {
        // Some agents ask whether they may ask.
        let request = place.bench.pending(&task).await?;
        place.bench.answer(&request, "allow_once").await?;
    }
    place
        .bench
        .summary(&task, "a question", |summary| {
            summary["pending_action"] == "clarification"
        })
        .await?;
    let bundle = open(&mut place.bench, &task).await?;
    assert_eq!(bundle.len(), 1, "{bundle:?}");
    assert_eq!(bundle[0]["title"], ASK_TEXT);
    respond(&mut place.bench, &answer(&bundle, &[option("Blue")])).await?;
    let session = place.bench.session(&task).await?;
    until("the agent to go on", async || {
        let transcript = place.bench.transcript(&session).await?;
        Ok(answers(&transcript).ends_with(DONE_TEXT).then_some(()))
    })
    .await?;
    place.bench.settled(&task).await?;
    let kept = row(&mut place.bench, &bundle[0]).await?;
    assert_eq!(kept["delivered"], true, "{kept}");
    let asked = place.model.asked("ASK").context("not asked")?;
    let said = &asked.tool_said;
    assert!(said.contains(ASK_TEXT) && said.contains("Blue"), "{said}");
    place.bench.server.stop().await?;
    place.bench.server.no_agents_left().await
}
