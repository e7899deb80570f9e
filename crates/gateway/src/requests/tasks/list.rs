//! Lists of tasks, and how any task is read for being shown: with a summary that is believed or repaired, and without
//! harm from what cannot be read.
//!
//! Invariant: a task whose rows hold what no version of ours wrote is left out, counted and logged. It hides no other,
//! and no list ends before its end because of it.

use crate::api::Api;
use crate::pages;
use crate::refusal::Refusal;
use crate::requests::access::{Need, Subject, require_in};
use crate::requests::{Call, Reply, parse};
use model::bounds;
use model::ids::{TaskId, WorkflowId, WorkspaceId};
use model::task::Task;
use projector::running::hydrating::patience;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use store::hydration::{self, Doubts, Listing};
use store::sql::Link;
use tokio::time::Instant;
use wire::request::TaskList;
use wire::response::TaskPage;

pub(crate) async fn list(call: &Call, payload: Value) -> Result<Reply, Refusal> {
    let wanted: TaskList = parse(payload)?;
    let (found, end) = {
        let mut tx = call.api.store.read().await?;
        let workspace = Subject::Workspace(&wanted.workspace_id);
        require_in(&mut tx, call, workspace, Need::Read).await?;
        let cursor = wanted.cursor.as_deref().map(TaskId::parse).transpose();
        let cursor =
            cursor.map_err(|_| Refusal::invalid("That cursor is not one of this list."))?;
        let board = Board {
            workspace_id: &wanted.workspace_id,
            workflow_id: wanted.workflow_id.as_ref(),
            archived: wanted.archived.unwrap_or(false),
        };
        page(&mut tx, board, cursor.as_ref()).await?
    };
    let (tasks, unreadable) = hydrated(&call.api, found, patience()).await;
    let written = pages::written(&tasks);
    let shown = Shown::of(&tasks, written.len(), &unreadable, end.as_ref());
    Ok(Reply::new(&WrittenPage {
        tasks: &written,
        cursor: shown.cursor,
        unreadable: shown.unreadable,
    }))
}

/// The first page of a workspace's tasks, by rows and by bytes (GWY-07).
pub(crate) async fn first_page(
    api: &Api,
    workspace_id: &WorkspaceId,
    until: Instant,
) -> Result<TaskPage, Refusal> {
    let board = Board {
        workspace_id,
        workflow_id: None,
        archived: false,
    };
    let (found, end) = page(&mut *api.store.read().await?, board, None).await?;
    let (mut tasks, unreadable) = hydrated(api, found, until).await;
    let fitting = pages::fitting(&tasks);
    let shown = Shown::of(&tasks, fitting, &unreadable, end.as_ref());
    let (cursor, unreadable) = (shown.cursor.map(TaskId::to_string), shown.unreadable);
    tasks.truncate(fitting);
    Ok(TaskPage {
        tasks,
        cursor,
        unreadable,
    })
}

/// A [`TaskPage`] whose rows are text already.
#[derive(Serialize)]
struct WrittenPage<'a> {
    tasks: &'a [Box<RawValue>],
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<u32>,
}

/// What a page says beside its rows.
struct Shown<'a> {
    cursor: Option<&'a TaskId>,
    unreadable: Option<u32>,
}

impl<'a> Shown<'a> {
    /// When the first `fitting` of `tasks` are sent and there is more behind `end`, if there is an end. An unreadable
    /// task is counted once, by the page that goes past it.
    fn of(
        tasks: &'a [Task],
        fitting: usize,
        unreadable: &[TaskId],
        end: Option<&'a TaskId>,
    ) -> Self {
        let cut = fitting < tasks.len();
        let last = fitting.checked_sub(1).and_then(|at| tasks.get(at));
        let cursor = if cut { last.map(|task| &task.id) } else { end };
        let passed = |id: &&TaskId| !cut || cursor.is_none_or(|cursor| cursor < *id);
        let count = unreadable.iter().filter(passed).count();
        Self {
            cursor,
            unreadable: (0 < count).then(|| u32::try_from(count).unwrap_or(u32::MAX)),
        }
    }
}

/// Whose tasks a list shows.
#[derive(Clone, Copy)]
struct Board<'a> {
    workspace_id: &'a WorkspaceId,
    workflow_id: Option<&'a WorkflowId>,
    archived: bool,
}

/// The tasks that a page begins with, and the last that was looked at if there may be more: a constant number of
/// statements, whatever they hold (PST-04). Not all need fit into the page.
async fn page(
    link: &mut Link,
    board: Board<'_>,
    cursor: Option<&TaskId>,
) -> Result<(Found, Option<TaskId>), Refusal> {
    let limit = bounds::TASK_PAGE_ROWS;
    let mut ids = store::tasks::page(
        link,
        board.workspace_id,
        board.workflow_id,
        board.archived,
        cursor,
        limit + 1,
    )
    .await?;
    let more = limit < ids.len();
    ids.truncate(limit);
    let found = read(link, &ids).await?;
    // The store ends a page by bytes too, with a row that does not fit. Without those that cannot be read all others may
    // fit, so the next page is asked for what follows, be it nothing.
    let more = more || !found.unreadable.is_empty();
    Ok((found, ids.pop().filter(|_| more)))
}

/// Tasks with their stored summaries, and which of these are doubted; and those that cannot be shown.
pub(super) struct Found {
    tasks: Vec<Task>,
    doubts: Doubts,
    unreadable: Vec<TaskId>,
}

/// Reads tasks in one snapshot, in the order of `ids`.
pub(super) async fn read(link: &mut Link, ids: &[TaskId]) -> Result<Found, Refusal> {
    let Listing { listed, unreadable } = store::tasks::load_listed(link, ids).await?;
    // Once for all of a page: what one damaged row says, the next says as well.
    if let Some(first) = unreadable.first() {
        tracing::error!(
            tasks = unreadable.len(),
            task_id = %first.task_id,
            error = &first.error as &dyn std::error::Error,
            "tasks cannot be read; lists leave them out"
        );
    }
    // The last statement of its transaction: one that fails leaves it unusable.
    let open = match hydration::open_requests(link, ids).await {
        Ok(open) => Some(open),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "what tasks wait for could not be read; lists show what is stored"
            );
            None
        }
    };
    Ok(Found {
        doubts: hydration::doubts(&listed, open.as_ref()),
        tasks: listed.into_iter().map(|listed| listed.task).collect(),
        unreadable: unreadable.into_iter().map(|one| one.task_id).collect(),
    })
}

/// The tasks that can be shown, their doubted summaries replaced by newer ones where that succeeds until `until`
/// (PEN-07); and those that cannot.
pub(super) async fn hydrated(api: &Api, found: Found, until: Instant) -> (Vec<Task>, Vec<TaskId>) {
    let Found {
        mut tasks,
        doubts,
        unreadable,
    } = found;
    if !doubts.is_empty() {
        let mut summaries = api.projector.hydrate(doubts, until).await;
        for task in &mut tasks {
            if let Some(summary) = summaries.remove(&task.id) {
                task.status_summary = Some(summary);
            }
        }
    }
    (tasks, unreadable)
}
