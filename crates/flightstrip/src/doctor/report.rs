//! What `doctor` says: a report for people, or the same as JSON. Ids, names and counts, never content.

use super::compare::Fault;
use super::summaries::Difference;
use super::{Findings, Patient};
use anyhow::Context;
use model::bounds;
use serde::Serialize;
use std::fmt::Write;
use store::truths::{Broken, Cure, TRUTHS, Truth};

/// Everything that was found.
#[derive(Serialize)]
pub(super) struct Report {
    /// Whether nothing is wrong, after any repair.
    pub(super) healthy: bool,
    engine: &'static str,
    schema: i64,
    server_running: bool,
    tasks: usize,
    stale: usize,
    busy: usize,
    summaries: Summaries,
    truths: Vec<BrokenTruth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<Repair>,
}

#[derive(Serialize)]
struct Summaries {
    count: usize,
    listed: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    task: String,
    fault: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    stale: bool,
}

impl From<&Difference> for Listed {
    fn from(difference: &Difference) -> Self {
        let (fault, fields, reason) = match &difference.fault {
            Fault::Missing => ("missing", Vec::new(), None),
            Fault::Unreadable => ("unreadable", Vec::new(), None),
            Fault::Underivable(reason) => ("underivable", Vec::new(), Some(reason.clone())),
            Fault::Differs(fields) => ("differs", fields.clone(), None),
        };
        Self {
            task: difference.marks.task_id.to_string(),
            fault,
            fields,
            reason,
            stale: difference.marks.is_stale(),
        }
    }
}

/// A truth that does not hold.
#[derive(Serialize)]
pub(super) struct BrokenTruth {
    pub(super) name: &'static str,
    says: &'static str,
    count: u64,
    ids: Vec<String>,
    cure: &'static str,
    #[serde(skip)]
    repairable: bool,
}

impl BrokenTruth {
    pub(super) fn new(truth: &Truth, found: Broken) -> Self {
        Self {
            name: truth.name,
            says: truth.broken,
            count: found.count,
            ids: found.ids,
            cure: match truth.cure {
                Cure::Repair => "repair",
                Cure::NextStart => "next_start",
                Cure::Person => "person",
            },
            repairable: truth.cure == Cure::Repair,
        }
    }
}

impl BrokenTruth {
    /// The stored summaries were derived by other rules than this program's, so most that differ are merely old.
    pub(super) fn other_rules() -> Self {
        Self {
            name: "summaries_follow_the_rules",
            says: "Summaries were derived by the rules of another version",
            count: 1,
            ids: vec![store::marks::RULES.to_owned()],
            cure: "repair",
            repairable: true,
        }
    }
}

/// What `--repair` did.
#[derive(Default, Serialize)]
pub(super) struct Repair {
    /// Tasks that were marked for the running server to derive again.
    pub(super) marked: usize,
    /// Summaries that were derived again and stored.
    pub(super) written: usize,
    /// Truths that hold again.
    pub(super) restored: Vec<&'static str>,
}

impl Report {
    pub(super) fn new(patient: &Patient, findings: Findings, repair: Option<Repair>) -> Self {
        let differences = &findings.summaries.differences;
        Self {
            healthy: findings.healthy(),
            engine: patient.database.engine(),
            schema: patient.schema,
            server_running: findings.server_running,
            tasks: findings.summaries.tasks,
            stale: findings.summaries.stale,
            busy: findings.summaries.busy,
            summaries: Summaries {
                count: differences.len(),
                listed: differences
                    .iter()
                    .take(bounds::DOCTOR_LISTED)
                    .map(Listed::from)
                    .collect(),
            },
            truths: findings.broken,
            repair,
        }
    }

    pub(super) fn json(&self) -> anyhow::Result<String> {
        let text = serde_json::to_string_pretty(self).context("the report cannot be written")?;
        Ok(text + "\n")
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let _ = self.write(&mut out); // a String takes every write
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let server = if self.server_running {
            "a server works on it"
        } else {
            "no server works on it"
        };
        writeln!(
            out,
            "{} database, schema {}; {server}.",
            self.engine, self.schema
        )?;
        write!(
            out,
            "{} summaries computed anew, {} truths asked.",
            self.tasks,
            TRUTHS.len()
        )?;
        if 0 < self.stale {
            write!(
                out,
                " {} tasks wait to be derived, which is no fault.",
                self.stale
            )?;
        }
        if 0 < self.busy {
            write!(
                out,
                " {} changed all the time and were not judged.",
                self.busy
            )?;
        }
        writeln!(out)?;
        if let Some(repair) = &self.repair {
            self.write_repair(out, repair)?;
        }
        self.write_summaries(out)?;
        for truth in &self.truths {
            self.write_truth(out, truth)?;
        }
        writeln!(
            out,
            "\n{}",
            if self.healthy {
                "Nothing is wrong."
            } else {
                "Something is wrong."
            }
        )
    }

    fn write_repair(&self, out: &mut String, repair: &Repair) -> std::fmt::Result {
        if self.server_running {
            return writeln!(
                out,
                "\nMarked {} tasks; the server derives them again within seconds. Anything else is repaired only \
                 while no server runs.",
                repair.marked
            );
        }
        write!(out, "\nRepaired {} summaries", repair.written)?;
        for name in &repair.restored {
            write!(out, ", {name}")?;
        }
        writeln!(out, ". What follows is left.")
    }

    fn write_summaries(&self, out: &mut String) -> std::fmt::Result {
        let Summaries { count, listed } = &self.summaries;
        if *count == 0 {
            return Ok(());
        }
        writeln!(out, "\n{count} summaries are not what their tasks say:")?;
        for one in listed {
            let stale = if one.stale { " (and stale)" } else { "" };
            match (one.fault, &one.reason) {
                ("differs", _) => {
                    writeln!(
                        out,
                        "  {}  differs in {}{stale}",
                        one.task,
                        one.fields.join(", ")
                    )?;
                }
                (fault, Some(reason)) => writeln!(out, "  {}  {fault}: {reason}", one.task)?,
                (fault, None) => writeln!(out, "  {}  {fault}{stale}", one.task)?,
            }
        }
        if listed.len() < *count {
            writeln!(out, "  … and {} more", count - listed.len())?;
        }
        if self.repair.is_none() {
            writeln!(out, "  `flightstrip doctor --repair` derives them again.")?;
        }
        Ok(())
    }

    fn write_truth(&self, out: &mut String, truth: &BrokenTruth) -> std::fmt::Result {
        writeln!(out, "\n{} ({}): {}", truth.says, truth.name, truth.count)?;
        for id in &truth.ids {
            writeln!(out, "  {id}")?;
        }
        let listed = u64::try_from(truth.ids.len()).unwrap_or(u64::MAX);
        if listed < truth.count {
            writeln!(out, "  … and {} more", truth.count - listed)?;
        }
        match truth.cure {
            "next_start" => writeln!(out, "  The next start of the server puts this right."),
            _ if truth.repairable && self.server_running => {
                writeln!(
                    out,
                    "  Stop the server, then `flightstrip doctor --repair` puts this right."
                )
            }
            _ if truth.repairable => {
                writeln!(out, "  `flightstrip doctor --repair` puts this right.")
            }
            _ => writeln!(
                out,
                "  No program can tell what is right here. Keep a copy, and restore a backup if it has what you need."
            ),
        }
    }
}
