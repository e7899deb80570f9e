-- When a person last prompted a task, without reading its transcript: one of the durable records that
-- `tasks.last_activity_at` is raised from where it is missing (SUM-10).
CREATE INDEX task_session_messages_prompts ON task_session_messages (task_id, created_at)
    WHERE author = 'user' AND type = 'message';
