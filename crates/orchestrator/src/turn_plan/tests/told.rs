//! What is told of a step: each thing that changed, and at last as it is stored.

use super::step::Scene;
use anyhow::{Context, Result, ensure};
use model::clock::Timestamp;
use model::event::Event;
use model::ids::{MessageId, TurnId};
use model::message::{Disposition, Message, MessageType};
use model::session::Session;
use model::task::Task;
use model::turn::Turn;
use std::collections::BTreeMap;
use store::messages::Window;
use store::sql::{Link, sql};
use store::tx::Committed;
use store::{messages, sessions, tasks};

/// What clients can see of a session.
#[derive(Debug)]
pub(super) struct Seen {
    session: Session,
    task: Task,
    messages: BTreeMap<MessageId, Message>,
    turns: BTreeMap<TurnId, Span>,
    queued: u32,
}

/// When a turn was open.
#[derive(Debug)]
struct Span {
    conversational: bool,
    from: Timestamp,
    to: Option<Timestamp>,
}

impl Seen {
    pub(super) async fn now(link: &mut Link, scene: &Scene) -> Result<Self> {
        let (mut rows, more) = messages::list(link, &scene.session, Window::Newest, 10_000).await?;
        ensure!(!more, "a case is longer than it can be");
        rows.extend(messages::queue(link, &scene.session).await?);
        let mut seen = Self {
            session: sessions::get(link, &scene.session).await?,
            task: tasks::get(link, &scene.task).await?,
            messages: rows.into_iter().map(|row| (row.id.clone(), row)).collect(),
            turns: BTreeMap::new(),
            queued: messages::queued(link, &scene.session).await?,
        };
        let turns = sql("SELECT * FROM task_session_turns WHERE session_id = $1");
        for row in link.all(turns.bind(&scene.session)).await? {
            let span = Span {
                conversational: !row.truth("lifecycle_only")?,
                from: row.time("started_at")?,
                to: row.maybe_time("completed_at")?,
            };
            seen.turns.insert(row.id("id")?, span);
        }
        Ok(seen)
    }

    /// What became of each prompt.
    pub(super) fn dispositions(&self) -> Result<BTreeMap<MessageId, Disposition>> {
        let prompts = self.messages.values();
        prompts
            .filter(|row| row.kind == MessageType::Message)
            .map(|row| Ok((row.id.clone(), row.disposition.context("it has one")?)))
            .collect()
    }
}

/// What these events say at last.
#[derive(Default)]
struct Told<'a> {
    session: Option<&'a Session>,
    task: Option<&'a Task>,
    messages: BTreeMap<&'a MessageId, &'a Message>,
    started: BTreeMap<&'a TurnId, &'a Turn>,
    completed: BTreeMap<&'a TurnId, &'a Turn>,
    queued: Option<u32>,
}

impl<'a> Told<'a> {
    fn by(events: &'a [Event]) -> Self {
        let mut told = Self::default();
        for event in events {
            match event {
                Event::Session(session) => told.session = Some(session),
                Event::Task { task, .. } => told.task = Some(task),
                Event::MessageUpdated(row) => {
                    told.messages.insert(&row.id, row);
                }
                Event::TurnStarted(turn) => {
                    told.started.insert(&turn.id, turn);
                }
                Event::TurnCompleted(turn) => {
                    told.completed.insert(&turn.id, turn);
                }
                Event::Queue { count, .. } => told.queued = Some(*count),
                _ => {}
            }
        }
        told
    }
}

/// That what is told at last is what is stored now.
pub(super) fn is_true(events: &[Event], now: &Seen) -> Result<()> {
    let told = Told::by(events);
    let session = told.session.is_none_or(|told| *told == now.session);
    ensure!(session, "{:?} is told of {:?}", told.session, now.session);
    let task = told.task.is_none_or(|told| *told == now.task);
    ensure!(task, "{:?} is told of {:?}", told.task, now.task);
    for (id, told) in told.messages {
        let stored = now.messages.get(id);
        ensure!(stored == Some(told), "{told:?} is told of {stored:?}");
    }
    for (id, told) in told.started.into_iter().chain(told.completed) {
        // An empty reservation that was given up is told as over, and is gone.
        let Some(stored) = now.turns.get(id) else {
            ensure!(!told.authoritative, "{told:?} is told and gone");
            continue;
        };
        let same = stored.from == told.started_at
            && (told.completed_at.is_none() || stored.to == told.completed_at);
        ensure!(same, "{told:?} is told of {stored:?}");
    }
    let queued = told.queued.is_none_or(|told| told == now.queued);
    ensure!(
        queued,
        "{:?} are told to be queued, not {}",
        told.queued,
        now.queued
    );
    Ok(())
}

/// That everything that changed is told, and marked for the task's summary.
pub(super) fn is_all(done: &Committed, before: &Seen, now: &Seen) -> Result<()> {
    let told = Told::by(&done.events);
    let same =
        before.session == now.session && before.task == now.task && before.messages == now.messages;
    ensure!(
        same || done.touched.contains(&now.task.id),
        "the task's summary is not marked: {now:?}"
    );
    let (earlier, later) = (&before.session, &now.session);
    ensure!(
        earlier.pending_action == later.pending_action
            || earlier.pending_action_revision < later.pending_action_revision,
        "what is pending changed under one revision: {now:?}"
    );
    if before.session != now.session {
        ensure!(
            told.session.is_some(),
            "nobody is told of {:?}",
            now.session
        );
    }
    if before.task != now.task {
        ensure!(told.task.is_some(), "nobody is told of {:?}", now.task);
    }
    for (id, row) in &now.messages {
        let same = before.messages.get(id) == Some(row);
        ensure!(
            same || told.messages.contains_key(id),
            "nobody is told of {row:?}"
        );
    }
    for (id, turn) in now.turns.iter().filter(|(_, turn)| turn.conversational) {
        let open = before.turns.get(id).is_none_or(|turn| turn.to.is_none());
        let untold = open && turn.to.is_some() && !told.completed.contains_key(id);
        ensure!(!untold, "nobody is told that {id} is over");
    }
    if before.queued != now.queued {
        ensure!(
            told.queued.is_some(),
            "nobody is told that {} wait",
            now.queued
        );
    }
    Ok(())
}
