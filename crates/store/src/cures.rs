//! What a program can put right by itself where a [`crate::truths`] does not hold: the right value follows from other
//! rows, nothing that a person wrote is lost, and doing it again changes nothing.
//!
//! Only for a database that no server works on: nobody is told. Tasks whose summary may change are marked stale.

use crate::activity;
use crate::error::Result;
use crate::segments;
use crate::sql::{Statement, sql};
use crate::truths::{self, Truth};
use crate::tx::WriteTx;
use model::error::{ActiveError, ErrorCategory};
use model::ids::{MessageId, TaskId};

/// Puts right what breaks this truth, as far as its cure is [`truths::Cure::Repair`]. Ask the truth again for what is left.
///
/// # Errors
/// Whatever the engine says; drop the transaction then.
pub async fn apply(tx: &mut WriteTx, truth: &Truth) -> Result<()> {
    match truth.name {
        "one_primary_session" => change(tx, sql(KEEP_OLDEST_PRIMARY)).await,
        "some_primary_session" => change(tx, sql(CHOOSE_PRIMARY)).await,
        "one_live_observation" => change(tx, sql(KEEP_NEWEST_OBSERVATION)).await,
        "seq_was_given_out" => change(tx, sql(RAISE_LAST_SEQ)).await,
        "summary_in_its_workspace" => change(tx, sql(NAME_WORKSPACE)).await,
        "derived_behind_authority" => change(tx, sql(DERIVE_AGAIN)).await,
        "pull_request_has_task" => change(tx, sql(FORGET_PULL_REQUESTS)).await,
        "switches_have_pull_request" => change(tx, sql(FORGET_SWITCHES)).await,
        "prompted_turn_is_authoritative" => change(tx, sql(COUNT_TURN)).await,
        "attachment_task_is_its_messages" => change(tx, sql(NAME_TASK_OF_FILE)).await,
        "removed_prompt_has_no_files" => change(tx, sql(FORGET_FILES)).await,
        "attachment_has_place" => change(tx, sql(PLACE_FILES)).await,
        "error_repository_is_its_tasks" => {
            change(tx, sql(FORGET_REPOSITORY_OF_SESSION)).await?;
            change(tx, sql(FORGET_REPOSITORY_OF_TASK)).await
        }
        "segments_are_unsettled" => fold(tx).await,
        "error_stamp_is_one" => {
            stamp_sessions(tx).await?;
            stamp_tasks(tx).await
        }
        "activity_covers_records" => raise_activity(tx, truth).await,
        _ => Ok(()),
    }
}

/// The one that the row has shown so far: `derive` takes the oldest that is marked.
const KEEP_OLDEST_PRIMARY: &str =
    "UPDATE task_sessions AS s SET is_primary = FALSE, revision = revision + 1
    WHERE s.is_primary AND EXISTS (
        SELECT 1 FROM task_sessions o WHERE o.task_id = s.task_id AND o.is_primary
          AND (o.started_at < s.started_at OR (o.started_at = s.started_at AND o.id < s.id)))
    RETURNING task_id";

/// As when a primary session is deleted: the newest that is not terminal, else the newest.
const CHOOSE_PRIMARY: &str = "UPDATE task_sessions AS s SET is_primary = TRUE, revision = revision + 1
    WHERE NOT EXISTS (SELECT 1 FROM task_sessions p WHERE p.task_id = s.task_id AND p.is_primary)
      AND s.id = (SELECT n.id FROM task_sessions n WHERE n.task_id = s.task_id
                  ORDER BY n.state IN ('COMPLETED', 'FAILED', 'CANCELLED'), n.started_at DESC, n.id DESC LIMIT 1)
    RETURNING task_id";

/// In the order by which the current observation is chosen, so what is shown stays.
const KEEP_NEWEST_OBSERVATION: &str = "DELETE FROM task_session_git_snapshots
    WHERE triggered_by = 'live_monitor' AND snapshot_type <> 'archive' AND id NOT IN (
        SELECT first_value(id) OVER (PARTITION BY task_environment_id, repository_name
                                     ORDER BY created_at DESC, (files <> '{}') DESC, id DESC)
        FROM task_session_git_snapshots WHERE triggered_by = 'live_monitor' AND snapshot_type <> 'archive')
    RETURNING CAST(NULL AS TEXT) AS task_id";

const RAISE_LAST_SEQ: &str = "UPDATE task_sessions AS s SET last_seq =
        (SELECT max(m.seq) FROM task_session_messages m WHERE m.session_id = s.id)
    WHERE s.last_seq < (SELECT max(m.seq) FROM task_session_messages m WHERE m.session_id = s.id)
    RETURNING CAST(NULL AS TEXT) AS task_id";

const NAME_WORKSPACE: &str = "UPDATE task_status_summaries AS y SET workspace_id =
        (SELECT t.workspace_id FROM tasks t WHERE t.id = y.task_id)
    WHERE y.workspace_id <> (SELECT t.workspace_id FROM tasks t WHERE t.id = y.task_id)
    RETURNING task_id";

/// Marking the task moves its authority past what its summary claims, so it is stale and derived once more.
const DERIVE_AGAIN: &str =
    "UPDATE tasks SET authority_seq = derived_seq WHERE authority_seq < derived_seq
    RETURNING id AS task_id";

/// Their switches go with them, by a reference of their own.
const FORGET_PULL_REQUESTS: &str = "DELETE FROM task_pull_requests
    WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = task_pull_requests.task_id)
    RETURNING CAST(NULL AS TEXT) AS task_id";

const FORGET_SWITCHES: &str = "DELETE FROM task_pull_request_options
    WHERE NOT EXISTS (SELECT 1 FROM task_pull_requests p WHERE p.id = task_pull_request_options.pull_request_id)
    RETURNING CAST(NULL AS TEXT) AS task_id";

/// A turn with a person's message is a conversation from its reservation on (PEN-03).
const COUNT_TURN: &str = "UPDATE task_session_turns AS u SET authoritative = TRUE, revision = revision + 1
    WHERE NOT u.authoritative AND NOT u.lifecycle_only AND EXISTS (
        SELECT 1 FROM task_session_messages m WHERE m.turn_id = u.id AND m.author = 'user' AND NOT m.removed)
    RETURNING (SELECT s.task_id FROM task_sessions s WHERE s.id = session_id) AS task_id";

/// The message decides: a file joins one of its own task only.
const NAME_TASK_OF_FILE: &str = "UPDATE message_attachments AS a SET task_id =
        (SELECT m.task_id FROM task_session_messages m WHERE m.id = a.message_id)
    WHERE a.task_id <> (SELECT m.task_id FROM task_session_messages m WHERE m.id = a.message_id)
    RETURNING CAST(NULL AS TEXT) AS task_id";

/// A person took the message back; the next start removes the bytes, whose row is gone.
const FORGET_FILES: &str = "DELETE FROM message_attachments
    WHERE message_id IN (SELECT m.id FROM task_session_messages m WHERE m.removed)
    RETURNING CAST(NULL AS TEXT) AS task_id";

/// In the order in which they are shown, those without a place last.
const PLACE_FILES: &str = "UPDATE message_attachments SET position = (
        SELECT n.place FROM (
            SELECT o.id, o.message_id, row_number() OVER (
                PARTITION BY o.message_id ORDER BY o.position IS NULL, o.position, o.created_at, o.id) - 1 AS place
            FROM message_attachments o) AS n
        WHERE n.id = message_attachments.id AND n.message_id IS NOT NULL)
    WHERE message_attachments.message_id IN (
            SELECT a.message_id FROM message_attachments a WHERE a.message_id IS NOT NULL GROUP BY a.message_id
            HAVING count(*) <> count(DISTINCT a.position))
        OR (message_attachments.message_id IS NULL AND message_attachments.position IS NOT NULL)
    RETURNING CAST(NULL AS TEXT) AS task_id";

const FORGET_REPOSITORY_OF_SESSION: &str =
    "UPDATE task_sessions AS s SET error_task_repository_id = NULL, revision = revision + 1
    WHERE s.error_task_repository_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM task_repositories r WHERE r.id = s.error_task_repository_id AND r.task_id = s.task_id)
    RETURNING task_id";

const FORGET_REPOSITORY_OF_TASK: &str =
    "UPDATE tasks AS t SET launch_error_task_repository_id = NULL, revision = revision + 1
    WHERE t.launch_error_task_repository_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM task_repositories r WHERE r.id = t.launch_error_task_repository_id AND r.task_id = t.id)
    RETURNING id AS task_id";

async fn change(tx: &mut WriteTx, statement: Statement) -> Result<()> {
    for row in tx.all(statement).await? {
        if let Some(task_id) = row.maybe_id::<TaskId>("task_id")? {
            tx.touch(&task_id);
        }
    }
    Ok(())
}

/// The text was written for that message and belongs to its end.
async fn fold(tx: &mut WriteTx) -> Result<()> {
    let again = sql("UPDATE task_session_messages SET streaming = TRUE WHERE NOT streaming AND EXISTS (
                         SELECT 1 FROM task_session_message_segments g WHERE g.message_id = task_session_messages.id)
                     RETURNING id");
    let now = tx.now();
    for row in tx.all(again).await? {
        let id: MessageId = row.id("id")?;
        segments::fold(tx, &id, now).await?;
    }
    Ok(())
}

/// Stamps these errors anew. One that names no time or says nothing is no error: it was never shown, and goes.
async fn stamp_sessions(tx: &mut WriteTx) -> Result<()> {
    let query = sql("SELECT id, task_id, error_occurred_at AS occurred_at, error_preview AS preview
                     FROM task_sessions WHERE error_stamp IS NOT NULL
                       AND (length(error_stamp) <> 32 OR trim(error_stamp, '0123456789abcdef') <> '')");
    let update = "UPDATE task_sessions SET error_stamp = $2, revision = revision + 1 WHERE id = $1";
    stamp(tx, query, update).await
}

async fn stamp_tasks(tx: &mut WriteTx) -> Result<()> {
    let query = sql("SELECT id, id AS task_id, launch_error_occurred_at AS occurred_at,
                            launch_error_preview AS preview FROM tasks WHERE launch_error_stamp IS NOT NULL
                       AND (length(launch_error_stamp) <> 32 OR trim(launch_error_stamp, '0123456789abcdef') <> '')");
    let update = "UPDATE tasks SET launch_error_stamp = $2, revision = revision + 1 WHERE id = $1";
    stamp(tx, query, update).await
}

async fn stamp(tx: &mut WriteTx, query: Statement, update: &'static str) -> Result<()> {
    for row in tx.all(query).await? {
        let owner = row.text("id")?;
        let said = row
            .maybe_time("occurred_at")?
            .zip(row.maybe_text("preview")?);
        let stamp = said.map(|(at, preview)| {
            ActiveError::record(&owner, at, &preview, ErrorCategory::GenericLaunchFailure).stamp
        });
        let task_id: TaskId = row.id("task_id")?;
        tx.execute(sql(update).bind(owner).bind(stamp)).await?;
        tx.touch(&task_id);
    }
    Ok(())
}

/// Only tasks that break the truth, and all of them (SUM-10).
async fn raise_activity(tx: &mut WriteTx, truth: &Truth) -> Result<()> {
    let behind = truths::ask(tx, truth, usize::MAX).await?;
    let ids: Vec<TaskId> = behind
        .ids
        .into_iter()
        .filter_map(|id| TaskId::try_from(id).ok())
        .collect();
    for batch in ids.chunks(model::bounds::PROJECTOR_BATCH) {
        activity::raise_from_records(tx, batch).await?; // it marks them itself
    }
    Ok(())
}
