//! As many rows as a server has after years of work: a planner that knows of few reads all of them, and is right.
//!
//! Most of what there is has ended; what is open is as much as some twenty agents have open at once.

use anyhow::Result;
use store::sql::sql;
use testkit::story::Story;

/// Tasks, in ten workspaces with twenty repositories. Each has two sessions of two turns of five messages: 200,000. So
/// many that a batch of them is few: of 2,000 PostgreSQL may read all, because they fit on a handful of pages.
pub(crate) const YEARS: i64 = 10_000;

/// Enough that an index is the shorter way to the rows of one session.
pub(crate) const WEEKS: i64 = 500;

/// One statement per table, in the order in which they refer to each other; `$1` is the number of tasks.
const ROWS: &[&str] = &[
    "INSERT INTO workspaces (id, revision, name, created_at)
     SELECT 'size-w-' || n, 1, 'A workspace', n FROM generate_series(0, 9) AS n WHERE $1 <> 0",
    "INSERT INTO workflows (id, workspace_id, revision, name, position)
     SELECT 'size-f-' || n, 'size-w-' || n, 1, 'A board', 0 FROM generate_series(0, 9) AS n WHERE $1 <> 0",
    "INSERT INTO workflow_steps (id, workflow_id, name, position)
     SELECT 'size-p-' || n || '-' || k, 'size-f-' || n, 'A step', k
     FROM generate_series(0, 9) AS n, generate_series(0, 3) AS k WHERE $1 <> 0",
    "INSERT INTO repositories (id, workspace_id, revision, name, path, created_at)
     SELECT 'size-o-' || n, 'size-w-' || n / 2, 1, 'A repository', '/size/' || n, n
     FROM generate_series(0, 19) AS n WHERE $1 <> 0",
    "INSERT INTO agent_profiles (id, workspace_id, revision, name, command, args, env, created_at)
     SELECT 'size-a-' || n, 'size-w-' || n, 1, 'An agent', 'agent', '[]', '{}', n
     FROM generate_series(0, 9) AS n WHERE $1 <> 0",
    "INSERT INTO tasks (id, workspace_id, workflow_id, step_id, client_id, revision, title, description, state,
         position, priority, archived_at, parent_id, last_activity_at, authority_seq, derived_seq, created_at,
         updated_at)
     SELECT 'size-t-' || i, 'size-w-' || i % 10, 'size-f-' || i % 10, 'size-p-' || i % 10 || '-' || i / 10 % 4,
         'size-' || i, 1, 'A task', 'What is to be done.', 'REVIEW', i, 0, CASE WHEN i / 40 % 2 = 0 THEN i END,
         CASE WHEN 10 < i AND i / 40 % 5 = 0 THEN 'size-t-' || (i - 10) END, i, 1, 1, i, i
     FROM generate_series(1, $1) AS i",
    "INSERT INTO task_environments (id, workspace_id, state, path, created_at)
     SELECT 'size-e-' || i, 'size-w-' || i % 10, 'ready', '/size', i FROM generate_series(1, $1) AS i",
    "INSERT INTO task_environment_repos (id, environment_id, repository_id, position, repository_name, display_name,
         worktree_path, branch, base_branch)
     SELECT 'size-r-' || i, 'size-e-' || i, 'size-o-' || i % 10 * 2 + i / 10 % 2, 0, '', 'sample', '/size', 'work',
         'main' FROM generate_series(1, $1) AS i",
    "INSERT INTO task_environment_bindings (task_id, environment_id, created_at)
     SELECT 'size-t-' || i, 'size-e-' || i, i FROM generate_series(1, $1) AS i",
    "INSERT INTO task_repositories (id, task_id, repository_id, position, base_branch)
     SELECT 'size-tr-' || i, 'size-t-' || i, 'size-o-' || i % 10 * 2 + i / 10 % 2, 0, 'main'
     FROM generate_series(1, $1) AS i",
    "INSERT INTO task_sessions (id, task_id, task_environment_id, client_id, revision, state, agent_profile_id, name,
         is_primary, own_environment, started_at, settings, commands, active_subagent_count, pending_action_revision,
         last_seq)
     SELECT 'size-s-' || i || '-' || k, 'size-t-' || i, 'size-e-' || i, 'size-' || k, 1,
         CASE WHEN i <= 20 THEN 'RUNNING' ELSE 'WAITING_FOR_INPUT' END, 'size-a-' || i % 10, 'Agent', k = 1, FALSE,
         i + k, '{}', '[]', 0, 0, 10
     FROM generate_series(1, $1) AS i, generate_series(1, 2) AS k",
    "INSERT INTO task_session_turns (id, session_id, revision, started_at, completed_at, outcome, authoritative,
         lifecycle_only, prompt_dispatch_pending, prompt_dispatch_attempted, acknowledged)
     SELECT 'size-u-' || s.id || '-' || k, s.id, 1, s.started_at + k,
         CASE WHEN k < 2 OR s.state <> 'RUNNING' THEN s.started_at + k END,
         CASE WHEN k < 2 OR s.state <> 'RUNNING' THEN 'completed' END, TRUE, FALSE, FALSE, TRUE, TRUE
     FROM task_sessions s, generate_series(1, 2) AS k WHERE s.id LIKE 'size-%' AND $1 <> 0",
    "INSERT INTO task_session_messages (id, session_id, task_id, turn_id, seq, revision, author, type, content,
         metadata, status, pending_id, delivered, streaming, removed, created_at, updated_at)
     SELECT 'size-m-' || u.id || '-' || k, s.id, s.task_id, u.id,
         row_number() OVER (PARTITION BY s.id ORDER BY u.started_at, k), 1,
         CASE WHEN k = 1 THEN 'user' ELSE 'agent' END,
         CASE WHEN k = 5 AND s.is_primary THEN 'permission_request' WHEN k % 3 = 0 THEN 'tool_call'
             ELSE 'message' END,
         repeat('words ', 20), '{}',
         CASE WHEN k = 5 AND s.is_primary
             THEN CASE WHEN u.completed_at IS NULL THEN 'pending' ELSE 'approved' END END,
         CASE WHEN k = 5 AND s.is_primary THEN 'size-p-' || u.id END,
         CASE WHEN k = 5 AND s.is_primary AND u.completed_at IS NOT NULL THEN TRUE END,
         u.completed_at IS NULL AND k = 4, FALSE, u.started_at, u.started_at
     FROM task_session_turns u JOIN task_sessions s ON s.id = u.session_id, generate_series(1, 5) AS k
     WHERE s.id LIKE 'size-%' AND $1 <> 0",
    "INSERT INTO task_session_messages (id, session_id, task_id, revision, author, type, content, metadata,
         queue_position, streaming, removed, created_at, updated_at)
     SELECT 'size-q-' || s.id || '-' || k, s.id, s.task_id, 1, 'user', 'message', 'then', '{}', k, FALSE, FALSE, 1, 1
     FROM task_sessions s, generate_series(1, 2) AS k
     WHERE s.id LIKE 'size-%' AND s.state = 'RUNNING' AND $1 <> 0",
    "INSERT INTO task_session_message_segments (message_id, number, text)
     SELECT m.id, k, 'words' FROM task_session_messages m, generate_series(1, 100) AS k
     WHERE m.id LIKE 'size-%' AND m.streaming AND $1 <> 0",
    "INSERT INTO message_attachments (id, task_id, message_id, position, name, media_type, size, sha256, created_at)
     SELECT 'size-a-' || m.id, m.task_id, m.id, 0, 'notes.txt', 'text/plain', 5, '00', 1
     FROM task_session_messages m WHERE m.id LIKE 'size-%' AND m.author = 'user' AND m.seq IS NOT NULL AND $1 <> 0",
    "INSERT INTO message_attachments (id, task_id, name, media_type, size, sha256, created_at)
     SELECT 'size-w-' || i, 'size-t-' || i, 'notes.txt', 'text/plain', 5, '00', i
     FROM generate_series(1, least($1, 10)) AS i",
    "INSERT INTO task_pull_requests (id, task_id, revision, host, owner, repository, number, url, linked_by_hand,
         title, lifecycle, draft, checks_state, review_state, mergeable_state, in_merge_queue, unresolved_threads,
         created_at, updated_at)
     SELECT 'size-pr-' || i, 'size-t-' || i, 1, 'forge.example', 'owner', 'project', i,
         'https://forge.example/owner/project/pull/' || i, FALSE, 'A change', 'open', FALSE, 'green', 'approved',
         'clean', FALSE, 0, i, i FROM generate_series(1, $1) AS i",
    "INSERT INTO task_pull_request_options (pull_request_id, auto_fix, auto_merge, updated_at)
     SELECT 'size-pr-' || i, TRUE, FALSE, i FROM generate_series(1, $1) AS i",
    "INSERT INTO task_session_git_snapshots (id, task_environment_id, session_id, snapshot_type, branch, ahead,
         behind, files, triggered_by, metadata, repository_name, created_at)
     SELECT 'size-g-' || i || '-' || k, 'size-e-' || i, 'size-s-' || i || '-1', 'status_update', 'work', 1, 0, '{}',
         CASE WHEN k = 1 THEN 'live_monitor' ELSE 'agent_completed' END,
         '{\"additions\":12,\"deletions\":3,\"changed_files\":2,\"base_resolvable\":true}', '', i + k
     FROM generate_series(1, $1) AS i, generate_series(1, 3) AS k",
    "INSERT INTO task_status_summaries (task_id, workspace_id, revision, payload, updated_at)
     SELECT t.id, t.workspace_id, 1, '{}', 1 FROM tasks t WHERE t.id LIKE 'size-%' AND $1 <> 0",
    "INSERT INTO executors_running (id, session_id, task_environment_id, pid, process_started, instance_id, started_at)
     SELECT 'size-x-' || i, 'size-s-' || i || '-1', 'size-e-' || i, i, '1', 'size', i
     FROM generate_series(1, least($1, 20)) AS i",
];

/// Tables that hold a handful of rows however long a server works: reading all of one is the shorter way.
pub(crate) const HANDFUL: &[&str] = &[
    "agent_profiles",
    "auth_sessions",
    "executors_running",
    "repositories",
    "settings",
    "users",
    "workflow_steps",
    "workflows",
    "workspace_members",
    "workspaces",
];

/// Fills every table, and lets PostgreSQL count.
pub(crate) async fn grow(story: &Story, tasks: i64) -> Result<()> {
    for rows in ROWS {
        story.tamper(sql(rows).bind(tasks)).await?;
    }
    story.tamper(sql("ANALYZE")).await?;
    Ok(())
}
