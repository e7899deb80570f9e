//! Case C01: ordinary tool rows neither raise nor lower what a task asks for, from the rows to what is published.

use crate::world::World;
use anyhow::{Context, Result};
use model::ids::{MessageId, SessionId, TaskId, TurnId};
use model::message::{Author, MessageType, RequestStatus};
use model::session::SessionState;
use model::summary::PendingAction::{self, Clarification, Permission};
use serde_json::{Value, json};
use store::requests::{self, DecideOutcome};
use store::sql::sql;
use store::{messages, sessions};
use testkit::story::transcript::Asked;

testkit::on_every_engine!(crate::world::World =>
    c01_tool_rows_neither_raise_nor_lower_the_badge,
    c01_a_the_badge_goes_with_the_deleted_request,
    c01_b_a_question_is_left_alone_by_tool_rows_too,
    c01_c_an_answer_before_the_tools_end_is_the_only_change,
    c01_d_an_answer_leaves_the_tool_row_running,
);

/// `T1/S1`, RUNNING in its current turn, with a sibling; what was published so far.
struct Case {
    world: World,
    task: TaskId,
    session: SessionId,
    turn: TurnId,
    sibling: SessionId,
}

impl Case {
    async fn new(world: World) -> Result<Self> {
        let task = world.story.task().await?;
        let session = world.story.session(&task, None).await?;
        let sibling = world.story.session(&task, None).await?;
        let (turn, _) = world.story.prompt(&session, "go").await?;
        world
            .story
            .change(&[&task], async |tx| {
                sessions::set_state(tx, &session, SessionState::Running).await
            })
            .await?;
        Ok(Self {
            world,
            task,
            session,
            turn,
            sibling,
        })
    }

    /// A tool row with this status word, also where a careless reader would look for one.
    async fn tool(&self, session: &SessionId, kind: MessageType, word: &str) -> Result<MessageId> {
        let turn = (*session == self.session).then_some(&self.turn);
        let story = &self.world.story;
        let row = story.row(session, turn, Author::Agent, kind, "tc1").await?;
        self.set_tool(&row, word).await?;
        Ok(row)
    }

    async fn set_tool(&self, row: &MessageId, word: &str) -> Result<()> {
        let metadata = json!({ "tool_call_id": "tc1", "status": word });
        self.world
            .story
            .change(&[&self.task], async |tx| {
                let now = tx.now();
                messages::replace(tx, row, "tc1", &metadata, now).await
            })
            .await?;
        // The column of requests, in a row that is none.
        let update = sql("UPDATE task_session_messages SET status = $2 WHERE id = $1");
        self.world.story.tamper(update.bind(row).bind(word)).await?;
        Ok(())
    }

    async fn badge(&self) -> Result<Option<PendingAction>> {
        Ok(self
            .world
            .projected(&self.task)
            .await?
            .payload
            .pending_action)
    }

    /// Steps 3 to 5: everything that ends is none of the request's business.
    async fn unrelated(&self, announced: &MessageId) -> Result<()> {
        self.set_tool(announced, "completed").await?;
        let read = self
            .tool(&self.session, MessageType::ToolCall, "pending")
            .await?;
        self.set_tool(&read, "completed").await?;
        self.tool(&self.session, MessageType::Unknown, "cancelled")
            .await?;
        self.tool(&self.sibling, MessageType::ToolCall, "approved")
            .await?;
        Ok(())
    }

    async fn decide(&self, asked: &Asked, status: RequestStatus) -> Result<()> {
        let (message, pending) = (&asked.message_id, &asked.pending_id);
        let decided = self
            .world
            .story
            .change(&[&self.task], async |tx| {
                let now = tx.now();
                requests::decide(tx, message, pending, status, &json!({}), None, now).await
            })
            .await?;
        assert_eq!(decided, DecideOutcome::Decided);
        Ok(())
    }

    /// How often what is asked for changed from one published revision to the next, beginning with nothing.
    fn changes_of_the_badge(&self) -> usize {
        let mut shown = vec![None];
        let published = self.world.hub.summaries(&self.task);
        shown.extend(
            published
                .iter()
                .map(|summary| summary.payload.pending_action),
        );
        shown
            .iter()
            .zip(shown.iter().skip(1))
            .filter(|(a, b)| a != b)
            .count()
    }

    async fn metadata(&self, row: &MessageId) -> Result<Value> {
        let mut tx = self.world.story.store().read().await?;
        let row = messages::get(&mut tx, row).await?;
        Ok(row.context("the row")?.metadata)
    }
}

/// C01, PEN-05, S-15.
async fn c01_tool_rows_neither_raise_nor_lower_the_badge(world: World) -> Result<()> {
    let case = Case::new(world).await?;
    let announced = case
        .tool(&case.session, MessageType::ToolCall, "pending")
        .await?;
    assert_eq!(case.badge().await?, None, "after 1");
    let asked = case
        .world
        .story
        .permission(&case.session, &case.turn)
        .await?;
    let armed = case.world.projected(&case.task).await?;
    assert_eq!(armed.payload.pending_action, Some(Permission), "after 2");
    case.unrelated(&announced).await?;
    let after = case.world.projected(&case.task).await?;
    assert_eq!(after.payload.pending_action, Some(Permission), "after 5");
    assert_eq!(
        after.revision, armed.revision,
        "nothing was worth a revision"
    );
    case.decide(&asked, RequestStatus::Approved).await?;
    assert_eq!(case.badge().await?, None, "after 6");
    assert_eq!(case.changes_of_the_badge(), 2);
    Ok(())
}

/// C01, PEN-05.
async fn c01_a_the_badge_goes_with_the_deleted_request(world: World) -> Result<()> {
    let case = Case::new(world).await?;
    let announced = case
        .tool(&case.session, MessageType::ToolCall, "pending")
        .await?;
    let asked = case
        .world
        .story
        .permission(&case.session, &case.turn)
        .await?;
    assert_eq!(case.badge().await?, Some(Permission));
    case.unrelated(&announced).await?;
    assert_eq!(case.badge().await?, Some(Permission));
    case.world
        .story
        .change(&[&case.task], async |tx| {
            let now = tx.now();
            messages::remove(tx, &asked.message_id, now).await
        })
        .await?;
    assert_eq!(case.badge().await?, None);
    assert_eq!(case.changes_of_the_badge(), 2);
    Ok(())
}

/// C01, PEN-05.
async fn c01_b_a_question_is_left_alone_by_tool_rows_too(world: World) -> Result<()> {
    let case = Case::new(world).await?;
    let announced = case
        .tool(&case.session, MessageType::ToolCall, "pending")
        .await?;
    let asked = case.world.story.question(&case.session, &case.turn).await?;
    assert_eq!(case.badge().await?, Some(Clarification));
    case.unrelated(&announced).await?;
    assert_eq!(case.badge().await?, Some(Clarification));
    case.decide(&asked, RequestStatus::Answered).await?;
    assert_eq!(case.badge().await?, None);
    assert_eq!(case.changes_of_the_badge(), 2);
    Ok(())
}

/// C01, PEN-05.
async fn c01_c_an_answer_before_the_tools_end_is_the_only_change(world: World) -> Result<()> {
    let case = Case::new(world).await?;
    let announced = case
        .tool(&case.session, MessageType::ToolCall, "pending")
        .await?;
    let asked = case
        .world
        .story
        .permission(&case.session, &case.turn)
        .await?;
    assert_eq!(case.badge().await?, Some(Permission));
    case.decide(&asked, RequestStatus::Approved).await?;
    let answered = case.world.projected(&case.task).await?;
    assert_eq!(answered.payload.pending_action, None);
    case.unrelated(&announced).await?;
    assert_eq!(case.world.projected(&case.task).await?, answered);
    assert_eq!(case.changes_of_the_badge(), 2);
    Ok(())
}

/// C01, PEN-05.
async fn c01_d_an_answer_leaves_the_tool_row_running(world: World) -> Result<()> {
    let case = Case::new(world).await?;
    let announced = case
        .tool(&case.session, MessageType::ToolCall, "pending")
        .await?;
    let before = case.metadata(&announced).await?;
    let asked = case
        .world
        .story
        .permission(&case.session, &case.turn)
        .await?;
    assert_eq!(case.badge().await?, Some(Permission));
    case.decide(&asked, RequestStatus::Approved).await?;
    assert_eq!(case.badge().await?, None);
    assert_eq!(case.metadata(&announced).await?, before);
    Ok(())
}
