-- The first shape of the database.
--
-- Ids are UUIDv7 text (a message's id is its client's). Times are microseconds since the epoch, from one process
-- clock that never steps back. JSON is stored as text and never queried inside: a fact that a rule asks for is a
-- column. `revision` rises with every change of a row and is what clients compare.
--
-- Text is compared byte by byte (COLLATE "C"), whatever the database's own collation is: SQLite does so, and ids are
-- ordered by it.

CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);

-- A signed-in browser. Only the SHA-256 of its secret is stored.
CREATE TABLE auth_sessions (
    secret_hash TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);

CREATE TABLE settings (
    name TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    value TEXT COLLATE "C" NOT NULL
);

CREATE TABLE workspaces (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    revision BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE workspace_members (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);

CREATE TABLE workflows (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL
);
CREATE INDEX workflows_by_workspace ON workflows (workspace_id, position);

CREATE TABLE workflow_steps (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    workflow_id TEXT COLLATE "C" NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    on_turn_start TEXT COLLATE "C",
    on_turn_complete TEXT COLLATE "C"
);
CREATE INDEX workflow_steps_by_workflow ON workflow_steps (workflow_id, position);

CREATE TABLE repositories (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    default_branch TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    UNIQUE (workspace_id, path)
);

CREATE TABLE agent_profiles (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    command TEXT COLLATE "C" NOT NULL,
    args TEXT COLLATE "C" NOT NULL,
    env TEXT COLLATE "C" NOT NULL,
    default_mode TEXT COLLATE "C",
    default_model TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);
CREATE INDEX agent_profiles_by_workspace ON agent_profiles (workspace_id, created_at);

-- `authority_seq` rises in every transaction that changes something the summary reads; `derived_seq` is the
-- `authority_seq` that the stored summary was derived from. A task is stale while it lags (REC-06).
CREATE TABLE tasks (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    workflow_id TEXT COLLATE "C" NOT NULL REFERENCES workflows (id),
    step_id TEXT COLLATE "C" NOT NULL REFERENCES workflow_steps (id),
    client_id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    priority BIGINT NOT NULL,
    parent_id TEXT COLLATE "C" REFERENCES tasks (id) ON DELETE SET NULL,
    archived_at BIGINT,
    interrupted_at BIGINT,
    last_activity_at BIGINT,
    authority_seq BIGINT NOT NULL,
    derived_seq BIGINT NOT NULL,
    launch_error_stamp TEXT COLLATE "C",
    launch_error_occurred_at BIGINT,
    launch_error_preview TEXT COLLATE "C",
    launch_error_category TEXT COLLATE "C",
    launch_error_actions TEXT COLLATE "C",
    launch_error_task_repository_id TEXT COLLATE "C",
    -- What was asked for when the task was to start by itself, until a session exists: a launch can be tried again.
    launch_agent_profile_id TEXT COLLATE "C",
    launch_prompt TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (workspace_id, client_id)
);
CREATE INDEX tasks_living ON tasks (workspace_id, id) WHERE archived_at IS NULL;
CREATE INDEX tasks_archived ON tasks (workspace_id, id) WHERE archived_at IS NOT NULL;
CREATE INDEX tasks_stale ON tasks (id) WHERE derived_seq < authority_seq;
CREATE INDEX tasks_by_step ON tasks (step_id, position);
CREATE INDEX tasks_by_parent ON tasks (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE task_repositories (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id),
    position BIGINT NOT NULL,
    base_branch TEXT COLLATE "C",
    checkout_branch TEXT COLLATE "C"
);
CREATE INDEX task_repositories_by_task ON task_repositories (task_id, position);
CREATE INDEX task_repositories_by_repository ON task_repositories (repository_id);

CREATE TABLE task_environments (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    state TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);

-- `repository_name` is empty for the root repository, set when the repository joins, never changed (ENV-02).
CREATE TABLE task_environment_repos (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    environment_id TEXT COLLATE "C" NOT NULL REFERENCES task_environments (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id),
    position BIGINT NOT NULL,
    repository_name TEXT COLLATE "C" NOT NULL,
    display_name TEXT COLLATE "C" NOT NULL,
    worktree_path TEXT COLLATE "C" NOT NULL,
    branch TEXT COLLATE "C" NOT NULL,
    base_branch TEXT COLLATE "C",
    UNIQUE (environment_id, repository_name)
);
CREATE INDEX task_environment_repos_by_repository ON task_environment_repos (repository_id);

CREATE TABLE task_environment_bindings (
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    environment_id TEXT COLLATE "C" NOT NULL REFERENCES task_environments (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (task_id, environment_id)
);
CREATE INDEX task_environment_bindings_by_environment ON task_environment_bindings (environment_id);

CREATE TABLE task_sessions (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    task_environment_id TEXT COLLATE "C" REFERENCES task_environments (id) ON DELETE SET NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    agent_profile_id TEXT COLLATE "C" NOT NULL REFERENCES agent_profiles (id),
    name TEXT COLLATE "C" NOT NULL,
    is_primary BOOLEAN NOT NULL,
    -- It wants an environment of its own, made when it starts.
    own_environment BOOLEAN NOT NULL,
    started_at BIGINT NOT NULL,
    acp_session_id TEXT COLLATE "C",
    chosen_model TEXT COLLATE "C",
    chosen_mode TEXT COLLATE "C",
    settings TEXT COLLATE "C" NOT NULL,
    commands TEXT COLLATE "C" NOT NULL,
    usage TEXT COLLATE "C",
    foreground_activity TEXT COLLATE "C",
    active_subagent_count BIGINT NOT NULL,
    pending_action_revision BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    error_stamp TEXT COLLATE "C",
    error_occurred_at BIGINT,
    error_preview TEXT COLLATE "C",
    error_category TEXT COLLATE "C",
    error_actions TEXT COLLATE "C",
    error_task_repository_id TEXT COLLATE "C",
    error_cleared_at BIGINT,
    error_cleared_by TEXT COLLATE "C",
    UNIQUE (task_id, client_id)
);
CREATE INDEX task_sessions_by_task ON task_sessions (task_id, started_at);
CREATE INDEX task_sessions_by_environment ON task_sessions (task_environment_id);
CREATE INDEX task_sessions_unsettled ON task_sessions (id) WHERE state IN ('RUNNING', 'STARTING');

CREATE TABLE task_session_turns (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES task_sessions (id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    completed_at BIGINT,
    outcome TEXT COLLATE "C",
    authoritative BOOLEAN NOT NULL,
    lifecycle_only BOOLEAN NOT NULL,
    prompt_dispatch_pending BOOLEAN NOT NULL,
    prompt_dispatch_attempted BOOLEAN NOT NULL,
    acknowledged BOOLEAN NOT NULL,
    cancel_requested_at BIGINT
);
CREATE INDEX task_session_turns_by_session ON task_session_turns (session_id, started_at, id);
CREATE INDEX task_session_turns_open ON task_session_turns (session_id) WHERE completed_at IS NULL;

-- A queued prompt has a `queue_position`, no turn and no `seq`. A removed queued prompt stays as a tombstone
-- (`removed`), so that its id stays owned (API-06).
CREATE TABLE task_session_messages (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES task_sessions (id) ON DELETE CASCADE,
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    turn_id TEXT COLLATE "C" REFERENCES task_session_turns (id) ON DELETE SET NULL,
    seq BIGINT,
    revision BIGINT NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    content TEXT COLLATE "C" NOT NULL,
    metadata TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C",
    pending_id TEXT COLLATE "C",
    delivered BOOLEAN,
    queue_position BIGINT,
    streaming BOOLEAN NOT NULL,
    removed BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX task_session_messages_by_seq ON task_session_messages (session_id, seq) WHERE seq IS NOT NULL;
CREATE INDEX task_session_messages_queued ON task_session_messages (session_id, queue_position)
    WHERE queue_position IS NOT NULL;
CREATE INDEX task_session_messages_by_turn ON task_session_messages (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX task_session_messages_streaming ON task_session_messages (session_id) WHERE streaming;
CREATE INDEX task_session_messages_by_task ON task_session_messages (task_id);
-- Open requests: a missing or unknown status counts as pending.
CREATE INDEX task_session_messages_open_requests ON task_session_messages (session_id, type)
    WHERE type IN ('permission_request', 'clarification_request')
        AND (status IS NULL OR status NOT IN ('approved', 'rejected', 'answered', 'cancelled', 'expired'));

-- Streamed text that is not folded into its message yet, numbered 1, 2, … per message.
CREATE TABLE task_session_message_segments (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id TEXT COLLATE "C" NOT NULL REFERENCES task_session_messages (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    UNIQUE (message_id, number)
);

-- A live agent process. `process_started` is the kernel's start time of `pid`, so that a reused pid is not mistaken
-- for it.
CREATE TABLE executors_running (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES task_sessions (id) ON DELETE CASCADE,
    task_environment_id TEXT COLLATE "C" NOT NULL,
    pid BIGINT NOT NULL,
    process_started TEXT COLLATE "C" NOT NULL,
    instance_id TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL
);

-- An observation of one repository of one environment. The environment owns it; the session is provenance (ENV-01).
CREATE TABLE task_session_git_snapshots (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    task_environment_id TEXT COLLATE "C" NOT NULL REFERENCES task_environments (id) ON DELETE CASCADE,
    session_id TEXT COLLATE "C" REFERENCES task_sessions (id) ON DELETE SET NULL,
    snapshot_type TEXT COLLATE "C" NOT NULL,
    branch TEXT COLLATE "C" NOT NULL,
    remote_branch TEXT COLLATE "C",
    head_commit TEXT COLLATE "C",
    base_commit TEXT COLLATE "C",
    ahead BIGINT,
    behind BIGINT,
    files TEXT COLLATE "C" NOT NULL DEFAULT '{}',
    triggered_by TEXT COLLATE "C",
    metadata TEXT COLLATE "C" NOT NULL DEFAULT '{}',
    repository_name TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL
);
CREATE INDEX task_session_git_snapshots_current
    ON task_session_git_snapshots (task_environment_id, repository_name, created_at);
CREATE INDEX task_session_git_snapshots_by_session ON task_session_git_snapshots (session_id, created_at);

CREATE TABLE task_status_summaries (
    task_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    payload TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL
);
