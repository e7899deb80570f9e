//! Prompts that wait for an agent, and ids that stay owned (API-06, SUM-02).

use anyhow::Result;
use model::ids::{MessageId, SessionId, TurnId};
use model::message::{Author, Disposition, Message};
use model::session::SessionState;
use model::turn::TurnOutcome;
use store::messages;
use store::turns::{self, NewTurn};
use testkit::story::Story;

testkit::on_every_engine!(
    a_queue_is_served_in_the_order_of_arrival,
    a_prompt_that_comes_back_is_the_next_one,
    a_queued_prompt_gets_other_words_and_another_place,
    api_06_a_removed_prompt_keeps_its_id,
    api_06_an_id_is_owned_by_its_first_row,
    a_queued_prompt_is_counted_until_it_leaves,
    every_disposition_follows_from_the_rows,
);

async fn session(story: &Story) -> Result<SessionId> {
    let task = story.task().await?;
    story.session(&task, None).await
}

async fn waiting(story: &Story, session: &SessionId) -> Result<Vec<String>> {
    let mut tx = story.store().read().await?;
    let queue = messages::queue(&mut tx, session).await?;
    let counted = messages::queued(&mut tx, session).await?;
    assert_eq!(queue.len(), counted as usize);
    Ok(queue.into_iter().map(|row| row.content).collect())
}

async fn read(story: &Story, id: &MessageId) -> Result<Message> {
    let mut tx = story.store().read().await?;
    Ok(messages::get(&mut tx, id).await?.expect("the row exists"))
}

async fn serve_next(story: &Story, session: &SessionId) -> Result<(TurnId, Message)> {
    let turn = story.turn(session, NewTurn::ForMessage).await?;
    let next = story
        .change(&[], async |tx| {
            let mut queue = messages::queue(tx, session).await?;
            let next = queue.remove(0);
            let now = tx.now();
            messages::dequeue(tx, &next, &turn, now).await?;
            Ok(next)
        })
        .await?;
    let next = read(story, &next.id).await?;
    Ok((turn, next))
}

async fn come_back(story: &Story, session: &SessionId, id: &MessageId) -> Result<()> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            messages::requeue_first(tx, session, id, now).await
        })
        .await
}

async fn remove(story: &Story, id: &MessageId) -> Result<bool> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            messages::remove_queued(tx, id, now).await
        })
        .await
}

async fn a_queue_is_served_in_the_order_of_arrival(story: Story) -> Result<()> {
    let session = session(&story).await?;
    for text in ["one", "two", "three"] {
        story.queue(&session, text).await?;
    }
    assert_eq!(waiting(&story, &session).await?, ["one", "two", "three"]);
    let (first_turn, first) = serve_next(&story, &session).await?;
    assert_eq!(first.content, "one");
    assert_eq!(first.turn_id, Some(first_turn));
    assert_eq!(first.queue_position, None);
    story.queue(&session, "four").await?;
    assert_eq!(waiting(&story, &session).await?, ["two", "three", "four"]);
    let (_, second) = serve_next(&story, &session).await?;
    assert!(
        first.seq < second.seq,
        "a prompt's place is where it was sent"
    );
    Ok(())
}

async fn a_prompt_that_comes_back_is_the_next_one(story: Story) -> Result<()> {
    let session = session(&story).await?;
    let only = story.queue(&session, "only").await?;
    let (_, sent) = serve_next(&story, &session).await?;
    come_back(&story, &session, &only).await?;
    let back = read(&story, &only).await?;
    assert_eq!((back.seq, back.turn_id), (None, None));
    assert!(sent.revision < back.revision);
    story.queue(&session, "later").await?;
    assert_eq!(waiting(&story, &session).await?, ["only", "later"]);

    // Again and again, ahead of whatever waits.
    for _ in 0..3 {
        serve_next(&story, &session).await?;
        come_back(&story, &session, &only).await?;
        assert_eq!(waiting(&story, &session).await?, ["only", "later"]);
    }
    Ok(())
}

async fn a_queued_prompt_gets_other_words_and_another_place(story: Story) -> Result<()> {
    let session = session(&story).await?;
    let one = story.queue(&session, "one").await?;
    let two = story.queue(&session, "two").await?;
    let rewrite = async |id: &MessageId, text: &str| {
        story
            .change(&[], async |tx| {
                let now = tx.now();
                messages::rewrite_queued(tx, id, text, now).await
            })
            .await
    };
    assert!(rewrite(&one, "o\0ne").await?);
    let before = read(&story, &two).await?;
    story
        .change(&[], async |tx| {
            let now = tx.now();
            messages::place_queued(tx, &two, -7, now).await
        })
        .await?;
    assert_eq!(waiting(&story, &session).await?, ["two", "o\u{fffd}ne"]);
    assert!(before.revision < read(&story, &two).await?.revision);

    // Out of the queue nothing of it is rewritten.
    let (_, served) = serve_next(&story, &session).await?;
    assert!(!rewrite(&served.id, "late").await?);
    remove(&story, &one).await?;
    assert!(!rewrite(&one, "late").await?);
    assert_eq!(read(&story, &served.id).await?.content, "two");
    Ok(())
}

async fn api_06_a_removed_prompt_keeps_its_id(story: Story) -> Result<()> {
    let session = session(&story).await?;
    let removed = story.queue(&session, "never mind").await?;
    story.queue(&session, "stays").await?;
    assert!(remove(&story, &removed).await?);
    assert!(!remove(&story, &removed).await?, "it is out already");
    assert_eq!(waiting(&story, &session).await?, ["stays"]);
    let mut tx = story.store().read().await?;
    assert_eq!(messages::get(&mut tx, &removed).await?, None);
    let owner = messages::owner(&mut tx, &removed).await?.expect("an owner");
    assert_eq!(
        (&owner.session_id, owner.author, owner.removed),
        (&session, Author::User, true)
    );
    let (rows, _) = messages::list(&mut tx, &session, store::messages::Window::Newest, 10).await?;
    assert_eq!(rows, [], "a tombstone is no part of the transcript");
    Ok(())
}

async fn api_06_an_id_is_owned_by_its_first_row(story: Story) -> Result<()> {
    let first = session(&story).await?;
    let other = session(&story).await?;
    let (_, owned) = story.prompt(&first, "mine").await?;
    let task = story.task_of(&other).await?;
    let second = story
        .change(&[], async |tx| {
            let new = messages::NewMessage {
                id: &owned,
                session_id: &other,
                task_id: &task,
                turn_id: None,
                author: Author::User,
                kind: model::message::MessageType::Message,
                content: "theirs",
                metadata: &serde_json::json!({}),
                pending_id: None,
                streaming: false,
            };
            let now = tx.now();
            messages::insert(tx, &new, messages::Place::QueueEnd, now).await
        })
        .await;
    assert!(second.is_err());
    let mut tx = story.store().read().await?;
    let owner = messages::owner(&mut tx, &owned).await?.expect("an owner");
    assert_eq!((owner.session_id, owner.removed), (first, false));
    assert_eq!(read(&story, &owned).await?.content, "mine");
    assert_eq!(
        messages::owner(&mut tx, &MessageId::generate()).await?,
        None
    );
    Ok(())
}

async fn a_queued_prompt_is_counted_until_it_leaves(story: Story) -> Result<()> {
    let session = session(&story).await?;
    let task = story.task_of(&session).await?;
    let count =
        async || -> Result<Option<u32>> { Ok(story.derived(&task).await?.queued_prompt_count) };
    assert_eq!(count().await?, None);
    story.queue(&session, "one").await?;
    let second = story.queue(&session, "two").await?;
    let sibling = story.session(&task, None).await?;
    story.queue(&sibling, "three").await?;
    assert_eq!(count().await?, Some(3));
    remove(&story, &second).await?;
    serve_next(&story, &session).await?;
    assert_eq!(count().await?, Some(1));
    story
        .change(&[&task], async |tx| {
            store::sessions::set_state(tx, &sibling, SessionState::Completed).await
        })
        .await?;
    assert_eq!(count().await?, None, "a closed session sends nothing more");
    Ok(())
}

async fn every_disposition_follows_from_the_rows(story: Story) -> Result<()> {
    let session = session(&story).await?;
    let disposition = async |id: &MessageId| -> Result<Option<Disposition>> {
        Ok(read(&story, id).await?.disposition)
    };
    let prompt = story.queue(&session, "go").await?;
    assert_eq!(disposition(&prompt).await?, Some(Disposition::Queued));
    let (turn, _) = serve_next(&story, &session).await?;
    assert_eq!(disposition(&prompt).await?, Some(Disposition::Sending));
    story
        .change(&[], async |tx| turns::mark_attempted(tx, &turn).await)
        .await?;
    assert_eq!(
        disposition(&prompt).await?,
        Some(Disposition::Uncertain),
        "attempted, no process, nothing came back"
    );
    story
        .change(&[], async |tx| turns::mark_acknowledged(tx, &turn).await)
        .await?;
    assert_eq!(disposition(&prompt).await?, Some(Disposition::Dispatched));

    let (unsent, second) = story.prompt(&session, "again").await?;
    story
        .change(&[], async |tx| {
            let now = tx.now();
            turns::complete(tx, &unsent, TurnOutcome::NotDispatched, now).await
        })
        .await?;
    assert_eq!(disposition(&second).await?, Some(Disposition::Undelivered));
    Ok(())
}
