-- what each table gets, a row or more per row of n: i counts from 1, id is i with leading digits, t is the time
-- of task i in microseconds. statements are separated by a semicolon at the end of a line.

-- A task's last milestone is its second prompt, at t + 300, as the server would have written it: no start has to
-- raise the column first.

INSERT INTO tasks (id, workspace_id, workflow_id, step_id, client_id, revision, title, description,
    state, position, priority, last_activity_at, authority_seq, derived_seq, created_at, updated_at)
    SELECT 'bench-t-' || n.id, w.id, f.id, (SELECT id FROM workflow_steps WHERE workflow_id = f.id ORDER BY position LIMIT 1),
    'bench-' || CAST(i AS TEXT), 1, 'Task number ' || CAST(i AS TEXT), 'What is to be done in it, in a sentence or two.',
    'REVIEW', i, 0, t + 300, 1, 0, t, t
    FROM n CROSS JOIN (SELECT id FROM workspaces ORDER BY id LIMIT 1) AS w
    CROSS JOIN (SELECT id FROM workflows ORDER BY id LIMIT 1) AS f;

INSERT INTO task_environments (id, workspace_id, state, path, created_at)
    SELECT 'bench-e-' || n.id, w.id, 'ready', '/nonexistent/' || CAST(i AS TEXT), t
    FROM n CROSS JOIN (SELECT id FROM workspaces ORDER BY id LIMIT 1) AS w;

INSERT INTO task_environment_repos (id, environment_id, repository_id, position,
    repository_name, display_name, worktree_path, branch, base_branch)
    SELECT 'bench-r-' || n.id, 'bench-e-' || n.id, r.id, 0, '', 'sample', '/nonexistent', 'work', 'main'
    FROM n CROSS JOIN (SELECT id FROM repositories ORDER BY id LIMIT 1) AS r;

INSERT INTO task_environment_bindings (task_id, environment_id, created_at)
    SELECT 'bench-t-' || n.id, 'bench-e-' || n.id, t FROM n;

INSERT INTO task_repositories (id, task_id, repository_id, position, base_branch)
    SELECT 'bench-tr-' || n.id, 'bench-t-' || n.id, r.id, 0, 'main'
    FROM n CROSS JOIN (SELECT id FROM repositories ORDER BY id LIMIT 1) AS r;

INSERT INTO task_sessions (id, task_id, task_environment_id, client_id, revision, state,
    agent_profile_id, name, is_primary, own_environment, started_at, settings, commands, active_subagent_count,
    pending_action_revision, last_seq, error_stamp, error_occurred_at, error_preview, error_category, error_actions)
    SELECT 'bench-s-' || CAST(k AS TEXT) || '-' || n.id, 'bench-t-' || n.id, 'bench-e-' || n.id,
    'bench-' || CAST(k AS TEXT), 1, 'WAITING_FOR_INPUT', p.id, 'Agent', k = 1, FALSE, t, '{}', '[]', 0, 0, 4,
    CASE WHEN i % 20 = 0 THEN '0123456789abcdef0123456789abcdef' END, CASE WHEN i % 20 = 0 THEN t + 900 END,
    CASE WHEN i % 20 = 0 THEN 'the agent exited with status 1' END, CASE WHEN i % 20 = 0 THEN 'agent_exited' END,
    CASE WHEN i % 20 = 0 THEN '["retry_default"]' END
    FROM n CROSS JOIN (SELECT 1 AS k UNION ALL SELECT 2) AS ks
    CROSS JOIN (SELECT id FROM agent_profiles ORDER BY id LIMIT 1) AS p WHERE k = 1 OR i % 4 = 0;

INSERT INTO task_session_turns (id, session_id, revision, started_at, completed_at,
    outcome, authoritative, lifecycle_only, prompt_dispatch_pending, prompt_dispatch_attempted, acknowledged)
    SELECT 'bench-u-' || CAST(k AS TEXT) || '-' || n.id, 'bench-s-1-' || n.id, 1,
    t + k * 100, t + k * 100 + 50, 'completed', TRUE, FALSE, FALSE, TRUE, TRUE
    FROM n CROSS JOIN (SELECT 1 AS k UNION ALL SELECT 2) AS ks;

INSERT INTO task_session_messages (id, session_id, task_id, turn_id, seq, revision,
    author, type, content, metadata, status, pending_id, streaming, removed, created_at, updated_at)
    SELECT 'bench-m-' || CAST(k AS TEXT) || '-' || n.id, 'bench-s-1-' || n.id, 'bench-t-' || n.id,
    'bench-u-' || CAST((k + 1) / 2 AS TEXT) || '-' || n.id, k, 1,
    CASE WHEN k % 2 = 1 THEN 'user' ELSE 'agent' END,
    CASE WHEN k = 4 AND i % 10 = 0 THEN 'clarification_request' ELSE 'message' END,
    'Some text of the usual length, about as much as a person writes in one go before pressing the key.', '{}',
    CASE WHEN k = 4 AND i % 10 = 0 THEN 'pending' END,
    CASE WHEN k = 4 AND i % 10 = 0 THEN 'bench-p-' || CAST(i AS TEXT) END, FALSE, FALSE, t + k * 100, t + k * 100
    FROM n CROSS JOIN (SELECT 1 AS k UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) AS ks;

INSERT INTO task_session_git_snapshots (id, task_environment_id, snapshot_type,
    branch, head_commit, base_commit, ahead, behind, files, triggered_by, metadata, repository_name, created_at)
    SELECT 'bench-g-' || n.id, 'bench-e-' || n.id, 'status_update', 'work',
    'abc', 'def', 1, 0, '{}', 'live_monitor',
    '{"additions":12,"deletions":3,"changed_files":2,"base_resolvable":true}', '', t + 500 FROM n;
