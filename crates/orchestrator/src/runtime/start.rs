//! Bringing an agent up: environment, process, session, mode and model.

use crate::emit;
use crate::environments::StartFailure;
use crate::keys::AgentKey;
use crate::runtime::Runtime;
use crate::runtime::live::Live;
use crate::runtime::pokes::Poke;
use crate::runtime::stream::NewRow;
use crate::turn_plan;
use agentctl::connection::AgentConnection;
use agentctl::connection::opening::OpenedSession;
use agentctl::error::AgentError;
use agentctl::handoff::AgentEvents;
use agentctl::process::AgentCommand;
use agentctl::request::McpServer;
use model::agent::{AgentChoice, AgentProfile, DEMO_COMMAND};
use model::environment::Environment;
use model::error::ErrorCategory;
use model::ids::{ExecutionId, TurnId};
use model::message::{Author, MessageType};
use model::session::Session;
use model::turn::TurnOutcome;
use model::turn_machine::decide;
use model::turn_machine::input::Input;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::executions::{self, Execution};
use store::sessions::SessionRoute;
use store::{profiles, sessions, turns};
use tokio::time::Instant;

/// What an agent is brought up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A prompt waits.
    Prompt,
    /// Somebody launched the session without a prompt.
    Launch,
    /// Somebody opened the session.
    Resume,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// An agent is there.
    Ready,
    /// It failed; the error stands on the session.
    Failed,
    /// A person stopped it.
    Interrupted,
    /// The server stops; recovery finds the rows as they are and puts the prompt back into the queue.
    ShuttingDown,
}

/// What a start knows before it does anything.
struct Before {
    session: Session,
    route: SessionRoute,
    profile: AgentProfile,
}

impl Runtime {
    /// Brings an agent up. A stop, or a cancel with nothing queued, ends the attempt; a failure becomes the session's
    /// error.
    pub(super) async fn start(&mut self, purpose: Purpose) -> Start {
        let lifecycle = (purpose == Purpose::Resume).then(TurnId::generate);
        if !self.begin_start(lifecycle.as_ref()).await {
            return Start::Interrupted;
        }
        let outcome = tokio::select! {
            biased;
            () = self.o.inner.shutdown.cancelled() => return Start::ShuttingDown,
            () = self.no_longer_wanted() => None,
            outcome = self.bring_up() => Some(outcome),
        };
        match outcome {
            Some(Ok(live)) => {
                self.o.inner.monitor.set_live(&live.environment_id, true);
                self.live = Some(live);
                self.handle.has_process.store(true, Ordering::SeqCst);
                if purpose != Purpose::Prompt {
                    self.end_start().await;
                }
                Start::Ready
            }
            Some(Err(failure)) => {
                self.start_failed(Some(failure)).await;
                Start::Failed
            }
            None => {
                self.start_failed(None).await;
                Start::Interrupted
            }
        }
    }

    /// Waits until nobody wants this start any more: the session is to stop, or the prompt it was made for was
    /// cancelled and none is queued behind it. With one behind it, the queue goes on and the start with it.
    async fn no_longer_wanted(&self) {
        loop {
            self.handle.interrupted().await;
            if self.handle.peek().has(Poke::Stop) {
                return;
            }
            // Before looking: whoever cancels later pokes again.
            self.handle.forget(Poke::Cancel);
            let goes_on = self
                .persist("cancelled start", || Box::pin(self.pass_over_cancelled()))
                .await;
            if goes_on != Some(true) {
                return;
            }
        }
    }

    /// Settles a cancelled prompt that waits for this start and reserves the next; says whether the start goes on.
    async fn pass_over_cancelled(&self) -> store::error::Result<bool> {
        let mut tx = self.o.inner.store.write().await?;
        let Some(turn) = turns::open(&mut tx, &self.session_id).await? else {
            return Ok(false);
        };
        if turn.cancel_requested_at.is_none() {
            return Ok(true); // it was an earlier turn that somebody cancelled
        }
        let facts = self.facts(&mut tx).await?;
        let cancelled = Input::Unsent(TurnOutcome::Cancelled);
        let next = turn_plan::follow(&mut tx, &self.session_id, &facts, &cancelled).await?;
        if next.is_none() {
            return Ok(false); // the end of the start settles it, with everything else
        }
        self.o.commit(tx).await?;
        Ok(true)
    }

    /// Says that a process comes up; says whether one is to. A session that was closed meanwhile stays closed.
    async fn begin_start(&self, lifecycle: Option<&TurnId>) -> bool {
        let begun = self.persist("start", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let facts = self.facts(&mut tx).await?;
                if facts.session.is_terminal() {
                    return Ok(false);
                }
                let starting = Input::Starting {
                    lifecycle: lifecycle.is_some_and(|turn| facts.turn(turn).is_none()),
                };
                let fresh = lifecycle.cloned().unwrap_or_else(TurnId::generate);
                let plan = decide(&facts, &starting, &fresh).unwrap_or_default();
                turn_plan::carry_out(&mut tx, &self.session_id, &facts, &plan.changes).await?;
                self.o.commit(tx).await?;
                Ok(true)
            })
        });
        // One that cannot be written is tried all the same: what it comes to is written then.
        begun.await != Some(false)
    }

    /// Ready, and no prompt waits: the session waits for a person, the task goes back to where it was.
    async fn end_start(&self) {
        self.persist("start", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let facts = self.facts(&mut tx).await?;
                turn_plan::follow(&mut tx, &self.session_id, &facts, &Input::Ready).await?;
                emit::session(&mut tx, &self.session_id).await?;
                self.o.commit(tx).await
            })
        })
        .await;
    }

    /// The start failed, or was stopped: the reserved prompt is undelivered and the queue waits for a person.
    async fn start_failed(&mut self, failure: Option<StartFailure>) {
        if let Some(failure) = &failure {
            let category = failure.category.as_str();
            tracing::warn!(session = %self.session_id, category, "an agent could not be started");
        }
        let outcome = if failure.is_some() {
            TurnOutcome::Failed
        } else {
            TurnOutcome::Cancelled
        };
        self.persist_ending("failed start", outcome, failure.as_ref(), || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let now = tx.now();
                let facts = self.facts(&mut tx).await?;
                let failed = Input::StartFailed { outcome };
                turn_plan::follow(&mut tx, &self.session_id, &facts, &failed).await?;
                if let Some(failure) = &failure {
                    let error = failure.record(self.session_id.as_str(), now);
                    sessions::set_error(&mut tx, &self.session_id, &error).await?;
                }
                emit::session(&mut tx, &self.session_id).await?;
                self.o.commit(tx).await
            })
        })
        .await;
        if let Some(failure) = failure {
            self.rows.turn_id = None;
            let text = model::text::preview(&failure.text, model::bounds::ERROR_PREVIEW_BYTES);
            self.insert(&NewRow::new(Author::System, MessageType::Error, &text))
                .await;
        }
    }

    async fn bring_up(&self) -> Result<Live, StartFailure> {
        let before = self.before().await?;
        let place = Arc::clone(&self.o.inner.live).try_acquire_owned().map_err(|_| {
            let limit = self.o.inner.config.live_agents;
            StartFailure::new(
                ErrorCategory::LimitReached,
                format!("{limit} agents are running, which is the limit; stop one, or raise --max-agents"),
            )
        })?;
        let _one_of_few = Arc::clone(&self.o.inner.starting)
            .acquire_owned()
            .await
            .map_err(|_| closing())?;
        let environment = self.environment(&before).await?;
        let command = self.command(&before.profile, &environment);
        let started = AgentConnection::start(&command, &self.o.inner.config.launch).await;
        let (connection, events) =
            started.map_err(|error| of_agent(&error, &before.profile.command))?;
        self.note_execution(&connection, &environment).await?;
        let key = self.o.issue_key(&self.session_id);
        let tools = key.as_ref().map(|key| self.tools_of(&connection, key));
        let tools: Vec<McpServer> = tools.into_iter().collect();
        let opened = self.open_session(&connection, &before, &tools).await;
        let opened = opened.map_err(|error| of_agent(&error, &before.profile.command))?;
        self.keep_opened(&opened).await?;
        self.prefer(&connection, &before, &opened).await;
        Ok(self.live(connection, events, &environment, place, key))
    }

    fn live(
        &self,
        connection: AgentConnection,
        events: AgentEvents,
        environment: &Environment,
        place: tokio::sync::OwnedSemaphorePermit,
        key: Option<AgentKey>,
    ) -> Live {
        let resumable = connection.info().load_session || connection.info().resume;
        Live {
            connection,
            events,
            environment_id: environment.id.clone(),
            _place: place,
            _key: key,
            last_event: Instant::now(),
            resumable,
            tickets: HashMap::new(),
            subagents: BTreeSet::new(),
            stopping: false,
        }
    }

    async fn before(&self) -> Result<Before, StartFailure> {
        let mut tx = self.o.inner.store.read().await?;
        let session = sessions::get(&mut tx, &self.session_id).await?;
        let route = sessions::route(&mut tx, &self.session_id).await?;
        let profile = profiles::get(&mut tx, &session.agent_profile_id).await?;
        let profile = profile.ok_or_else(|| {
            StartFailure::new(
                ErrorCategory::AgentUnavailable,
                "the agent's profile is gone",
            )
        })?;
        Ok(Before {
            session,
            route,
            profile,
        })
    }

    /// The environment, made if there is none yet. Making one is finished even if the start is stopped meanwhile:
    /// half a worktree helps nobody.
    async fn environment(&self, before: &Before) -> Result<Environment, StartFailure> {
        let bound = before.session.task_environment_id.is_some();
        let fresh = before.route.own_environment && !bound;
        if bound {
            return self.bound_environment(before).await;
        }
        let (o, task_id, session_id) = (
            self.o.clone(),
            self.task_id.clone(),
            self.session_id.clone(),
        );
        let made = self.o.inner.tasks.spawn(async move {
            let environment = o.environment_for(&task_id, fresh).await?;
            let mut tx = o.inner.store.write().await?;
            sessions::set_environment(&mut tx, &session_id, &environment.id).await?;
            tx.touch(&task_id);
            emit::session(&mut tx, &session_id).await?;
            o.commit(tx).await?;
            Ok(environment)
        });
        made.await.map_err(|_| closing())?
    }

    async fn bound_environment(&self, before: &Before) -> Result<Environment, StartFailure> {
        let missing = || {
            StartFailure::new(
                ErrorCategory::WorkspaceMissing,
                "the session's worktree is not there any more",
            )
        };
        let id = before
            .session
            .task_environment_id
            .as_ref()
            .ok_or_else(missing)?;
        let mut tx = self.o.inner.store.read().await?;
        let environment = store::environments::get(&mut tx, id)
            .await?
            .ok_or_else(missing)?;
        if PathBuf::from(&environment.path).is_dir() {
            Ok(environment)
        } else {
            Err(missing())
        }
    }

    fn command(&self, profile: &AgentProfile, environment: &Environment) -> AgentCommand {
        let config = &self.o.inner.config;
        let mut env = profile.env.clone();
        let (program, args) = if profile.command == DEMO_COMMAND {
            let memory = config.data_dir.join("demo-agent");
            env.insert(
                "FLIGHTSTRIP_DEMO_STATE".to_owned(),
                memory.to_string_lossy().into_owned(),
            );
            env.extend(config.demo_env.iter().cloned());
            let program = config.launch.shim_program.to_string_lossy().into_owned();
            (
                program,
                config
                    .demo_args
                    .iter()
                    .chain(&profile.args)
                    .cloned()
                    .collect(),
            )
        } else {
            (profile.command.clone(), profile.args.clone())
        };
        AgentCommand {
            program,
            args,
            env,
            cwd: PathBuf::from(&environment.path),
        }
    }

    async fn note_execution(
        &self,
        connection: &AgentConnection,
        environment: &Environment,
    ) -> Result<(), StartFailure> {
        let Some(process) = connection.process() else {
            return Ok(());
        };
        let execution = Execution {
            id: ExecutionId::generate(),
            session_id: self.session_id.clone(),
            environment_id: environment.id.clone(),
            pid: i64::from(process.pid),
            process_started: process.start_time.to_string(),
            instance_id: self.o.inner.config.instance_id.clone(),
        };
        let mut tx = self.o.inner.store.write().await?;
        let now = tx.now();
        executions::insert(&mut tx, &execution, now).await?;
        Ok(self.o.commit(tx).await?)
    }

    /// The server that an agent asks through: over HTTP when it can, else as a program that relays.
    fn tools_of(&self, connection: &AgentConnection, key: &AgentKey) -> McpServer {
        let name = "flightstrip".to_owned();
        if connection.info().mcp_http {
            return McpServer::Http {
                name,
                url: key.url().to_owned(),
                headers: vec![(
                    "Authorization".to_owned(),
                    format!("Bearer {}", key.secret()),
                )],
            };
        }
        let program = &self.o.inner.config.launch.shim_program;
        McpServer::Stdio {
            name,
            command: program.to_string_lossy().into_owned(),
            args: vec!["mcp-bridge".to_owned()],
            env: vec![
                ("FLIGHTSTRIP_MCP_URL".to_owned(), key.url().to_owned()),
                ("FLIGHTSTRIP_MCP_SECRET".to_owned(), key.secret().to_owned()),
            ],
        }
    }

    /// Continues the earlier conversation if there was one; else, or if the agent cannot, begins a new one.
    async fn open_session(
        &self,
        connection: &AgentConnection,
        before: &Before,
        tools: &[McpServer],
    ) -> Result<OpenedSession, AgentError> {
        let Some(earlier) = &before.route.acp_session_id else {
            return connection.new_session(tools).await;
        };
        match connection.load_session(earlier, tools).await {
            Ok(opened) => Ok(opened),
            Err(
                error @ (AgentError::Rpc { .. }
                | AgentError::Unsupported { .. }
                | AgentError::RequestTimeout { .. }),
            ) => {
                tracing::info!(session = %self.session_id, kind = error.kind(), "an agent could not continue its session");
                let opened = connection.new_session(tools).await?;
                self.note_lost_memory().await;
                Ok(opened)
            }
            Err(error) => Err(error),
        }
    }

    async fn note_lost_memory(&self) {
        let text = "The agent could not continue its earlier conversation. It goes on without remembering it.";
        let new = NewRow::new(Author::System, MessageType::Status, text);
        self.store_row(&new, false).await;
    }

    async fn keep_opened(&self, opened: &OpenedSession) -> Result<(), StartFailure> {
        let mut tx = self.o.inner.store.write().await?;
        sessions::set_acp_session(&mut tx, &self.session_id, Some(&opened.acp_session_id)).await?;
        if let Some(commands) = &opened.commands {
            sessions::set_commands(&mut tx, &self.session_id, commands).await?;
        }
        self.o.commit(tx).await?;
        Ok(self
            .o
            .keep_settings(&self.session_id, &opened.settings)
            .await?)
    }

    /// Sets mode and model: the first *offered* of what a person chose, what the profile says and, for the mode, the
    /// one that asks before edits and commands in agents known to have one. An agent that does not take its mode may
    /// act without asking, so the transcript says so.
    async fn prefer(&self, connection: &AgentConnection, before: &Before, opened: &OpenedSession) {
        let settings = &opened.settings;
        let asking = connection.info().traits.asking_mode.map(str::to_owned);
        let modes = [
            &before.route.chosen_mode,
            &before.profile.default_mode,
            &asking,
        ];
        let models = [&before.route.chosen_model, &before.profile.default_model];
        let mode = first_offered(&modes, &settings.modes)
            .filter(|id| settings.current_mode.as_ref() != Some(id));
        let model = first_offered(&models, &settings.models)
            .filter(|id| settings.current_model.as_ref() != Some(id));
        let mut latest = None;
        if let Some(mode) = mode {
            let outcome = connection.set_mode(&mode).await;
            if outcome.is_err() {
                let text =
                    format!("The agent did not take the mode {mode}. It may act without asking.");
                let note = NewRow::new(Author::System, MessageType::Status, &text);
                self.store_row(&note, false).await;
            }
            latest = Some(outcome);
        }
        if let Some(model) = model {
            latest = Some(connection.set_model(&model).await);
        }
        let kept = match latest {
            Some(Ok(settings)) => self.o.keep_settings(&self.session_id, &settings).await,
            Some(Err(error)) => {
                tracing::warn!(session = %self.session_id, kind = error.kind(), "an agent did not take a setting");
                Ok(())
            }
            None => Ok(()),
        };
        if let Err(error) = kept {
            tracing::warn!(session = %self.session_id, %error, "settings could not be stored");
        }
    }
}

fn first_offered(wanted: &[&Option<String>], offered: &[AgentChoice]) -> Option<String> {
    wanted
        .iter()
        .copied()
        .flatten()
        .find(|id| offered.iter().any(|choice| choice.id == **id))
        .cloned()
}

fn closing() -> StartFailure {
    StartFailure::new(
        ErrorCategory::GenericLaunchFailure,
        "the server is shutting down",
    )
}

/// An agent's failure as a session's, in words that say what to do.
pub(super) fn of_agent(error: &AgentError, command: &str) -> StartFailure {
    let category = match error {
        AgentError::CommandNotFound { .. } | AgentError::Spawn { .. } => {
            ErrorCategory::AgentUnavailable
        }
        AgentError::WorkspaceMissing => ErrorCategory::WorkspaceMissing,
        AgentError::ExitedAtOnce { .. } | AgentError::Gone => ErrorCategory::AgentExited,
        AgentError::AuthRequired { .. } => ErrorCategory::AgentAuth,
        AgentError::LineTooLong { .. } => ErrorCategory::LineTooLong,
        AgentError::Rpc { message, .. } if is_usage_limit(message) => ErrorCategory::UsageLimit,
        _ => ErrorCategory::AgentProtocol,
    };
    let text = match error {
        AgentError::CommandNotFound { program } => {
            format!(
                "{program} was not found on the server; install it, or change the agent's command in Settings"
            )
        }
        AgentError::ExitedAtOnce { stderr_tail, .. } if !stderr_tail.trim().is_empty() => {
            format!("{command}: {error}: {}", stderr_tail.trim())
        }
        AgentError::AuthRequired { .. } => {
            format!("{error}; sign in to the agent in a terminal, then try again")
        }
        _ => error.to_string(),
    };
    StartFailure::new(category, text)
}

fn is_usage_limit(message: &str) -> bool {
    let message = message.to_lowercase();
    ["usage limit", "quota", "rate limit", "credit balance"]
        .iter()
        .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_offered_does_not_keep_the_next_wish_from_being_tried() {
        let choice = |id: &str| AgentChoice {
            id: id.to_owned(),
            name: id.to_owned(),
            description: None,
        };
        let offered = [choice("agent"), choice("read-only")];
        let wish = |id: &str| Some(id.to_owned());
        let (typo, asking) = (wish("reed-only"), wish("read-only"));
        assert_eq!(first_offered(&[&None, &typo, &asking], &offered), asking);
        assert_eq!(
            first_offered(&[&wish("agent"), &asking], &offered),
            wish("agent")
        );
        assert_eq!(first_offered(&[&typo, &None], &offered), None);
    }
}
