//! What is around a session: worktrees, pull requests, files, and who may come in.

use crate::asked::Plans;
use crate::story::{CURRENT, Cast};
use anyhow::Result;
use model::attachment::Attachment;
use model::git::SnapshotTrigger;
use model::ids::{AttachmentId, EnvironmentId};
use model::pull_request::ChecksState;
use store::{attachments, auth, environments, pull_requests, scope, sessions, snapshots, tasks};
use testkit::story::look::Look;
use testkit::story::pull_request::{checked, facts};

/// Looks at worktrees.
pub(crate) async fn git(plans: &mut Plans, cast: &Cast) -> Result<()> {
    let environment = &cast.environment;
    for by in [
        SnapshotTrigger::LiveMonitor,
        SnapshotTrigger::AgentCompleted,
    ] {
        let look = Look {
            by,
            ..Look::at(plans.story.now(), 1)
        };
        let snapshot = look.snapshot(environment);
        plans
            .ask("snapshots::record", &[CURRENT], async |tx| {
                snapshots::record(tx, &snapshot).await
            })
            .await?;
    }
    let both = [environment.clone(), EnvironmentId::generate()];
    plans
        .ask("snapshots::current", &[CURRENT], async |tx| {
            snapshots::current(tx, &both).await
        })
        .await?;
    plans
        .ask("environments::get", &[], async |tx| {
            environments::get(tx, environment).await
        })
        .await?;
    plans
        .ask(
            "environments::tasks_of",
            &["task_environment_bindings_by_environment"],
            async |tx| environments::tasks_of(tx, environment).await,
        )
        .await?;
    plans
        .ask(
            "environments::sessions_of",
            &["task_sessions_by_environment"],
            async |tx| environments::sessions_of(tx, environment).await,
        )
        .await?;
    plans
        .ask("environments::only_of_task", &[], async |tx| {
            environments::only_of_task(tx, &cast.task).await
        })
        .await
        .map(drop)
}

/// Pull requests.
pub(crate) async fn forge(plans: &mut Plans, cast: &Cast) -> Result<()> {
    let standing = checked(ChecksState::Green);
    let id = plans.story.pull_request(&cast.task, 7, standing).await?;
    plans
        .ask("pull_requests::record_facts", &[], async |tx| {
            let now = tx.now();
            let facts = facts(checked(ChecksState::Failing));
            pull_requests::record_facts(tx, &id, &facts, now).await
        })
        .await?;
    plans
        .ask("pull_requests::of_task", &[], async |tx| {
            pull_requests::of_task(tx, &cast.task).await
        })
        .await?;
    plans
        .ask("pull_requests::unlink", &[], async |tx| {
            pull_requests::unlink(tx, &id).await
        })
        .await
        .map(drop)
}

/// Files of messages.
pub(crate) async fn files(plans: &mut Plans, cast: &Cast) -> Result<()> {
    let (task, prompt) = (&cast.task, &cast.prompt);
    let file = Attachment {
        id: AttachmentId::generate(),
        name: "notes.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        size: 1,
    };
    plans
        .ask("attachments::insert", &[], async |tx| {
            let now = tx.now();
            attachments::insert(tx, &file, task, "00", now).await
        })
        .await?;
    plans
        .ask("attachments::unclaimed", &[], async |tx| {
            attachments::unclaimed(tx, task).await
        })
        .await?;
    plans
        .ask("attachments::claim", &[], async |tx| {
            attachments::claim(tx, &file.id, task, prompt, 0).await
        })
        .await?;
    plans
        .ask(
            "attachments::of_message",
            &["message_attachments_by_message"],
            async |tx| attachments::of_message(tx, prompt).await,
        )
        .await?;
    plans
        .ask("attachments::of_session", &[], async |tx| {
            attachments::of_session(tx, &cast.session).await
        })
        .await?;
    plans
        .ask(
            "attachments::of_task",
            &["message_attachments_by_task"],
            async |tx| attachments::of_task(tx, task).await,
        )
        .await?;
    plans
        .ask(
            "attachments::remove_waiting_since",
            &["message_attachments_unclaimed"],
            async |tx| {
                let now = tx.now();
                attachments::remove_waiting_since(tx, now).await
            },
        )
        .await
        .map(drop)
}

/// Who may: asked at every request.
pub(crate) async fn doors(plans: &mut Plans, cast: &Cast) -> Result<()> {
    plans
        .ask("scope", &[], async |tx| {
            scope::of_task(tx, &cast.task).await?;
            scope::of_session(tx, &cast.session).await?;
            scope::of_environment(tx, &cast.environment).await
        })
        .await?;
    plans
        .ask("auth::find", &[], async |tx| {
            let now = tx.now();
            auth::find(tx, "secret", now).await
        })
        .await?;
    let workspace = plans.story.workspace.clone();
    plans
        .ask("by_client_id", &[], async |tx| {
            tasks::by_client_id(tx, &workspace, "one").await?;
            sessions::by_client_id(tx, &cast.task, "one").await
        })
        .await
        .map(drop)
}
