//! Every committed event and the notification it becomes.

use crate::server::Server;
use crate::world::World;
use anyhow::{Context, Result};
use model::agent::{AgentSettings, AgentUsage};
use model::event::{Event, EventHub, ResolvedRequest, TaskChange};
use model::git::MeasureFailure;
use model::ids::{AgentProfileId, MessageId, PendingId, RepositoryId, TurnId};
use model::message::RequestStatus;
use model::turn::Turn;
use model::workspace::Repository;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use wire::action::notification as action;

/// One event of each kind of a workspace, with what must be found in its notification.
async fn of_workspace(
    server: &Server,
    world: &World,
) -> Result<Vec<(Event, &'static str, &'static str, Value)>> {
    let mut tx = server.store.read().await?;
    let task = Arc::new(store::tasks::get(&mut tx, &world.task).await?);
    let session = Arc::new(store::sessions::get(&mut tx, &world.session).await?);
    let workflows = store::workspaces::workflows(&mut tx, &server.workspace).await?;
    let profiles = store::profiles::of_workspace(&mut tx, &server.workspace).await?;
    drop(tx);
    let summary = model::summary::TaskStatusSummary {
        revision: 7,
        updated_at: server.store.now(),
        payload: model::summary::SummaryPayload::default(),
    };
    let repository = Repository {
        id: RepositoryId::parse("r")?,
        workspace_id: server.workspace.clone(),
        revision: 1,
        name: "shop".to_owned(),
        path: "/nowhere".to_owned(),
        default_branch: None,
        created_at: server.store.now(),
    };
    let changed = |change| Event::Task {
        change,
        task: Arc::clone(&task),
    };
    let (workspace_id, task_id) = (server.workspace.clone(), world.task.clone());
    let id = json!(world.task);
    Ok(vec![
        (
            changed(TaskChange::Created),
            action::TASK_CREATED,
            "/task/id",
            id.clone(),
        ),
        (
            changed(TaskChange::Updated),
            action::TASK_UPDATED,
            "/task/id",
            id.clone(),
        ),
        (
            changed(TaskChange::Moved),
            action::TASK_MOVED,
            "/task/id",
            id.clone(),
        ),
        (
            changed(TaskChange::Archived),
            action::TASK_ARCHIVED,
            "/task/id",
            id.clone(),
        ),
        (
            Event::Summary {
                workspace_id: workspace_id.clone(),
                task_id: task_id.clone(),
                summary: summary.into(),
            },
            action::TASK_STATUS_SUMMARY_UPDATED,
            "/status_summary/revision",
            json!(7),
        ),
        (
            Event::Session(session),
            action::SESSION_STATE_CHANGED,
            "/session/id",
            json!(world.session),
        ),
        (
            Event::Repository(repository.into()),
            action::REPOSITORY_UPDATED,
            "/name",
            json!("shop"),
        ),
        (
            Event::RepositoryRemoved {
                workspace_id: workspace_id.clone(),
                repository_id: RepositoryId::parse("r")?,
            },
            action::REPOSITORY_REMOVED,
            "/repository_id",
            json!("r"),
        ),
        (
            Event::Workflow(workflows.into_iter().next().context("a workflow")?.into()),
            action::WORKFLOW_UPDATED,
            "/name",
            json!("Board"),
        ),
        (
            Event::AgentProfile(profiles.into_iter().next().context("a profile")?.into()),
            action::AGENT_PROFILE_UPDATED,
            "/name",
            json!("Agent"),
        ),
        (
            Event::AgentProfileRemoved {
                workspace_id: workspace_id.clone(),
                agent_profile_id: AgentProfileId::parse("p")?,
            },
            action::AGENT_PROFILE_REMOVED,
            "/agent_profile_id",
            json!("p"),
        ),
        (
            Event::SessionDeleted {
                workspace_id: workspace_id.clone(),
                task_id: task_id.clone(),
                session_id: world.session.clone(),
            },
            action::SESSION_DELETED,
            "/session_id",
            json!(world.session),
        ),
        (
            Event::TaskDeleted {
                workspace_id,
                task_id,
            },
            action::TASK_DELETED,
            "/task_id",
            id,
        ),
    ])
}

/// One event of each kind of a session's detail.
fn of_session(
    server: &Server,
    world: &World,
) -> Result<Vec<(Event, &'static str, &'static str, Value)>> {
    let session_id = world.session.clone();
    let turn = Arc::new(Turn {
        id: TurnId::parse("turn")?,
        session_id: session_id.clone(),
        revision: 1,
        started_at: server.store.now(),
        completed_at: None,
        outcome: None,
        authoritative: true,
        lifecycle_only: false,
        prompt_dispatch_pending: false,
        prompt_dispatch_attempted: true,
        cancel_requested_at: None,
    });
    let resolved = ResolvedRequest {
        message_id: MessageId::parse("m")?,
        pending_id: PendingId::parse("p")?,
        status: RequestStatus::Approved,
    };
    let settings = Arc::new(AgentSettings {
        current_model: Some("large".to_owned()),
        ..AgentSettings::default()
    });
    Ok(vec![
        (
            Event::TurnStarted(Arc::clone(&turn)),
            action::SESSION_TURN_STARTED,
            "/turn/id",
            json!("turn"),
        ),
        (
            Event::TurnCompleted(turn),
            action::SESSION_TURN_COMPLETED,
            "/turn/id",
            json!("turn"),
        ),
        (
            Event::PendingChanged {
                session_id: session_id.clone(),
                pending_action: None,
                pending_action_revision: 4,
                resolved: Some(resolved),
            },
            action::SESSION_PENDING_CHANGED,
            "/resolved/status",
            json!("approved"),
        ),
        (
            Event::QuestionsAwaited {
                session_id: session_id.clone(),
                pending_ids: vec![PendingId::parse("p")?],
            },
            action::SESSION_QUESTIONS_AWAITED,
            "/pending_ids",
            json!(["p"]),
        ),
        (
            Event::Queue {
                session_id: session_id.clone(),
                count: 2,
            },
            action::MESSAGE_QUEUE_STATUS_CHANGED,
            "/queued_prompt_count",
            json!(2),
        ),
        (
            Event::Settings {
                session_id: session_id.clone(),
                settings,
            },
            action::SESSION_MODELS_UPDATED,
            "/current_model",
            json!("large"),
        ),
        (
            Event::Commands {
                session_id: session_id.clone(),
                commands: Arc::default(),
            },
            action::SESSION_AVAILABLE_COMMANDS,
            "/commands",
            json!([]),
        ),
        (
            Event::Usage {
                session_id: session_id.clone(),
                usage: AgentUsage {
                    used: 5,
                    size: 9,
                    cost: None,
                },
            },
            action::SESSION_USAGE_UPDATED,
            "/usage/used",
            json!(5),
        ),
        (
            Event::GitStatus {
                environment_id: world.environment.clone(),
                status: Arc::new(world.status(server, 1)),
            },
            action::SESSION_GIT_EVENT,
            "/status/additions",
            json!(1),
        ),
        (
            Event::GitMeasureFailed {
                environment_id: world.environment.clone(),
                repository_name: Some("api".to_owned()),
                at: server.store.now(),
                reason: MeasureFailure::Timeout,
            },
            action::SESSION_GIT_MEASURE_FAILED,
            "/repository_name",
            json!("api"),
        ),
        (
            Event::MessageDeleted {
                session_id,
                message_id: MessageId::parse("m")?,
            },
            action::SESSION_MESSAGE_DELETED,
            "/message_id",
            json!("m"),
        ),
    ])
}

#[tokio::test]
async fn every_event_reaches_who_subscribed_and_nobody_else() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let (mut client, mut other) = (server.client().await?, server.client().await?);
    client
        .request(
            "workspace.subscribe",
            json!({ "workspace_id": server.workspace }),
        )
        .await?;
    client
        .request("session.subscribe", json!({ "session_id": world.session }))
        .await?;
    client.notified("session.pending_changed").await?;
    let mut events = of_session(&server, &world)?;
    events.extend(of_workspace(&server, &world).await?);
    let mut told = BTreeSet::new();
    for (event, action, pointer, expected) in events {
        server.hub.publish(&event);
        let payload = client.notified(action).await?;
        assert_eq!(
            payload.pointer(pointer),
            Some(&expected),
            "{action}: {payload}"
        );
        told.insert(action);
    }
    // Told by other tests: what growing messages become, and what comes with another event.
    for action in [
        action::HELLO,
        action::SESSION_RESYNC,
        action::SESSION_MESSAGE_ADDED,
        action::SESSION_MESSAGE_UPDATED,
        action::SESSION_MESSAGE_APPENDED,
        action::SESSION_MODE_CHANGED,
    ] {
        told.insert(action);
    }
    let all: BTreeSet<_> = wire::action::NOTIFICATIONS.iter().copied().collect();
    assert_eq!(
        told, all,
        "every notification of the protocol has its event"
    );
    let (_, heard) = other.ask("ping", json!({})).await?;
    assert_eq!(heard, Vec::<Value>::new());
    Ok(())
}

/// API-01.
#[tokio::test]
async fn api_01_a_summary_is_the_complete_replacement_and_goes_to_its_workspace() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let (mut watcher, mut client) = (server.client().await?, server.client().await?);
    watcher
        .request(
            "workspace.subscribe",
            json!({ "workspace_id": server.workspace }),
        )
        .await?;
    // The list finds no stored summary: it is derived, written and published.
    let page = client
        .request("task.list", json!({ "workspace_id": server.workspace }))
        .await?;
    let told = watcher.notified("task.status_summary.updated").await?;
    assert_eq!(
        (&told["task_id"], &told["workspace_id"]),
        (&json!(world.task), &json!(server.workspace))
    );
    assert_eq!(told["status_summary"], page["tasks"][0]["status_summary"]);
    Ok(())
}

#[tokio::test]
async fn what_is_deleted_is_closed_for_everybody() -> Result<()> {
    let server = Server::start().await?;
    let world = World::new(&server).await?;
    let mut client = server.client().await?;
    let session = json!({ "session_id": world.session });
    client.request("session.subscribe", session.clone()).await?;
    client.notified("session.pending_changed").await?;
    server.hub.publish(&Event::TaskDeleted {
        workspace_id: server.workspace.clone(),
        task_id: world.task.clone(),
    });
    world.say(&server, &world.session, "m1", "late").await?;
    let (_, heard) = client.ask("ping", json!({})).await?;
    assert_eq!(heard, Vec::<Value>::new());
    client.request("session.unsubscribe", session).await?;
    Ok(())
}
