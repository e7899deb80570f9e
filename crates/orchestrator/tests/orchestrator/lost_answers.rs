//! A commit whose answer is lost may have happened: what it promised is carried out all the same (API-06).

use crate::world::World;
use anyhow::{Context, Result};
use model::ids::{MessageId, SessionId, TaskId};
use model::turn::TurnOutcome;
use orchestrator::error::CommandError;
use orchestrator::sends::NewPrompt;
use store::faults::FaultPoint;
use store::{messages, turns};
use testkit::waiting::until;

testkit::on_every_engine!(crate::world::World =>
    api_06_a_send_whose_answer_was_lost_is_carried_out,
    api_06_a_send_that_did_not_happen_leaves_nothing,
    api_06_a_repeated_send_tells_who_did_not_hear_of_the_first,
);

struct Sending {
    task: TaskId,
    session: SessionId,
    id: MessageId,
}

impl Sending {
    /// To a session whose agent cannot be started: that its start is tried shows in its turn.
    async fn to(world: &World) -> Result<Self> {
        let task = world.story.task().await?;
        let environment = world.story.environment(&task, &[""]).await?;
        let session = world.story.session(&task, Some(&environment)).await?;
        Ok(Self {
            task,
            session,
            id: MessageId::generate(),
        })
    }

    fn prompt(&self) -> NewPrompt {
        NewPrompt {
            task_id: self.task.clone(),
            session_id: self.session.clone(),
            message_id: self.id.clone(),
            content: "go".to_owned(),
            attachments: Vec::new(),
        }
    }
}

async fn api_06_a_send_whose_answer_was_lost_is_carried_out(world: World) -> Result<()> {
    let sending = Sending::to(&world).await?;
    let faults = world.story.store().faults();
    faults.fail(FaultPoint::AfterCommit, 1);
    let lost = world.orchestrator.add_message(sending.prompt()).await;
    assert!(matches!(lost, Err(CommandError::Store(_))), "{lost:?}");
    let turn = until("the prompt's turn to be taken up", async || {
        let mut tx = world.story.store().read().await?;
        let stored = messages::get(&mut tx, &sending.id)
            .await?
            .context("a row")?;
        let turn = turns::get(&mut tx, &stored.turn_id.context("a turn")?).await?;
        Ok(turn.outcome.map(|outcome| (turn.id, outcome)))
    })
    .await?;
    assert_eq!(turn.1, TurnOutcome::Failed);
    // Repeating it adds nothing.
    let stored = world.orchestrator.add_message(sending.prompt()).await?;
    assert_eq!(stored.turn_id, Some(turn.0));
    let mut tx = world.story.store().read().await?;
    assert!(messages::queue(&mut tx, &sending.session).await?.is_empty());
    Ok(())
}

async fn api_06_a_send_that_did_not_happen_leaves_nothing(world: World) -> Result<()> {
    let sending = Sending::to(&world).await?;
    let faults = world.story.store().faults();
    faults.fail(FaultPoint::BeforeCommit, 1);
    let refused = world.orchestrator.add_message(sending.prompt()).await;
    assert!(
        matches!(refused, Err(CommandError::Store(_))),
        "{refused:?}"
    );
    let mut tx = world.story.store().read().await?;
    assert!(messages::get(&mut tx, &sending.id).await?.is_none());
    assert!(turns::open(&mut tx, &sending.session).await?.is_none());
    Ok(())
}

/// Stored by a command that told nobody any more.
async fn api_06_a_repeated_send_tells_who_did_not_hear_of_the_first(world: World) -> Result<()> {
    let sending = Sending::to(&world).await?;
    let (turn, id) = world.story.prompt(&sending.session, "go").await?;
    let sending = Sending { id, ..sending };
    let stored = world.orchestrator.add_message(sending.prompt()).await?;
    assert_eq!(stored.turn_id.as_ref(), Some(&turn));
    until("its turn to be taken up", async || {
        let mut tx = world.story.store().read().await?;
        Ok(turns::get(&mut tx, &turn).await?.outcome)
    })
    .await?;
    Ok(())
}
