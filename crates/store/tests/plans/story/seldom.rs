//! What happens now and then: a person arranges tasks, a server starts.

use crate::asked::Plans;
use crate::story::Cast;
use anyhow::Result;
use model::ids::{ExecutionId, InstanceId, SessionId, TaskId};
use store::sessions::NewSession;
use store::tasks::NewTask;
use store::{
    attachments, environments, executions, latest, marks, profiles, recovery, repositories,
    sessions, summaries, tasks,
};

/// What a person does now and then.
pub(crate) async fn seldom(plans: &mut Plans, cast: &Cast) -> Result<()> {
    let [first, second, _] = plans.story.steps.clone();
    let (workspace, workflow) = (plans.story.workspace.clone(), plans.story.workflow.clone());
    let (profile, repository) = (plans.story.profile.clone(), plans.story.repository.clone());
    let (task, session) = (TaskId::generate(), SessionId::generate());
    plans
        .ask("tasks::insert", &["tasks_by_step"], async |tx| {
            let new = NewTask {
                id: &task,
                workspace_id: &workspace,
                workflow_id: &workflow,
                step_id: &first,
                client_id: "new",
                title: "A task",
                description: "",
                parent_id: Some(&cast.task),
            };
            let now = tx.now();
            tasks::insert(tx, &new, now).await
        })
        .await?;
    plans
        .ask("tasks::move_to", &["tasks_by_step"], async |tx| {
            let now = tx.now();
            tasks::move_to(tx, &task, &second, None, now).await
        })
        .await?;
    plans
        .ask("sessions::insert", &[], async |tx| {
            let new = NewSession {
                id: &session,
                task_id: &task,
                environment_id: None,
                client_id: "new",
                agent_profile_id: &profile,
                name: "A session",
                own_environment: false,
            };
            let now = tx.now();
            sessions::insert(tx, &new, now).await
        })
        .await?;
    plans
        .ask("sessions::set_primary", &[], async |tx| {
            sessions::set_primary(tx, &task, &session).await
        })
        .await?;
    plans
        .ask("executions::insert", &[], async |tx| {
            let execution = executions::Execution {
                id: ExecutionId::generate(),
                session_id: session.clone(),
                environment_id: cast.environment.clone(),
                pid: 1,
                process_started: "1".to_owned(),
                instance_id: InstanceId::generate(),
            };
            let now = tx.now();
            executions::insert(tx, &execution, now).await
        })
        .await?;
    plans
        .ask("executions::any_in", &[], async |tx| {
            executions::any_in(tx, &cast.environment).await
        })
        .await?;
    plans
        .ask("profiles::in_use", &[], async |tx| {
            profiles::in_use(tx, &profile).await
        })
        .await?;
    plans
        .ask("repositories::in_use", &[], async |tx| {
            repositories::in_use(tx, &repository).await
        })
        .await?;
    plans
        .ask("sessions::remove", &[], async |tx| {
            sessions::remove(tx, &task, &session).await
        })
        .await?;
    plans
        .ask("tasks::remove", &[], async |tx| {
            tasks::remove(tx, &task).await
        })
        .await
}

/// What a start looks through before anything else happens.
pub(crate) async fn start(plans: &mut Plans, cast: &Cast) -> Result<()> {
    plans
        .ask(
            "latest::time",
            &[
                "task_session_messages_updated",
                "task_session_messages_misdated",
            ],
            async |tx| latest::time(tx).await,
        )
        .await?;
    plans
        .ask("recovery::sessions", &[], async |tx| {
            recovery::sessions(tx).await
        })
        .await?;
    plans
        .ask("recovery::tasks", &[], async |tx| recovery::tasks(tx).await)
        .await?;
    plans
        .ask("marks::adopt", &[], async |tx| marks::adopt(tx, 0).await)
        .await?;
    plans
        .ask("recovery::interrupt", &[], async |tx| {
            let now = tx.now();
            recovery::interrupt(tx, std::slice::from_ref(&cast.task), now).await
        })
        .await?;
    plans
        .ask("recovery::open_turns", &[], async |tx| {
            recovery::open_turns(tx, &cast.session).await
        })
        .await?;
    plans
        .ask("environments::all", &[], async |tx| {
            environments::all(tx).await
        })
        .await?;
    plans
        .ask("environments::abandoned", &[], async |tx| {
            environments::abandoned(tx).await
        })
        .await?;
    plans
        .ask("executions::all", &[], async |tx| executions::all(tx).await)
        .await?;
    plans
        .ask("attachments::all", &[], async |tx| {
            attachments::all(tx).await
        })
        .await?;
    plans
        .ask("summaries::unusable", &[], async |tx| {
            summaries::unusable(tx, None, 200).await
        })
        .await
        .map(drop)
}
