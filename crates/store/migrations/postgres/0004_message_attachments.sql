-- Files that people attach to messages. A row is made by an upload and waits for its message (`message_id` is empty);
-- the transaction that accepts the message claims it. The bytes lie in the data directory under the row's id.
CREATE TABLE message_attachments (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    message_id TEXT COLLATE "C" REFERENCES task_session_messages (id) ON DELETE CASCADE,
    position BIGINT,
    name TEXT COLLATE "C" NOT NULL,
    media_type TEXT COLLATE "C" NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX message_attachments_by_message ON message_attachments (message_id, position) WHERE message_id IS NOT NULL;
CREATE INDEX message_attachments_by_task ON message_attachments (task_id);
CREATE INDEX message_attachments_unclaimed ON message_attachments (created_at) WHERE message_id IS NULL;
