//! Transcripts: exact text, revisions that only rise, places that are given once (STR-02, API-06, PST-05).

use anyhow::Result;
use model::ids::{MessageId, SessionId, TurnId};
use model::message::{Author, Message, MessageType};
use model::text::utf16_len;
use store::messages::{self, Window};
use store::segments::{self, AppendOutcome, Segment};
use testkit::story::Story;

testkit::on_every_engine!(
    str_02_appended_text_is_exact_and_revisions_only_rise,
    str_02_a_folded_row_reads_as_before_and_its_revision_does_not_fall,
    str_02_text_that_no_engine_holds_is_replaced_unit_for_unit,
    an_append_to_a_deleted_row_finds_it_gone,
    a_segment_number_is_taken_once,
    late_text_joins_a_settled_row,
    seq_is_unique_and_never_given_twice,
    a_window_of_a_transcript_says_whether_there_is_more,
    api_06_a_persons_deleted_message_keeps_its_id_and_nothing_else,
);

/// Pieces that end and begin in the middle of what people see as one character.
const PIECES: [&str; 6] = ["é", "🎉 你", "e\u{301}", "\u{200d}👩", "", "line\r\n\ttab"];

async fn read(story: &Story, id: &MessageId) -> Result<Message> {
    let mut tx = story.store().read().await?;
    Ok(messages::get(&mut tx, id).await?.expect("the row exists"))
}

async fn append(story: &Story, id: &MessageId, number: i64, text: &str) -> Result<AppendOutcome> {
    let segment = Segment {
        message_id: id.clone(),
        number,
        text: text.to_owned(),
    };
    story
        .change(&[], async |tx| segments::append(tx, &segment).await)
        .await
}

async fn fold(story: &Story, id: &MessageId) -> Result<()> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            segments::fold(tx, id, now).await
        })
        .await
}

async fn remove(story: &Story, id: &MessageId) -> Result<()> {
    story
        .change(&[], async |tx| {
            let now = tx.now();
            messages::remove(tx, id, now).await
        })
        .await
}

async fn session(story: &Story) -> Result<(SessionId, TurnId)> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let (turn, _) = story.prompt(&session, "go").await?;
    Ok((session, turn))
}

async fn str_02_appended_text_is_exact_and_revisions_only_rise(story: Story) -> Result<()> {
    let (session, turn) = session(&story).await?;
    let id = story.stream(&session, &turn, "start ").await?;
    let mut expected = "start ".to_owned();
    let mut offset = utf16_len(&expected);
    let mut last = read(&story, &id).await?;
    for (piece, number) in PIECES.iter().zip(1..) {
        assert_eq!(
            append(&story, &id, number, piece).await?,
            AppendOutcome::Appended
        );
        expected.push_str(piece);
        let now = read(&story, &id).await?;
        assert_eq!(now.content, expected);
        assert_eq!(now.revision, last.revision + 1);
        assert_eq!(utf16_len(&last.content), offset);
        offset += utf16_len(piece);
        last = now;
    }
    assert_eq!(utf16_len(&last.content), offset);
    Ok(())
}

async fn str_02_a_folded_row_reads_as_before_and_its_revision_does_not_fall(
    story: Story,
) -> Result<()> {
    let (session, turn) = session(&story).await?;
    let id = story.stream(&session, &turn, "").await?;
    for (piece, number) in PIECES.iter().zip(1..) {
        append(&story, &id, number, piece).await?;
    }
    let before = read(&story, &id).await?;
    assert!(before.streaming);
    fold(&story, &id).await?;
    let after = read(&story, &id).await?;
    assert!(!after.streaming);
    assert_eq!(after.content, PIECES.concat());
    assert_eq!(after.revision, before.revision + 1);
    assert_eq!(after.seq, before.seq);
    fold(&story, &id).await?;
    assert_eq!(read(&story, &id).await?, after, "folding again is nothing");
    Ok(())
}

async fn str_02_text_that_no_engine_holds_is_replaced_unit_for_unit(story: Story) -> Result<()> {
    let (session, turn) = session(&story).await?;
    let id = story.stream(&session, &turn, "a\0").await?;
    append(&story, &id, 1, "b\0c").await?;
    let expected = "a\u{FFFD}b\u{FFFD}c";
    assert_eq!(read(&story, &id).await?.content, expected);
    fold(&story, &id).await?;
    let folded = read(&story, &id).await?.content;
    assert_eq!(folded, expected);
    assert_eq!(utf16_len(&folded), utf16_len("a\0b\0c"));
    Ok(())
}

async fn an_append_to_a_deleted_row_finds_it_gone(story: Story) -> Result<()> {
    let (session, turn) = session(&story).await?;
    let id = story.stream(&session, &turn, "text").await?;
    append(&story, &id, 1, " more").await?;
    remove(&story, &id).await?;
    assert_eq!(append(&story, &id, 2, " lost").await?, AppendOutcome::Gone);
    let mut tx = story.store().read().await?;
    assert_eq!(
        segments::unsettled(&mut tx, std::slice::from_ref(&session)).await?,
        []
    );
    Ok(())
}

async fn a_segment_number_is_taken_once(story: Story) -> Result<()> {
    let (session, turn) = session(&story).await?;
    let id = story.stream(&session, &turn, "").await?;
    append(&story, &id, 1, "first").await?;
    assert!(append(&story, &id, 1, "again").await.is_err());
    assert_eq!(read(&story, &id).await?.content, "first");
    Ok(())
}

async fn late_text_joins_a_settled_row(story: Story) -> Result<()> {
    let (session, turn) = session(&story).await?;
    let id = story.stream(&session, &turn, "an answer").await?;
    fold(&story, &id).await?;
    let before = read(&story, &id).await?;
    story
        .change(&[], async |tx| {
            let now = tx.now();
            messages::append_settled(tx, &id, ", and more", now).await
        })
        .await?;
    let after = read(&story, &id).await?;
    assert_eq!(after.content, "an answer, and more");
    assert_eq!(after.revision, before.revision + 1);
    Ok(())
}

async fn seq_is_unique_and_never_given_twice(story: Story) -> Result<()> {
    let (session, turn) = session(&story).await?;
    let row = async |text: &str| -> Result<Message> {
        let kind = MessageType::Message;
        let id = story
            .row(&session, Some(&turn), Author::Agent, kind, text)
            .await?;
        read(&story, &id).await
    };
    let first = row("first").await?;
    let second = row("second").await?;
    assert_eq!(
        second.seq,
        first.seq.map(|seq| seq + 1),
        "rows follow each other"
    );
    remove(&story, &second.id).await?;
    let third = row("third").await?;
    assert!(
        second.seq < third.seq,
        "a deleted row's place is not given again"
    );
    let twice = store::sql::sql("UPDATE task_session_messages SET seq = $2 WHERE id = $1");
    let twice = twice.bind(&third.id).bind(first.seq);
    assert!(story.tamper(twice).await.is_err());
    Ok(())
}

async fn a_window_of_a_transcript_says_whether_there_is_more(story: Story) -> Result<()> {
    let (session, turn) = session(&story).await?;
    for text in ["2", "3", "4", "5"] {
        let kind = MessageType::Message;
        story
            .row(&session, Some(&turn), Author::Agent, kind, text)
            .await?;
    }
    story.queue(&session, "waits").await?;
    let window = async |window: Window, limit: usize| -> Result<(String, bool)> {
        let mut tx = story.store().read().await?;
        let (rows, more) = messages::list(&mut tx, &session, window, limit).await?;
        let texts: Vec<_> = rows.into_iter().map(|row| row.content).collect();
        Ok((texts.join(" "), more))
    };
    assert_eq!(window(Window::Newest, 2).await?, ("4 5".to_owned(), true));
    assert_eq!(
        window(Window::Before(4), 2).await?,
        ("2 3".to_owned(), true)
    );
    assert_eq!(
        window(Window::Before(2), 2).await?,
        ("go".to_owned(), false)
    );
    assert_eq!(window(Window::After(1), 2).await?, ("2 3".to_owned(), true));
    assert_eq!(
        window(Window::After(3), 2).await?,
        ("4 5".to_owned(), false)
    );
    assert_eq!(
        window(Window::Newest, 5).await?,
        ("go 2 3 4 5".to_owned(), false)
    );
    Ok(())
}

async fn api_06_a_persons_deleted_message_keeps_its_id_and_nothing_else(
    story: Story,
) -> Result<()> {
    let (session, _) = session(&story).await?;
    let (turn, prompt) = story.prompt(&session, "a secret").await?;
    let queued = story.queue(&session, "another").await?;
    for id in [&prompt, &queued] {
        remove(&story, id).await?;
        let mut tx = story.store().read().await?;
        assert_eq!(messages::get(&mut tx, id).await?, None);
        let owner = messages::owner(&mut tx, id).await?.expect("an owner");
        assert!(owner.removed);
    }
    let mut tx = story.store().read().await?;
    assert_eq!(messages::prompts_of_turn(&mut tx, &turn).await?, []);
    assert_eq!(messages::queue(&mut tx, &session).await?, []);
    let (rows, more) = messages::list(&mut tx, &session, Window::Newest, 10).await?;
    let texts: Vec<_> = rows.into_iter().map(|row| row.content).collect();
    assert_eq!((texts, more), (vec!["go".to_owned()], false));
    let kept = store::sql::sql(
        "SELECT count(*) AS n FROM task_session_messages WHERE content IN ('a secret', 'another')",
    );
    assert_eq!(tx.one(kept, "count").await?.int("n")?, 0);
    Ok(())
}
