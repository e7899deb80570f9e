//! What must be true of the rows whatever happened: constraints that no schema can say, each as one constant query
//! for those that break it.
//!
//! `flightstrip doctor` asks them all. A truth that only holds while no server runs is what start-up recovery
//! restores ([`crate::recovery`]); the others hold at every commit, so one read snapshot is enough to judge them.
//!
//! Where to read next: [`belonging`] for what belongs to what, [`crate::cures`] for what can be put right by a program.

mod belonging;

use crate::dialect;
use crate::error::Result;
use crate::sessions::open;
use crate::sql::{Engine, Link, Statement};

/// When a truth must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// At every commit.
    Always,
    /// While no server works on the data, because the rows speak of processes that a server has.
    WhileNoServerRuns,
}

/// Who puts it right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cure {
    /// [`crate::cures::apply`]: the right value follows from other rows.
    Repair,
    /// The next start of the server.
    NextStart,
    /// A person: what is right cannot be told from the rows.
    Person,
}

/// The query for those that break a truth: one column `id`, never content.
#[derive(Clone, Copy, Debug)]
enum Offenders {
    /// One text for both engines.
    Both(&'static [&'static str]),
    /// What the engine itself knows.
    Each {
        sqlite: &'static str,
        postgres: &'static str,
    },
}

/// One truth.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// Its name in reports and tests.
    pub name: &'static str,
    /// What is wrong where it does not hold, as a sentence for people.
    pub broken: &'static str,
    /// When it must hold.
    pub holds: Holds,
    /// Who puts it right.
    pub cure: Cure,
    offenders: Offenders,
}

/// Those that break a truth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Broken {
    /// How many there are.
    pub count: u64,
    /// The first of them, in order.
    pub ids: Vec<String>,
}

/// Asks one truth; gives at most `listed` ids.
///
/// # Errors
/// Whatever the engine says.
pub async fn ask(link: &mut Link, truth: &Truth, listed: usize) -> Result<Broken> {
    let one;
    let query = match (truth.offenders, &link.engine) {
        (Offenders::Both(parts), _) => parts,
        (Offenders::Each { sqlite, .. }, Engine::Sqlite(_)) => {
            one = [sqlite];
            &one
        }
        (Offenders::Each { postgres, .. }, Engine::Postgres(_)) => {
            one = [postgres];
            &one
        }
    };
    let mut parts = vec!["WITH offenders AS ("];
    parts.extend(query);
    parts.push(
        ") SELECT id, (SELECT count(*) FROM offenders) AS n FROM offenders ORDER BY id LIMIT $1",
    );
    let limit = i64::try_from(listed.max(1)).unwrap_or(i64::MAX);
    let rows = link.all(Statement::joined(&parts).bind(limit)).await?;
    let mut broken = Broken::default();
    for row in &rows {
        broken.count = u64::try_from(row.int("n")?).unwrap_or(0);
        if broken.ids.len() < listed {
            broken.ids.push(row.text("id")?);
        }
    }
    Ok(broken)
}

const fn always(
    name: &'static str,
    broken: &'static str,
    cure: Cure,
    query: &'static [&'static str],
) -> Truth {
    Truth {
        name,
        broken,
        holds: Holds::Always,
        cure,
        offenders: Offenders::Both(query),
    }
}

const fn settled(
    name: &'static str,
    broken: &'static str,
    query: &'static [&'static str],
) -> Truth {
    Truth {
        name,
        broken,
        holds: Holds::WhileNoServerRuns,
        cure: Cure::NextStart,
        offenders: Offenders::Both(query),
    }
}

const fn engine(
    name: &'static str,
    broken: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
) -> Truth {
    Truth {
        name,
        broken,
        holds: Holds::Always,
        cure: Cure::Person,
        offenders: Offenders::Each { sqlite, postgres },
    }
}

/// Every truth, in the order of reports: the file itself, then what belongs to what, then each table's own rules.
pub const TRUTHS: &[Truth] = &[
    engine(
        "storage_sound",
        "the database's own check finds damage",
        dialect::SQLITE_INTEGRITY,
        dialect::POSTGRES_INTEGRITY,
    ),
    engine(
        "references_hold",
        "rows refer to rows that do not exist",
        dialect::SQLITE_FOREIGN_KEYS,
        dialect::POSTGRES_FOREIGN_KEYS,
    ),
    always(
        "session_has_task",
        "sessions whose task does not exist",
        Cure::Person,
        &["SELECT s.id FROM task_sessions s WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = s.task_id)"],
    ),
    always(
        "message_has_session",
        "messages whose session does not exist",
        Cure::Person,
        &["SELECT m.id FROM task_session_messages m
           WHERE NOT EXISTS (SELECT 1 FROM task_sessions s WHERE s.id = m.session_id)"],
    ),
    belonging::TURN_HAS_SESSION,
    belonging::ATTACHMENT_HAS_OWNER,
    belonging::PULL_REQUEST_HAS_TASK,
    belonging::SWITCHES_HAVE_PULL_REQUEST,
    belonging::PROCESS_HAS_ENVIRONMENT,
    always(
        "message_task_is_its_sessions",
        "messages that name another task than their session",
        Cure::Person,
        &["SELECT m.id FROM task_session_messages m JOIN task_sessions s ON s.id = m.session_id
           WHERE s.task_id <> m.task_id"],
    ),
    always(
        "message_turn_is_its_sessions",
        "messages whose turn belongs to another session",
        Cure::Person,
        &["SELECT m.id FROM task_session_messages m JOIN task_session_turns u ON u.id = m.turn_id
           WHERE u.session_id <> m.session_id"],
    ),
    belonging::ATTACHMENT_TASK_IS_ITS_MESSAGES,
    belonging::ERROR_REPOSITORY_IS_ITS_TASKS,
    belonging::PARENT_IN_ITS_WORKSPACE,
    belonging::TASK_REPOSITORY_IN_ITS_WORKSPACE,
    belonging::ENVIRONMENT_REPOSITORY_IN_ITS_WORKSPACE,
    belonging::BINDING_IN_ITS_WORKSPACE,
    belonging::PROFILE_IN_ITS_WORKSPACE,
    always(
        "task_step_is_its_boards",
        "tasks on a step of another board, or on a board of another workspace",
        Cure::Person,
        &["SELECT t.id FROM tasks t JOIN workflow_steps p ON p.id = t.step_id
           JOIN workflows w ON w.id = t.workflow_id
           WHERE p.workflow_id <> t.workflow_id OR w.workspace_id <> t.workspace_id"],
    ),
    always(
        "binding_to_living_environment",
        "tasks bound to an environment that does not exist or is being removed",
        Cure::Person,
        &["SELECT b.task_id || ' ' || b.environment_id AS id FROM task_environment_bindings b
           WHERE NOT EXISTS (SELECT 1 FROM task_environments e
                             WHERE e.id = b.environment_id AND e.state <> 'removing')"],
    ),
    always(
        "session_environment_is_bound",
        "sessions in an environment that their task does not bind",
        Cure::Person,
        &["SELECT s.id FROM task_sessions s WHERE s.task_environment_id IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM task_environment_bindings b
                           WHERE b.task_id = s.task_id AND b.environment_id = s.task_environment_id)"],
    ),
    always(
        "one_primary_session",
        "tasks with several primary sessions",
        Cure::Repair,
        &["SELECT task_id AS id FROM task_sessions WHERE is_primary GROUP BY task_id HAVING 1 < count(*)"],
    ),
    always(
        "some_primary_session",
        "tasks with sessions of which none is primary",
        Cure::Repair,
        &["SELECT DISTINCT s.task_id AS id FROM task_sessions s
           WHERE NOT EXISTS (SELECT 1 FROM task_sessions p WHERE p.task_id = s.task_id AND p.is_primary)"],
    ),
    always(
        "one_open_turn",
        "sessions with several open conversational turns",
        Cure::Person,
        &["SELECT session_id AS id FROM task_session_turns
           WHERE completed_at IS NULL AND NOT lifecycle_only GROUP BY session_id HAVING 1 < count(*)"],
    ),
    always(
        "turn_end_has_outcome",
        "turns that ended without an outcome, or have one without having ended",
        Cure::Person,
        &["SELECT id FROM task_session_turns WHERE (completed_at IS NULL) <> (outcome IS NULL)"],
    ),
    belonging::PROMPTED_TURN_IS_AUTHORITATIVE,
    always(
        "queued_prompt_is_not_sent",
        "queued prompts that have a turn or a place in the transcript, or were removed",
        Cure::Person,
        &["SELECT id FROM task_session_messages
           WHERE queue_position IS NOT NULL AND (turn_id IS NOT NULL OR seq IS NOT NULL OR removed)"],
    ),
    always(
        "message_has_place",
        "messages that are neither in the transcript nor in the queue",
        Cure::Person,
        &["SELECT id FROM task_session_messages WHERE queue_position IS NULL AND seq IS NULL AND NOT removed"],
    ),
    always(
        "one_message_per_seq",
        "sessions in which two messages have the same place",
        Cure::Person,
        &["SELECT DISTINCT session_id AS id FROM task_session_messages WHERE seq IS NOT NULL
           GROUP BY session_id, seq HAVING 1 < count(*)"],
    ),
    always(
        "seq_was_given_out",
        "sessions with a message behind the last place that was given out",
        Cure::Repair,
        &["SELECT s.id FROM task_sessions s WHERE s.last_seq <
           (SELECT max(m.seq) FROM task_session_messages m WHERE m.session_id = s.id)"],
    ),
    always(
        "segments_are_numbered",
        "messages whose unfolded text has a gap",
        Cure::Person,
        &["SELECT message_id AS id FROM task_session_message_segments
           GROUP BY message_id HAVING min(number) <> 1 OR max(number) <> count(*)"],
    ),
    always(
        "segments_are_unsettled",
        "settled messages with text that was never folded into them",
        Cure::Repair,
        &["SELECT DISTINCT g.message_id AS id FROM task_session_message_segments g
           WHERE NOT EXISTS (SELECT 1 FROM task_session_messages m WHERE m.id = g.message_id AND m.streaming)"],
    ),
    always(
        "request_can_be_answered",
        "open requests without the identity that an answer names",
        Cure::Person,
        &["SELECT m.id FROM task_session_messages m WHERE m.pending_id IS NULL AND ", open!()],
    ),
    belonging::REQUEST_IDENTITY_IS_ONE,
    belonging::QUESTIONS_IN_ONE_TURN,
    belonging::ATTACHMENT_IS_A_PROMPTS,
    belonging::REMOVED_PROMPT_HAS_NO_FILES,
    belonging::ATTACHMENT_HAS_PLACE,
    always(
        "one_live_observation",
        "repositories of an environment with several live observations",
        Cure::Repair,
        &["SELECT task_environment_id || ' ' || repository_name AS id FROM task_session_git_snapshots
           WHERE triggered_by = 'live_monitor' AND snapshot_type <> 'archive'
           GROUP BY task_environment_id, repository_name HAVING 1 < count(*)"],
    ),
    always(
        "observed_repository_exists",
        "observations of a repository that its environment does not have",
        Cure::Person,
        &["SELECT g.id FROM task_session_git_snapshots g WHERE NOT EXISTS (
               SELECT 1 FROM task_environment_repos r
               WHERE r.environment_id = g.task_environment_id AND r.repository_name = g.repository_name)"],
    ),
    always(
        "error_stamp_is_one",
        "errors whose stamp is not 32 hexadecimal characters",
        Cure::Repair,
        // Trimming takes away digits at both ends, so anything else in it stays.
        &["SELECT id FROM (
               SELECT id, error_stamp AS stamp FROM task_sessions
               UNION ALL SELECT id, launch_error_stamp FROM tasks) AS errors
           WHERE stamp IS NOT NULL AND (length(stamp) <> 32 OR trim(stamp, '0123456789abcdef') <> '')"],
    ),
    always(
        "summary_in_its_workspace",
        "summaries that name another workspace than their task",
        Cure::Repair,
        &["SELECT y.task_id AS id FROM task_status_summaries y JOIN tasks t ON t.id = y.task_id
           WHERE y.workspace_id <> t.workspace_id"],
    ),
    always(
        "derived_behind_authority",
        "tasks whose summary claims to be newer than what it is derived from",
        Cure::Repair,
        &["SELECT id FROM tasks WHERE authority_seq < derived_seq"],
    ),
    always(
        "activity_covers_records",
        "tasks whose last activity is earlier than what they did",
        Cure::Repair,
        ACTIVITY_BEHIND,
    ),
    settled(
        "no_process_without_server",
        "sessions with an agent process, though no server runs",
        &["SELECT session_id AS id FROM executors_running"],
    ),
    settled(
        "no_open_turn_without_server",
        "open turns, though no server runs",
        &["SELECT id FROM task_session_turns WHERE completed_at IS NULL"],
    ),
    settled(
        "no_work_without_server",
        "sessions that claim to run, start or work, though no server runs",
        &["SELECT id FROM task_sessions WHERE state IN ('RUNNING', 'STARTING') OR foreground_activity IS NOT NULL
           OR active_subagent_count <> 0"],
    ),
    settled(
        "no_growing_text_without_server",
        "messages that are still being written, though no server runs",
        &["SELECT id FROM task_session_messages WHERE streaming"],
    ),
    settled(
        "no_permission_without_server",
        "permissions that an agent process waits for, though no server runs",
        &["SELECT m.id FROM task_session_messages m WHERE m.type = 'permission_request' AND ", open!()],
    ),
    settled(
        "no_task_in_progress_without_server",
        "tasks that claim to be in progress without an open turn, though no server runs",
        &["SELECT t.id FROM tasks t WHERE t.state IN ('SCHEDULING', 'IN_PROGRESS')
           AND NOT EXISTS (SELECT 1 FROM task_sessions s JOIN task_session_turns u ON u.session_id = s.id
                           WHERE s.task_id = t.id AND u.completed_at IS NULL AND NOT u.lifecycle_only)"],
    ),
    settled(
        "no_unfinished_environment_without_server",
        "environments that are being made or removed, or that no task binds, though no server runs",
        &["SELECT e.id FROM task_environments e WHERE e.state <> 'ready'
           OR NOT EXISTS (SELECT 1 FROM task_environment_bindings b WHERE b.environment_id = e.id)"],
    ),
];

/// Milestones that are certain to have raised the column (SUM-08): what a person sent, a turn whose prompt was written,
/// its end unless recovery ended it, which is nobody's activity.
const ACTIVITY_BEHIND: &[&str] = &[
    "SELECT t.id FROM tasks t WHERE t.last_activity_at IS NULL OR t.last_activity_at < t.created_at
     OR EXISTS (SELECT 1 FROM task_session_messages m WHERE m.task_id = t.id AND m.author = 'user'
                AND m.type = 'message' AND t.last_activity_at < m.created_at)
     OR EXISTS (SELECT 1 FROM task_sessions s JOIN task_session_turns u ON u.session_id = s.id
                WHERE s.task_id = t.id AND u.prompt_dispatch_attempted AND NOT u.lifecycle_only
                  AND (t.last_activity_at < u.started_at
                       OR (t.last_activity_at < u.completed_at
                           AND u.outcome NOT IN ('not_dispatched', 'interrupted'))))",
];
