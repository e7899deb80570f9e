//! What a row says that its task waits for, as the projector stores and publishes it (PEN-06, PEN-08).

use anyhow::Result;
use model::ids::{SessionId, TaskId};
use model::message::RequestStatus;
use model::summary::PendingAction::{self, Clarification, Permission};
use model::turn::TurnOutcome;
use projector::running::Projector;
use std::sync::Arc;
use store::requests;
use store::turns;
use testkit::recorder::Recorder;
use testkit::story::Story;
use testkit::story::transcript::Asked;
use testkit::waiting::until;
use tokio_util::sync::CancellationToken;

testkit::on_every_engine!(
    s_16_a_question_of_an_older_turn_is_omitted_and_never_re_armed,
    pen_06_pokes_in_any_order_show_what_the_database_says,
);

struct Rows {
    story: Story,
    projector: Projector,
    hub: Arc<Recorder>,
    task: TaskId,
    session: SessionId,
}

impl Rows {
    async fn begin(story: Story) -> Result<Self> {
        let hub = Arc::new(Recorder::default());
        let projector = Projector::new(story.store().clone(), Arc::clone(&hub) as _);
        let task = story.task().await?;
        let session = story.session(&task, None).await?;
        Ok(Self {
            story,
            projector,
            hub,
            task,
            session,
        })
    }

    /// What the stored row says after one projection.
    async fn pending(&self) -> Result<Option<PendingAction>> {
        self.projector
            .project(std::slice::from_ref(&self.task))
            .await;
        let stored = self.story.stored(&self.task).await?;
        Ok(stored.and_then(|stored| stored.payload.pending_action))
    }

    async fn answer(&self, asked: &Asked, status: RequestStatus) -> Result<()> {
        self.story
            .change(&[&self.task], async |tx| {
                let (now, none) = (tx.now(), serde_json::json!({}));
                let (row, id) = (&asked.message_id, &asked.pending_id);
                requests::decide(tx, row, id, status, &none, None, now).await
            })
            .await?;
        Ok(())
    }
}

/// S-16, PEN-08.
async fn s_16_a_question_of_an_older_turn_is_omitted_and_never_re_armed(
    story: Story,
) -> Result<()> {
    let rows = Rows::begin(story).await?;
    let (older, _) = rows.story.prompt(&rows.session, "one").await?;
    let detached = rows.story.question(&rows.session, &older).await?;
    assert_eq!(rows.pending().await?, Some(Clarification));
    let (current, _) = rows.story.prompt(&rows.session, "two").await?;
    assert_eq!(rows.pending().await?, None, "the current turn asks nothing");

    let told = rows.hub.summaries().len();
    for (turn, outcome) in [
        (&current, TurnOutcome::Completed),
        (&older, TurnOutcome::Completed),
        (&older, TurnOutcome::Cancelled),
    ] {
        rows.story
            .change(&[&rows.task], async |tx| {
                let now = tx.now();
                turns::complete(tx, turn, outcome, now).await
            })
            .await?;
        assert_eq!(rows.pending().await?, None, "no end of a turn re-arms it");
    }
    rows.answer(&detached, RequestStatus::Answered).await?;
    assert_eq!(rows.pending().await?, None);
    assert_eq!(
        rows.hub.summaries().len(),
        told,
        "and nobody was told anything"
    );
    Ok(())
}

/// PEN-06: an event says which task, the database says what; late, repeated and early ones show nothing else.
async fn pen_06_pokes_in_any_order_show_what_the_database_says(story: Story) -> Result<()> {
    let rows = Rows::begin(story).await?;
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(rows.projector.clone().run(shutdown.clone()));
    let poke = || rows.projector.poke(std::slice::from_ref(&rows.task));
    let shows = async |expected: Option<PendingAction>| {
        until("what the database says", async || {
            let stored = rows.story.stored(&rows.task).await?;
            let truth = rows.story.derived(&rows.task).await?;
            assert_eq!(truth.pending_action, expected);
            Ok((stored.map(|stored| stored.payload) == Some(truth)).then_some(()))
        })
        .await
    };
    poke();
    shows(None).await?;
    let told = rows.hub.summaries().len();

    // Asked and answered before any event arrives: the events of both find nothing pending.
    let (turn, _) = rows.story.prompt(&rows.session, "go").await?;
    let asked = rows.story.permission(&rows.session, &turn).await?;
    rows.answer(&asked, RequestStatus::Approved).await?;
    for _ in 0..3 {
        poke();
    }
    shows(None).await?;
    assert_eq!(
        rows.hub.summaries().len(),
        told,
        "it was never shown as pending"
    );

    // The event of the first answer arrives after the second request was made.
    let second = rows.story.permission(&rows.session, &turn).await?;
    poke();
    shows(Some(Permission)).await?;
    poke();
    let question = rows.story.question(&rows.session, &turn).await?;
    rows.answer(&second, RequestStatus::Rejected).await?;
    poke();
    poke();
    shows(Some(Clarification)).await?;
    rows.answer(&question, RequestStatus::Answered).await?;
    poke();
    shows(None).await?;
    shutdown.cancel();
    running.await?;
    Ok(())
}
