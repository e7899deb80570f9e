//! Every bound of flightstrip, with its reason and what happens beyond it.
//!
//! Law 4: a queue, cache, retry or timeout has a name, a number and a stated overflow, and they stand here together
//! so that they can be judged together. Overflow is one of: *wait* (backpressure), *replace* (newest wins), *evict
//! own oldest*, *refuse* (`BUSY` or `VALIDATION_ERROR`), *close for resync*, *cut* (text, on a character boundary).
//! Silent loss is not among them.

use std::time::Duration;

// ---- the summary and its texts ----------------------------------------------------------------------------------

/// An error's preview in UTF-8 bytes (ERR-03): a readable sentence, never a log. Overflow: cut.
pub const ERROR_PREVIEW_BYTES: usize = 512;
/// An error's category in UTF-8 bytes (ERR-03): a word from a known list. Overflow: cut.
pub const ERROR_CATEGORY_BYTES: usize = 64;
/// An error's stamp: 32 hex characters, enough of a SHA-256 that two failures never share one.
pub const ERROR_STAMP_BYTES: usize = 32;
/// Offered recovery actions (ERR-03). Overflow: the first three known, distinct ones.
pub const RECOVERY_ACTIONS: usize = 3;
/// An id in bytes of printable ASCII. Overflow: refuse at the edge.
pub const ID_BYTES: usize = 256;
/// A pull request's address in bytes. Overflow: refuse at the edge.
pub const PULL_REQUEST_URL_BYTES: usize = 2_048;
/// A pull request's title in UTF-8 bytes: twice what forges take, since one line shows it. Overflow: cut.
pub const PULL_REQUEST_TITLE_BYTES: usize = 512;
/// A branch a forge names, in UTF-8 bytes: Git keeps branches as files, and their systems end near here. Overflow:
/// refuse at the edge, because a cut name is another branch.
pub const BRANCH_NAME_BYTES: usize = 1_024;
/// One serialised summary (SUM-03). The worst case stays under 5,000 bytes, and under 5,600 with ids of nothing but
/// characters that JSON escapes; a property test holds it.
pub const SUMMARY_BYTES: usize = 6 * 1024;
/// The subagent count a summary shows. Overflow: shown as this number.
pub const ACTIVE_SUBAGENTS: u32 = 999;

// ---- what a person writes ----------------------------------------------------------------------------------------

/// A client's message id in bytes (API-06). Overflow: refuse.
pub const CLIENT_MESSAGE_ID_BYTES: usize = 128;
/// One prompt or description in UTF-8 bytes. Overflow: `VALIDATION_ERROR`.
pub const USER_CONTENT_BYTES: usize = 1024 * 1024;
/// A title or name in characters: what one line of a row can ever show. Overflow: `VALIDATION_ERROR`.
pub const TITLE_CHARS: usize = 200;
/// Queued prompts of one session: more is a plan, not a queue. Overflow: `BUSY`.
pub const QUEUED_PROMPTS: usize = 10;
/// One attached file in bytes (a person's screenshot, log or document). Overflow: refuse.
pub const ATTACHMENT_BYTES: u64 = 10 * 1024 * 1024;
/// Files attached to one message. Overflow: `VALIDATION_ERROR`.
pub const MESSAGE_ATTACHMENTS: usize = 10;
/// An attached file's name in UTF-8 bytes: file systems take 255, and a mark may be put before it. Overflow: cut, its
/// ending kept.
pub const ATTACHMENT_NAME_BYTES: usize = 200;
/// A media type in bytes: twice what registered ones need. Overflow: it counts as not declared.
pub const MEDIA_TYPE_BYTES: usize = 127;
/// Uploaded files of one task that no message has claimed: two messages' worth, for two people who write at once.
/// Overflow: `BUSY`.
pub const UNCLAIMED_OF_TASK: usize = 2 * MESSAGE_ATTACHMENTS;
/// Uploaded files of all tasks that no message has claimed: 2 GiB of disk at most. Overflow: `BUSY`.
pub const UNCLAIMED: usize = 200;
/// How long an uploaded file waits for its message: a draft may lie over night. Overflow: removed.
pub const UNCLAIMED_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// Files being uploaded at once; each is looked through whole, in memory, at its end. Overflow: `BUSY`.
pub const UPLOADS: usize = 4;
/// Files that one person uploads at once: a page sends two, and one place stays for somebody else whatever a person's
/// pages and programs do. Overflow: `BUSY`.
pub const UPLOADS_OF_USER: usize = UPLOADS - 1;
/// An upload without progress; also how long what is sent of a refused one is still read, so that the reason arrives.
/// Overflow: it is given up, and its place is free.
pub const UPLOAD_STALL: Duration = Duration::from_secs(15);
/// An upload from its beginning to its last byte: the largest file over a line of 300 kbit/s. Without it a client that
/// sends a byte now and then would keep its place for ever. Overflow: as for [`UPLOAD_STALL`].
pub const UPLOAD_TIME: Duration = Duration::from_secs(5 * 60);
/// An image that is put into a prompt itself: larger ones are refused by the models behind most agents. Overflow: a
/// file in the worktree.
pub const INLINE_IMAGE_BYTES: u64 = 4 * 1024 * 1024;
/// A text file that is put into a prompt itself: about what an agent reads of a file anyway. Overflow: a file in the
/// worktree, which it can read in parts.
pub const INLINE_TEXT_BYTES: u64 = 256 * 1024;
/// All that is put into one prompt from files: it is one line, which the agent must take whole. Overflow: files in the
/// worktree.
pub const INLINE_TOTAL_BYTES: u64 = 12 * 1024 * 1024;
/// Requests `task.pending` answers with. Overflow: the newest.
pub const PENDING_LISTED: usize = 20;
/// Repositories of one task. Overflow: `VALIDATION_ERROR`.
pub const TASK_REPOSITORIES: usize = 20;
/// Arguments, or environment variables, of an agent profile. Overflow: `VALIDATION_ERROR`.
pub const PROFILE_ENTRIES: usize = 64;

// ---- lists -------------------------------------------------------------------------------------------------------

/// Rows of one `task.list` page. Overflow: cursor.
pub const TASK_PAGE_ROWS: usize = 500;
/// Rows of one `message.list` page when the client names no number.
pub const MESSAGE_PAGE_ROWS: usize = 50;
/// Rows of one `message.list` page at most. Overflow: cursor.
pub const MESSAGE_PAGE_ROWS_MAX: usize = 200;
/// Serialised bytes of one list page, at least one row (GWY-07). Overflow: cursor.
pub const PAGE_BYTES: usize = 1024 * 1024;
/// One row of a listed queue on the wire, so that a full queue is one page. Overflow: cut and marked
/// `content_truncated`.
pub const QUEUED_ROW_BYTES: usize = PAGE_BYTES / QUEUED_PROMPTS;
/// Content of one message inside a notification or list. Overflow: cut and marked `content_truncated`, the rest by
/// HTTP.
pub const WIRE_CONTENT_BYTES: usize = 256 * 1024;

// ---- agent to disk -----------------------------------------------------------------------------------------------

/// The global tick on which streamed text is appended (STR-01): ten updates a second read as continuous.
pub const COALESCE_TICK: Duration = Duration::from_millis(100);
/// Text waiting in one session's coalescer. Overflow: wait, so the gate closes and the agent's pipe fills.
pub const COALESCE_PENDING_BYTES: usize = 1024 * 1024;
/// Rows of one turn that text can still be joined to by the agent's own id. Overflow: the oldest is forgotten, and
/// late text for it opens a row of its own.
pub const COALESCER_ROWS: usize = 64;
/// Events between one agent and its runtime; these places are the flow gate's permits. Overflow: wait.
pub const HANDOFF_EVENTS: usize = 1_024;
/// Bytes between one agent and its runtime; one line is always admitted to an empty hand-off. Overflow: wait.
pub const HANDOFF_BYTES: usize = 4 * 1024 * 1024;
/// One line of an agent's stdout. Overflow: session error `line_too_long`; nobody can resynchronise inside a line.
pub const AGENT_LINE_BYTES: usize = 32 * 1024 * 1024;
/// Append batches that wait for the writer. Overflow: wait.
pub const STREAM_WRITES: usize = 1_024;
/// Tool output kept in a tool row. Overflow: cut and marked; the head is kept.
pub const TOOL_OUTPUT_BYTES: usize = 256 * 1024;
/// Lines that wait for an agent to read its input. Prompts come one at a time, so this many means it does not read.
/// Overflow: refuse; the agent's own requests wait.
pub const AGENT_OUTGOING_LINES: usize = 256;
/// How long lines already handed over may take to be written when an agent's input is closed. Overflow: lost with the
/// agent that does not read them.
pub const AGENT_LAST_LINES: Duration = Duration::from_millis(250);
/// Permission requests of one agent that nobody has answered. Overflow: the agent's request is refused.
pub const OPEN_PERMISSIONS: usize = 256;
/// Questions an agent asks at once: more than a person answers in one go. Overflow: refused, with the reason.
pub const QUESTIONS: usize = 4;
/// Characters of one question. Overflow: refused.
pub const QUESTION_CHARS: usize = 2_000;
/// Options of a question that has some: with one there is nothing to choose. Otherwise: refused.
pub const QUESTION_OPTIONS_MIN: usize = 2;
/// Options of a question: what a phone shows without scrolling. Overflow: refused.
pub const QUESTION_OPTIONS_MAX: usize = 6;
/// Characters of an option's label. Overflow: refused.
pub const OPTION_LABEL_CHARS: usize = 200;
/// Characters of an option's description. Overflow: refused.
pub const OPTION_DESCRIPTION_CHARS: usize = 500;
/// Characters of an answer in a person's own words. Overflow: refused; longer things are sent as a message.
pub const ANSWER_CHARS: usize = 2_000;
/// Characters of the pattern of an answer: a person is shown it. Overflow: the question is refused.
pub const PATTERN_CHARS: usize = 500;
/// A pattern made ready: far more than one that a person reads needs, and soon made. Overflow: the question is refused.
pub const PATTERN_PROGRAM_BYTES: usize = 256 * 1024;
/// Bundles of questions that one agent waits for. Overflow: the next one is refused.
pub const OPEN_QUESTIONS: usize = 16;
/// How long an agent's call waits for an answer; people go to lunch. Overflow: the bundle is detached.
pub const QUESTION_WAIT: Duration = Duration::from_secs(2 * 60 * 60);
/// How often an agent that waits is told so, if it asked to be: its own deadlines are often half a minute.
pub const QUESTION_PROGRESS: Duration = Duration::from_secs(10);
/// The body of one MCP request: four questions with all their options, escaped. Overflow: refused.
pub const MCP_BODY_BYTES: usize = 512 * 1024;
/// MCP sessions of one agent process; each of its subagents may open one. Overflow: the one that was idle the longest
/// ends; refused when all have a request under way.
pub const MCP_SESSIONS: usize = 64;
/// Silence after which an agent that replays history *after* its reply is taken to have finished.
pub const REPLAY_QUIET: Duration = Duration::from_millis(500);
/// Tool calls of one turn that are remembered. Overflow: ended ones are forgotten; an update of one opens a new row.
pub const TOOL_ROWS: usize = 4_096;
/// Ids, kinds and paths in a tool row. Overflow: cut.
pub const TOOL_WORD_BYTES: usize = 1_024;
/// An option's id, which the agent chose and gets back. They are a word in every agent known. Overflow: a permission's
/// option is not offered, a question is refused.
pub const OPTION_ID_BYTES: usize = 1_024;
/// Options of one permission request. Overflow: the first ones.
pub const PERMISSION_OPTIONS: usize = 16;
/// One side of a file's change in a tool row. Overflow: cut.
pub const TOOL_EDIT_BYTES: usize = 64 * 1024;
/// Files one tool row names. Overflow: the first ones.
pub const TOOL_LOCATIONS: usize = 32;
/// A tool call's title. Overflow: cut.
pub const TOOL_TITLE_BYTES: usize = 1_024;
/// Entries of a plan. Overflow: the first ones.
pub const PLAN_ENTRIES: usize = 100;
/// An unknown update as it is kept in its row. Overflow: cut and marked.
pub const UNKNOWN_UPDATE_BYTES: usize = 64 * 1024;
/// The tail of an agent's stderr that is kept. Overflow: the head is dropped.
pub const STDERR_TAIL_BYTES: usize = 64 * 1024;
/// Lines of that tail shown in a session error.
pub const STDERR_TAIL_LINES: usize = 20;
/// `initialize`, `session/new`, `session/load`: real agents take up to 3 s; a cold cache takes longer.
pub const AGENT_START_TIMEOUT: Duration = Duration::from_secs(60);
/// Any other request to an agent, prompts excepted, which have none.
pub const AGENT_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a cancelled turn may take to end by itself before the process is stopped.
pub const CANCEL_GRACE: Duration = Duration::from_secs(5);
/// How long a process group may take to end after TERM, then after KILL.
pub const TERM_GRACE: Duration = Duration::from_secs(3);
/// How long an agent may take to end after its input is closed.
pub const STDIN_CLOSE_GRACE: Duration = Duration::from_secs(3);
/// What the shim needs beyond its own graces to notice, signal and reap. Overflow: the server kills the group itself.
pub const SHIM_SLACK: Duration = Duration::from_secs(2);
/// How long an agent's descendants get to follow it by themselves. Overflow: they are told, then killed.
pub const SHIM_SETTLE: Duration = Duration::from_millis(100);
/// How long the rest of stderr is waited for after the end: it is there at once or not at all. Overflow: it is left out.
pub const STDERR_REST: Duration = Duration::from_millis(500);
/// Agents starting at once: starting is the heaviest moment of an agent. Overflow: wait.
pub const AGENTS_STARTING: usize = 2;
/// A settled, resumable agent is stopped after this long.
pub const AGENT_IDLE: Duration = Duration::from_secs(10 * 60);

// ---- the store ---------------------------------------------------------------------------------------------------

/// How long SQLite waits for another process's lock. Overflow: a person's write answers `BUSY`, a stream retries.
pub const SQLITE_BUSY: Duration = Duration::from_secs(5);
/// The first pause before a stream tries a database again that takes no writes; it doubles from there.
pub const STREAM_RETRY_MIN: Duration = Duration::from_millis(50);
/// The longest pause before a stream tries a locked database again.
pub const STREAM_RETRY_MAX: Duration = Duration::from_secs(2);
/// Further attempts of a write once the server is told to stop. Overflow: it fails, and recovery finds what is missing.
pub const STOPPING_WRITE_ATTEMPTS: u32 = 3;
/// Readers of the SQLite pool: two cores plus room for a slow list.
pub const SQLITE_READERS: u32 = 4;
/// Readers of the PostgreSQL pool, beside the one writer: as for SQLite, plus what waiting for a network costs.
pub const POSTGRES_READERS: u32 = 8;
/// How long PostgreSQL waits for another process's lock. Overflow: as for [`SQLITE_BUSY`].
pub const POSTGRES_LOCK_WAIT: Duration = Duration::from_secs(5);
/// How long PostgreSQL is asked what became of a commit whose answer was lost: what a database needs that is started
/// again, and no writer is kept from anything that it could do meanwhile. Overflow: whoever committed is told that it
/// failed, and looks before trying again.
pub const COMMIT_ASKED: Duration = Duration::from_secs(10);
/// The pause between two questions of [`COMMIT_ASKED`].
pub const COMMIT_ASK_EVERY: Duration = Duration::from_millis(100);
/// How long PostgreSQL keeps a transaction whose program says nothing. Overflow: it is rolled back and its connection
/// ended, so a server that hangs does not hold the database.
pub const POSTGRES_IDLE_TRANSACTION: Duration = Duration::from_secs(60);
/// How long start-up waits for the instance lock. Overflow: start-up error naming the holder.
pub const INSTANCE_LOCK_WAIT: Duration = Duration::from_secs(30);
/// How often the connection that holds PostgreSQL's instance lock is looked after: this long two servers may both
/// believe to be the one, and each of their transactions is whole even then.
pub const INSTANCE_LOCK_CHECK: Duration = Duration::from_secs(5);

// ---- the operator's tools ----------------------------------------------------------------------------------------

/// Copies made before migrations that are kept of each schema version: a start that fails and is tried again makes one
/// every time. Overflow: the oldest of that version is removed.
pub const BACKUPS_OF_ONE_SCHEMA: usize = 3;
/// Copies made before migrations that are kept at all. Overflow: the oldest is removed.
pub const BACKUPS_KEPT: usize = 10;
/// How often a start says in the log how far a long step has come.
pub const PROGRESS_LOG_EVERY: Duration = Duration::from_secs(2);
/// Ids that `doctor` names of each kind of fault. Overflow: the count says how many there are.
pub const DOCTOR_LISTED: usize = 20;
/// Looks at a summary that differs while a server works, before it is called wrong.
pub const DOCTOR_LOOKS: u32 = 40;
/// The pause between them; together longer than a sweep takes to find what was missed.
pub const DOCTOR_PAUSE: Duration = Duration::from_millis(250);

/// Sessions, or tasks, that a start repairs in one transaction: enough that committing is a small part of the work, and
/// few enough that progress is told several times a second. More are further transactions.
pub const RECOVERY_BATCH: usize = 50;

// ---- the projector -----------------------------------------------------------------------------------------------

/// Tasks derived in one transaction: at most this many rows are locked together.
pub const PROJECTOR_BATCH: usize = 200;
/// Tasks that a start or a sweep looks at together: two batches, of which one is loaded while the other is written.
pub const PROJECTOR_PAGE: usize = 2 * PROJECTOR_BATCH;
/// After its first poke a task is derived at most this often.
pub const PROJECTOR_REPEAT: Duration = Duration::from_millis(50);
/// How often stale tasks are looked for without a poke (REC-06).
pub const PROJECTOR_SWEEP: Duration = Duration::from_secs(5);
/// Attempts for one task before it is left to the next event or sweep (REC-03).
pub const PROJECTOR_RETRIES: u32 = 3;
/// How long one answer waits for the summaries that it doubts: well within what a client waits for a list. Overflow:
/// the stored ones are shown, and the work goes on.
pub const HYDRATION_WAIT: Duration = Duration::from_secs(2);
/// Hydrations at once: there is one writer, so more would only wait for each other. Overflow: wait, then the stored
/// summaries are shown and the tasks are poked.
pub const HYDRATIONS: usize = 2;

// ---- the gateway -------------------------------------------------------------------------------------------------

/// Connected clients: some dozens of tabs of some dozens of people. Overflow: refuse with 503 before the upgrade.
pub const CLIENTS: usize = 1_024;
/// Control frames (responses, errors) that wait for one client. Overflow: close 4001.
pub const CONTROL_FRAMES: usize = 256;
/// Their bytes. Overflow: close 4001.
pub const CONTROL_BYTES: usize = 8 * 1024 * 1024;
/// Occurrences that wait for one client. Overflow: close 4002.
pub const OCCURRENCE_FRAMES: usize = 1_024;
/// Their bytes. Overflow: close 4002.
pub const OCCURRENCE_BYTES: usize = 16 * 1024 * 1024;
/// Message and tool states of one session that wait for one client. Overflow: evict own oldest, then one
/// `session.resync`.
pub const MESSAGE_STATE_KEYS: usize = 32;
/// All other states that wait for one client. Overflow: close 4002.
pub const STATE_KEYS: usize = 16_384;
/// Bytes of those states: keys alone would not bound memory. Overflow: close 4002.
pub const STATE_BYTES: usize = 64 * 1024 * 1024;
/// Control frames written before one other frame gets a turn.
pub const CONTROL_BURST: usize = 8;
/// Bytes one scope writes before the next one's turn: some dozens of usual frames, so that turns are cheap. What it
/// writes beyond is owed.
pub const SCOPE_QUANTUM_BYTES: i64 = 16 * 1024;
/// Growing messages of one session of which the server knows how much a client holds; an agent has one or two.
/// Overflow: an unknown one is sent whole.
pub const HELD_MESSAGES: usize = 64;
/// Room that is reserved for the answer to a list.
pub const LARGE_ANSWER_BYTES: usize = PAGE_BYTES;
/// Room that is reserved for an answer with one thing in it: a message or a diff is the largest. Escaping can make it
/// larger; that only matters to a client that does not read. Small, because some of these requests take minutes, and
/// what is promised to them must not stop the reading of a ping or a Stop behind them.
pub const ENTITY_ANSWER_BYTES: usize = WIRE_CONTENT_BYTES;
/// Room that is reserved for an acknowledgement.
pub const ANSWER_BYTES: usize = 64 * 1024;
/// Frames handed to a socket before it is flushed: one system call for many small frames.
pub const WRITE_BATCH_BYTES: usize = 128 * 1024;
/// Requests of one connection that run, or wait for an earlier one of the same session. Overflow: `BUSY`.
pub const INFLIGHT_REQUESTS: usize = 64;
/// Requests of one connection that change the same session and are not over: a queue, the prompt at work, and what a
/// person does about them. Their answers' room would else keep requests for other sessions from being read. Overflow:
/// `BUSY`.
pub const LANE_REQUESTS: usize = QUEUED_PROMPTS + 6;
/// Sessions one client may have open, and may look at. Overflow: `BUSY`.
pub const OPEN_SESSIONS: usize = 64;
/// Work of one client that goes on after its request was answered: as many as it may have open, so that opening them
/// all leaves none out. Overflow: a refresh answers `BUSY`, what follows the opening of a session is left out.
pub const CLIENT_BACKGROUND: usize = OPEN_SESSIONS;
/// One inbound frame: escaping can blow the largest prompt up six times. Overflow: close 1009.
pub const INBOUND_FRAME_BYTES: usize = 8 * 1024 * 1024;
/// Live text of one unsettled message. Overflow: its head is read from the store instead.
pub const LIVE_TEXT_BYTES: usize = 256 * 1024;
/// Live text of all unsettled messages. Overflow: the oldest are read from the store instead.
pub const LIVE_TEXT_TOTAL_BYTES: usize = 64 * 1024 * 1024;
/// How often each side of a connection speaks when it has nothing to say.
pub const PING_EVERY: Duration = Duration::from_secs(20);
/// Silence after which a connection is dead. Overflow: close 4002.
pub const DEAD_AFTER: Duration = Duration::from_secs(45);
/// What the system may hold of one connection's writes. Small, because what lies there can no longer be replaced by a
/// newer state, and because a slow peer shows progress only in steps of a part of it; large enough for 1 MB/s over a
/// line of 100 ms.
pub const SEND_BUFFER_BYTES: u32 = 128 * 1024;
/// A write without progress. Overflow: close 4002.
pub const WRITE_STALL: Duration = Duration::from_secs(10);
/// How long a closed connection waits for the peer's own close, so that the code arrives.
pub const CLOSE_GRACE: Duration = Duration::from_secs(2);
/// Life of the one-time code in the printed address.
pub const SIGN_IN_CODE_LIFE: Duration = Duration::from_secs(10 * 60);
/// Life of a signed-in browser's secret without use.
pub const SIGN_IN_LIFE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Unused one-time codes that exist at once. Overflow: the oldest is forgotten.
pub const SIGN_IN_CODES: usize = 32;
/// Wrong codes within [`SIGN_IN_WINDOW`]: a code has 128 random bits, so this only keeps the door quiet. Overflow:
/// refuse.
pub const SIGN_IN_FAILURES: usize = 20;
/// Over which wrong codes are counted.
pub const SIGN_IN_WINDOW: Duration = Duration::from_secs(60);
/// The body of an HTTP request that carries no file. Overflow: refuse.
pub const HTTP_BODY_BYTES: usize = 64 * 1024;
/// How long shutdown waits for connections to write what waits and for accepted requests to finish.
pub const GATEWAY_DRAIN: Duration = Duration::from_secs(5);

// ---- Git ---------------------------------------------------------------------------------------------------------

/// Names and files in one observation. Overflow: `truncated`, the rest by page.
pub const OBSERVATION_FILES: usize = 2_000;
/// Their serialised bytes. Overflow: `truncated`, the rest by page.
pub const OBSERVATION_BYTES: usize = 256 * 1024;
/// Polling of a focused live environment.
pub const GIT_POLL_FAST: Duration = Duration::from_secs(3);
/// Polling of any other live environment (GIT-06: a change is seen within 30 s with no browser).
pub const GIT_POLL_SLOW: Duration = Duration::from_secs(20);
/// After the last focus ends polling stays fast this long, so that switching to and fro does not flap.
pub const GIT_FOCUS_LINGER: Duration = Duration::from_secs(5);
/// An identical live observation is written at most this often (GIT-05). Overflow: merge.
pub const LIVE_SNAPSHOT_THROTTLE: Duration = Duration::from_secs(30);
/// One untracked file read to count its lines. Overflow: a file without lines.
pub const UNTRACKED_FILE_BYTES: u64 = 1024 * 1024;
/// All untracked files read in one observation. Overflow: files without lines.
pub const UNTRACKED_TOTAL_BYTES: u64 = 16 * 1024 * 1024;
/// A look-up of one Git fact. Overflow: failed observation.
pub const GIT_LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a comparison is made whose files vanish under it, as in an agent's rebase: Git gives up at the first
/// one. Ten are far more than a rebase of hundreds of commits made necessary. Overflow: failed observation.
pub const GIT_COMPARE_TRIES: usize = 10;
/// Status, diff or a whole observation. Overflow: failed observation.
pub const GIT_OBSERVE_TIMEOUT: Duration = Duration::from_secs(60);
/// A Git command that changes something for a person: checking out a large tree or a hook of theirs takes minutes.
/// Overflow: TERM, so that Git removes its own locks, then KILL.
pub const GIT_WRITE_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Git work of all repositories at once is as many as cores, but never fewer than this: two slow disks must not hold
/// up everybody. Overflow: wait, first come first served.
pub const GIT_WORK_MIN: usize = 4;
/// One answer of Git: about 200,000 changed files. Overflow: failed observation; the numbers would be wrong.
pub const GIT_OUTPUT_BYTES: usize = 32 * 1024 * 1024;
/// What is kept of a Git command's complaints. Overflow: cut.
pub const GIT_STDERR_BYTES: usize = 16 * 1024;
/// How long the pipe of an ended Git command is still read when something it started in the background holds it open.
pub const GIT_PIPE_GRACE: Duration = Duration::from_secs(1);
/// Filter drivers that one repository's configuration names, all of them switched off by name while observing.
/// Overflow: failed observation; one that is not switched off could run.
pub const GIT_FILTER_DRIVERS: usize = 64;
/// Numbers tried behind a branch name that is taken. Overflow: refuse.
pub const BRANCH_SUFFIXES: u32 = 100;
/// Branches listed for a choice. Overflow: the most recently committed.
pub const BRANCHES_LISTED: usize = 500;
/// Files named in the answer to a merge that conflicts. Overflow: the first.
pub const CONFLICTS_LISTED: usize = 100;
/// A file that is compared for a shown diff. Overflow: named skip reason.
pub const DIFF_SOURCE_BYTES: u64 = 10 * 1024 * 1024;
/// The shown diff of one file. Overflow: named skip reason.
pub const DIFF_FILE_BYTES: usize = 256 * 1024;
/// Repositories suggested to a newcomer. Overflow: the first found.
pub const SUGGESTED_REPOSITORIES: usize = 20;
/// Folders looked at to find them. Overflow: the search ends.
pub const SUGGESTION_FOLDERS: usize = 2_000;
/// One exchange on the control socket of the data directory. Overflow: the caller gets nothing, the next is served.
pub const CONTROL_EXCHANGE: Duration = Duration::from_secs(5);
/// The word of one exchange. Overflow: the rest is not read, and the cut word is unknown.
pub const CONTROL_WORD_BYTES: u64 = 64;
