//! The names of all actions, once each.

macro_rules! actions {
    ($group:ident, $list:ident, $doc:literal: $($(#[$vdoc:meta])* $name:ident = $word:literal),+ $(,)?) => {
        #[doc = $doc]
        pub mod $group { $($(#[$vdoc])* pub const $name: &str = $word;)+ }

        #[doc = concat!("Every name of [`", stringify!($group), "`].")]
        pub const $list: &[&str] = &[$($group::$name),+];
    };
}

actions! { request, REQUESTS, "Requests of a client.":
    /// Announces what the client can do.
    CLIENT_HELLO = "client.hello",
    /// Answered at once.
    PING = "ping",
    /// Starts the workspace feed.
    WORKSPACE_SUBSCRIBE = "workspace.subscribe",
    /// Ends it.
    WORKSPACE_UNSUBSCRIBE = "workspace.unsubscribe",
    /// A page of tasks with their summaries.
    TASK_LIST = "task.list",
    /// One task.
    TASK_GET = "task.get",
    /// Makes a task.
    TASK_CREATE = "task.create",
    /// Changes a task's own facts.
    TASK_UPDATE = "task.update",
    /// Moves a task to a step.
    TASK_MOVE = "task.move",
    /// Archives a task.
    TASK_ARCHIVE = "task.archive",
    /// Takes it out of the archive.
    TASK_UNARCHIVE = "task.unarchive",
    /// Deletes a task with its sessions and worktrees.
    TASK_DELETE = "task.delete",
    /// What a row's menu answers from.
    TASK_PENDING = "task.pending",
    /// Puts a session's error away; a failed launch stays.
    TASK_DISMISS_ERROR = "task.dismiss_error",
    /// Carries out an offered recovery action.
    TASK_RECOVER = "task.recover",
    /// Starts a session of a task.
    SESSION_LAUNCH = "session.launch",
    /// Opens a session's detail.
    SESSION_SUBSCRIBE = "session.subscribe",
    /// Closes it.
    SESSION_UNSUBSCRIBE = "session.unsubscribe",
    /// Raises the polling priority of its environment.
    SESSION_FOCUS = "session.focus",
    /// Lowers it.
    SESSION_UNFOCUS = "session.unfocus",
    /// One observation that begins now.
    SESSION_GIT_REFRESH = "session.git.refresh",
    /// The sessions of a task.
    SESSION_LIST = "session.list",
    /// Renames a session.
    SESSION_RENAME = "session.rename",
    /// Makes it the one the row shows.
    SESSION_SET_PRIMARY = "session.set_primary",
    /// Ends the session for good.
    SESSION_CLOSE = "session.close",
    /// Ends its turn and its process; it can go on later.
    SESSION_STOP = "session.stop",
    /// Deletes it with its transcript; the worktree stays with the task.
    SESSION_DELETE = "session.delete",
    /// Chooses a model.
    SESSION_SET_MODEL = "session.set_model",
    /// Chooses a mode.
    SESSION_SET_MODE = "session.set_mode",
    /// Chooses a value of another option.
    SESSION_SET_OPTION = "session.set_option",
    /// Sends, or queues, a prompt.
    MESSAGE_ADD = "message.add",
    /// Sends an undelivered or uncertain prompt again, or starts a queue that waits for a person.
    MESSAGE_RESEND = "message.resend",
    /// Deletes a row.
    MESSAGE_DELETE = "message.delete",
    /// A page of a transcript.
    MESSAGE_LIST = "message.list",
    /// One row.
    MESSAGE_GET = "message.get",
    /// The queued prompts.
    MESSAGE_QUEUE_LIST = "message.queue.list",
    /// Changes the text of a queued prompt.
    MESSAGE_QUEUE_UPDATE = "message.queue.update",
    /// Puts the queue into another order.
    MESSAGE_QUEUE_REORDER = "message.queue.reorder",
    /// Stops the open turn, if there is one, and sends this queued prompt next.
    MESSAGE_QUEUE_SEND_NOW = "message.queue.send_now",
    /// Takes a prompt out of the queue.
    MESSAGE_QUEUE_REMOVE = "message.queue.remove",
    /// Answers a permission.
    PERMISSION_RESPOND = "permission.respond",
    /// Answers, or rejects, what an agent asked.
    CLARIFICATION_RESPOND = "clarification.respond",
    /// Stops the open turn.
    AGENT_CANCEL = "agent.cancel",
    /// A page of changed files.
    GIT_CHANGES = "git.changes",
    /// The diff of one file.
    GIT_DIFF = "git.diff",
    /// Takes the result into the base branch.
    GIT_MERGE_INTO_BASE = "git.merge_into_base",
    /// Looks at a folder before it is registered.
    REPOSITORY_INSPECT = "repository.inspect",
    /// Folders that look like repositories.
    REPOSITORY_SUGGEST = "repository.suggest",
    /// Branches a task may start from.
    REPOSITORY_BRANCHES = "repository.branches",
    /// Registers a repository.
    REPOSITORY_ADD = "repository.add",
    /// Renames it or sets its default branch.
    REPOSITORY_UPDATE = "repository.update",
    /// Unregisters it.
    REPOSITORY_REMOVE = "repository.remove",
    /// Known agents, found on this machine or not.
    AGENT_KNOWN = "agent.known",
    /// Makes an agent profile.
    AGENT_PROFILE_CREATE = "agent_profile.create",
    /// Changes it.
    AGENT_PROFILE_UPDATE = "agent_profile.update",
    /// Deletes it.
    AGENT_PROFILE_DELETE = "agent_profile.delete",
}

actions! { notification, NOTIFICATIONS, "Notifications of the server.":
    /// The first frame of a connection.
    HELLO = "hello",
    /// A task was made.
    TASK_CREATED = "task.created",
    /// A task changed.
    TASK_UPDATED = "task.updated",
    /// A task is on another step or place.
    TASK_MOVED = "task.moved",
    /// A task was archived or taken out of the archive.
    TASK_ARCHIVED = "task.archived",
    /// A task is gone.
    TASK_DELETED = "task.deleted",
    /// The complete new summary of a task.
    TASK_STATUS_SUMMARY_UPDATED = "task.status_summary.updated",
    /// A session was made or changed.
    SESSION_STATE_CHANGED = "session.state_changed",
    /// A session is gone.
    SESSION_DELETED = "session.deleted",
    /// A row joined a transcript.
    SESSION_MESSAGE_ADDED = "session.message.added",
    /// A row changed.
    SESSION_MESSAGE_UPDATED = "session.message.updated",
    /// Text was appended to a row.
    SESSION_MESSAGE_APPENDED = "session.message.appended",
    /// A row is gone.
    SESSION_MESSAGE_DELETED = "session.message.deleted",
    /// A turn opened.
    SESSION_TURN_STARTED = "session.turn.started",
    /// A turn settled.
    SESSION_TURN_COMPLETED = "session.turn.completed",
    /// A request was armed or resolved.
    SESSION_PENDING_CHANGED = "session.pending_changed",
    /// Which questions an agent waits for.
    SESSION_QUESTIONS_AWAITED = "session.questions_awaited",
    /// Git status of one repository, or a Git event.
    SESSION_GIT_EVENT = "session.git.event",
    /// A repository could not be measured.
    SESSION_GIT_MEASURE_FAILED = "session.git.measure_failed",
    /// Models and further options.
    SESSION_MODELS_UPDATED = "session.models_updated",
    /// The mode.
    SESSION_MODE_CHANGED = "session.mode_changed",
    /// Slash commands.
    SESSION_AVAILABLE_COMMANDS = "session.available_commands",
    /// Context and cost.
    SESSION_USAGE_UPDATED = "session.usage_updated",
    /// The queue.
    MESSAGE_QUEUE_STATUS_CHANGED = "message.queue.status_changed",
    /// This client missed states of that session: list once.
    SESSION_RESYNC = "session.resync",
    /// A repository was registered or changed.
    REPOSITORY_UPDATED = "repository.updated",
    /// A repository was unregistered.
    REPOSITORY_REMOVED = "repository.removed",
    /// A workflow changed.
    WORKFLOW_UPDATED = "workflow.updated",
    /// An agent profile was made or changed.
    AGENT_PROFILE_UPDATED = "agent_profile.updated",
    /// An agent profile is gone.
    AGENT_PROFILE_REMOVED = "agent_profile.removed",
}
