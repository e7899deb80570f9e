//! Prompts that wait, and their files: queued, put first, changed, reordered, taken out, sent.

use crate::change::Pick;
use crate::facts::{FileFact, PromptFact, SessionFact};
use crate::scene::{Scene, chosen, chosen_of};
use crate::talking::{Row, reserve};
use model::attachment::Attachment;
use model::ids::{AttachmentId, MessageId, SessionId, TaskId, TurnId};
use model::message::{Author, MessageType};
use proptest::prelude::*;
use store::error::Result;
use store::messages::{self, Place};
use store::turns::NewTurn;
use store::tx::WriteTx;
use store::{attachments, turns};

/// Files that one prompt takes along, at most.
const FILES: usize = 2;

#[derive(Clone, Debug)]
pub(crate) enum QueueChange {
    /// A file is uploaded for a task. The next prompt of the task takes it along, and then needs no words.
    Uploaded(Pick),
    /// Files that no prompt took along go.
    UploadsExpired,
    Queued(Pick),
    /// The head of a session's queue gets its turn.
    Dequeued(Pick),
    PutFirst(Pick),
    Rewritten(Pick),
    /// The queue of a session gets one of its other orders.
    Reordered(Pick, Pick),
    Removed(Pick),
    /// To the head; the open turn is asked to stop, and without one it goes now.
    SentNow(Pick),
}

pub(crate) fn queue() -> impl Strategy<Value = QueueChange> {
    use QueueChange::*;
    let pick = || 0..12usize;
    prop_oneof![
        2 => pick().prop_map(Uploaded),
        1 => Just(UploadsExpired),
        6 => pick().prop_map(Queued),
        2 => pick().prop_map(Dequeued),
        1 => pick().prop_map(PutFirst),
        2 => pick().prop_map(Rewritten),
        3 => (pick(), 1..6usize).prop_map(|(n, order)| Reordered(n, order)),
        2 => pick().prop_map(Removed),
        2 => pick().prop_map(SentNow),
    ]
}

pub(crate) async fn change(tx: &mut WriteTx, scene: &mut Scene, what: &QueueChange) -> Result<()> {
    match *what {
        QueueChange::Uploaded(n) => match chosen(&scene.facts.tasks, n) {
            Some(task) => upload(tx, scene, task).await,
            None => Ok(()),
        },
        QueueChange::UploadsExpired => expire(tx, scene).await,
        QueueChange::Queued(n) | QueueChange::Dequeued(n) | QueueChange::Reordered(n, _) => {
            // Mostly where others wait, so that queues grow long enough to have an order.
            let waits = |session: &SessionFact| !session.queue.is_empty();
            let longer = chosen_of(&scene.facts.sessions, n, waits).filter(|_| 3 < n);
            match longer.or_else(|| chosen(&scene.facts.sessions, n)) {
                Some(session) => of_session(tx, scene, what, &session).await,
                None => Ok(()),
            }
        }
        QueueChange::PutFirst(n) => put_first(tx, scene, n).await,
        QueueChange::Rewritten(n) => rewrite(tx, scene, n).await,
        QueueChange::Removed(n) => remove(tx, scene, n).await,
        QueueChange::SentNow(n) => send_now(tx, scene, n).await,
    }
}

async fn of_session(
    tx: &mut WriteTx,
    scene: &mut Scene,
    what: &QueueChange,
    session: &SessionId,
) -> Result<()> {
    match *what {
        QueueChange::Queued(_) => add_prompt(tx, scene, session, None).await,
        QueueChange::Reordered(_, order) => reorder(tx, scene, session, order).await,
        _ if scene.facts.waiting(session).is_empty() => Ok(()),
        _ => dequeue(tx, scene, session).await,
    }
}

async fn upload(tx: &mut WriteTx, scene: &mut Scene, task: TaskId) -> Result<()> {
    let now = tx.now();
    let id = scene.name(AttachmentId::parse);
    let file = Attachment {
        id: id.clone(),
        name: "notes.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        size: 5,
    };
    attachments::insert(tx, &file, &task, &"0".repeat(64), now).await?;
    let fact = FileFact {
        task,
        message: None,
    };
    scene.facts.files.insert(id, fact);
    Ok(())
}

async fn expire(tx: &mut WriteTx, scene: &mut Scene) -> Result<()> {
    let now = tx.now();
    let gone = attachments::remove_waiting_since(tx, now).await?;
    // The clock of the other server may have been ahead when it was set back: what is not older stays.
    for id in gone {
        let fact = scene.facts.files.remove(&id).expect("somebody uploaded it");
        assert_eq!(fact.message, None, "a file in use expired");
    }
    Ok(())
}

/// A prompt, in a turn of its own or at the end of the queue, with the files that wait for one.
pub(crate) async fn add_prompt(
    tx: &mut WriteTx,
    scene: &mut Scene,
    session: &SessionId,
    turn: Option<&TurnId>,
) -> Result<()> {
    let task = scene.facts.sessions[session].task.clone();
    let uploads = scene.facts.files.iter();
    let waiting = uploads.filter(|(_, file)| file.task == task && file.message.is_none());
    let files: Vec<AttachmentId> = waiting.map(|(id, _)| id.clone()).take(FILES).collect();
    let row = Row {
        turn,
        author: Author::User,
        content: if files.is_empty() { "words" } else { "" },
        place: if turn.is_some() {
            Place::Transcript
        } else {
            Place::QueueEnd
        },
        ..Row::of(session, MessageType::Message)
    };
    let id = scene.row(tx, row).await?;
    for (position, file) in (0..).zip(&files) {
        assert!(attachments::claim(tx, file, &task, &id, position).await?);
        let fact = scene.facts.files.get_mut(file).expect("it waits");
        fact.message = Some(id.clone());
    }
    scene.milestone(tx, session).await?;
    if turn.is_none() {
        let session = scene.facts.sessions.entry(session.clone());
        session.and_modify(|session| session.queue.push(id.clone()));
    }
    let fact = PromptFact {
        session: session.clone(),
        removed: false,
    };
    scene.facts.prompts.insert(id, fact);
    Ok(())
}

async fn dequeue(tx: &mut WriteTx, scene: &mut Scene, session: &SessionId) -> Result<()> {
    let queue = messages::queue(tx, session).await?;
    let first = queue.first().expect("somebody waits");
    assert_eq!(
        scene.facts.waiting(session).first(),
        Some(&first.id),
        "another prompt has its turn"
    );
    let turn = reserve(tx, scene, session, NewTurn::ForMessage).await?;
    let now = tx.now();
    messages::dequeue(tx, first, &turn, now).await?;
    scene.facts.take_out(session, &first.id);
    scene.milestone(tx, session).await
}

/// Also a prompt whose turn is over, when it is sent again.
async fn put_first(tx: &mut WriteTx, scene: &mut Scene, n: Pick) -> Result<()> {
    let Some(id) = chosen_of(&scene.facts.prompts, n, |prompt| !prompt.removed) else {
        return Ok(());
    };
    let session = scene.facts.prompts[&id].session.clone();
    to_head(tx, scene, &session, &id).await
}

async fn to_head(
    tx: &mut WriteTx,
    scene: &mut Scene,
    session: &SessionId,
    id: &MessageId,
) -> Result<()> {
    let now = tx.now();
    messages::requeue_first(tx, session, id, now).await?;
    scene.touch_task_of(tx, session);
    scene.facts.take_out(session, id);
    let session = scene.facts.sessions.entry(session.clone());
    session.and_modify(|session| session.queue.insert(0, id.clone()));
    Ok(())
}

async fn rewrite(tx: &mut WriteTx, scene: &mut Scene, n: Pick) -> Result<()> {
    let Some(id) = chosen(&scene.facts.prompts, n) else {
        return Ok(());
    };
    let now = tx.now();
    let session = scene.facts.prompts[&id].session.clone();
    let queued = scene.facts.waiting(&session).contains(&id);
    let rewritten = messages::rewrite_queued(tx, &id, "other words", now).await?;
    assert_eq!(rewritten, queued, "only what waits can be changed");
    scene.touch_task_of(tx, &session);
    Ok(())
}

/// The places stay, their owners change.
async fn reorder(
    tx: &mut WriteTx,
    scene: &mut Scene,
    session: &SessionId,
    order: Pick,
) -> Result<()> {
    let mut wanted = scene.facts.waiting(session);
    let turned = order % wanted.len().max(1);
    wanted.rotate_left(turned);
    if order.is_multiple_of(2) {
        wanted.reverse();
    }
    let now = tx.now();
    let queue = messages::queue(tx, session).await?;
    let places = queue.iter().filter_map(|message| message.queue_position);
    for (id, place) in wanted.iter().zip(places) {
        messages::place_queued(tx, id, place, now).await?;
    }
    scene.touch_task_of(tx, session);
    let session = scene.facts.sessions.entry(session.clone());
    session.and_modify(|session| {
        session.queue.retain(|id| !wanted.contains(id));
        session.queue.extend(wanted);
    });
    Ok(())
}

async fn remove(tx: &mut WriteTx, scene: &mut Scene, n: Pick) -> Result<()> {
    let Some(id) = chosen(&scene.facts.prompts, n) else {
        return Ok(());
    };
    let session = scene.facts.prompts[&id].session.clone();
    let queued = scene.facts.sessions[&session].queue.contains(&id);
    let now = tx.now();
    scene.touch_task_of(tx, &session);
    let taken = messages::remove_queued(tx, &id, now).await?;
    assert_eq!(taken, queued);
    if taken {
        scene.facts.take_out(&session, &id);
        let prompt = scene.facts.prompts.get_mut(&id);
        prompt.expect("it was chosen").removed = true;
        remove_files(tx, scene, &id).await?;
    }
    Ok(())
}

/// What a prompt took along goes with it.
pub(crate) async fn remove_files(
    tx: &mut WriteTx,
    scene: &mut Scene,
    id: &MessageId,
) -> Result<()> {
    let mut gone = attachments::remove_of_message(tx, id).await?;
    gone.sort();
    let mut expected = Vec::new();
    scene.facts.files.retain(|file, fact| {
        let its = fact.message.as_ref() == Some(id);
        if its {
            expected.push(file.clone());
        }
        !its
    });
    assert_eq!(gone, expected, "the files of a prompt go with it");
    Ok(())
}

async fn send_now(tx: &mut WriteTx, scene: &mut Scene, n: Pick) -> Result<()> {
    let mut waiting = scene.facts.prompts.clone();
    waiting.retain(|id, prompt| scene.facts.waiting(&prompt.session).contains(id));
    let Some(id) = chosen(&waiting, n) else {
        return Ok(());
    };
    let session = waiting[&id].session.clone();
    to_head(tx, scene, &session, &id).await?;
    let now = tx.now();
    let open = turns::open(tx, &session).await?;
    let mut all = scene.facts.turns.values();
    let expected = all.any(|turn| turn.session == session && !turn.lifecycle && !turn.settled);
    assert_eq!(open.is_some(), expected, "a turn is open or not");
    match open {
        Some(turn) => turns::request_cancel(tx, &turn.id, now).await,
        None => dequeue(tx, scene, &session).await,
    }
}
