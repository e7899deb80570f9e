//! Git as people use it: what changed, how, and taking the result. And the sink of the monitor's observations.

use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use crate::publish::Publisher;
use agentctl::git_monitor::{ObservationSink, ObservedRepository};
use flow::throttle::{ThrottleDecision, WriteThrottle};
use futures_util::future::BoxFuture;
use git::diff::FileDiff;
use git::merge::{MergeOutcome, MergeRefusal};
use git::observe::ChangesPage;
use model::clock::Timestamp;
use model::environment::{Environment, EnvironmentRepository};
use model::event::Event;
use model::git::{GitSnapshot, GitStatus, MeasureFailure, SnapshotTrigger, normalised_repository};
use model::ids::{EnvironmentId, SessionId, SnapshotId};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::open::Store;
use store::snapshots::{self, RecordOutcome};
use store::{environments, repositories};

/// What identifies an observation's content: everything but when it was made.
type Seen = GitStatus;

/// Throttles, stores and publishes what the monitor sees.
pub(crate) struct GitSink {
    store: Store,
    publisher: Publisher,
    throttle: Mutex<WriteThrottle<(EnvironmentId, String), Seen>>,
}

impl GitSink {
    pub(crate) fn new(store: Store, publisher: Publisher) -> Self {
        Self {
            store,
            publisher,
            throttle: Mutex::new(WriteThrottle::new()),
        }
    }

    async fn take(&self, observed: &ObservedRepository) {
        let stored = match (observed.status(), &observed.outcome) {
            (Some(status), _) => self.store_live(&observed.environment_id, status).await,
            (None, Err(reason)) => {
                self.failed(observed, *reason);
                Ok(())
            }
            (None, Ok(_)) => Ok(()),
        };
        if let Err(error) = stored {
            tracing::warn!(environment = %observed.environment_id, %error, "an observation could not be stored");
        }
    }

    async fn store_live(
        &self,
        environment_id: &EnvironmentId,
        status: GitStatus,
    ) -> store::error::Result<()> {
        let key = (
            environment_id.clone(),
            normalised_repository(status.repository_name.as_deref()).to_owned(),
        );
        let seen = Seen {
            timestamp: Timestamp::from_micros(0),
            ..status.clone()
        };
        let now = Duration::from_micros(u64::try_from(status.timestamp.as_micros()).unwrap_or(0));
        let decision = self.throttle().decide(&key, &seen, now);
        if decision == ThrottleDecision::Skip {
            return Ok(());
        }
        record(
            &self.store,
            &self.publisher,
            environment_id,
            None,
            SnapshotTrigger::LiveMonitor,
            status,
        )
        .await?;
        self.throttle().written(key, seen, now);
        Ok(())
    }

    fn throttle(&self) -> std::sync::MutexGuard<'_, WriteThrottle<(EnvironmentId, String), Seen>> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, observed: &ObservedRepository, reason: MeasureFailure) {
        tracing::info!(
            environment = %observed.environment_id,
            repository = %observed.repository_name,
            reason = ?reason,
            "a repository could not be measured"
        );
        self.publisher.hub.publish(&Event::GitMeasureFailed {
            environment_id: observed.environment_id.clone(),
            repository_name: Some(observed.repository_name.clone()).filter(|name| !name.is_empty()),
            at: observed.looked_at,
            reason,
        });
    }
}

impl ObservationSink for GitSink {
    fn observed<'a>(&'a self, observed: &'a ObservedRepository) -> BoxFuture<'a, ()> {
        Box::pin(self.take(observed))
    }
}

/// Stores an observation and tells it: Git status to the environment's open sessions, a stale mark to every task
/// that binds the environment (GIT-03).
pub(crate) async fn record(
    store: &Store,
    publisher: &Publisher,
    environment_id: &EnvironmentId,
    session_id: Option<SessionId>,
    triggered_by: SnapshotTrigger,
    status: GitStatus,
) -> store::error::Result<()> {
    let mut tx = store.write().await?;
    // A removed environment takes its observations with it (ENV-01); one that comes late has no owner (ENV-04).
    if environments::get(&mut tx, environment_id).await?.is_none() {
        tracing::info!(environment = %environment_id, "an observation of an environment that is gone was dropped");
        return Ok(());
    }
    let snapshot = GitSnapshot {
        id: SnapshotId::generate(),
        environment_id: environment_id.clone(),
        session_id,
        triggered_by,
        status,
    };
    if snapshots::record(&mut tx, &snapshot).await? == RecordOutcome::Recorded {
        for task_id in environments::tasks_of(&mut tx, environment_id).await? {
            tx.touch(&task_id);
        }
        let status = Arc::new(snapshot.status);
        tx.emit(Event::GitStatus {
            environment_id: environment_id.clone(),
            status,
        });
    }
    publisher.publish(&tx.commit().await?);
    Ok(())
}

impl Orchestrator {
    /// A client began, or ended, to look at this environment: its polling gets faster or slower (API-03).
    pub fn set_focus(&self, environment_id: &EnvironmentId, focused: bool) {
        let mut focus = self
            .inner
            .focus
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let count = focus.entry(environment_id.clone()).or_default();
        *count = if focused {
            count.saturating_add(1)
        } else {
            count.saturating_sub(1)
        };
        let any = 0 < *count;
        if !any {
            focus.remove(environment_id);
        }
        self.inner.monitor.focus(environment_id, any);
    }

    /// One observation of every repository of the environment that begins now (API-04), as it is stored then. A
    /// repository that could not be measured is told by `session.git.measure_failed` and keeps its stored row.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn refresh_git(&self, environment_id: &EnvironmentId) -> Result<Vec<GitStatus>> {
        self.inner.monitor.observe_now(environment_id).await;
        self.current_git(environment_id).await
    }

    /// The authoritative stored status of every repository of the environment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn current_git(&self, environment_id: &EnvironmentId) -> Result<Vec<GitStatus>> {
        let mut tx = self.inner.store.read().await?;
        let rows = snapshots::current(&mut tx, std::slice::from_ref(environment_id)).await?;
        Ok(rows.into_iter().map(|row| row.status).collect())
    }

    /// Files that differ right now, after `cursor`.
    ///
    /// # Errors
    /// `NotFound` for an unknown repository, `Git` when it cannot be measured.
    pub async fn git_changes(
        &self,
        environment_id: &EnvironmentId,
        repository: Option<&str>,
        cursor: Option<&str>,
    ) -> Result<(Timestamp, ChangesPage)> {
        let (_, worktree) = self.worktree(environment_id, repository).await?;
        let began = self.inner.store.now();
        let path = Path::new(&worktree.worktree_path);
        let page = self
            .inner
            .git
            .changes_page(path, worktree.base_branch.as_deref(), cursor)
            .await?;
        Ok((began, page))
    }

    /// The diff of one file.
    ///
    /// # Errors
    /// `NotFound` for an unknown repository, `Invalid` for a path outside, `Git` when it cannot be measured.
    pub async fn git_diff(
        &self,
        environment_id: &EnvironmentId,
        repository: Option<&str>,
        path: &str,
    ) -> Result<FileDiff> {
        let (_, worktree) = self.worktree(environment_id, repository).await?;
        let root = Path::new(&worktree.worktree_path);
        match self
            .inner
            .git
            .diff_file(root, worktree.base_branch.as_deref(), path)
            .await
        {
            Err(git::error::GitError::PathOutside) => {
                Err(CommandError::invalid("the path leads out of the worktree"))
            }
            other => Ok(other?),
        }
    }

    /// Takes the committed result into the base branch; gives the outcome's word, the base and its commit.
    ///
    /// # Errors
    /// `Conflict` with what is in the way and what to do.
    pub async fn merge_into_base(
        &self,
        environment_id: &EnvironmentId,
        repository: Option<&str>,
    ) -> Result<(&'static str, String, String)> {
        let (_, worktree) = self.worktree(environment_id, repository).await?;
        let base = worktree.base_branch.clone();
        let base = base.ok_or_else(|| {
            CommandError::conflict("no base branch is recorded for this worktree")
        })?;
        let source = {
            let mut tx = self.inner.store.read().await?;
            repositories::get(&mut tx, &worktree.repository_id).await?
        };
        let source = source.ok_or(CommandError::NotFound("repository"))?;
        let outcome = self
            .inner
            .git
            .merge_into_base(
                Path::new(&source.path),
                Path::new(&worktree.worktree_path),
                &worktree.branch,
                &base,
            )
            .await?;
        let (word, head) = match outcome {
            MergeOutcome::AlreadyUpToDate { head } => ("already_up_to_date", head),
            MergeOutcome::FastForward { head } => ("fast_forward", head),
            MergeOutcome::Merged { head } => ("merged", head),
            MergeOutcome::Refused(refusal) => {
                return Err(refused(&refusal, &worktree.branch, &base));
            }
        };
        let (this, id) = (self.clone(), environment_id.clone());
        self.spawn(async move {
            this.inner.monitor.observe_now(&id).await;
        });
        Ok((word, base, head))
    }

    async fn worktree(
        &self,
        environment_id: &EnvironmentId,
        repository: Option<&str>,
    ) -> Result<(Environment, EnvironmentRepository)> {
        let mut tx = self.inner.store.read().await?;
        let environment = environments::get(&mut tx, environment_id).await?;
        let environment = environment.ok_or(CommandError::NotFound("environment"))?;
        let wanted = normalised_repository(repository);
        let found = environment
            .repositories
            .iter()
            .find(|one| normalised_repository(one.repository_name.as_deref()) == wanted)
            .cloned();
        Ok((
            environment,
            found.ok_or(CommandError::NotFound("repository"))?,
        ))
    }
}

/// A refusal in words: what is in the way and what to do.
fn refused(refusal: &MergeRefusal, branch: &str, base: &str) -> CommandError {
    let (reason, message) = match refusal {
        MergeRefusal::UncommittedChanges => (
            "uncommitted_changes",
            "the worktree has changes that are in no commit; commit them first, or ask the agent to".to_owned(),
        ),
        MergeRefusal::OtherBranch => {
            ("other_branch", format!("the worktree is not on {branch} any more; check it out first"))
        }
        MergeRefusal::NothingCommitted => ("nothing_committed", format!("{branch} has no commit to merge yet")),
        MergeRefusal::BaseNotLocal => {
            ("base_not_local", format!("{base} is no local branch of the repository; create it there first"))
        }
        MergeRefusal::BaseCheckoutDirty => (
            "base_checkout_dirty",
            format!("{base} is checked out in a folder with changes; commit or stash them there first"),
        ),
        MergeRefusal::Conflict { paths } => (
            "conflict",
            format!(
                "{branch} and {base} changed the same lines in {}; ask the agent to merge {base} first",
                paths.join(", ")
            ),
        ),
        MergeRefusal::UnrelatedHistories => {
            ("unrelated_histories", format!("{branch} and {base} have no common history"))
        }
        MergeRefusal::IdentityMissing => (
            "identity_missing",
            "a merge commit is needed and Git knows no name and address for it; set user.name and user.email"
                .to_owned(),
        ),
        MergeRefusal::BaseMoved => ("base_moved", format!("{base} moved meanwhile; try again")),
        MergeRefusal::CheckoutRefused { explanation } => {
            let words = model::text::preview(explanation, 300);
            ("checkout_refused", format!("Git refused in the checkout of {base}: {words}"))
        }
    };
    CommandError::Conflict {
        message,
        details: Some(serde_json::json!({ "reason": reason })),
    }
}
