//! Which row belongs to which: what foreign keys cannot say, because it needs two of them at once or a word beside
//! them, and what they would have said, had another program not written past them.
//!
//! A workspace is the border of authorization, so nothing may reach over it.

use super::{Cure, Holds, Offenders, Truth, always};

pub(super) const TURN_HAS_SESSION: Truth = always(
    "turn_has_session",
    "turns whose session does not exist",
    Cure::Person,
    &["SELECT u.id FROM task_session_turns u
       WHERE NOT EXISTS (SELECT 1 FROM task_sessions s WHERE s.id = u.session_id)"],
);

/// PEN-03: without it the questions of that turn are not shown.
pub(super) const PROMPTED_TURN_IS_AUTHORITATIVE: Truth = always(
    "prompted_turn_is_authoritative",
    "turns with a person's message that do not count as conversation",
    Cure::Repair,
    &[
        "SELECT u.id FROM task_session_turns u WHERE NOT u.authoritative AND NOT u.lifecycle_only AND EXISTS (
           SELECT 1 FROM task_session_messages m WHERE m.turn_id = u.id AND m.author = 'user' AND NOT m.removed)",
    ],
);

/// An answer names a request by this identity alone (PEN-05); the questions of one call share it.
pub(super) const REQUEST_IDENTITY_IS_ONE: Truth = always(
    "request_identity_is_one",
    "identities of requests that several sessions or several permissions share",
    Cure::Person,
    &[
        "SELECT pending_id AS id FROM task_session_messages WHERE pending_id IS NOT NULL GROUP BY pending_id
       HAVING 1 < count(DISTINCT session_id) OR 1 < count(CASE WHEN type = 'permission_request' THEN 1 END)
           OR 1 < count(DISTINCT type)",
    ],
);

/// The questions of one call are asked, superseded and answered together.
pub(super) const QUESTIONS_IN_ONE_TURN: Truth = always(
    "questions_in_one_turn",
    "questions that were asked together and stand in different turns",
    Cure::Person,
    &["SELECT pending_id AS id FROM task_session_messages
       WHERE pending_id IS NOT NULL AND type = 'clarification_request'
       GROUP BY session_id, pending_id HAVING 1 < count(DISTINCT coalesce(turn_id, ''))"],
);

pub(super) const ATTACHMENT_HAS_OWNER: Truth = always(
    "attachment_has_owner",
    "files of a task or a message that does not exist",
    Cure::Person,
    &["SELECT a.id FROM message_attachments a
       WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = a.task_id)
          OR (a.message_id IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM task_session_messages m WHERE m.id = a.message_id))"],
);

pub(super) const ATTACHMENT_TASK_IS_ITS_MESSAGES: Truth = always(
    "attachment_task_is_its_messages",
    "files that name another task than their message",
    Cure::Repair,
    &[
        "SELECT a.id FROM message_attachments a JOIN task_session_messages m ON m.id = a.message_id
       WHERE m.task_id <> a.task_id",
    ],
);

pub(super) const ATTACHMENT_IS_A_PROMPTS: Truth = always(
    "attachment_is_a_prompts",
    "files of messages that no person wrote",
    Cure::Person,
    &[
        "SELECT a.id FROM message_attachments a JOIN task_session_messages m ON m.id = a.message_id
       WHERE m.author <> 'user'",
    ],
);

/// A prompt that is taken back takes its files along.
pub(super) const REMOVED_PROMPT_HAS_NO_FILES: Truth = always(
    "removed_prompt_has_no_files",
    "files of messages that were taken back",
    Cure::Repair,
    &[
        "SELECT a.id FROM message_attachments a JOIN task_session_messages m ON m.id = a.message_id
       WHERE m.removed",
    ],
);

/// A file that waits has no place, one of a message has one of its own.
pub(super) const ATTACHMENT_HAS_PLACE: Truth = always(
    "attachment_has_place",
    "files without a place of their own in their message, or with one in none",
    Cure::Repair,
    &[
        "SELECT a.id FROM message_attachments a WHERE (a.message_id IS NULL) <> (a.position IS NULL)
          OR EXISTS (SELECT 1 FROM message_attachments o WHERE o.message_id = a.message_id
                     AND o.position = a.position AND o.id < a.id)",
    ],
);

/// What the schema would have deleted with the task. A forge still knows it, and it can be linked again.
pub(super) const PULL_REQUEST_HAS_TASK: Truth = always(
    "pull_request_has_task",
    "linked pull requests whose task does not exist",
    Cure::Repair,
    &["SELECT p.id FROM task_pull_requests p
       WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = p.task_id)"],
);

pub(super) const SWITCHES_HAVE_PULL_REQUEST: Truth = always(
    "switches_have_pull_request",
    "switches of a pull request that is not linked",
    Cure::Repair,
    &[
        "SELECT o.pull_request_id AS id FROM task_pull_request_options o
       WHERE NOT EXISTS (SELECT 1 FROM task_pull_requests p WHERE p.id = o.pull_request_id)",
    ],
);

pub(super) const PARENT_IN_ITS_WORKSPACE: Truth = always(
    "parent_in_its_workspace",
    "tasks that are part of a task of another workspace, or of themselves",
    Cure::Person,
    &["SELECT t.id FROM tasks t JOIN tasks p ON p.id = t.parent_id
       WHERE p.workspace_id <> t.workspace_id OR p.id = t.id"],
);

pub(super) const TASK_REPOSITORY_IN_ITS_WORKSPACE: Truth = always(
    "task_repository_in_its_workspace",
    "repositories of a task that belong to another workspace",
    Cure::Person,
    &[
        "SELECT r.id FROM task_repositories r JOIN tasks t ON t.id = r.task_id
       JOIN repositories p ON p.id = r.repository_id WHERE p.workspace_id <> t.workspace_id",
    ],
);

pub(super) const ENVIRONMENT_REPOSITORY_IN_ITS_WORKSPACE: Truth = always(
    "environment_repository_in_its_workspace",
    "repositories of an environment that belong to another workspace",
    Cure::Person,
    &[
        "SELECT r.id FROM task_environment_repos r JOIN task_environments e ON e.id = r.environment_id
       JOIN repositories p ON p.id = r.repository_id WHERE p.workspace_id <> e.workspace_id",
    ],
);

pub(super) const BINDING_IN_ITS_WORKSPACE: Truth = always(
    "binding_in_its_workspace",
    "tasks bound to an environment of another workspace",
    Cure::Person,
    &[
        "SELECT b.task_id || ' ' || b.environment_id AS id FROM task_environment_bindings b
       JOIN tasks t ON t.id = b.task_id JOIN task_environments e ON e.id = b.environment_id
       WHERE e.workspace_id <> t.workspace_id",
    ],
);

pub(super) const PROFILE_IN_ITS_WORKSPACE: Truth = always(
    "profile_in_its_workspace",
    "sessions whose agent belongs to another workspace",
    Cure::Person,
    &[
        "SELECT s.id FROM task_sessions s JOIN tasks t ON t.id = s.task_id
       JOIN agent_profiles p ON p.id = s.agent_profile_id WHERE p.workspace_id <> t.workspace_id",
    ],
);

/// The error stays; which repository it was about is not known any more.
pub(super) const ERROR_REPOSITORY_IS_ITS_TASKS: Truth = always(
    "error_repository_is_its_tasks",
    "errors about a repository that their task does not have",
    Cure::Repair,
    &["SELECT id FROM (
           SELECT id, id AS task_id, launch_error_task_repository_id AS about FROM tasks
           UNION ALL SELECT id, task_id, error_task_repository_id FROM task_sessions) AS errors
       WHERE about IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM task_repositories r WHERE r.id = errors.about AND r.task_id = errors.task_id)"],
);

/// Start-up forgets every process of an earlier server.
pub(super) const PROCESS_HAS_ENVIRONMENT: Truth = Truth {
    name: "process_has_environment",
    broken: "agent processes in an environment that does not exist",
    holds: Holds::Always,
    cure: Cure::NextStart,
    offenders: Offenders::Both(&["SELECT x.session_id AS id FROM executors_running x
         WHERE NOT EXISTS (SELECT 1 FROM task_environments e WHERE e.id = x.task_environment_id)"]),
};
