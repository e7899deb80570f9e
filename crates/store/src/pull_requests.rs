//! Pull requests that are linked to tasks, and their switches (PR-01, PR-03).
//!
//! A change of anything that a summary reads touches the task in the same transaction and raises the row's revision.
//! What changes nothing touches nothing; only `observed_at` follows the newest look, so that an older one that comes
//! late is known as such.

use crate::error::{Result, StoreError};
use crate::row::Row;
use crate::sql::{Link, Statement, sql, sql_in};
use crate::tx::WriteTx;
use model::bounds;
use model::clock::Timestamp;
use model::ids::{PullRequestId, TaskId};
use model::pull_request::{
    ChecksState, MergeableState, PullRequest, PullRequestFacts, PullRequestIdentity,
    PullRequestLifecycle, PullRequestOptions, ReviewState, Standing,
};
use model::text;
use std::collections::HashMap;
use summary::authority::PullRequestAuthority;

/// A pull request to link.
#[derive(Clone, Copy, Debug)]
pub struct NewPullRequest<'a> {
    /// Its id here.
    pub id: &'a PullRequestId,
    /// The task.
    pub task_id: &'a TaskId,
    /// Which one.
    pub identity: &'a PullRequestIdentity,
    /// A person links it.
    pub by_hand: bool,
}

/// What linking did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkOutcome {
    /// It is linked now; nothing is known of it but that it is open.
    Linked,
    /// The task has it already, under this id. That a person links it now is kept.
    AlreadyLinked(PullRequestId),
}

/// What storing facts did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactsOutcome {
    /// They are stored, and the task is stale.
    Changed,
    /// They say what is stored already.
    Unchanged,
    /// Facts of a later look are stored.
    NotNewer,
    /// It is not linked any more.
    Gone,
}

/// What another change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// It is stored, and the task is stale.
    Changed,
    /// It is so already.
    Unchanged,
    /// It is not linked any more.
    Gone,
}

/// Links a pull request to a task that exists.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn link(tx: &mut WriteTx, new: &NewPullRequest<'_>) -> Result<LinkOutcome> {
    let held = sql("SELECT id, linked_by_hand FROM task_pull_requests
                    WHERE task_id = $1 AND host = $2 AND owner = $3 AND repository = $4 AND number = $5");
    let identity = new.identity;
    let held = held
        .bind(new.task_id)
        .bind(identity.host.as_str())
        .bind(identity.owner.as_str())
        .bind(identity.repository.as_str())
        .bind(i64::from(identity.number));
    let now = tx.now();
    if let Some(row) = tx.maybe(held).await? {
        let id: PullRequestId = row.id("id")?;
        if new.by_hand && !row.truth("linked_by_hand")? {
            let update = sql(
                "UPDATE task_pull_requests SET linked_by_hand = $2, revision = revision + 1, updated_at = $3
                 WHERE id = $1",
            );
            tx.execute(update.bind(&id).bind(true).bind(now)).await?;
        }
        return Ok(LinkOutcome::AlreadyLinked(id));
    }
    let insert = sql(
        "INSERT INTO task_pull_requests (id, task_id, revision, host, owner, repository, number, url,
                linked_by_hand, title, lifecycle, draft, checks_state, review_state, mergeable_state,
                in_merge_queue, unresolved_threads, created_at, updated_at)
         VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, '', $9, $10, $11, $12, $13, $14, $15, $16, $16)",
    );
    let insert = insert
        .bind(new.id)
        .bind(new.task_id)
        .bind(identity.host.as_str())
        .bind(identity.owner.as_str())
        .bind(identity.repository.as_str())
        .bind(i64::from(identity.number))
        .bind(identity.url.as_str())
        .bind(new.by_hand);
    tx.execute(bind_standing(insert, &Standing::UNSEEN).bind(now))
        .await?;
    tx.touch(new.task_id);
    Ok(LinkOutcome::Linked)
}

/// Unlinks it, with its switches: [`ChangeOutcome::Changed`] or [`ChangeOutcome::Gone`].
///
/// # Errors
/// As [`link`].
pub async fn unlink(tx: &mut WriteTx, id: &PullRequestId) -> Result<ChangeOutcome> {
    let delete = sql("DELETE FROM task_pull_requests WHERE id = $1 RETURNING task_id");
    let Some(row) = tx.maybe(delete.bind(id)).await? else {
        return Ok(ChangeOutcome::Gone);
    };
    tx.touch(&row.id("task_id")?);
    Ok(ChangeOutcome::Changed)
}

/// Stores what a look that began at `observed_at` found. What it could not read keeps what is stored
/// ([`PullRequestFacts::after`]).
///
/// # Errors
/// As [`link`].
pub async fn record_facts(
    tx: &mut WriteTx,
    id: &PullRequestId,
    facts: &PullRequestFacts,
    observed_at: Timestamp,
) -> Result<FactsOutcome> {
    let Some(stored) = get(tx, id).await? else {
        return Ok(FactsOutcome::Gone);
    };
    if stored
        .observed_at
        .is_some_and(|newest| observed_at < newest)
    {
        return Ok(FactsOutcome::NotNewer);
    }
    let mut facts = facts.clone().after(&stored.facts);
    facts.title = text::preview(&facts.title, bounds::PULL_REQUEST_TITLE_BYTES);
    if facts == stored.facts {
        if stored.observed_at < Some(observed_at) {
            let update = sql("UPDATE task_pull_requests SET observed_at = $2 WHERE id = $1");
            tx.execute(update.bind(id).bind(observed_at)).await?;
        }
        return Ok(FactsOutcome::Unchanged);
    }
    let update = sql(
        "UPDATE task_pull_requests SET revision = revision + 1, observed_at = $2, updated_at = $3, title = $4,
                head_owner = $5, head_repository = $6, head_branch = $7, head_commit = $8, base_branch = $9,
                lifecycle = $10, draft = $11, checks_state = $12, review_state = $13, mergeable_state = $14,
                in_merge_queue = $15, unresolved_threads = $16 WHERE id = $1",
    );
    let update = update
        .bind(id)
        .bind(observed_at)
        .bind(tx.now())
        .bind(facts.title.as_str())
        .bind(facts.head_owner.as_ref().map(|text| text.as_str()))
        .bind(facts.head_repository.as_ref().map(|text| text.as_str()))
        .bind(facts.head_branch.as_ref().map(|text| text.as_str()))
        .bind(facts.head_commit.as_ref().map(|text| text.as_str()))
        .bind(facts.base_branch.as_ref().map(|text| text.as_str()));
    tx.execute(bind_standing(update, &facts.standing)).await?;
    tx.touch(&stored.task_id);
    Ok(FactsOutcome::Changed)
}

fn bind_standing(statement: Statement, standing: &Standing) -> Statement {
    statement
        .bind(standing.lifecycle.as_str())
        .bind(standing.draft)
        .bind(standing.checks_state.as_str())
        .bind(standing.review_state.as_str())
        .bind(standing.mergeable_state.as_str())
        .bind(standing.in_merge_queue)
        .bind(i64::from(standing.unresolved_threads))
}

/// Sets both switches (PR-03).
///
/// # Errors
/// As [`link`].
pub async fn set_options(
    tx: &mut WriteTx,
    id: &PullRequestId,
    options: PullRequestOptions,
) -> Result<ChangeOutcome> {
    let Some(stored) = get(tx, id).await? else {
        return Ok(ChangeOutcome::Gone);
    };
    if stored.options == options {
        return Ok(ChangeOutcome::Unchanged);
    }
    let now = tx.now();
    let upsert = sql(
        "INSERT INTO task_pull_request_options (pull_request_id, auto_fix, auto_merge, updated_at)
         VALUES ($1, $2, $3, $4) ON CONFLICT (pull_request_id)
         DO UPDATE SET auto_fix = excluded.auto_fix, auto_merge = excluded.auto_merge,
                       updated_at = excluded.updated_at",
    );
    let upsert = upsert
        .bind(id)
        .bind(options.auto_fix)
        .bind(options.auto_merge);
    tx.execute(upsert.bind(now)).await?;
    let raise =
        sql("UPDATE task_pull_requests SET revision = revision + 1, updated_at = $2 WHERE id = $1");
    tx.execute(raise.bind(id).bind(now)).await?;
    tx.touch(&stored.task_id);
    Ok(ChangeOutcome::Changed)
}

/// One linked pull request.
///
/// # Errors
/// As [`link`].
pub async fn get(link: &mut Link, id: &PullRequestId) -> Result<Option<PullRequest>> {
    let query = sql("SELECT p.*, o.auto_fix, o.auto_merge FROM task_pull_requests p
                     LEFT JOIN task_pull_request_options o ON o.pull_request_id = p.id WHERE p.id = $1");
    let row = link.maybe(query.bind(id)).await?;
    row.as_ref().map(pull_request).transpose()
}

/// All of a task in full, by number: for who asks for them, never for a row (PR-04).
///
/// # Errors
/// As [`link`].
pub async fn of_task(link: &mut Link, task_id: &TaskId) -> Result<Vec<PullRequest>> {
    let query = sql(
        "SELECT p.*, o.auto_fix, o.auto_merge FROM task_pull_requests p
                     LEFT JOIN task_pull_request_options o ON o.pull_request_id = p.id
                     WHERE p.task_id = $1 ORDER BY p.number, p.id",
    );
    link.all(query.bind(task_id))
        .await?
        .iter()
        .map(pull_request)
        .collect()
}

/// What the summaries of these tasks are derived from: one statement, and of each pull request only what a rule asks
/// for.
///
/// # Errors
/// As [`link`].
pub(crate) async fn authority(
    link: &mut Link,
    ids: &[TaskId],
) -> Result<HashMap<TaskId, Vec<PullRequestAuthority>>> {
    let query = sql_in(
        "SELECT p.task_id, p.number, p.url, p.lifecycle, p.draft, p.checks_state, p.review_state, p.mergeable_state,
                p.in_merge_queue, p.unresolved_threads, o.auto_fix, o.auto_merge
         FROM task_pull_requests p LEFT JOIN task_pull_request_options o ON o.pull_request_id = p.id
         WHERE p.task_id IN ({})",
        ids.iter().map(TaskId::as_str),
    );
    let mut found: HashMap<TaskId, Vec<PullRequestAuthority>> = HashMap::new();
    for row in link.all(query).await? {
        found
            .entry(row.id("task_id")?)
            .or_default()
            .push(PullRequestAuthority {
                number: number(&row, "number")?,
                url: row.id("url")?,
                standing: standing(&row)?,
                options: options(&row)?,
            });
    }
    Ok(found)
}

fn pull_request(row: &Row) -> Result<PullRequest> {
    Ok(PullRequest {
        id: row.id("id")?,
        task_id: row.id("task_id")?,
        revision: row.int("revision")?,
        identity: PullRequestIdentity {
            host: row.id("host")?,
            owner: row.id("owner")?,
            repository: row.id("repository")?,
            number: number(row, "number")?,
            url: row.id("url")?,
        },
        linked_by_hand: row.truth("linked_by_hand")?,
        facts: PullRequestFacts {
            title: row.text("title")?,
            head_owner: row.maybe_id("head_owner")?,
            head_repository: row.maybe_id("head_repository")?,
            head_branch: row.maybe_id("head_branch")?,
            head_commit: row.maybe_id("head_commit")?,
            base_branch: row.maybe_id("base_branch")?,
            standing: standing(row)?,
        },
        options: options(row)?,
        observed_at: row.maybe_time("observed_at")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

fn standing(row: &Row) -> Result<Standing> {
    Ok(Standing {
        lifecycle: row.word("lifecycle", PullRequestLifecycle::parse)?,
        draft: row.truth("draft")?,
        checks_state: row.word("checks_state", ChecksState::parse)?,
        review_state: row.word("review_state", ReviewState::parse)?,
        mergeable_state: row.word("mergeable_state", MergeableState::parse)?,
        in_merge_queue: row.truth("in_merge_queue")?,
        unresolved_threads: number(row, "unresolved_threads")?,
    })
}

fn options(row: &Row) -> Result<PullRequestOptions> {
    Ok(PullRequestOptions {
        auto_fix: row.maybe_truth("auto_fix")?.unwrap_or(false),
        auto_merge: row.maybe_truth("auto_merge")?.unwrap_or(false),
    })
}

fn number(row: &Row, column: &'static str) -> Result<u32> {
    u32::try_from(row.int(column)?).map_err(|_| StoreError::Corrupt { column })
}
