//! Files of messages: claimed once, counted while they wait, gone with what they belong to.

use anyhow::Result;
use model::attachment::Attachment;
use model::bounds;
use model::clock::Timestamp;
use model::ids::{AttachmentId, MessageId, TaskId};
use store::messages::{self, Window};
use store::{attachments, tasks};
use testkit::story::Story;

testkit::on_every_engine!(
    api_06_a_file_has_one_message_of_its_own_task,
    files_are_read_with_their_messages_at_constant_cost,
    waiting_files_are_counted_and_expire,
    files_go_with_their_message_session_and_task,
);

async fn upload(story: &Story, task: &TaskId, name: &str) -> Result<AttachmentId> {
    let attachment = Attachment {
        id: AttachmentId::generate(),
        name: name.to_owned(),
        media_type: "text/plain".to_owned(),
        size: bounds::ATTACHMENT_BYTES,
    };
    story
        .change(&[], async |tx| {
            let now = tx.now();
            attachments::insert(tx, &attachment, task, "00ff", now).await
        })
        .await?;
    Ok(attachment.id)
}

async fn claim(
    story: &Story,
    id: &AttachmentId,
    task: &TaskId,
    message: &MessageId,
    position: i64,
) -> Result<bool> {
    story
        .change(&[], async |tx| {
            attachments::claim(tx, id, task, message, position).await
        })
        .await
}

async fn names(story: &Story, message: &MessageId) -> Result<Vec<String>> {
    let mut tx = story.store().read().await?;
    let message = messages::get(&mut tx, message).await?;
    let files = message.map(|message| message.attachments);
    Ok(files.into_iter().flatten().map(|file| file.name).collect())
}

async fn known(story: &Story, id: &AttachmentId) -> Result<bool> {
    let mut tx = story.store().read().await?;
    Ok(attachments::get(&mut tx, id).await?.is_some())
}

/// API-06.
async fn api_06_a_file_has_one_message_of_its_own_task(story: Story) -> Result<()> {
    let (task, other) = (story.task().await?, story.task().await?);
    let session = story.session(&task, None).await?;
    let (_, first) = story.prompt(&session, "first").await?;
    let (_, second) = story.prompt(&session, "second").await?;
    let (a, b) = (
        upload(&story, &task, "a").await?,
        upload(&story, &task, "b").await?,
    );
    let foreign = upload(&story, &other, "foreign").await?;
    assert!(!claim(&story, &foreign, &task, &first, 0).await?);
    assert!(!claim(&story, &AttachmentId::generate(), &task, &first, 0).await?);
    assert!(claim(&story, &b, &task, &first, 0).await?);
    assert!(claim(&story, &a, &task, &first, 1).await?);
    for message in [&first, &second] {
        assert!(!claim(&story, &a, &task, message, 0).await?);
    }
    assert_eq!(names(&story, &first).await?, ["b", "a"]);
    assert_eq!(names(&story, &second).await?, Vec::<String>::new());
    let mut tx = story.store().read().await?;
    let stored = attachments::of_message(&mut tx, &first).await?;
    assert_eq!(stored.len(), 2);
    assert!(stored.iter().all(|file| {
        (&file.task_id, &file.message_id, &*file.sha256) == (&task, &Some(first.clone()), "00ff")
            && file.attachment.size == bounds::ATTACHMENT_BYTES
    }));
    Ok(())
}

async fn files_are_read_with_their_messages_at_constant_cost(story: Story) -> Result<()> {
    let task = story.task().await?;
    let session = story.session(&task, None).await?;
    let mut cost = Vec::new();
    for n in 0..3 {
        for _ in 0..=n {
            let (_, message) = story.prompt(&session, "look").await?;
            for (name, position) in ["x", "y"].into_iter().zip(0..) {
                let id = upload(&story, &task, name).await?;
                assert!(claim(&story, &id, &task, &message, position).await?);
            }
        }
        let mut tx = story.store().read().await?;
        let before = story.store().statements();
        let (rows, _) = messages::list(&mut tx, &session, Window::Newest, 50).await?;
        cost.push(story.store().statements() - before);
        assert!(
            rows.iter().all(|row| row.attachments.len() == 2),
            "{rows:?}"
        );
    }
    assert_eq!(cost, [2, 2, 2]);
    Ok(())
}

async fn waiting_files_are_counted_and_expire(story: Story) -> Result<()> {
    let (task, other) = (story.task().await?, story.task().await?);
    let session = story.session(&task, None).await?;
    let old = upload(&story, &task, "old").await?;
    let kept = upload(&story, &task, "kept").await?;
    let (_, message) = story.prompt(&session, "look").await?;
    assert!(claim(&story, &kept, &task, &message, 0).await?);
    story.db.clock.advance(bounds::UNCLAIMED_LIFE);
    let limit = story.now().as_micros() - 1_000_000;
    let new = upload(&story, &other, "new").await?;
    let mut tx = story.store().read().await?;
    assert_eq!(attachments::unclaimed(&mut tx, &task).await?, (1, 2));
    assert_eq!(attachments::unclaimed(&mut tx, &other).await?, (1, 2));
    drop(tx);
    let gone = story
        .change(&[], async |tx| {
            attachments::remove_waiting_since(tx, Timestamp::from_micros(limit)).await
        })
        .await?;
    assert_eq!(gone, [old]);
    assert!(known(&story, &kept).await? && known(&story, &new).await?);
    let discard = async |id: &AttachmentId| {
        story
            .change(&[], async |tx| attachments::remove_waiting(tx, id).await)
            .await
    };
    assert!(!discard(&kept).await?, "its message has it");
    assert!(discard(&new).await?);
    let mut tx = story.store().read().await?;
    assert_eq!(attachments::unclaimed(&mut tx, &task).await?, (0, 0));
    Ok(())
}

async fn files_go_with_their_message_session_and_task(story: Story) -> Result<()> {
    let task = story.task().await?;
    let mut files = Vec::new();
    let mut sessions = Vec::new();
    let mut prompts = Vec::new();
    for _ in 0..3 {
        let session = story.session(&task, None).await?;
        let (_, message) = story.prompt(&session, "look").await?;
        let file = upload(&story, &task, "x").await?;
        assert!(claim(&story, &file, &task, &message, 0).await?);
        files.push(file);
        sessions.push(session);
        prompts.push(message);
    }
    let waiting = upload(&story, &task, "waiting").await?;
    let (Some(message), Some(session)) = (prompts.first(), sessions.get(1)) else {
        unreachable!("three were made");
    };
    let of_message = story
        .change(&[], async |tx| {
            attachments::remove_of_message(tx, message).await
        })
        .await?;
    let mut tx = story.store().read().await?;
    let of_session = attachments::of_session(&mut tx, session).await?;
    drop(tx);
    story.delete_session(session).await?;
    let mut tx = story.store().read().await?;
    let mut of_task = attachments::of_task(&mut tx, &task).await?;
    let mut all = attachments::all(&mut tx).await?;
    drop(tx);
    of_task.sort();
    all.sort();
    assert_eq!(
        [of_message, of_session].concat(),
        files.get(..2).unwrap_or_default()
    );
    assert_eq!(
        of_task,
        [files.get(2).cloned(), Some(waiting)].map(|id| id.expect("it was made"))
    );
    assert_eq!(all, of_task);
    story
        .change(&[], async |tx| tasks::remove(tx, &task).await)
        .await?;
    let mut tx = story.store().read().await?;
    assert_eq!(attachments::all(&mut tx).await?, []);
    Ok(())
}
