//! One step in one transaction, each as its caller in the product does it: what the caller loads is what the machine is
//! asked with, and what it stores by itself is stored beside what is carried out.

use super::happening::Sibling;
use super::mind::{Mind, Step, asked_by};
use crate::turn_plan::{add_row, carry_out, facts};
use anyhow::{Result, ensure};
use model::ids::{
    EnvironmentId, ExecutionId, InstanceId, MessageId, PendingId, SessionId, TaskId, TurnId,
};
use model::message::{Author, MessageType, RequestStatus};
use model::session::SessionState;
use model::task::TaskState;
use model::turn::TurnOutcome;
use model::turn_machine::change::Change;
use model::turn_machine::decide;
use model::turn_machine::facts::{Facts, PermissionFact, PromptFact};
use model::turn_machine::input::Input;
use serde_json::{Value, json};
use store::clarifications;
use store::executions::{self, Execution};
use store::messages::{self, NewMessage, Place};
use store::requests::{self, DecideOutcome};
use store::sql::Link;
use store::tx::WriteTx;
use store::{recovery, sessions, tasks, turns};

/// How many questions a bundle has.
const QUESTIONS: u32 = 2;

/// Who tells clients of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Teller {
    /// Nobody here.
    Nobody,
    /// Whoever carries the plan out.
    Plan,
    /// They, and the caller of what it stored by itself.
    CallerToo,
}

/// What a case happens to.
pub(super) struct Scene {
    pub(super) task: TaskId,
    pub(super) session: SessionId,
    /// Another session of the task.
    pub(super) sibling: SessionId,
    pub(super) environment: EnvironmentId,
}

impl Scene {
    /// Lets it happen, to the rows and to the machine by itself. Says who tells of it.
    pub(super) async fn take(
        &self,
        tx: &mut WriteTx,
        mind: &mut Mind,
        step: &Step,
    ) -> Result<Teller> {
        let input = mind.begin(step);
        match step {
            Step::Ask(Input::Ready) | Step::Up => self.note_process(tx).await?,
            Step::SetTask(state) => self.set_task(tx, *state).await?,
            Step::Sibling(does) => self.beside(tx, *does).await?,
            Step::Kill => self.beside(tx, Sibling::Rests).await?,
            Step::Ask(_) | Step::Exit | Step::Detach(_) | Step::StopProcess => {}
        }
        let Some(input) = input else {
            return Ok(Teller::Nobody);
        };
        let own = Box::pin(self.ask(tx, mind, &input)).await?;
        if matches!(step, Step::Kill) {
            self.set_task(tx, mind.facts.task.state).await?;
            return Ok(Teller::Nobody); // nobody listens yet
        }
        Ok(if own { Teller::CallerToo } else { Teller::Plan })
    }

    /// Asks the machine twice: with what is loaded, and with everything it ever knew. Both say the same. Says whether
    /// anything was the caller's to store.
    async fn ask(&self, tx: &mut WriteTx, mind: &mut Mind, input: &Input) -> Result<bool> {
        let fresh = mind.fresh();
        let decided = decide(&mind.known(input), input, &fresh);
        let loaded = self.load(tx, mind, input).await?;
        if !reads_pending_rows(input) {
            let asked = decide(&loaded, input, &fresh);
            ensure!(
                asked == decided,
                "what is loaded decides otherwise than everything:\n{asked:?}\n{decided:?}\nloaded: {loaded:?}"
            );
        }
        let Ok(plan) = decided else {
            return Ok(false); // a person is told, and nothing changes
        };
        let (own, rest): (Vec<_>, Vec<_>) = plan
            .changes
            .iter()
            .cloned()
            .partition(|change| is_callers(input, change));
        for change in &own {
            self.store(tx, mind, change).await?;
        }
        if let Input::QuestionsResolved { .. } = input {
            self.go_on(tx, mind, &fresh, &own, &rest).await?;
        } else {
            carry_out(tx, &self.session, &loaded, &rest).await?;
        }
        if !own.is_empty() {
            tx.touch(&self.task);
        }
        mind.follow(input, &plan);
        Ok(!own.is_empty())
    }

    /// What an answer leads to is asked for once it is stored, with what is loaded then.
    async fn go_on(
        &self,
        tx: &mut WriteTx,
        mind: &Mind,
        fresh: &TurnId,
        own: &[Change],
        rest: &[Change],
    ) -> Result<()> {
        let [Change::EndQuestions { id, status, .. }] = own else {
            return Ok(());
        };
        let mut bundles = mind.facts.questions.iter();
        let attached = bundles.any(|bundle| bundle.id == *id && bundle.attached);
        if attached || *status == RequestStatus::Rejected {
            ensure!(rest.is_empty(), "somebody waits, and yet {rest:?}");
            return Ok(());
        }
        let input = Input::QueueAsked;
        let loaded = self.load(tx, mind, &input).await?;
        let plan = decide(&loaded, &input, fresh)?;
        ensure!(
            plan.changes == rest,
            "an answer leads to {:?}, not to {rest:?}",
            plan.changes
        );
        carry_out(tx, &self.session, &loaded, rest).await?;
        Ok(())
    }

    /// The facts as whoever gives this input loads them, and knows what no row says.
    async fn load(&self, tx: &mut Link, mind: &Mind, input: &Input) -> Result<Facts> {
        let mut loaded = self.loaded(tx, mind).await?;
        let waiting = requests::undelivered(tx, &self.session).await?;
        let waiting = waiting.into_iter().map(|(id, status, _)| PermissionFact {
            awaited: mind
                .facts
                .permissions
                .iter()
                .any(|p| p.id == id && p.awaited),
            id,
            status,
            delivered: None,
        });
        loaded.permissions = waiting.collect();
        match input {
            Input::SentAgain(id) | Input::Deleted(id) => {
                if let Some(row) = messages::get(tx, id).await? {
                    add_row(tx, &mut loaded, &row).await?;
                    // Whatever row it is, it moves no boundary (PEN-04).
                    let boundary = |facts: &Facts| facts.current().map(|turn| turn.id.clone());
                    let (moved, stays) = (boundary(&loaded), boundary(&mind.facts));
                    ensure!(moved == stays, "{id} moves {stays:?} to {moved:?}");
                }
            }
            // The owner knows what it acknowledged.
            Input::SignOfLife => loaded.turns.clone_from(&mind.facts.turns),
            Input::Recovered => {
                for turn in loaded.turns.clone() {
                    if turn.is_open() && !turn.attempted {
                        let prompts = messages::prompts_of_turn(tx, &turn.id).await?;
                        loaded
                            .prompts
                            .extend(prompts.into_iter().map(|prompt| PromptFact {
                                id: prompt.id,
                                turn: turn.id.clone(),
                            }));
                    }
                }
            }
            _ => {}
        }
        Ok(loaded)
    }

    /// The facts as they are loaded, with what only the owner knows.
    pub(super) async fn loaded(&self, tx: &mut Link, mind: &Mind) -> Result<Facts> {
        let attached = |id: &PendingId| {
            let mut bundles = mind.facts.questions.iter();
            bundles.any(|bundle| bundle.id == *id && bundle.attached)
        };
        let mut loaded = facts(tx, &self.session, attached).await?;
        loaded.process = mind.facts.process;
        loaded.stopping = mind.facts.stopping;
        Ok(loaded)
    }

    async fn set_task(&self, tx: &mut WriteTx, state: TaskState) -> Result<()> {
        let now = tx.now();
        tasks::set_state(tx, &self.task, state, now).await?;
        tx.touch(&self.task);
        Ok(())
    }

    async fn note_process(&self, tx: &mut WriteTx) -> Result<()> {
        let now = tx.now();
        let execution = Execution {
            id: ExecutionId::generate(),
            session_id: self.session.clone(),
            environment_id: self.environment.clone(),
            pid: 1,
            process_started: "1".to_owned(),
            instance_id: InstanceId::generate(),
        };
        executions::insert(tx, &execution, now).await?;
        sessions::set_acp_session(tx, &self.session, Some("conversation")).await?;
        Ok(())
    }

    /// The other session does this from now on.
    async fn beside(&self, tx: &mut WriteTx, does: Sibling) -> Result<()> {
        let now = tx.now();
        for turn in recovery::open_turns(tx, &self.sibling).await? {
            turns::complete(tx, &turn.id, TurnOutcome::Completed, now).await?;
        }
        let (state, opens) = match does {
            Sibling::Rests => (SessionState::WaitingForInput, None),
            Sibling::Starts => (SessionState::Starting, None),
            Sibling::Resumes => (SessionState::Starting, Some(turns::NewTurn::Lifecycle)),
            Sibling::Works => (SessionState::Running, Some(turns::NewTurn::ForMessage)),
        };
        if let Some(kind) = opens {
            turns::insert(tx, &TurnId::generate(), &self.sibling, kind, now).await?;
        }
        sessions::set_state(tx, &self.sibling, state).await?;
        tx.touch(&self.task);
        Ok(())
    }

    /// Stores what is the caller's to store.
    async fn store(&self, tx: &mut WriteTx, mind: &Mind, change: &Change) -> Result<()> {
        let now = tx.now();
        match change {
            Change::ReserveForPrompt { turn, prompt } => {
                turns::insert(tx, turn, &self.session, turns::NewTurn::ForMessage, now).await?;
                let row = self.prompt(prompt, Some(turn));
                messages::insert(tx, &row, Place::Transcript, now).await?;
            }
            Change::QueueLast(prompt) => {
                let row = self.prompt(prompt, None);
                messages::insert(tx, &row, Place::QueueEnd, now).await?;
            }
            Change::Unqueue(prompt) => {
                let was = messages::remove_queued(tx, prompt, now).await?;
                ensure!(was, "{prompt} was not queued");
            }
            Change::DeleteRow(id) => messages::remove(tx, id, now).await?,
            Change::AskPermission(id) => {
                let turn = mind.facts.current().map(|turn| &turn.id);
                let asked_by = asked_by(id);
                let row = NewMessage {
                    pending_id: Some(&asked_by),
                    ..self.agents(id, turn, MessageType::PermissionRequest)
                };
                messages::insert(tx, &row, Place::Transcript, now).await?;
            }
            Change::AskQuestions { id, turn } => {
                for index in 0..QUESTIONS {
                    let metadata = question(index, false);
                    let row = MessageId::parse(&format!("{id}-{index}"))?;
                    let row = NewMessage {
                        metadata: &metadata,
                        pending_id: Some(id),
                        ..self.agents(&row, Some(turn), MessageType::ClarificationRequest)
                    };
                    messages::insert(tx, &row, Place::Transcript, now).await?;
                }
            }
            Change::EndPermission {
                id,
                status,
                delivered,
            } => {
                let mut all = mind.facts.permissions.iter();
                let open = all.any(|p| p.id == *id && !p.status.is_terminal());
                let asked_by = asked_by(id);
                let ended =
                    requests::decide(tx, id, &asked_by, *status, &json!({}), None, now).await?;
                ensure!((ended == DecideOutcome::Decided) == open, "{id}: {ended:?}");
                if let (true, Some(delivered)) = (open, delivered) {
                    requests::set_delivered(tx, id, *delivered, now).await?;
                }
            }
            Change::EndQuestions {
                id,
                status,
                delivered,
            } => {
                let mut all = mind.facts.questions.iter();
                let open = all.any(|q| q.id == *id && !q.status.is_terminal());
                let answered = *status == RequestStatus::Answered;
                for (index, row) in (0..).zip(clarifications::bundle(tx, &self.session, id).await?)
                {
                    let metadata = question(index, answered);
                    let row = &row.message_id;
                    let ended =
                        requests::decide(tx, row, id, *status, &metadata, *delivered, now).await?;
                    ensure!(
                        (ended == DecideOutcome::Decided) == open,
                        "{row}: {ended:?}"
                    );
                }
            }
            other => anyhow::bail!("{other:?} is carried out"),
        }
        Ok(())
    }

    fn prompt<'a>(&'a self, id: &'a MessageId, turn: Option<&'a TurnId>) -> NewMessage<'a> {
        NewMessage {
            author: Author::User,
            ..self.agents(id, turn, MessageType::Message)
        }
    }

    fn agents<'a>(
        &'a self,
        id: &'a MessageId,
        turn: Option<&'a TurnId>,
        kind: MessageType,
    ) -> NewMessage<'a> {
        NewMessage {
            id,
            session_id: &self.session,
            task_id: &self.task,
            turn_id: turn,
            author: Author::Agent,
            kind,
            content: "Words.",
            metadata: &Value::Null,
            pending_id: None,
            streaming: false,
        }
    }
}

fn question(index: u32, answered: bool) -> Value {
    let question = json!({ "text": "Which?", "free_text": true, "optional": true });
    let mut asked = json!({ "index": index, "count": QUESTIONS, "question": question });
    if answered {
        asked["answer"] = json!({ "selected": [], "text": "This one." });
    }
    asked
}

/// Whether pending requests are read for this: the product looks at their rows instead, by compare-and-set.
const fn reads_pending_rows(input: &Input) -> bool {
    matches!(
        input,
        Input::PermissionDecided { .. } | Input::QuestionsResolved { .. }
    )
}

/// Whether this change is the caller's to store, who has the row's contents.
fn is_callers(input: &Input, change: &Change) -> bool {
    match change {
        Change::ReserveForPrompt { prompt, .. } => *input == Input::Accepted(prompt.clone()),
        Change::QueueLast(_)
        | Change::Unqueue(_)
        | Change::DeleteRow(_)
        | Change::AskPermission(_)
        | Change::AskQuestions { .. } => true,
        Change::EndPermission { .. } => matches!(input, Input::PermissionDecided { .. }),
        Change::EndQuestions { .. } => matches!(input, Input::QuestionsResolved { .. }),
        _ => false,
    }
}
