-- Pull requests that are linked to tasks, and their switches. Every fact that a rule asks for is a column; words that
-- could not be read are `unknown`. Options have a table of their own: facts come from a forge, switches from people,
-- and neither writes the other's row.

CREATE TABLE task_pull_requests (
    id TEXT PRIMARY KEY NOT NULL,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    host TEXT NOT NULL,
    owner TEXT NOT NULL,
    repository TEXT NOT NULL,
    number BIGINT NOT NULL,
    url TEXT NOT NULL,
    linked_by_hand BOOLEAN NOT NULL,
    title TEXT NOT NULL,
    head_owner TEXT,
    head_repository TEXT,
    head_branch TEXT,
    head_commit TEXT,
    base_branch TEXT,
    lifecycle TEXT NOT NULL,
    draft BOOLEAN NOT NULL,
    checks_state TEXT NOT NULL,
    review_state TEXT NOT NULL,
    mergeable_state TEXT NOT NULL,
    in_merge_queue BOOLEAN NOT NULL,
    unresolved_threads BIGINT NOT NULL,
    -- When the look that gave the facts began: an older one never replaces a newer one.
    observed_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (task_id, host, owner, repository, number)
);

-- No row: everything is off.
CREATE TABLE task_pull_request_options (
    pull_request_id TEXT PRIMARY KEY NOT NULL REFERENCES task_pull_requests (id) ON DELETE CASCADE,
    auto_fix BOOLEAN NOT NULL,
    auto_merge BOOLEAN NOT NULL,
    updated_at BIGINT NOT NULL
);
