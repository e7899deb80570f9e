//! Whatever happens to a task, in whatever order, the stored summary is what authority says (SUM-04, SUM-05).

use anyhow::Result;
use model::error::{ActiveError, ErrorCategory};
use model::ids::{EnvironmentId, SessionId, TaskId, TurnId};
use model::message::RequestStatus;
use model::session::{Activity, SessionState};
use model::summary::SummaryPayload;
use model::turn::TurnOutcome;
use projector::project::project;
use proptest::prelude::*;
use store::sql::sql;
use store::turns::NewTurn;
use store::{hydration, messages, requests, sessions, tasks, turns};
use testkit::recorder::Recorder;
use testkit::store::Engine;
use testkit::story::Story;
use testkit::story::look::Look;
use testkit::story::transcript::Asked;

/// What may happen. Numbers choose among what exists; with nothing to choose from, nothing happens.
#[derive(Clone, Debug)]
enum Happening {
    SessionMade,
    SessionDeleted(usize),
    SessionMoved(usize, SessionState),
    ActivityChanged(usize, Option<Activity>, u32),
    SessionFailed(usize),
    ErrorCleared(usize),
    LaunchFailed(bool),
    TurnOpened(usize, NewTurn),
    TurnAttempted(usize),
    TurnSettled(usize),
    Prompted(usize),
    Queued(usize),
    Asked(usize, bool),
    Answered(usize),
    RequestDeleted(usize),
    Observed(bool, u64),
    Milestone,
    Projected,
    SummaryLost,
}

fn happening() -> impl Strategy<Value = Happening> {
    use Happening::*;
    let which = 0..8usize;
    prop_oneof![
        2 => Just(SessionMade),
        1 => which.clone().prop_map(SessionDeleted),
        2 => (which.clone(), prop::sample::select(SessionState::ALL)).prop_map(|(n, state)| SessionMoved(n, state)),
        2 => (which.clone(), prop::option::of(prop::sample::select(Activity::ALL)), 0..3u32)
            .prop_map(|(n, activity, subagents)| ActivityChanged(n, activity, subagents)),
        1 => which.clone().prop_map(SessionFailed),
        1 => which.clone().prop_map(ErrorCleared),
        1 => any::<bool>().prop_map(LaunchFailed),
        2 => (which.clone(), prop::sample::select(vec![NewTurn::Empty, NewTurn::Lifecycle]))
            .prop_map(|(n, kind)| TurnOpened(n, kind)),
        1 => which.clone().prop_map(TurnAttempted),
        1 => which.clone().prop_map(TurnSettled),
        3 => which.clone().prop_map(Prompted),
        1 => which.clone().prop_map(Queued),
        3 => (which.clone(), any::<bool>()).prop_map(|(n, question)| Asked(n, question)),
        2 => which.clone().prop_map(Answered),
        1 => which.prop_map(RequestDeleted),
        2 => (any::<bool>(), 0..4u64).prop_map(|(root, additions)| Observed(root, additions)),
        1 => Just(Milestone),
        6 => Just(Projected),
        1 => Just(SummaryLost),
    ]
}

/// One task and what exists around it.
struct Life {
    story: Story,
    hub: Recorder,
    task: TaskId,
    environment: EnvironmentId,
    sessions: Vec<SessionId>,
    turns: Vec<(SessionId, TurnId)>,
    asked: Vec<Asked>,
    last: Option<(i64, SummaryPayload)>,
}

fn pick<T>(all: &[T], n: usize) -> Option<&T> {
    (!all.is_empty()).then(|| &all[n % all.len()])
}

impl Life {
    async fn begin(engine: Engine) -> Result<Self> {
        let story = Story::on(engine).await?;
        let task = story.task().await?;
        let environment = story.environment(&task, &["root", "docs"]).await?;
        Ok(Self {
            story,
            hub: Recorder::default(),
            task,
            environment,
            sessions: Vec::new(),
            turns: Vec::new(),
            asked: Vec::new(),
            last: None,
        })
    }

    async fn happen(&mut self, what: &Happening) -> Result<()> {
        match *what {
            Happening::SessionMade | Happening::SessionDeleted(_) => self.cast(what).await,
            Happening::TurnOpened(..)
            | Happening::TurnAttempted(_)
            | Happening::TurnSettled(_)
            | Happening::Prompted(_)
            | Happening::Queued(_) => self.converse(what).await,
            Happening::Asked(..) | Happening::Answered(_) | Happening::RequestDeleted(_) => {
                self.ask(what).await
            }
            Happening::Projected => self.project().await,
            Happening::SummaryLost => self.lose_summary().await,
            _ => self.facts(what).await,
        }
    }

    async fn cast(&mut self, what: &Happening) -> Result<()> {
        match *what {
            Happening::SessionDeleted(n) if !self.sessions.is_empty() => {
                let gone = self.sessions.remove(n % self.sessions.len());
                self.turns.retain(|(session, _)| *session != gone);
                self.story.delete_session(&gone).await
            }
            Happening::SessionMade => {
                let environment = Some(&self.environment);
                let session = self.story.session(&self.task, environment).await?;
                self.sessions.push(session);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn facts(&self, what: &Happening) -> Result<()> {
        if let Happening::Observed(root, additions) = *what {
            let look = Look {
                repository: (!root).then(|| "docs".to_owned()),
                base_resolvable: additions != 3,
                ..Look::at(self.story.now(), additions)
            };
            self.story.observe(&self.environment, &look).await?;
            return Ok(());
        }
        let at = self.story.now();
        let task = &self.task;
        let session = |n: usize| pick(&self.sessions, n);
        let failure =
            |owner: &str| ActiveError::record(owner, at, "boom", ErrorCategory::AgentExited);
        self.story
            .change(&[task], async |tx| match *what {
                Happening::SessionMoved(n, state) => match session(n) {
                    Some(id) => sessions::set_state(tx, id, state).await,
                    None => Ok(()),
                },
                Happening::ActivityChanged(n, activity, subagents) => match session(n) {
                    Some(id) => sessions::set_activity(tx, id, activity, subagents).await,
                    None => Ok(()),
                },
                Happening::SessionFailed(n) => match session(n) {
                    Some(id) => sessions::set_error(tx, id, &failure(id.as_str())).await,
                    None => Ok(()),
                },
                Happening::ErrorCleared(n) => match session(n) {
                    Some(id) => sessions::clear_error(tx, id, None, "a person", at)
                        .await
                        .map(drop),
                    None => Ok(()),
                },
                Happening::LaunchFailed(failed) => {
                    let error = failed.then(|| failure(task.as_str()));
                    tasks::set_launch_error(tx, task, error.as_ref()).await
                }
                _ => tasks::raise_activity(tx, task, at).await,
            })
            .await
    }

    async fn converse(&mut self, what: &Happening) -> Result<()> {
        match *what {
            Happening::TurnOpened(n, kind) => {
                if let Some(session) = pick(&self.sessions, n).cloned() {
                    let turn = self.story.turn(&session, kind).await?;
                    self.turns.push((session, turn));
                }
            }
            Happening::Prompted(n) => {
                if let Some(session) = pick(&self.sessions, n).cloned() {
                    let (turn, _) = self.story.prompt(&session, "go").await?;
                    self.turns.push((session, turn));
                }
            }
            Happening::Queued(n) => {
                if let Some(session) = pick(&self.sessions, n) {
                    self.story.queue(session, "then").await?;
                }
            }
            Happening::TurnAttempted(n) | Happening::TurnSettled(n) => {
                let Some((_, turn)) = pick(&self.turns, n) else {
                    return Ok(());
                };
                let attempted = matches!(what, Happening::TurnAttempted(_));
                self.story
                    .change(&[&self.task], async |tx| {
                        if attempted {
                            return turns::mark_attempted(tx, turn).await;
                        }
                        let now = tx.now();
                        turns::complete(tx, turn, TurnOutcome::Completed, now)
                            .await
                            .map(drop)
                    })
                    .await?;
            }
            _ => {}
        }
        Ok(())
    }

    async fn ask(&mut self, what: &Happening) -> Result<()> {
        if let Happening::Asked(n, question) = *what {
            if let Some((session, turn)) = pick(&self.turns, n) {
                let asked = if question {
                    self.story.question(session, turn).await?
                } else {
                    self.story.permission(session, turn).await?
                };
                self.asked.push(asked);
            }
            return Ok(());
        }
        let (Happening::Answered(n) | Happening::RequestDeleted(n)) = *what else {
            return Ok(());
        };
        let Some(asked) = pick(&self.asked, n) else {
            return Ok(());
        };
        let answered = matches!(what, Happening::Answered(_));
        self.story
            .change(&[&self.task], async |tx| {
                let (now, metadata) = (tx.now(), serde_json::json!({}));
                if !answered {
                    return messages::remove(tx, &asked.message_id, now).await;
                }
                let status = RequestStatus::Answered;
                let (row, id) = (&asked.message_id, &asked.pending_id);
                requests::decide(tx, row, id, status, &metadata, None, now)
                    .await
                    .map(drop)
            })
            .await
    }

    /// Projects, and checks that the stored row is authority's, that it was written only when it means something
    /// new, and that it was published exactly when it was written.
    async fn project(&mut self) -> Result<()> {
        let published = self.hub.summaries().len();
        let ids = std::slice::from_ref(&self.task);
        let projected = project(self.story.store(), &self.hub, ids).await;
        assert_eq!(projected.failed, []);
        let stored = self.story.stored(&self.task).await?;
        let stored = stored.expect("a projected task has a summary");
        assert_eq!(stored.payload, self.story.derived(&self.task).await?);
        // A list asks what is pending by a query of its own; it must never doubt what was just derived (PEN-07).
        let ids = std::slice::from_ref(&self.task);
        let mut tx = self.story.store().read().await?;
        let listed = tasks::load_listed(&mut tx, ids).await?.listed;
        let open = hydration::open_requests(&mut tx, ids).await?;
        drop(tx);
        assert!(hydration::doubts(&listed, Some(&open)).is_empty());
        let written = match &self.last {
            Some((revision, payload)) if *payload == stored.payload => {
                assert_eq!(stored.revision, *revision);
                0
            }
            Some((revision, _)) => {
                assert!(*revision < stored.revision);
                1
            }
            None => 1,
        };
        assert_eq!(projected.written, written);
        assert_eq!(self.hub.summaries().len(), published + written);
        self.last = Some((stored.revision, stored.payload));
        Ok(())
    }

    /// The read model is thrown away; what is rebuilt means the same.
    async fn lose_summary(&mut self) -> Result<()> {
        self.project().await?;
        let lost = self.last.take();
        self.story
            .tamper(sql("DELETE FROM task_status_summaries"))
            .await?;
        self.story
            .db
            .clock
            .advance(std::time::Duration::from_secs(1));
        self.project().await?;
        let rebuilt = self.last.as_ref().expect("it was rebuilt");
        let lost = lost.expect("it was there");
        assert_eq!(rebuilt.1, lost.1);
        assert!(lost.0 < rebuilt.0);
        Ok(())
    }
}

fn live(engine: Engine, happenings: &[Happening]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let lived: Result<()> = runtime.block_on(async {
        let mut life = Life::begin(engine).await?;
        for happening in happenings {
            life.happen(happening).await?;
        }
        life.project().await?;
        life.lose_summary().await
    });
    lived.expect("nothing fails");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sum_04_stored_is_derived_whatever_happens_sqlite(all in prop::collection::vec(happening(), 1..40)) {
        live(Engine::Sqlite, &all);
    }

    #[test]
    fn sum_04_stored_is_derived_whatever_happens_postgres(all in prop::collection::vec(happening(), 1..40)) {
        live(Engine::Postgres, &all);
    }
}
