//! Bundles of questions: what was decided and not delivered is found, and taken back at most once.

use anyhow::Result;
use model::clarification::limits::Limits;
use model::clarification::{Answer, Clarification, Question};
use model::ids::{MessageId, PendingId, SessionId, TurnId};
use model::message::{Author, MessageType, RequestStatus};
use serde_json::{Value, json};
use store::clarifications::{self, Asked};
use store::messages::{self, NewMessage, Place};
use store::requests;
use testkit::story::Story;

testkit::on_every_engine!(
    a_bundle_is_read_in_the_order_in_which_it_was_asked,
    pen_03_only_what_was_not_delivered_is_taken_back,
    unreadable_questions_are_open_and_stay_as_they_are,
);

fn clarification(index: u32, answer: Option<&str>) -> Clarification {
    Clarification {
        index,
        count: 2,
        question: Question {
            text: format!("{index}?"),
            options: Vec::new(),
            multi_select: false,
            free_text: true,
            format: None,
            limits: Limits::default(),
            optional: false,
        },
        answer: answer.map(|text| Answer {
            selected: Vec::new(),
            text: Some(text.to_owned()),
        }),
    }
}

struct Bundle {
    pending_id: PendingId,
    rows: Vec<MessageId>,
}

/// Two questions of a turn.
async fn ask(story: &Story, session: &SessionId, turn: &TurnId) -> Result<Bundle> {
    let task = story.task_of(session).await?;
    let pending_id = PendingId::generate();
    let rows = vec![MessageId::generate(), MessageId::generate()];
    story
        .change(&[&task], async |tx| {
            let now = tx.now();
            for (index, id) in (0..).zip(&rows) {
                let metadata = serde_json::to_value(clarification(index, None)).unwrap_or_default();
                let row = NewMessage {
                    id,
                    session_id: session,
                    task_id: &task,
                    turn_id: Some(turn),
                    author: Author::Agent,
                    kind: MessageType::ClarificationRequest,
                    content: "?",
                    metadata: &metadata,
                    pending_id: Some(&pending_id),
                    streaming: false,
                };
                messages::insert(tx, &row, Place::Transcript, now).await?;
            }
            Ok(())
        })
        .await?;
    Ok(Bundle { pending_id, rows })
}

async fn decide(story: &Story, bundle: &Bundle, at: usize, status: RequestStatus) -> Result<()> {
    let answer = (status == RequestStatus::Answered).then_some("blue");
    let index = u32::try_from(at)?;
    let metadata = serde_json::to_value(clarification(index, answer))?;
    story
        .change(&[], async |tx| {
            let now = tx.now();
            let (id, pending) = (&bundle.rows[at], &bundle.pending_id);
            requests::decide(tx, id, pending, status, &metadata, None, now).await
        })
        .await?;
    Ok(())
}

async fn undelivered(story: &Story, session: &SessionId) -> Result<Vec<Asked>> {
    let mut tx = story.store().read().await?;
    Ok(clarifications::undelivered(&mut tx, session).await?)
}

async fn restore(story: &Story, asked: &Asked) -> Result<()> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            clarifications::restore(tx, asked, now).await
        })
        .await
}

async fn status_and_answer(story: &Story, id: &MessageId) -> Result<(RequestStatus, Value)> {
    let mut tx = story.store().read().await?;
    let row = messages::get(&mut tx, id).await?.expect("it exists");
    Ok((
        row.status.expect("a request"),
        row.metadata["answer"].clone(),
    ))
}

async fn a_bundle_is_read_in_the_order_in_which_it_was_asked(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let sibling = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    story.permission(&session, &turn).await?;
    let bundle = ask(&story, &session, &turn).await?;
    ask(&story, &session, &turn).await?;
    let mut tx = story.store().read().await?;
    let read = clarifications::bundle(&mut tx, &session, &bundle.pending_id).await?;
    let ids: Vec<_> = read.iter().map(|row| row.message_id.clone()).collect();
    assert_eq!(ids, bundle.rows);
    for (index, row) in (0..).zip(&read) {
        assert_eq!(row.turn_id.as_ref(), Some(&turn));
        assert_eq!(row.status, RequestStatus::Pending);
        assert_eq!(row.clarification(), Some(clarification(index, None)));
    }
    let elsewhere = clarifications::bundle(&mut tx, &sibling, &bundle.pending_id).await?;
    assert_eq!(elsewhere, [], "a bundle belongs to its session");
    Ok(())
}

/// PEN-03.
async fn pen_03_only_what_was_not_delivered_is_taken_back(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let bundle = ask(&story, &session, &turn).await?;
    let other = ask(&story, &session, &turn).await?;
    assert_eq!(undelivered(&story, &session).await?, []);
    decide(&story, &bundle, 0, RequestStatus::Answered).await?;
    decide(&story, &bundle, 1, RequestStatus::Answered).await?;
    decide(&story, &other, 0, RequestStatus::Rejected).await?;
    decide(&story, &other, 1, RequestStatus::Cancelled).await?;
    let waiting = undelivered(&story, &session).await?;
    let ids: Vec<_> = waiting.iter().map(|row| row.message_id.clone()).collect();
    let expected = [&bundle.rows[0], &bundle.rows[1], &other.rows[0]];
    assert_eq!(ids.iter().collect::<Vec<_>>(), expected);

    story
        .change(&[], async |tx| {
            let now = tx.now();
            requests::set_delivered(tx, &bundle.rows[1], true, now).await
        })
        .await?;
    for row in &waiting {
        restore(&story, row).await?;
    }
    let pending = (RequestStatus::Pending, Value::Null);
    assert_eq!(status_and_answer(&story, &bundle.rows[0]).await?, pending);
    let (status, answer) = status_and_answer(&story, &bundle.rows[1]).await?;
    assert_eq!(status, RequestStatus::Answered, "it was delivered");
    assert_eq!(answer["text"], "blue");
    let (status, _) = status_and_answer(&story, &other.rows[0]).await?;
    assert_eq!(status, RequestStatus::Rejected, "a refusal stands");
    Ok(())
}

async fn unreadable_questions_are_open_and_stay_as_they_are(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let asked = story.question(&session, &turn).await?;
    let mut tx = story.store().read().await?;
    let read = clarifications::bundle(&mut tx, &session, &asked.pending_id).await?;
    drop(tx);
    let [row] = &read[..] else {
        panic!("one row: {read:?}")
    };
    assert_eq!(row.status, RequestStatus::Pending);
    assert_eq!(row.clarification(), None);
    assert_eq!(row.metadata, json!({}));
    Ok(())
}
