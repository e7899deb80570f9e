//! `flightstrip doctor`: whether everything a row shows follows from the database, and whether the rows fit together.
//!
//! It recomputes the summary of every task from its authority, in batches, each in one read snapshot of its own, and
//! asks every [`store::truths`]. It may run beside a live server: it only reads then, and a summary that differs is
//! looked at again, because the server may be about to write it. `--repair` puts right what can be put right; beside a
//! live server it only marks the tasks, and the server's own projector does the rest.
//!
//! The exit status is 0 when nothing is wrong, 1 when something is, and 2 when it could not be found out.
//!
//! Where to read next: [`summaries`] for the look at one batch, [`report`] for what is said.

mod compare;
mod repair;
mod report;
mod summaries;

use crate::cli::DoctorOptions;
use crate::clock::process_clock;
use crate::data_dir;
use crate::database::Database;
use crate::instance_lock;
use anyhow::{Context, bail};
use model::bounds;
use model::clock::Clock;
use report::{BrokenTruth, Report};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use store::error::StoreError;
use store::marks;
use store::open::Store;
use store::schema::{self, Schema};
use store::truths::{self, Holds, TRUTHS};

/// Something is wrong.
const FAULTS: u8 = 1;
/// It could not be found out.
const FAILED: u8 = 2;

/// Examines, perhaps repairs, and says what was found.
pub(crate) async fn doctor(options: DoctorOptions) -> anyhow::Result<ExitCode> {
    match attend(&options).await {
        Ok(report) => {
            let text = if options.json {
                report.json()?
            } else {
                report.text()
            };
            std::io::stdout()
                .write_all(text.as_bytes())
                .context("the report cannot be printed")?;
            Ok(if report.healthy {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(FAULTS)
            })
        }
        Err(error) => {
            // Nobody is left to tell when stderr is closed.
            let _ = writeln!(std::io::stderr(), "flightstrip: {error:#}");
            Ok(ExitCode::from(FAILED))
        }
    }
}

/// What is examined.
struct Patient {
    database: Database,
    dir: PathBuf,
    store: Store,
    schema: i64,
}

/// What was found in one go.
struct Findings {
    server_running: bool,
    summaries: summaries::Examined,
    broken: Vec<BrokenTruth>,
}

impl Findings {
    fn healthy(&self) -> bool {
        self.summaries.differences.is_empty() && self.broken.is_empty()
    }
}

async fn attend(options: &DoctorOptions) -> anyhow::Result<Report> {
    let dir = data_dir::choose(options.data_dir.clone(), "flightstrip")?;
    let database = Database::choose(options.database.url.as_deref(), &dir)?;
    let clock = Arc::new(process_clock());
    let store = database
        .open_existing(Arc::clone(&clock) as Arc<dyn Clock>)
        .await?;
    let schema = schema_of(&store).await?;
    if let Some(latest) = store.latest_time().await.context("it cannot be read")? {
        clock.seed(latest);
    }
    let patient = Patient {
        database,
        dir,
        store,
        schema,
    };
    let outcome = if options.repair {
        repair::repair(&patient).await
    } else {
        let findings = patient.examine_settled().await?;
        Ok(Report::new(&patient, findings, None))
    };
    patient.store.close().await;
    outcome
}

/// Its number; other schemas than this program's cannot be judged by it.
async fn schema_of(store: &Store) -> anyhow::Result<i64> {
    match store
        .schema()
        .await
        .context("the database cannot be read")?
    {
        Schema::Current(version) => Ok(version),
        Schema::Empty => bail!("the database is empty; start the server once"),
        Schema::Older(version) => bail!(
            "the database has schema {version} and this program {}; start this version's server once, \
             which brings it up to date",
            schema::newest()
        ),
        Schema::Newer(_) => Err(StoreError::NewerSchema.into()),
    }
}

impl Patient {
    async fn server_runs(&self) -> anyhow::Result<bool> {
        instance_lock::is_held(&self.database, &self.dir).await
    }

    /// Examines; once more if a server came or went meanwhile, because it decides what must hold.
    async fn examine_settled(&self) -> anyhow::Result<Findings> {
        let before = self.server_runs().await?;
        let findings = self.examine(before).await?;
        let after = self.server_runs().await?;
        if after == before {
            return Ok(findings);
        }
        self.examine(after).await
    }

    async fn follows_rules(&self) -> anyhow::Result<bool> {
        let failed = "the rules of the summaries cannot be read";
        let mut tx = self.store.read().await.context(failed)?;
        marks::follow(&mut tx, summary::RULES).await.context(failed)
    }

    async fn examine(&self, server_running: bool) -> anyhow::Result<Findings> {
        let summaries = summaries::examine(&self.store, server_running)
            .await
            .context("the summaries cannot be examined")?;
        let mut broken = Vec::new();
        if 0 < summaries.tasks && !self.follows_rules().await? {
            broken.push(BrokenTruth::other_rules());
        }
        for truth in TRUTHS {
            if truth.holds == Holds::WhileNoServerRuns && server_running {
                continue;
            }
            // A snapshot each: none stays open for as long as all of them take.
            let mut tx = self.store.read().await.context("it cannot be read")?;
            let found = truths::ask(&mut tx, truth, bounds::DOCTOR_LISTED)
                .await
                .with_context(|| format!("{} cannot be examined", truth.name))?;
            if 0 < found.count {
                broken.push(BrokenTruth::new(truth, found));
            }
        }
        Ok(Findings {
            server_running,
            summaries,
            broken,
        })
    }
}
