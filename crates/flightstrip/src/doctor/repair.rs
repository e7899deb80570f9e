//! `--repair`: alone on the data it puts right what can be put right; beside a server it only marks tasks.

use super::compare::Fault;
use super::report::{Repair, Report};
use super::{Findings, Patient};
use crate::instance_lock;
use anyhow::Context;
use model::bounds;
use model::event::{Event, EventHub};
use model::ids::{InstanceId, TaskId};
use projector::running::Projector;
use std::sync::Arc;
use store::cures;
use store::marks;
use store::truths::{Cure, TRUTHS};

/// Nobody listens: no server runs.
struct Silent;

impl EventHub for Silent {
    fn publish(&self, _: &Event) {}
}

pub(super) async fn repair(patient: &Patient) -> anyhow::Result<Report> {
    if patient.server_runs().await? {
        let findings = patient.examine(true).await?;
        let marked = mark(patient, &differing(&findings)).await?;
        let repair = Repair {
            marked,
            ..Repair::default()
        };
        return Ok(Report::new(patient, findings, Some(repair)));
    }
    // No server can start on this data while it is held; one that tries waits for us.
    let instance_id = InstanceId::generate();
    let (_file, _hold);
    if matches!(patient.database, crate::database::Database::Sqlite(_)) {
        _file = instance_lock::take(&patient.dir, &instance_id).await?;
    } else {
        _hold = instance_lock::take_database(&patient.database, &instance_id).await?;
    }
    let before = patient.examine(false).await?;
    cure(patient, &before).await?;
    // Cures may have made further summaries differ, or right.
    let between = patient.examine(false).await?;
    let projector = Projector::new(patient.store.clone(), Arc::new(Silent));
    let projected = projector.project(&differing(&between)).await;
    let after = patient.examine(false).await?;
    let restored = before
        .broken
        .iter()
        .map(|truth| truth.name)
        .filter(|name| after.broken.iter().all(|left| left.name != *name))
        .collect();
    let repair = Repair {
        marked: 0,
        written: projected.written,
        restored,
    };
    Ok(Report::new(patient, after, Some(repair)))
}

/// Tasks whose summary may come right by being derived again.
fn differing(findings: &Findings) -> Vec<TaskId> {
    let differences = findings.summaries.differences.iter();
    differences
        .filter(|one| !matches!(one.fault, Fault::Underivable(_)))
        .map(|one| one.marks.task_id.clone())
        .collect()
}

async fn cure(patient: &Patient, findings: &Findings) -> anyhow::Result<()> {
    let failed = "the rules of the summaries could not be noted";
    let mut tx = patient.store.write().await.context(failed)?;
    marks::adopt(&mut tx, summary::RULES)
        .await
        .context(failed)?;
    let _ = tx.commit().await.context(failed)?; // nobody listens
    for truth in TRUTHS.iter().filter(|truth| truth.cure == Cure::Repair) {
        if findings
            .broken
            .iter()
            .any(|broken| broken.name == truth.name)
        {
            let failed = || format!("{} could not be repaired", truth.name);
            let mut tx = patient.store.write().await.with_context(failed)?;
            cures::apply(&mut tx, truth).await.with_context(failed)?;
            let _ = tx.commit().await.with_context(failed)?; // nobody listens
        }
    }
    Ok(())
}

/// Raises `authority_seq`, so that the running server's projector finds these tasks stale.
async fn mark(patient: &Patient, ids: &[TaskId]) -> anyhow::Result<usize> {
    let failed = "the tasks could not be marked for the server";
    for batch in ids.chunks(bounds::PROJECTOR_BATCH) {
        let mut tx = patient.store.write().await.context(failed)?;
        for id in batch {
            tx.touch(id);
        }
        let _ = tx.commit().await.context(failed)?; // the server publishes what comes of it
    }
    Ok(ids.len())
}
