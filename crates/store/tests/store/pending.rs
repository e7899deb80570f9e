//! Which request a task waits on a person for (PEN-02 … PEN-08), from the rows to the derived value.

use anyhow::Result;
use model::ids::{MessageId, SessionId};
use model::message::{Author, MessageType, RequestStatus};
use model::session::SessionState;
use model::summary::PendingAction::{self, Clarification, Permission};
use model::turn::TurnOutcome;
use store::requests::{self, DecideOutcome};
use store::sql::sql;
use store::turns::{self, NewTurn};
use store::{hydration, messages, sessions};
use testkit::story::Story;
use testkit::story::transcript::Asked;

testkit::on_every_engine!(
    pen_02_a_question_counts_in_its_sessions_current_turn_only,
    pen_02_an_unknown_or_missing_status_counts_as_pending,
    pen_03_only_an_empty_unattempted_reservation_moves_no_boundary,
    pen_04_deleting_the_newer_turns_messages_moves_nothing_back,
    pen_04_a_lifecycle_turn_supersedes_nothing,
    pen_05_only_that_very_request_clears_it,
    pen_05_a_deleted_request_row_clears_it,
    pen_08_a_late_end_of_an_old_turn_re_arms_nothing,
    sum_09_a_lifecycle_turn_is_never_the_current_turn,
    a_terminal_session_asks_for_nothing_and_stays_closed,
);

async fn pending(story: &Story, session: &SessionId) -> Result<Option<PendingAction>> {
    let task = story.task_of(session).await?;
    let derived = story.derived(&task).await?.pending_action;
    let mut tx = story.store().read().await?;
    let row = sessions::get(&mut tx, session).await?.pending_action;
    assert_eq!(
        row, derived,
        "a task with one session waits for what its session waits for"
    );
    let open = hydration::open_requests(&mut tx, std::slice::from_ref(&task)).await?;
    assert_eq!(
        open.get(&task).map(|&(action, _)| action),
        derived,
        "what a list compares stored summaries with"
    );
    let listed = !requests::of_task(&mut tx, &task).await?.is_empty();
    assert_eq!(
        listed,
        derived.is_some(),
        "what the row says can be answered"
    );
    Ok(derived)
}

async fn decide(story: &Story, asked: &Asked, status: RequestStatus) -> Result<DecideOutcome> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            let metadata = serde_json::json!({});
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

async fn delete(story: &Story, message: &MessageId) -> Result<()> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            messages::remove(tx, message, now).await
        })
        .await
}

async fn pen_02_a_question_counts_in_its_sessions_current_turn_only(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (first, _) = story.prompt(&session, "one").await?;
    story.question(&session, &first).await?;
    assert_eq!(pending(&story, &session).await?, Some(Clarification));

    // Another session's newer turn says nothing about this one.
    let sibling = story.session(&task, None).await?;
    story.prompt(&sibling, "elsewhere").await?;
    assert_eq!(
        story.derived(&task).await?.pending_action,
        Some(Clarification)
    );
    story.delete_session(&sibling).await?;

    let (second, _) = story.prompt(&session, "two").await?;
    assert_eq!(pending(&story, &session).await?, None);
    story.question(&session, &second).await?;
    assert_eq!(pending(&story, &session).await?, Some(Clarification));
    Ok(())
}

async fn pen_02_an_unknown_or_missing_status_counts_as_pending(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let asked = story.question(&session, &turn).await?;
    for word in [None, Some("mislaid"), Some("")] {
        let update = sql("UPDATE task_session_messages SET status = $2 WHERE id = $1");
        story
            .tamper(update.bind(&asked.message_id).bind(word))
            .await?;
        assert_eq!(pending(&story, &session).await?, Some(Clarification));
    }
    let outcome = decide(&story, &asked, RequestStatus::Answered).await?;
    assert_eq!(outcome, DecideOutcome::Decided);
    assert_eq!(pending(&story, &session).await?, None);
    Ok(())
}

/// PEN-03.
async fn pen_03_only_an_empty_unattempted_reservation_moves_no_boundary(
    story: Story,
) -> Result<()> {
    let task = story.task().await?;
    let asks = async || -> Result<SessionId> {
        let session = story.session(&task, None).await?;
        let (turn, _) = story.prompt(&session, "go").await?;
        story.question(&session, &turn).await?;
        Ok(session)
    };
    let open = async |session: &SessionId| -> Result<bool> {
        let mut tx = story.store().read().await?;
        let open = sessions::get(&mut tx, session)
            .await?
            .pending_action
            .is_some();
        let loaded = story.authority(&task).await?.authority;
        let own = loaded.sessions.iter().find(|own| own.id == *session);
        let own = own.expect("the session is loaded");
        let derived = own
            .requests
            .iter()
            .any(|request| request.turn_id == own.current_turn);
        assert_eq!(open, derived);
        Ok(open)
    };

    let empty = asks().await?;
    story.turn(&empty, NewTurn::Empty).await?;
    assert!(open(&empty).await?, "empty and unattempted");

    let attempted = asks().await?;
    let turn = story.turn(&attempted, NewTurn::Empty).await?;
    story
        .change(&[&task], async |tx| turns::mark_attempted(tx, &turn).await)
        .await?;
    assert!(!open(&attempted).await?, "empty and attempted");

    let backed = asks().await?;
    story.prompt(&backed, "next").await?;
    assert!(!open(&backed).await?, "backed by a message, not attempted");
    Ok(())
}

/// PEN-04.
async fn pen_04_deleting_the_newer_turns_messages_moves_nothing_back(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (old, _) = story.prompt(&session, "one").await?;
    let asked = story.question(&session, &old).await?;
    let (_, only_message) = story.prompt(&session, "two").await?;
    delete(&story, &only_message).await?;
    assert_eq!(pending(&story, &session).await?, None);

    let mut tx = story.store().read().await?;
    let row = messages::get(&mut tx, &asked.message_id).await?;
    let status = row.and_then(|row| row.status);
    assert_eq!(
        status,
        Some(RequestStatus::Pending),
        "history is not rewritten"
    );
    Ok(())
}

async fn pen_04_a_lifecycle_turn_supersedes_nothing(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    story.question(&session, &turn).await?;
    let boot = story.turn(&session, NewTurn::Lifecycle).await?;
    assert_eq!(pending(&story, &session).await?, Some(Clarification));
    // A note that the resumed agent leaves belongs to that turn, and an attempt marks it authoritative.
    story
        .row(
            &session,
            Some(&boot),
            Author::System,
            MessageType::Status,
            "resumed",
        )
        .await?;
    story
        .change(&[&task], async |tx| turns::mark_attempted(tx, &boot).await)
        .await?;
    assert_eq!(pending(&story, &session).await?, Some(Clarification));
    Ok(())
}

/// PEN-05.
async fn pen_05_only_that_very_request_clears_it(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let asked = story.permission(&session, &turn).await?;
    let question = story.question(&session, &turn).await?;
    assert_eq!(pending(&story, &session).await?, Some(Permission));

    // Rows with terminal words beside it: a tool call, an untyped update, in this session and in another.
    let sibling = story.session(&task, None).await?;
    for (session, turn) in [(&session, Some(&turn)), (&sibling, None)] {
        for kind in [MessageType::ToolCall, MessageType::Unknown] {
            let row = story
                .row(session, turn, Author::Agent, kind, "done")
                .await?;
            let update = sql(
                "UPDATE task_session_messages SET status = 'approved', pending_id = $2 WHERE id = $1",
            );
            story
                .tamper(update.bind(&row).bind(&asked.pending_id))
                .await?;
        }
    }
    story.delete_session(&sibling).await?;
    assert_eq!(pending(&story, &session).await?, Some(Permission));

    // The right row with another request's identity is not that request.
    let mistaken = Asked {
        pending_id: question.pending_id.clone(),
        ..asked.clone()
    };
    let outcome = decide(&story, &mistaken, RequestStatus::Approved).await?;
    assert_eq!(outcome, DecideOutcome::NotPending);
    assert_eq!(pending(&story, &session).await?, Some(Permission));

    decide(&story, &asked, RequestStatus::Approved).await?;
    assert_eq!(pending(&story, &session).await?, Some(Clarification));
    decide(&story, &question, RequestStatus::Answered).await?;
    assert_eq!(pending(&story, &session).await?, None);
    Ok(())
}

async fn pen_05_a_deleted_request_row_clears_it(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let asked = story.permission(&session, &turn).await?;
    delete(&story, &asked.message_id).await?;
    assert_eq!(pending(&story, &session).await?, None);
    Ok(())
}

async fn pen_08_a_late_end_of_an_old_turn_re_arms_nothing(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (old, _) = story.prompt(&session, "one").await?;
    story.question(&session, &old).await?;
    story.prompt(&session, "two").await?;
    story
        .change(&[&task], async |tx| {
            let now = tx.now();
            turns::complete(tx, &old, TurnOutcome::Completed, now).await
        })
        .await?;
    assert_eq!(pending(&story, &session).await?, None);
    Ok(())
}

/// SUM-09.
async fn sum_09_a_lifecycle_turn_is_never_the_current_turn(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    let boot = story.turn(&session, NewTurn::Lifecycle).await?;
    let update = sql("UPDATE task_session_turns SET authoritative = $2 WHERE id = $1");
    story.tamper(update.bind(&boot).bind(true)).await?;
    let mut tx = story.store().read().await?;
    let current = turns::current(&mut tx, &session).await?;
    assert_eq!(current.map(|current| current.id), Some(turn.clone()));
    let open = turns::open(&mut tx, &session).await?;
    assert_eq!(open.map(|open| open.id), Some(turn.clone()));
    let loaded = story.authority(&task).await?.authority;
    assert_eq!(loaded.sessions[0].current_turn, Some(turn));
    Ok(())
}

async fn a_terminal_session_asks_for_nothing_and_stays_closed(story: Story) -> Result<()> {
    for state in SessionState::ALL {
        let task = story.task().await?;
        let session = story.session(&task, None).await?;
        let (turn, _) = story.prompt(&session, "go").await?;
        story.permission(&session, &turn).await?;
        story.question(&session, &turn).await?;
        let expected = (!state.is_terminal()).then_some(Permission);
        for next in [*state, SessionState::Running] {
            story
                .change(&[&task], async |tx| {
                    sessions::set_state(tx, &session, next).await
                })
                .await?;
            assert_eq!(pending(&story, &session).await?, expected, "{state:?}");
        }
    }
    Ok(())
}
