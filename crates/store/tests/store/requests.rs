//! Answers: the first one wins, and nobody hears of a late one.

use anyhow::Result;
use model::bounds;
use model::message::{MessageType, RequestStatus};
use serde_json::json;
use store::requests::{self, DecideOutcome};
use store::{messages, sessions};
use testkit::story::Story;
use testkit::story::transcript::Asked;

testkit::on_every_engine!(
    the_first_of_many_answers_wins,
    several_requests_of_one_turn_are_decided_apart,
    ending_permissions_leaves_questions_and_answers_alone,
    a_decision_waits_to_be_delivered_once,
    a_tasks_open_requests_are_listed_newest_first_and_bounded,
);

async fn decide(story: &Story, asked: &Asked, status: RequestStatus) -> Result<DecideOutcome> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            let metadata = json!({ "chosen_option_id": status.as_str() });
            requests::decide(
                tx,
                &asked.message_id,
                &asked.pending_id,
                status,
                &metadata,
                None,
                now,
            )
            .await
        })
        .await
}

async fn status(story: &Story, asked: &Asked) -> Result<Option<RequestStatus>> {
    let mut tx = story.store().read().await?;
    let row = messages::get(&mut tx, &asked.message_id).await?;
    Ok(row.and_then(|row| row.status))
}

async fn the_first_of_many_answers_wins(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let asked = story.permission(&session, &turn).await?;
    let answers = [
        RequestStatus::Approved,
        RequestStatus::Rejected,
        RequestStatus::Cancelled,
        RequestStatus::Approved,
    ];
    let outcomes =
        futures_util::future::join_all(answers.map(|answer| decide(&story, &asked, answer))).await;
    let outcomes: Vec<_> = outcomes.into_iter().collect::<Result<_>>()?;
    let winners: Vec<_> = outcomes
        .iter()
        .zip(answers)
        .filter(|(outcome, _)| **outcome == DecideOutcome::Decided)
        .map(|(_, answer)| answer)
        .collect();
    assert_eq!(winners.len(), 1);
    assert_eq!(status(&story, &asked).await?, Some(winners[0]));
    let mut tx = story.store().read().await?;
    let row = messages::get(&mut tx, &asked.message_id).await?;
    let chosen = row.expect("the row exists").metadata;
    assert_eq!(chosen["chosen_option_id"], winners[0].as_str());
    Ok(())
}

async fn several_requests_of_one_turn_are_decided_apart(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let asked = [
        story.permission(&session, &turn).await?,
        story.permission(&session, &turn).await?,
        story.permission(&session, &turn).await?,
    ];
    decide(&story, &asked[1], RequestStatus::Approved).await?;
    decide(&story, &asked[0], RequestStatus::Rejected).await?;
    let mut found = Vec::new();
    for one in &asked {
        found.extend(status(&story, one).await?);
    }
    assert_eq!(
        found,
        [
            RequestStatus::Rejected,
            RequestStatus::Approved,
            RequestStatus::Pending
        ]
    );
    Ok(())
}

async fn ending_permissions_leaves_questions_and_answers_alone(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let sibling = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let (elsewhere, _) = story.prompt(&sibling, "go").await?;
    let open = story.permission(&session, &turn).await?;
    let answered = story.permission(&session, &turn).await?;
    let question = story.question(&session, &turn).await?;
    let theirs = story.permission(&sibling, &elsewhere).await?;
    decide(&story, &answered, RequestStatus::Approved).await?;
    let ended = story
        .change(&[], async |tx| {
            let now = tx.now();
            requests::end_permissions(tx, &session, RequestStatus::Expired, now).await
        })
        .await?;
    assert_eq!(ended, [(open.message_id.clone(), open.pending_id.clone())]);
    assert_eq!(status(&story, &open).await?, Some(RequestStatus::Expired));
    assert_eq!(
        status(&story, &answered).await?,
        Some(RequestStatus::Approved)
    );
    assert_eq!(
        status(&story, &question).await?,
        Some(RequestStatus::Pending)
    );
    assert_eq!(status(&story, &theirs).await?, Some(RequestStatus::Pending));
    let late = decide(&story, &open, RequestStatus::Approved).await?;
    assert_eq!(late, DecideOutcome::NotPending);
    Ok(())
}

async fn a_decision_waits_to_be_delivered_once(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let asked = story.permission(&session, &turn).await?;
    let waiting = async || -> Result<usize> {
        let mut tx = story.store().read().await?;
        Ok(requests::undelivered(&mut tx, &session).await?.len())
    };
    assert_eq!(waiting().await?, 0);
    decide(&story, &asked, RequestStatus::Approved).await?;
    assert_eq!(waiting().await?, 1);
    story
        .change(&[], async |tx| {
            let now = tx.now();
            requests::set_delivered(tx, &asked.message_id, true, now).await
        })
        .await?;
    assert_eq!(waiting().await?, 0);
    Ok(())
}

async fn a_tasks_open_requests_are_listed_newest_first_and_bounded(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let other = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let (elsewhere, _) = story.prompt(&other, "go").await?;
    let mut asked = Vec::new();
    for _ in 0..bounds::PENDING_LISTED {
        asked.push(story.permission(&session, &turn).await?);
        asked.push(story.question(&other, &elsewhere).await?);
    }
    let mut tx = story.store().read().await?;
    let listed = requests::of_task(&mut tx, &task).await?;
    let expected: Vec<_> = asked.iter().rev().take(bounds::PENDING_LISTED).collect();
    assert_eq!(listed.len(), expected.len());
    for (listed, expected) in listed.iter().zip(expected) {
        assert_eq!(listed.pending_id, expected.pending_id);
        let question = listed.kind == MessageType::ClarificationRequest;
        assert_eq!(question, listed.session_id == other);
    }
    drop(tx);
    story
        .change(&[&task], async |tx| {
            sessions::set_state(tx, &session, model::session::SessionState::Failed).await
        })
        .await?;
    let mut tx = story.store().read().await?;
    let listed = requests::of_task(&mut tx, &task).await?;
    assert!(listed.iter().all(|listed| listed.session_id == other));
    Ok(())
}
