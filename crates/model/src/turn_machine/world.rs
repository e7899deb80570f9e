//! A session with everything around it that matters to the rules: a person, an agent, a process, a server that may be
//! killed. What happened is kept beside the facts, so that what must hold can be said about both.

use super::change::{Act, Plan};
use super::facts::Facts;
use super::input::Input;
use super::{Refusal, decide};
use crate::ids::{MessageId, PendingId, TurnId};
use crate::message::RequestStatus;
use crate::session::SessionState;
use crate::task::TaskState;
use crate::turn::TurnOutcome;

pub(super) const PROMPTS: usize = 2;
pub(super) const PERMISSIONS: usize = 3;
/// How often a person sends the same prompt at most.
const SENDS: u8 = 2;

pub(super) fn prompt(index: usize) -> MessageId {
    MessageId::parse(&format!("prompt-{index}")).expect("a test id")
}

pub(super) fn permission(index: usize) -> MessageId {
    MessageId::parse(&format!("permission-{index}")).expect("a test id")
}

pub(super) fn bundle() -> PendingId {
    PendingId::parse("bundle").expect("a test id")
}

/// What a person and an agent know of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    /// How often a person sent it.
    pub(super) asked: u8,
    /// How often an agent got it.
    pub(super) written: u8,
    /// An agent got it since the person sent it last.
    pub(super) written_since: bool,
    /// A person took it away.
    pub(super) gone: bool,
}

/// What a person and an agent know of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    /// What the person chose.
    pub(super) chosen: Option<RequestStatus>,
    /// What the agent heard.
    pub(super) heard: Option<RequestStatus>,
}

/// Something that happens in the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The machine is asked.
    Of(Input),
    /// The server is killed after what is said first, before the transaction.
    KilledBefore(Input),
    /// The server is killed after the transaction, before what is said last.
    KilledAfter(Input),
    /// The server is killed between two of its steps.
    Killed,
    /// A process for the reserved prompt is there.
    Up,
    /// The process ended, by itself or because it did not stop.
    Exit,
    /// The call that asked is not there any more.
    Detached,
    /// A person wants the process to end.
    StopSession,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) facts: Facts,
    pub(super) sent: Vec<Sent>,
    pub(super) asked: Vec<Asked>,
    pub(super) questions: Asked,
    turns_made: u16,
    /// The turn whose prompt the agent works on.
    pub(super) in_flight: Option<TurnId>,
    /// The owner brings a process up; for nobody's prompt if true.
    pub(super) starting: Option<bool>,
    /// The process is gone and that is not handled yet.
    pub(super) lost: bool,
    /// The agent was told to stop this turn.
    pub(super) stop_begun: bool,
    /// A failure, a restart or a wish made the queue wait for a person.
    pub(super) waits_for_person: bool,
    closed: bool,
    stops: u8,
    session_stops: u8,
    exits: u8,
    kills: u8,
    resumes: u8,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            facts: Facts::new(TaskState::Todo),
            sent: vec![Sent::default(); PROMPTS],
            asked: Vec::new(),
            questions: Asked::default(),
            turns_made: 0,
            in_flight: None,
            starting: None,
            lost: false,
            stop_begun: false,
            waits_for_person: false,
            closed: false,
            stops: 0,
            session_stops: 0,
            exits: 0,
            kills: 0,
            resumes: 0,
        }
    }

    /// The id that a new turn gets: later than every earlier one.
    pub(super) fn fresh(&self) -> TurnId {
        TurnId::parse(&format!("turn-{:05}", self.turns_made)).expect("a test id")
    }

    /// Everything that can happen now.
    pub(super) fn possible(&self) -> Vec<Event> {
        let mut events = Vec::new();
        self.people(&mut events);
        self.owner(&mut events);
        self.agent(&mut events);
        if self.kills < 2 {
            let killed = events.iter().filter_map(|event| self.killed_in(event));
            let killed: Vec<Event> = killed.flatten().flatten().collect();
            events.extend(killed);
            events.push(Event::Killed);
        }
        events
    }

    fn killed_in(&self, event: &Event) -> Option<[Option<Event>; 2]> {
        let Event::Of(input) = event else { return None };
        let plan = decide(&self.facts, input, &self.fresh()).ok()?;
        let before = !plan.before.is_empty();
        let after = plan.after.iter().any(|act| matches!(act, Act::Write(_)));
        Some([
            before.then(|| Event::KilledBefore(input.clone())),
            after.then(|| Event::KilledAfter(input.clone())),
        ])
    }

    fn people(&self, events: &mut Vec<Event>) {
        for (index, sent) in self.sent.iter().enumerate() {
            let earlier_asked = index == 0 || self.sent[index - 1].asked != 0;
            if sent.asked == 0 && earlier_asked {
                self.offer(events, Input::Accepted(prompt(index)));
            } else if sent.asked != 0 && sent.asked < SENDS && !sent.gone {
                self.offer(events, Input::SentAgain(prompt(index)));
            }
            if sent.asked != 0 && !sent.gone {
                let stopped = self.facts.open().is_some_and(|turn| turn.cancel_requested);
                if !stopped && self.stops < 2 {
                    self.offer(events, Input::SentNow(prompt(index)));
                }
                self.offer(events, Input::Unqueued(prompt(index)));
                self.offer(events, Input::Deleted(prompt(index)));
            }
        }
        if self.stops < 2 && self.facts.open().is_some_and(|turn| !turn.cancel_requested) {
            events.push(Event::Of(Input::StopAsked));
        }
        if !self.facts.session.is_terminal() && self.facts.open().is_some() {
            events.push(Event::Of(Input::Closed));
        }
        if self.session_stops < 1 && !self.facts.stopping && self.facts.process {
            events.push(Event::StopSession);
        }
        for index in 0..self.asked.len() {
            for decision in [RequestStatus::Approved, RequestStatus::Rejected] {
                let id = permission(index);
                self.offer(events, Input::PermissionDecided { id, decision });
            }
        }
        for decision in [RequestStatus::Answered, RequestStatus::Rejected] {
            let id = bundle();
            self.offer(events, Input::QuestionsResolved { id, decision });
        }
    }

    /// Offers what is not refused.
    fn offer(&self, events: &mut Vec<Event>, input: Input) {
        if decide(&self.facts, &input, &self.fresh()).is_ok() {
            events.push(Event::Of(input));
        }
    }

    /// The owner does one thing at a time; a start keeps it busy.
    fn owner(&self, events: &mut Vec<Event>) {
        let reserved = self.facts.reserved();
        let attempted = self.facts.open().is_some_and(|turn| turn.attempted);
        if let Some(lifecycle) = self.starting {
            events.push(if lifecycle {
                Event::Of(Input::Ready)
            } else {
                Event::Up
            });
            // A stop during the start closes the prompt that waits; the start goes on with the next, if there is one.
            if reserved.is_some_and(|turn| turn.cancel_requested) {
                events.push(Event::Of(Input::Unsent(TurnOutcome::Cancelled)));
            }
            for outcome in [TurnOutcome::Failed, TurnOutcome::Cancelled] {
                events.push(Event::Of(Input::StartFailed { outcome }));
            }
            return;
        }
        if self.lost {
            if attempted {
                let outcome = if self.stop_begun || self.facts.stopping {
                    TurnOutcome::Cancelled
                } else {
                    TurnOutcome::Failed
                };
                let replied = false;
                events.push(Event::Of(Input::TurnEnded { outcome, replied }));
            } else {
                for idle in [false, true] {
                    events.push(Event::Of(Input::ProcessForgotten { idle }));
                }
            }
            return;
        }
        if let Some(turn) = reserved {
            if turn.cancel_requested || self.facts.stopping {
                events.push(Event::Of(Input::Unsent(TurnOutcome::Cancelled)));
            } else if self.facts.process {
                events.push(Event::Of(Input::Dispatched));
            } else {
                events.push(Event::Of(Input::Starting { lifecycle: false }));
            }
        } else if !self.facts.process
            && self.facts.session == SessionState::WaitingForInput
            && self.resumes < 1
        {
            events.push(Event::Of(Input::Starting { lifecycle: true }));
        }
        let stop = self.facts.stopping || self.facts.open().is_some_and(|t| t.cancel_requested);
        if attempted && stop && !self.stop_begun {
            events.push(Event::Of(Input::StopBegun));
        }
        for input in [Input::DecisionsDue, Input::AnswersDue] {
            let plan = decide(&self.facts, &input, &self.fresh());
            if plan.is_ok_and(|plan| plan != Plan::default()) {
                events.push(Event::Of(input));
            }
        }
    }

    fn agent(&self, events: &mut Vec<Event>) {
        if !self.facts.process || self.lost {
            return;
        }
        let open = self.facts.open().filter(|turn| turn.attempted);
        if let Some(turn) = open {
            if !turn.acknowledged {
                events.push(Event::Of(Input::SignOfLife));
            }
            let outcome = if self.stop_begun {
                TurnOutcome::Cancelled
            } else {
                TurnOutcome::Completed
            };
            let replied = true;
            events.push(Event::Of(Input::TurnEnded { outcome, replied }));
            if !self.stop_begun {
                let outcome = TurnOutcome::Failed;
                events.push(Event::Of(Input::TurnEnded { outcome, replied }));
            }
            if self.facts.subagents == 0 {
                events.push(Event::Of(Input::Subagents(1)));
            }
        }
        if self.facts.subagents != 0 {
            events.push(Event::Of(Input::Subagents(0)));
        }
        // Helpers in the background ask as well, so this needs no open turn.
        if self.asked.len() < PERMISSIONS && self.facts.current().is_some() {
            events.push(Event::Of(Input::PermissionAsked(permission(
                self.asked.len(),
            ))));
        }
        for waiting in self.facts.permissions.iter().filter(|p| p.awaited) {
            events.push(Event::Of(Input::PermissionWithdrawn(waiting.id.clone())));
        }
        if self.facts.questions.is_empty() {
            self.offer(events, Input::QuestionsAsked(bundle()));
        }
        if self.facts.questions.iter().any(|q| q.attached) {
            events.push(Event::Detached);
        }
        if self.exits < 2 {
            events.push(Event::Exit);
        }
    }

    /// Lets it happen; says what the machine refused.
    pub(super) fn happen(&mut self, event: &Event) -> Result<(), Refusal> {
        match event {
            Event::Of(input) => {
                let plan = decide(&self.facts, input, &self.fresh())?;
                self.note(input);
                self.say(&plan.before);
                self.commit(&plan);
                self.say(&plan.after);
                self.settle_memory(input);
            }
            Event::KilledBefore(input) => {
                let plan = decide(&self.facts, input, &self.fresh())?;
                self.say(&plan.before);
                self.kill();
            }
            Event::KilledAfter(input) => {
                let plan = decide(&self.facts, input, &self.fresh())?;
                self.note(input);
                self.say(&plan.before);
                self.commit(&plan);
                self.kill();
            }
            Event::Killed => self.kill(),
            Event::Up => {
                self.starting = None;
                self.facts.process = true;
                self.facts.resumable = true;
            }
            Event::Exit => {
                self.exits += 1;
                self.facts.process = false;
                self.lost = true;
                self.in_flight = None;
            }
            Event::Detached => {
                for bundle in &mut self.facts.questions {
                    bundle.attached = false;
                }
            }
            Event::StopSession => {
                self.session_stops += 1;
                self.facts.stopping = true;
            }
        }
        Ok(())
    }

    fn commit(&mut self, plan: &Plan) {
        for change in &plan.changes {
            self.facts.apply(change);
        }
        if self.facts.turn(&self.fresh()).is_some() {
            self.turns_made += 1;
        }
        // What is queued in a closed session stays there, and its state says why.
        self.waits_for_person =
            self.closed || (self.waits_for_person && self.facts.open().is_none());
    }

    /// What a person or an agent knows before the machine is asked.
    fn note(&mut self, input: &Input) {
        match input {
            Input::Accepted(id) | Input::SentAgain(id) => {
                if let Some(sent) = self.of_prompt(id) {
                    sent.asked += 1;
                    sent.written_since = false;
                }
            }
            Input::Unqueued(id) | Input::Deleted(id) => {
                if let Some(sent) = self.of_prompt(id) {
                    sent.gone = true;
                }
            }
            Input::StopAsked => self.stops += 1,
            // It stops the open turn for the prompt, so it is one of the stops a person has.
            Input::SentNow(_) => self.stops += u8::from(self.facts.open().is_some()),
            Input::Closed => self.closed = true,
            Input::PermissionDecided { id, decision } => {
                if let Some(asked) = self.of_permission(id) {
                    asked.chosen = Some(*decision);
                }
            }
            Input::QuestionsResolved { decision, .. } => {
                self.questions.chosen = Some(*decision);
            }
            Input::Starting { lifecycle } => {
                self.starting = Some(*lifecycle);
                self.resumes += u8::from(*lifecycle);
            }
            Input::Ready => {
                self.starting = None;
                self.facts.process = true;
                self.facts.resumable = true;
            }
            Input::StartFailed { .. } => {
                self.starting = None;
                self.waits_for_person = true;
            }
            Input::TurnEnded { outcome, .. } | Input::Unsent(outcome) => {
                let stops = matches!(outcome, TurnOutcome::Failed | TurnOutcome::Interrupted);
                self.waits_for_person |= stops || self.facts.stopping;
                self.in_flight = None;
            }
            Input::PermissionAsked(_) => self.asked.push(Asked::default()),
            _ => {}
        }
    }

    fn settle_memory(&mut self, input: &Input) {
        match input {
            Input::StopBegun => self.stop_begun = true,
            Input::TurnEnded { .. } => self.stop_begun = false,
            Input::ProcessForgotten { .. } => {
                self.lost = false;
                self.facts.stopping = false;
            }
            Input::StartFailed { .. } | Input::Unsent(_) if !self.facts.process => {
                self.facts.stopping = false;
            }
            _ => {}
        }
    }

    fn say(&mut self, acts: &[Act]) {
        for act in acts {
            self.hear(act);
            self.facts.carry_out(act);
        }
    }

    /// What the agent hears; nothing when there is none.
    fn hear(&mut self, act: &Act) {
        if !self.facts.process || self.lost {
            return;
        }
        match act {
            Act::Write(turn) => {
                assert_eq!(self.in_flight, None, "two prompts under way");
                self.in_flight = Some(turn.clone());
                let its = self.facts.prompts.iter().filter(|p| p.turn == *turn);
                for id in its.map(|p| p.id.clone()).collect::<Vec<_>>() {
                    if let Some(sent) = self.of_prompt(&id) {
                        sent.written += 1;
                        sent.written_since = true;
                    }
                }
            }
            Act::AnswerPermission { id, decision } => {
                let mut waiting = self.facts.permissions.iter().filter(|p| p.awaited);
                assert!(waiting.any(|p| p.id == *id), "nobody waits for {id:?}");
                if let Some(asked) = self.of_permission(id) {
                    assert_eq!(asked.heard, None, "{id:?} is answered twice");
                    asked.heard = Some(*decision);
                }
            }
            Act::AnswerQuestions { decision, .. } => {
                let waited = self.facts.questions.iter().any(|q| q.attached);
                assert!(waited, "nobody waits for the answers");
                assert_eq!(
                    self.questions.heard, None,
                    "the questions are answered twice"
                );
                self.questions.heard = Some(*decision);
            }
            Act::Withdraw => {
                for asked in &mut self.asked {
                    asked.heard.get_or_insert(RequestStatus::Cancelled);
                }
            }
            Act::Cancel | Act::Work => {}
        }
    }

    /// The server is killed and starts again.
    fn kill(&mut self) {
        self.kills += 1;
        self.facts.process = false;
        self.facts.stopping = false;
        for permission in &mut self.facts.permissions {
            permission.awaited = false;
        }
        for bundle in &mut self.facts.questions {
            bundle.attached = false;
        }
        if self
            .facts
            .questions
            .iter()
            .any(|bundle| bundle.delivered.is_none())
        {
            // Who heard an answer that nobody noted is gone too: the person is asked again.
            self.questions.heard = None;
        }
        self.in_flight = None;
        self.starting = None;
        self.lost = false;
        self.stop_begun = false;
        self.waits_for_person = true;
        if let Ok(plan) = decide(&self.facts, &Input::Recovered, &self.fresh()) {
            self.commit(&plan);
        }
        // The task is recovered after its sessions.
        match self.facts.task.state {
            TaskState::Scheduling => self.facts.task.state = TaskState::Todo,
            TaskState::InProgress => self.facts.task.state = TaskState::Review,
            _ => {}
        }
    }

    fn of_prompt(&mut self, id: &MessageId) -> Option<&mut Sent> {
        let mut indexed = self.sent.iter_mut().enumerate();
        indexed
            .find(|(index, _)| prompt(*index) == *id)
            .map(|(_, sent)| sent)
    }

    fn of_permission(&mut self, id: &MessageId) -> Option<&mut Asked> {
        let mut indexed = self.asked.iter_mut().enumerate();
        indexed
            .find(|(index, _)| permission(*index) == *id)
            .map(|(_, asked)| asked)
    }
}
