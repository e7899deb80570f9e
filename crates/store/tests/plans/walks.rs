//! Where a table, or an index, is read from end to end on purpose, each with its reason.

use testkit::store::Engine;

/// A function that reads all of a table.
pub(crate) struct Walk {
    /// The function, as `module::name`.
    pub(crate) by: &'static str,
    /// The table.
    pub(crate) table: &'static str,
    /// The only engine that does so; `None`: both.
    pub(crate) only: Option<Engine>,
    /// Why that is right.
    pub(crate) why: &'static str,
}

const fn walk(by: &'static str, table: &'static str, why: &'static str) -> Walk {
    let only = None;
    Walk {
        by,
        table,
        only,
        why,
    }
}

const AT_START: &str = "start-up looks at each once, before anybody is served";
const PROCESSES: &str = "a row per running agent: at most as many as may run";

const FIRST_FOUND: &str =
    "asked when a person removes a repository, and ends at the first row that names it";

/// Every one of them. An entry that no plan needs is to be removed.
pub(crate) const WALKS: &[Walk] = &[
    walk("recovery::sessions", "task_sessions", AT_START),
    walk("recovery::tasks", "tasks", AT_START),
    walk(
        "marks::adopt",
        "tasks",
        "the first start of a version that derives otherwise marks every task, once",
    ),
    walk("environments::all", "task_environments", AT_START),
    walk("environments::all", "task_environment_repos", AT_START),
    walk("environments::abandoned", "task_environments", AT_START),
    Walk {
        only: Some(Engine::Postgres),
        ..walk(
            "environments::abandoned",
            "task_environment_bindings",
            AT_START,
        )
    },
    walk("attachments::all", "message_attachments", AT_START),
    Walk {
        only: Some(Engine::Postgres),
        ..walk("latest::time", "auth_sessions", AT_START)
    },
    walk("latest::time", "task_pull_requests", AT_START),
    Walk {
        only: Some(Engine::Postgres),
        ..walk("latest::time", "task_session_git_snapshots", AT_START)
    },
    walk("latest::time", "task_session_turns", AT_START),
    walk("latest::time", "task_sessions", AT_START),
    Walk {
        only: Some(Engine::Postgres),
        ..walk("latest::time", "task_status_summaries", AT_START)
    },
    walk("latest::time", "tasks", AT_START),
    walk("executions::all", "executors_running", PROCESSES),
    walk("executions::any_in", "executors_running", PROCESSES),
    Walk {
        only: Some(Engine::Postgres),
        ..walk("recovery::sessions", "executors_running", PROCESSES)
    },
    Walk {
        only: Some(Engine::Postgres),
        ..walk("repositories::in_use", "task_repositories", FIRST_FOUND)
    },
    Walk {
        only: Some(Engine::Postgres),
        ..walk(
            "repositories::in_use",
            "task_environment_repos",
            FIRST_FOUND,
        )
    },
    walk(
        "profiles::in_use",
        "task_sessions",
        "asked when a person deletes an agent profile, and never else",
    ),
];

/// Indexes that hold only what is unfinished, or what should not be: how many rows they have follows what people and
/// agents have open, not what ever happened.
pub(crate) const UNFINISHED: &[&str] = &[
    "message_attachments_unclaimed",
    "task_session_messages_misdated",
    "task_session_messages_open_requests",
    "task_session_messages_queued",
    "task_session_messages_streaming",
    "task_session_turns_open",
    "tasks_stale",
];

/// References whose parents are users, workspaces, workflows and agent profiles, which are deleted rarely or never:
/// going through the children then is cheaper than an index that every write keeps up. Table, column.
pub(crate) const RARE: &[[&str; 2]] = &[
    ["auth_sessions", "user_id"],
    ["workspace_members", "user_id"],
    ["tasks", "workflow_id"],
    ["task_environments", "workspace_id"],
    ["task_status_summaries", "workspace_id"],
    ["task_sessions", "agent_profile_id"],
];
