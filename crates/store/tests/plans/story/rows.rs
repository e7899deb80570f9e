//! What the projector and a page that opens ask.

use crate::asked::Plans;
use crate::story::{CURRENT, Cast, OPEN};
use anyhow::Result;
use model::summary::SummaryPayload;
use store::messages::Window;
use store::summaries::{CompareOutcome, Comparison};
use store::{
    activity, authority, hydration, marks, messages, profiles, repositories, sessions, summaries,
    tasks, workspaces,
};

/// The projector's round.
pub(crate) async fn summaries_of(plans: &mut Plans, cast: &Cast) -> Result<()> {
    let (ids, workspace) = (&cast.ids, plans.story.workspace.clone());
    plans
        .ask(
            "authority::load",
            &[OPEN, CURRENT, "task_session_messages_queued"],
            async |tx| authority::load(tx, ids).await,
        )
        .await?;
    // Made, then replaced.
    let mut payload = SummaryPayload::default();
    let mut seen: Vec<Option<_>> = vec![None, None];
    for count in [1, 2] {
        payload.queued_prompt_count = Some(count);
        let outcomes = plans
            .ask("summaries::compare_and_update_all", &[], async |tx| {
                let one = |(task_id, seen)| Comparison {
                    task_id,
                    workspace_id: &workspace,
                    seen,
                    payload: &payload,
                };
                let seen = seen.iter().map(Option::as_ref);
                let comparisons: Vec<_> = ids.iter().zip(seen).map(one).collect();
                let now = tx.now();
                summaries::compare_and_update_all(tx, &comparisons, now).await
            })
            .await?;
        seen = outcomes
            .into_iter()
            .map(|outcome| match outcome {
                CompareOutcome::Written(summary) => Some(*summary),
                _ => None,
            })
            .collect();
        assert!(seen.iter().all(Option::is_some), "both were written");
    }
    plans
        .ask("summaries::lock_fences", &[], async |tx| {
            summaries::lock_fences(tx, ids).await
        })
        .await?;
    plans
        .ask("summaries::mark_all_derived", &[], async |tx| {
            let marked: Vec<_> = ids.iter().map(|id| (id, 1)).collect();
            summaries::mark_all_derived(tx, &marked).await
        })
        .await?;
    plans
        .ask("summaries::stale_tasks", &["tasks_stale"], async |tx| {
            summaries::stale_tasks(tx, None, 200).await
        })
        .await?;
    plans
        .ask("marks::of_tasks", &[], async |tx| {
            marks::of_tasks(tx, ids).await
        })
        .await?;
    plans
        .ask("tx::commit", &[], async |tx| {
            tx.touch(&cast.task);
            Ok(())
        })
        .await
}

/// What a page asks when it opens.
pub(crate) async fn lists(plans: &mut Plans, cast: &Cast) -> Result<()> {
    let (ids, workspace) = (&cast.ids, plans.story.workspace.clone());
    for (archived, index) in [(false, "tasks_living"), (true, "tasks_archived")] {
        plans
            .ask("tasks::page", &[index], async |tx| {
                tasks::page(tx, &workspace, None, archived, None, 50).await
            })
            .await?;
    }
    plans
        .ask("tasks::load", &[], async |tx| tasks::load(tx, ids).await)
        .await?;
    plans
        .ask("hydration::open_requests", &[OPEN], async |tx| {
            hydration::open_requests(tx, ids).await
        })
        .await?;
    let behind = plans
        .ask(
            "activity::behind",
            &["task_session_messages_prompts"],
            async |tx| activity::behind(tx, ids).await,
        )
        .await?;
    assert!(!behind.is_empty(), "a prompt came after the task was made");
    plans
        .ask("activity::raise", &[], async |tx| {
            activity::raise(tx, &behind).await
        })
        .await?;
    plans
        .ask("sessions::of_task", &[OPEN], async |tx| {
            sessions::of_task(tx, &cast.task).await
        })
        .await?;
    plans
        .ask("sessions::find", &[OPEN], async |tx| {
            sessions::find(tx, &cast.session).await
        })
        .await?;
    for window in [Window::Newest, Window::Before(9), Window::After(0)] {
        plans
            .ask(
                "messages::list",
                &["task_session_messages_by_seq"],
                async |tx| messages::list(tx, &cast.session, window, 50).await,
            )
            .await?;
    }
    plans
        .ask("messages::get", &[], async |tx| {
            messages::get(tx, &cast.streaming).await
        })
        .await?;
    plans
        .ask(
            "messages::queue",
            &["task_session_messages_queued"],
            async |tx| messages::queue(tx, &cast.session).await,
        )
        .await?;
    plans
        .ask("workspaces::workflows", &[], async |tx| {
            workspaces::workflows(tx, &workspace).await
        })
        .await?;
    plans
        .ask("profiles::of_workspace", &[], async |tx| {
            profiles::of_workspace(tx, &workspace).await
        })
        .await?;
    plans
        .ask("repositories::of_workspace", &[], async |tx| {
            repositories::of_workspace(tx, &workspace).await
        })
        .await
        .map(drop)
}
