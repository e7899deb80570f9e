//! Launching: a session row, an environment, a first prompt.
//!
//! A person's `session.launch` makes the session at once, so that what goes wrong afterwards is a session error. A
//! task that starts by itself makes its environment first: what goes wrong before a session exists is the task's
//! launch error, with what it was asked to start with still stored, so that trying again is one click.

use crate::emit;
use crate::environments::StartFailure;
use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::runtime::pokes::Poke;
use model::agent::AgentProfile;
use model::environment::{Environment, EnvironmentState};
use model::error::ErrorCategory;
use model::event::TaskChange;
use model::ids::{AgentProfileId, EnvironmentId, MessageId, SessionId, TaskId, WorkspaceId};
use model::session::Session;
use model::task::TaskState;
use store::sessions::NewSession;
use store::tx::WriteTx;
use store::{profiles, sessions, tasks};

/// What a session is launched with.
#[derive(Clone, Debug)]
pub struct LaunchSession {
    /// Its task.
    pub task_id: TaskId,
    /// The client's id of the request; repeating it gives the same session.
    pub client_id: String,
    /// Which agent; absent: the workspace's first.
    pub agent_profile_id: Option<AgentProfileId>,
    /// The first prompt and its row's id.
    pub prompt: Option<(MessageId, String)>,
    /// In an environment of its own.
    pub fresh_environment: bool,
}

impl Orchestrator {
    /// Starts a session of a task.
    ///
    /// # Errors
    /// `Invalid` for a bad prompt, `NotFound` for a foreign agent profile, `Conflict` when there is none.
    pub async fn launch_session(&self, launch: LaunchSession) -> Result<Session> {
        MessageId::from_client(&launch.client_id)
            .map_err(|error| CommandError::Invalid(format!("client_id: {error}")))?;
        if let Some((_, content)) = &launch.prompt {
            crate::sends::check_content(content, false)?;
        }
        let mut tx = self.inner.store.write().await?;
        if let Some(id) =
            sessions::by_client_id(&mut tx, &launch.task_id, &launch.client_id).await?
        {
            return Ok(sessions::get(&mut tx, &id).await?);
        }
        let task = tasks::get(&mut tx, &launch.task_id).await?;
        let profile = choose_profile(
            &mut tx,
            &task.workspace_id,
            launch.agent_profile_id.as_ref(),
        )
        .await?;
        let ready =
            |e: &&Environment| e.state == EnvironmentState::Ready && !launch.fresh_environment;
        let bound = task.environments.iter().find(ready);
        let session = insert(
            &mut tx,
            &task.id,
            &launch.client_id,
            &profile,
            bound.map(|e| &e.id),
            launch.fresh_environment,
        )
        .await?;
        if let Some((message_id, content)) = &launch.prompt {
            if store::messages::owner(&mut tx, message_id).await?.is_some() {
                return Err(CommandError::conflict("this message id is taken"));
            }
            self.accept(&mut tx, &session, message_id, content, &[])
                .await?;
        } else if matches!(task.state, TaskState::Todo | TaskState::Created) {
            let now = tx.now();
            tasks::set_state(&mut tx, &task.id, TaskState::Scheduling, now).await?;
            emit::task(&mut tx, &task.id, TaskChange::Updated).await?;
        }
        tx.touch(&task.id);
        let session = emit::read_session(&mut tx, &session.id).await?;
        let poke = if launch.prompt.is_some() {
            Poke::Work
        } else {
            Poke::Launch
        };
        self.commit_and_poke(tx, &session, poke).await?;
        Ok((*session).clone())
    }

    /// Carries out a task's stored intent to start, in the background.
    pub(crate) fn start_intended(&self, task_id: TaskId) {
        let this = self.clone();
        self.spawn(async move {
            let outcome = this.start_now(&task_id).await;
            if let Err(failure) = outcome
                && let Err(error) = this.record_launch_error(&task_id, &failure).await
            {
                tracing::error!(task = %task_id, %error, "a failed launch could not be recorded");
            }
        });
    }

    async fn start_now(&self, task_id: &TaskId) -> std::result::Result<(), StartFailure> {
        let environment = self.environment_for(task_id, false).await?;
        let mut tx = self.inner.store.write().await?;
        let Some(intent) = tasks::launch_intent(&mut tx, task_id).await? else {
            return Ok(());
        };
        let task = tasks::get(&mut tx, task_id).await?;
        if task.state != TaskState::Scheduling || task.archived_at.is_some() {
            // A person decided otherwise meanwhile.
            tasks::set_launch_intent(&mut tx, task_id, None).await?;
            if task.state == TaskState::Scheduling {
                let now = tx.now();
                tasks::set_state(&mut tx, task_id, TaskState::Todo, now).await?;
                tx.touch(task_id);
                emit::task(&mut tx, task_id, TaskChange::Updated).await?;
            }
            return Ok(self.commit(tx).await?);
        }
        let wanted = intent.agent_profile_id.as_ref();
        let refused = |error: CommandError| {
            StartFailure::new(ErrorCategory::GenericLaunchFailure, error.to_string())
        };
        let profile = choose_profile(&mut tx, &task.workspace_id, wanted)
            .await
            .map_err(|error| {
                StartFailure::new(ErrorCategory::AgentUnavailable, error.to_string())
            })?;
        // The intent is spent with the session it made, so it cannot start twice.
        let client_id = format!("start-{}", SessionId::generate());
        let session = insert(
            &mut tx,
            task_id,
            &client_id,
            &profile,
            Some(&environment.id),
            false,
        )
        .await?;
        self.accept(
            &mut tx,
            &session,
            &MessageId::generate(),
            &intent.prompt,
            &[],
        )
        .await
        .map_err(refused)?;
        tasks::set_launch_intent(&mut tx, task_id, None).await?;
        tasks::set_launch_error(&mut tx, task_id, None).await?;
        tx.touch(task_id);
        let session = emit::read_session(&mut tx, &session.id).await?;
        self.commit_and_poke(tx, &session, Poke::Work).await?;
        Ok(())
    }

    async fn record_launch_error(
        &self,
        task_id: &TaskId,
        failure: &StartFailure,
    ) -> store::error::Result<()> {
        let mut tx = self.inner.store.write().await?;
        let now = tx.now();
        tracing::warn!(task = %task_id, category = failure.category.as_str(), "a launch failed");
        if tasks::get(&mut tx, task_id).await?.state != TaskState::Scheduling {
            // A person finished the task, or started an agent by hand, meanwhile: nobody waits for this launch.
            tasks::set_launch_intent(&mut tx, task_id, None).await?;
            return self.commit(tx).await;
        }
        let error = failure.record(task_id.as_str(), now);
        tasks::set_launch_error(&mut tx, task_id, Some(&error)).await?;
        tasks::set_state(&mut tx, task_id, TaskState::Todo, now).await?;
        tx.touch(task_id);
        emit::task(&mut tx, task_id, TaskChange::Updated).await?;
        self.commit(tx).await
    }
}

/// The named profile, or the workspace's first.
pub(crate) async fn choose_profile(
    tx: &mut WriteTx,
    workspace_id: &WorkspaceId,
    wanted: Option<&AgentProfileId>,
) -> Result<AgentProfile> {
    let mut all = profiles::of_workspace(tx, workspace_id).await?;
    match wanted {
        Some(id) => all.into_iter().find(|profile| profile.id == *id),
        None if all.is_empty() => None,
        None => Some(all.remove(0)),
    }
    .ok_or(CommandError::NotFound("agent profile"))
}

async fn insert(
    tx: &mut WriteTx,
    task_id: &TaskId,
    client_id: &str,
    profile: &AgentProfile,
    environment_id: Option<&EnvironmentId>,
    own_environment: bool,
) -> store::error::Result<Session> {
    let id = SessionId::generate();
    let same = sessions::of_task(tx, task_id)
        .await?
        .iter()
        .filter(|session| session.agent_profile_id == profile.id)
        .count();
    let name = if same == 0 {
        profile.name.clone()
    } else {
        format!("{} {}", profile.name, same + 1)
    };
    let new = NewSession {
        id: &id,
        task_id,
        environment_id,
        client_id,
        agent_profile_id: &profile.id,
        name: &name,
        own_environment,
    };
    let now = tx.now();
    sessions::insert(tx, &new, now).await?;
    sessions::get(tx, &id).await
}
