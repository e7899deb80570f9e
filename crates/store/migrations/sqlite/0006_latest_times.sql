-- The latest time of all transcripts, which every start asks for, without reading them.

CREATE INDEX task_session_messages_updated ON task_session_messages (updated_at);

-- Rows that would be missed by it. One clock makes both times, so there are none, and this costs nothing.
CREATE INDEX task_session_messages_misdated ON task_session_messages (created_at) WHERE updated_at < created_at;
