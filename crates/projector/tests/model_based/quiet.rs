//! What must hold once nothing happens any more, however it came to that.

use crate::world::World;
use anyhow::{Context, Result, ensure};
use model::ids::{AttachmentId, MessageId, TaskId};
use model::summary::{SummaryPayload, TaskStatusSummary};
use std::collections::BTreeMap;
use store::sql::sql;
use store::summaries::{self, CompareOutcome};
use store::{attachments, messages};

type Stored = BTreeMap<TaskId, TaskStatusSummary>;

impl World {
    /// Every poke that is left is lost; what sweeps and starts do must be enough.
    pub(crate) async fn fall_quiet(&mut self) -> Result<()> {
        for server in &self.servers {
            server.store.faults().disarm();
        }
        self.settle(0).await.context("the first server settles")?;
        let stored = self.check_stored().await?;
        // It has nothing to write, and may still owe a publication.
        let more = self.settle(1).await.context("the other server settles")?;
        ensure!(more == 0, "the other server wrote {more} summaries");
        self.client.check(&stored)?;
        self.check_queues().await?;
        self.check_comparison(&stored).await?;
        self.rebuild(&stored).await.context("a rebuild")
    }

    /// A server converges and publishes; gives how many summaries it wrote.
    async fn settle(&mut self, which: usize) -> Result<usize> {
        let converged = self.servers[which].projector.converge().await?;
        ensure!(converged.failed == 0, "some tasks failed: {converged:?}");
        self.hear()?;
        Ok(converged.written)
    }

    /// Stored is what the facts say, for exactly the tasks that exist, and nothing is stale.
    async fn check_stored(&self) -> Result<Stored> {
        let stored = self.stored().await?;
        for task in self.scene.facts.tasks.keys() {
            let expected = self.scene.facts.summary(task);
            let found = stored.get(task).map(|summary| &summary.payload);
            ensure!(
                found == expected.as_ref(),
                "{task}: the facts say\n  {expected:?}\nstored is\n  {found:?}"
            );
        }
        let mut tx = self.scene.story.store().read().await?;
        let stale = summaries::stale_tasks(&mut tx, None, 100).await?;
        ensure!(stale.is_empty(), "stale when all is quiet: {stale:?}");
        let rows = sql("SELECT count(*) AS n FROM task_status_summaries");
        let rows = tx.one(rows, "count").await?.int("n")?;
        ensure!(
            usize::try_from(rows)? == stored.len(),
            "summaries of tasks that are gone are left"
        );
        Ok(stored)
    }

    /// What waits is what the facts say, in that order, and no file is lost or left over.
    async fn check_queues(&self) -> Result<()> {
        let mut tx = self.scene.story.store().read().await?;
        for session in self.scene.facts.sessions.keys() {
            let queue = messages::queue(&mut tx, session).await?;
            let found: Vec<MessageId> = queue.into_iter().map(|message| message.id).collect();
            let expected = self.scene.facts.waiting(session);
            ensure!(
                found == expected,
                "{session}: the facts say {expected:?} wait, stored are {found:?}"
            );
        }
        let mut files = attachments::all(&mut tx).await?;
        files.sort();
        let expected: Vec<AttachmentId> = self.scene.facts.files.keys().cloned().collect();
        ensure!(files == expected, "files {files:?}, and not {expected:?}");
        Ok(())
    }

    /// What `semantic_eq` calls equal the store does not write, and what it calls different it does (SUM-06).
    async fn check_comparison(&self, stored: &Stored) -> Result<()> {
        let payloads: Vec<&SummaryPayload> =
            stored.values().map(|summary| &summary.payload).collect();
        let workspace = &self.scene.story.workspace;
        let mut tx = self.scene.story.store().write().await?;
        let now = tx.now();
        for (n, (task, seen)) in stored.iter().enumerate() {
            let next = payloads[(n + 1) % payloads.len()];
            for payload in [payloads[n], next] {
                let same = summary::semantic::eq(&seen.payload, payload);
                ensure!(
                    same == (seen.payload == *payload),
                    "two opinions about {payload:?}"
                );
                let outcome = summaries::compare_and_update(
                    &mut tx,
                    task,
                    workspace,
                    Some(seen),
                    payload,
                    now,
                )
                .await?;
                let unchanged = outcome == CompareOutcome::Unchanged;
                ensure!(
                    same == unchanged,
                    "the store and semantic_eq disagree on {payload:?}"
                );
            }
        }
        drop(tx);
        Ok(())
    }

    /// Everything derived is thrown away and made again: the same values, under newer revisions (SUM-04).
    async fn rebuild(&mut self, before: &Stored) -> Result<()> {
        self.move_on();
        self.scene
            .story
            .tamper(sql("DELETE FROM task_status_summaries"))
            .await?;
        for task in before.keys() {
            self.client.may_repeat(task.clone());
        }
        let written = self.settle(1).await?;
        ensure!(
            written == before.len(),
            "wrote {written} of {}",
            before.len()
        );
        let rebuilt = self.check_stored().await?;
        for (task, summary) in &rebuilt {
            ensure!(
                before[task].payload == summary.payload,
                "{task} changed by a rebuild"
            );
            ensure!(
                before[task].revision < summary.revision,
                "{task} has an older revision"
            );
        }
        self.client.check(&rebuilt)
    }
}
