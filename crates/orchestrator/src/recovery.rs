//! Start-up recovery: what an ended server left in the middle of something is brought to a state that is true.
//!
//! It runs before the API opens, through the ordinary transactions and rules, so that summaries converge by the same
//! code as ever (REC-01); only events are left out, because nobody can hear them yet. It moves no `last_activity_at`. Every step looks at rows, not at memory, and is safe to
//! repeat.

use crate::emit;
use crate::orchestrator::Orchestrator;
use crate::turn_plan;
use crate::unread::is_unreadable;
use agentctl::leftover::end_leftover_group;
use agentctl::process::ProcessIdentity;
use model::bounds;
use model::environment::EnvironmentState;
use model::error::{ActiveError, ErrorCategory};
use model::event::TaskChange;
use model::ids::{EnvironmentId, SessionId};
use model::task::TaskState;
use model::turn::TurnOutcome;
use model::turn_machine::facts::{PermissionFact, PromptFact};
use model::turn_machine::input::Input;
use store::error::{Result, StoreError};
use store::recovery::{StuckTask, UnfinishedSession};
use store::tx::WriteTx;
use store::{environments, executions, messages, recovery, requests, segments, tasks};

/// What recovery found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Agent process groups that were still running.
    pub groups_ended: usize,
    /// Sessions whose rows were repaired.
    pub sessions: usize,
    /// Tasks whose rows were repaired.
    pub tasks: usize,
    /// Environments whose removal or making was finished by removing them.
    pub environments: usize,
    /// Attached files that belonged to nothing.
    pub files: usize,
}

/// What is being repaired, so that whoever waits for a start can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repairing {
    /// Sessions whose process is gone.
    Sessions,
    /// Tasks that say they are at work.
    Tasks,
    /// Environments that were being made or removed.
    Environments,
}

/// Told how many of how many are repaired.
pub type Tell<'a> = &'a (dyn Fn(Repairing, usize, usize) + Sync);

impl Orchestrator {
    /// Recovers. Called once, before anything else may change the database.
    ///
    /// # Errors
    /// When the store fails: the server must not start then.
    pub async fn recover(&self) -> Result<Recovered> {
        self.recover_telling(&|_, _, _| {}).await
    }

    /// As [`Orchestrator::recover`], saying before each batch how far it has come.
    ///
    /// # Errors
    /// As [`Orchestrator::recover`].
    pub async fn recover_telling(&self, tell: Tell<'_>) -> Result<Recovered> {
        let mut done = Recovered {
            groups_ended: self.end_leftover_groups().await?,
            ..Recovered::default()
        };
        let unfinished = {
            let mut tx = self.inner.store.read().await?;
            recovery::sessions(&mut tx).await?
        };
        for batch in unfinished.chunks(bounds::RECOVERY_BATCH) {
            tell(Repairing::Sessions, done.sessions, unfinished.len());
            self.recover_sessions(batch).await?;
            done.sessions += batch.len();
        }
        let stuck = {
            let mut tx = self.inner.store.read().await?;
            recovery::tasks(&mut tx).await?
        };
        for batch in stuck.chunks(bounds::RECOVERY_BATCH) {
            tell(Repairing::Tasks, done.tasks, stuck.len());
            let mut tx = self.inner.store.write().await?.unheard();
            settle_tasks(&mut tx, batch).await?;
            self.commit(tx).await?;
            done.tasks += batch.len();
        }
        done.environments = self.recover_environments(tell).await?;
        done.files = self.sweep_attachments().await?;
        Ok(done)
    }

    async fn end_leftover_groups(&self) -> Result<usize> {
        let left = {
            let mut tx = self.inner.store.read().await?;
            executions::all(&mut tx).await?
        };
        let mut ended = 0;
        for execution in left {
            let identity = ProcessIdentity {
                pid: u32::try_from(execution.pid).unwrap_or(0),
                start_time: execution.process_started.parse().unwrap_or(0),
            };
            if end_leftover_group(identity).await == agentctl::leftover::LeftoverEnd::Ended {
                tracing::info!(session = %execution.session_id, pid = identity.pid, "ended a leftover agent");
                ended += 1;
            }
        }
        Ok(ended)
    }

    /// Recovers these sessions in one transaction; when one of them cannot be read, each in a transaction of its own, so
    /// that it harms no other.
    async fn recover_sessions(&self, batch: &[UnfinishedSession]) -> Result<()> {
        match (self.recover_together(batch).await, batch) {
            (Err(error), [session]) if is_unreadable(&error) => {
                // One damaged row must not keep the server from starting, nor its task from coming to rest.
                tracing::error!(session = %session.session_id, %error, "a session could not be read; it is recovered unread");
                let outcome = TurnOutcome::Interrupted;
                self.clean_up_unread(&session.session_id, &session.task_id, outcome, None)
                    .await
            }
            (Err(error), several) if is_unreadable(&error) => {
                for one in several.chunks(1) {
                    Box::pin(self.recover_sessions(one)).await?;
                }
                Ok(())
            }
            (other, _) => other,
        }
    }

    async fn recover_together(&self, batch: &[UnfinishedSession]) -> Result<()> {
        let mut tx = self.inner.store.write().await?.unheard();
        let now = tx.now();
        let sessions: Vec<_> = batch.iter().map(|one| one.session_id.clone()).collect();
        for message_id in segments::unsettled(&mut tx, &sessions).await? {
            segments::fold(&mut tx, &message_id, now).await?;
        }
        for session_id in &sessions {
            recover_session(&mut tx, session_id).await?;
        }
        self.commit(tx).await
    }

    /// Finishes removals, undoes what was being made, and declares the rest to the monitor.
    async fn recover_environments(&self, tell: Tell<'_>) -> Result<usize> {
        let mut unfinished = Vec::new();
        let mut ready = Vec::new();
        {
            let mut tx = self.inner.store.read().await?;
            for id in environments::abandoned(&mut tx).await? {
                match environments::get(&mut tx, &id).await {
                    Ok(found) => unfinished.extend(found),
                    Err(error) => leave_alone(&id, error)?,
                }
            }
            for (id, environment) in environments::all(&mut tx).await? {
                match environment {
                    Ok(made) if made.state == EnvironmentState::Ready => ready.push(made),
                    Ok(half_made) => unfinished.push(half_made),
                    Err(error) => leave_alone(&id, error)?,
                }
            }
        }
        unfinished.sort_by(|a, b| a.id.cmp(&b.id));
        unfinished.dedup_by(|a, b| a.id == b.id);
        for (done, environment) in unfinished.iter().enumerate() {
            tell(Repairing::Environments, done, unfinished.len());
            self.remove_environment(environment).await;
        }
        for environment in &ready {
            if !unfinished.iter().any(|gone| gone.id == environment.id) {
                self.watch(environment);
            }
        }
        Ok(unfinished.len())
    }
}

/// An environment that cannot be read is neither removed nor looked at, and keeps no server from starting.
fn leave_alone(id: &EnvironmentId, error: StoreError) -> Result<()> {
    if !is_unreadable(&error) {
        return Err(error);
    }
    tracing::error!(environment = %id, %error, "an environment could not be read; it is left as it is");
    Ok(())
}

/// A session without a process, its texts settled: its turns are over, its permissions expired; its unsent prompt waits
/// at the head of the queue for a person.
async fn recover_session(tx: &mut WriteTx, session_id: &SessionId) -> Result<()> {
    let mut facts = turn_plan::facts(tx, session_id, |_| false).await?;
    for turn in facts.turns.clone() {
        if turn.is_open() && !turn.attempted {
            let prompts = messages::prompts_of_turn(tx, &turn.id).await?;
            facts
                .prompts
                .extend(prompts.into_iter().map(|prompt| PromptFact {
                    id: prompt.id,
                    turn: turn.id.clone(),
                }));
        }
    }
    let undelivered = requests::undelivered(tx, session_id).await?;
    let undelivered = undelivered
        .into_iter()
        .map(|(id, status, _)| PermissionFact {
            id,
            status,
            delivered: None,
            awaited: false,
        });
    facts.permissions = undelivered.collect();
    turn_plan::follow(tx, session_id, &facts, &Input::Recovered).await?;
    Ok(())
}

/// Tasks that were starting or at work and are neither: one can be started again, or waits for a person's look.
async fn settle_tasks(tx: &mut WriteTx, batch: &[StuckTask]) -> Result<()> {
    let now = tx.now();
    let is_starting = |task: &&StuckTask| task.state == TaskState::Scheduling;
    for StuckTask { task_id, .. } in batch.iter().filter(is_starting) {
        tasks::set_state(tx, task_id, TaskState::Todo, now).await?;
        if tasks::launch_intent(tx, task_id).await?.is_some() {
            // What the task was to start with is stored still: trying again is one click.
            let text = "the server stopped while the task was being started";
            let error = ActiveError::record(
                task_id.as_str(),
                now,
                text,
                ErrorCategory::GenericLaunchFailure,
            );
            tasks::set_launch_error(tx, task_id, Some(&error)).await?;
        }
    }
    let at_work: Vec<_> = batch
        .iter()
        .filter(|task| !is_starting(task))
        .map(|task| task.task_id.clone())
        .collect();
    recovery::interrupt(tx, &at_work, now).await?;
    for StuckTask { task_id, .. } in batch {
        tx.touch(task_id);
        emit::task(tx, task_id, TaskChange::Updated).await?;
    }
    Ok(())
}
