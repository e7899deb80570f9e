//! Turns, and what people and agents say in them.

use crate::change::{Pick, TalkChange};
use crate::facts::TurnFact;
use crate::queueing::{add_prompt, remove_files};
use crate::scene::{Scene, chosen, chosen_of};
use model::ids::{MessageId, PendingId, SessionId, TurnId};
use model::message::{Author, MessageType};
use model::turn::TurnOutcome;
use store::error::Result;
use store::messages::{self, NewMessage, Place};
use store::sql::sql;
use store::turns::{self, NewTurn};
use store::tx::WriteTx;
use store::{sessions, tasks};

/// A row in the making.
pub(crate) struct Row<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) turn: Option<&'a TurnId>,
    pub(crate) author: Author,
    pub(crate) kind: MessageType,
    pub(crate) content: &'a str,
    pub(crate) pending_id: Option<&'a PendingId>,
    pub(crate) place: Place,
    pub(crate) streaming: bool,
}

impl<'a> Row<'a> {
    /// Words of the agent, in no turn.
    pub(crate) fn of(session: &'a SessionId, kind: MessageType) -> Self {
        Self {
            session,
            turn: None,
            author: Author::Agent,
            kind,
            content: "words",
            pending_id: None,
            place: Place::Transcript,
            streaming: false,
        }
    }
}

impl Scene {
    /// Stores a row.
    pub(crate) async fn row(&mut self, tx: &mut WriteTx, row: Row<'_>) -> Result<MessageId> {
        let id = self.name(MessageId::parse);
        let new = NewMessage {
            id: &id,
            session_id: row.session,
            task_id: &self.facts.sessions[row.session].task,
            turn_id: row.turn,
            author: row.author,
            kind: row.kind,
            content: row.content,
            metadata: &serde_json::json!({}),
            pending_id: row.pending_id,
            streaming: row.streaming,
        };
        let now = tx.now();
        messages::insert(tx, &new, row.place, now).await?;
        Ok(id)
    }

    /// A milestone of a session's task.
    pub(crate) async fn milestone(&mut self, tx: &mut WriteTx, session: &SessionId) -> Result<()> {
        let now = tx.now();
        let task = self.facts.sessions[session].task.clone();
        tasks::raise_activity(tx, &task, now).await?;
        self.facts.reach_milestone(&task, now);
        tx.touch(&task);
        Ok(())
    }

    pub(crate) fn touch_task_of(&self, tx: &mut WriteTx, session: &SessionId) {
        tx.touch(&self.facts.sessions[session].task);
    }
}

pub(crate) async fn talk(tx: &mut WriteTx, scene: &mut Scene, what: &TalkChange) -> Result<()> {
    match *what {
        TalkChange::Attempted(n) | TalkChange::Completed(n, _) | TalkChange::Abandoned(n) => {
            turn(tx, scene, what, n).await
        }
        TalkChange::PromptDeleted(n) => delete(tx, scene, n).await,
        TalkChange::Reserved(n, _)
        | TalkChange::Resumed(n)
        | TalkChange::Prompted(n)
        | TalkChange::Said(n, _) => match chosen(&scene.facts.sessions, n) {
            Some(session) => in_session(tx, scene, what, &session).await,
            None => Ok(()),
        },
    }
}

async fn in_session(
    tx: &mut WriteTx,
    scene: &mut Scene,
    what: &TalkChange,
    session: &SessionId,
) -> Result<()> {
    match *what {
        TalkChange::Reserved(_, kind) => {
            reserve(tx, scene, session, kind).await?;
            if kind != NewTurn::Lifecycle {
                scene.milestone(tx, session).await?;
            }
        }
        TalkChange::Resumed(_) => {
            let id = reserve(tx, scene, session, NewTurn::Lifecycle).await?;
            turns::mark_attempted(tx, &id).await?;
            let now = tx.now();
            assert!(turns::complete(tx, &id, TurnOutcome::Completed, now).await?);
            scene.facts.turns.entry(id).and_modify(|turn| {
                turn.authoritative = true;
                turn.settled = true;
            });
        }
        TalkChange::Prompted(_) => {
            let turn = reserve(tx, scene, session, NewTurn::ForMessage).await?;
            add_prompt(tx, scene, session, Some(&turn)).await?;
        }
        TalkChange::Said(_, what) => say(tx, scene, session, what).await?,
        _ => {}
    }
    Ok(())
}

pub(crate) async fn reserve(
    tx: &mut WriteTx,
    scene: &mut Scene,
    session: &SessionId,
    kind: NewTurn,
) -> Result<TurnId> {
    let now = tx.now();
    let id = scene.name(TurnId::parse);
    turns::insert(tx, &id, session, kind, now).await?;
    scene.touch_task_of(tx, session);
    let fact = TurnFact {
        session: session.clone(),
        started: now,
        lifecycle: kind == NewTurn::Lifecycle,
        authoritative: kind == NewTurn::ForMessage,
        settled: false,
    };
    scene.facts.turns.insert(id.clone(), fact);
    Ok(id)
}

/// Text answers an error that is older. A thought and a tool's row change nothing, whatever the latter's status says.
async fn say(tx: &mut WriteTx, scene: &mut Scene, session: &SessionId, what: usize) -> Result<()> {
    let kind = [
        MessageType::Message,
        MessageType::Thought,
        MessageType::ToolCall,
    ][what];
    let turn = scene.facts.current_turn(session);
    let row = Row {
        turn: turn.as_ref(),
        ..Row::of(session, kind)
    };
    let id = scene.row(tx, row).await?;
    if kind == MessageType::ToolCall {
        let done = sql("UPDATE task_session_messages SET status = 'answered' WHERE id = $1");
        tx.execute(done.bind(&id)).await?;
    }
    if kind == MessageType::Message {
        let now = tx.now();
        sessions::clear_error(tx, session, None, "agent response", now).await?;
        scene.touch_task_of(tx, session);
        let about = scene.facts.sessions.entry(session.clone());
        about.and_modify(|about| about.failure = None);
    }
    Ok(())
}

async fn turn(tx: &mut WriteTx, scene: &mut Scene, what: &TalkChange, n: Pick) -> Result<()> {
    let abandon = matches!(what, TalkChange::Abandoned(_));
    let fits = |turn: &TurnFact| !abandon || !(turn.authoritative || turn.lifecycle);
    // Mostly the newest turn, as it happens.
    let fitting = scene.facts.turns.iter().filter(|(_, turn)| fits(turn));
    let newest = fitting.max_by_key(|(_, turn)| turn.started);
    let newest = newest.map(|(id, _)| id.clone()).filter(|_| 3 < n);
    let Some(id) = newest.or_else(|| chosen_of(&scene.facts.turns, n, fits)) else {
        return Ok(());
    };
    let mut fact = scene.facts.turns[&id].clone();
    scene.touch_task_of(tx, &fact.session);
    if abandon {
        turns::remove(tx, &id).await?;
        scene.facts.forget_turn(&id);
        return Ok(());
    }
    if let TalkChange::Completed(_, outcome) = *what {
        let now = tx.now();
        let settled = turns::complete(tx, &id, outcome, now).await?;
        assert_eq!(settled, !fact.settled, "a settled turn stays as it is");
        fact.settled = true;
        // Recovery ends turns with these two, and moves nothing.
        let recovery = [TurnOutcome::NotDispatched, TurnOutcome::Interrupted];
        if settled && !fact.lifecycle && !recovery.contains(&outcome) {
            scene.milestone(tx, &fact.session).await?;
        }
    } else {
        turns::mark_attempted(tx, &id).await?;
        fact.authoritative = true;
    }
    scene.facts.turns.insert(id, fact);
    Ok(())
}

/// A prompt that a person deletes from the transcript, or from under the queue.
async fn delete(tx: &mut WriteTx, scene: &mut Scene, n: Pick) -> Result<()> {
    let now = tx.now();
    let Some(id) = chosen(&scene.facts.prompts, n) else {
        return Ok(());
    };
    let session = scene.facts.prompts[&id].session.clone();
    scene.touch_task_of(tx, &session);
    remove_files(tx, scene, &id).await?;
    messages::remove(tx, &id, now).await?;
    let prompt = scene.facts.prompts.entry(id);
    prompt.and_modify(|prompt| prompt.removed = true);
    Ok(())
}
