-- What a deletion and a session's owner ask of transcripts, without reading every transcript.

-- Holds every row now: a deleted session finds its rows by it, those without a `seq` (queued prompts, tombstones) too.
-- Many rows may be without one: NULLs differ from each other.
DROP INDEX task_session_messages_by_seq;
CREATE UNIQUE INDEX task_session_messages_by_seq ON task_session_messages (session_id, seq);

-- In the order in which they are asked for, so that the index above is never the shorter way.
DROP INDEX task_session_messages_streaming;
CREATE INDEX task_session_messages_streaming ON task_session_messages (session_id, seq) WHERE streaming;

-- Requests of a session: few among many rows, and those whose decision was not delivered are asked for at every poke.
CREATE INDEX task_session_messages_requests ON task_session_messages (session_id, seq) WHERE pending_id IS NOT NULL;

-- Start-up looks at every session anyway; nothing ever asked by this one.
DROP INDEX task_sessions_unsettled;
