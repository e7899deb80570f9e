//! Errors that rows show, as columns of tasks (launch errors) and of sessions.
//!
//! They are read leniently: what is malformed is ignored and what is too long is cut, so that a damaged error can
//! neither reject a summary nor grow it (ERR-03, ERR-07).

use crate::row::Row;
use model::bounds;
use model::error::{ActiveError, known_actions};
use model::ids::SessionId;
use model::session::SessionState;
use model::text::cut;

/// The columns of one kind of error.
pub(crate) struct Columns {
    stamp: &'static str,
    occurred_at: &'static str,
    preview: &'static str,
    category: &'static str,
    actions: &'static str,
    task_repository_id: &'static str,
}

/// Of `tasks`.
pub(crate) const LAUNCH: Columns = Columns {
    stamp: "launch_error_stamp",
    occurred_at: "launch_error_occurred_at",
    preview: "launch_error_preview",
    category: "launch_error_category",
    actions: "launch_error_actions",
    task_repository_id: "launch_error_task_repository_id",
};

/// Of `task_sessions`.
pub(crate) const SESSION: Columns = Columns {
    stamp: "error_stamp",
    occurred_at: "error_occurred_at",
    preview: "error_preview",
    category: "error_category",
    actions: "error_actions",
    task_repository_id: "error_task_repository_id",
};

/// The error of a row; none when stamp, time or preview are missing or cannot be read. A session's row has its `state`
/// too, which decides what is offered.
pub(crate) fn read(
    row: &Row,
    columns: &Columns,
    session_id: Option<&SessionId>,
) -> Option<ActiveError> {
    let text = |column| row.maybe_text(column).ok().flatten();
    let actions: Vec<String> = text(columns.actions)
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let error = ActiveError {
        session_id: session_id.cloned(),
        task_repository_id: row.maybe_id(columns.task_repository_id).ok().flatten(),
        stamp: cut(&text(columns.stamp)?, bounds::ERROR_STAMP_BYTES).to_owned(),
        occurred_at: row.maybe_time(columns.occurred_at).ok().flatten()?,
        preview: cut(&text(columns.preview)?, bounds::ERROR_PREVIEW_BYTES).to_owned(),
        category: text(columns.category)
            .map(|category| cut(&category, bounds::ERROR_CATEGORY_BYTES).to_owned()),
        recovery_actions: known_actions(actions.iter().map(String::as_str)),
    };
    let state = session_id.and_then(|_| row.word("state", SessionState::parse).ok());
    Some(match state {
        Some(state) => error.in_session(state),
        None => error,
    })
}
