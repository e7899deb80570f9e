//! Requests: asked, decided, ended, deleted, and stored with words that nobody knows.

use crate::change::{AskChange, Pick};
use crate::facts::RequestFact;
use crate::scene::{Scene, chosen, chosen_of};
use crate::talking::Row;
use model::ids::{MessageId, PendingId, SessionId};
use model::message::{MessageType, RequestStatus};
use model::summary::PendingAction;
use store::clarifications;
use store::error::Result;
use store::messages;
use store::requests::{self, DecideOutcome};
use store::sql::sql;
use store::tx::WriteTx;

fn open(status: Option<&str>) -> bool {
    let over = ["approved", "rejected", "answered", "cancelled", "expired"];
    status.is_none_or(|word| !over.contains(&word))
}

pub(crate) async fn ask(tx: &mut WriteTx, scene: &mut Scene, what: &AskChange) -> Result<()> {
    match *what {
        AskChange::Asked(n, turn, kind, count) => match chosen(&scene.facts.sessions, n) {
            Some(session) => add(tx, scene, session, turn, kind, count).await,
            None => Ok(()),
        },
        AskChange::PermissionsEnded(n, status) => match chosen(&scene.facts.sessions, n) {
            Some(session) => end_permissions(tx, scene, &session, status).await,
            None => Ok(()),
        },
        AskChange::Delivered(n) | AskChange::TakenBack(n) => {
            // Mostly where somebody has answered.
            let answered = |request: &RequestFact| {
                let question = request.kind == PendingAction::Clarification;
                question && !request.delivered && request.status.as_deref() == Some("answered")
            };
            let request = chosen_of(&scene.facts.requests, n, answered);
            let session = request.map(|id| scene.facts.requests[&id].session.clone());
            match session.or_else(|| chosen(&scene.facts.sessions, n)) {
                Some(session) => settle_questions(tx, scene, what, &session).await,
                None => Ok(()),
            }
        }
        AskChange::Answered(n) => {
            let open_question = |request: &RequestFact| {
                request.kind == PendingAction::Clarification && open(request.status.as_deref())
            };
            match chosen_of(&scene.facts.requests, n, open_question) {
                Some(id) => {
                    let answered = AskChange::Decided(n, RequestStatus::Answered);
                    change(tx, scene, &answered, id).await
                }
                None => Ok(()),
            }
        }
        AskChange::Decided(n, _) | AskChange::Garbled(n, _) | AskChange::Deleted(n) => {
            match chosen(&scene.facts.requests, n) {
                Some(id) => change(tx, scene, what, id).await,
                None => Ok(()),
            }
        }
    }
}

async fn add(
    tx: &mut WriteTx,
    scene: &mut Scene,
    session: SessionId,
    turn: Option<Pick>,
    kind: PendingAction,
    questions: usize,
) -> Result<()> {
    let turn = turn.and_then(|n| {
        // Mostly in the current turn, as agents do.
        let current = scene.facts.current_turn(&session).filter(|_| 3 < n);
        current.or_else(|| chosen_of(&scene.facts.turns, n, |turn| turn.session == session))
    });
    let pending_id = scene.name(PendingId::parse);
    let (message_type, rows) = match kind {
        PendingAction::Permission => (MessageType::PermissionRequest, 1),
        PendingAction::Clarification => (MessageType::ClarificationRequest, questions),
    };
    tx.touch(&scene.facts.sessions[&session].task);
    for _ in 0..rows {
        let row = Row {
            turn: turn.as_ref(),
            pending_id: Some(&pending_id),
            ..Row::of(&session, message_type)
        };
        let id = scene.row(tx, row).await?;
        let fact = RequestFact {
            session: session.clone(),
            turn: turn.clone(),
            kind,
            status: Some("pending".to_owned()),
            delivered: false,
            pending_id: pending_id.clone(),
            asked: tx.now(),
        };
        scene.facts.requests.insert(id, fact);
    }
    Ok(())
}

/// What becomes of decisions about questions that nobody has told the agent yet.
async fn settle_questions(
    tx: &mut WriteTx,
    scene: &mut Scene,
    what: &AskChange,
    session: &SessionId,
) -> Result<()> {
    let now = tx.now();
    let delivered = matches!(what, AskChange::Delivered(_));
    let waiting = clarifications::undelivered(tx, session).await?;
    let mut found: Vec<MessageId> = waiting.iter().map(|row| row.message_id.clone()).collect();
    found.sort();
    let mut expected = Vec::new();
    for (id, request) in &scene.facts.requests {
        let question = request.kind == PendingAction::Clarification && request.session == *session;
        let decided = ["answered", "rejected"].contains(&request.status.as_deref().unwrap_or(""));
        if question && decided && !request.delivered {
            expected.push(id.clone());
        }
    }
    assert_eq!(found, expected, "decisions that wait for the agent");
    tx.touch(&scene.facts.sessions[session].task);
    for row in &waiting {
        let request = scene.facts.requests.get_mut(&row.message_id);
        let request = request.expect("somebody asked it");
        if !delivered && row.status == RequestStatus::Answered {
            clarifications::restore(tx, row, now).await?;
            request.status = Some("pending".to_owned());
        } else {
            requests::set_delivered(tx, &row.message_id, delivered, now).await?;
            request.delivered = true;
        }
    }
    Ok(())
}

async fn end_permissions(
    tx: &mut WriteTx,
    scene: &mut Scene,
    session: &SessionId,
    status: RequestStatus,
) -> Result<()> {
    let now = tx.now();
    let mut ended = requests::end_permissions(tx, session, status, now).await?;
    tx.touch(&scene.facts.sessions[session].task);
    let mut expected = Vec::new();
    for (id, request) in &mut scene.facts.requests {
        let permission = request.kind == PendingAction::Permission;
        if request.session == *session && permission && open(request.status.as_deref()) {
            request.status = Some(status.as_str().to_owned());
            expected.push((id.clone(), request.pending_id.clone()));
        }
    }
    ended.sort();
    assert_eq!(ended, expected);
    Ok(())
}

async fn change(
    tx: &mut WriteTx,
    scene: &mut Scene,
    what: &AskChange,
    id: MessageId,
) -> Result<()> {
    let now = tx.now();
    let mut fact = scene.facts.requests[&id].clone();
    tx.touch(&scene.facts.sessions[&fact.session].task);
    match *what {
        AskChange::Decided(_, status) => {
            let metadata = serde_json::json!({});
            let outcome =
                requests::decide(tx, &id, &fact.pending_id, status, &metadata, None, now).await?;
            let pending = open(fact.status.as_deref());
            assert_eq!(outcome == DecideOutcome::Decided, pending);
            if pending {
                fact.status = Some(status.as_str().to_owned());
                fact.delivered = false;
            }
        }
        AskChange::Garbled(_, word) => {
            let word = word.map(|word| ["someday", "unsure"][word].to_owned());
            let garble = sql("UPDATE task_session_messages SET status = $2 WHERE id = $1");
            tx.execute(garble.bind(&id).bind(word.clone())).await?;
            fact.status = word;
        }
        _ => {
            messages::remove(tx, &id, now).await?;
            scene.facts.requests.remove(&id);
            return Ok(());
        }
    }
    scene.facts.requests.insert(id, fact);
    Ok(())
}
