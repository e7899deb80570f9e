//! `flightstrip serve`: the order of start-up, and of the end.
//!
//! Instance lock → socket (health and a starting page) → back up and migrate → end leftover agents and repair rows →
//! converge summaries → open the API. Each step opens its gate of readiness. Shutdown goes the other way: clients are
//! told, sessions flush and end, the database closes.

use crate::cli::ServeOptions;
use crate::clock::process_clock;
use crate::control::{self, Control};
use crate::database::Database;
use crate::progress::Progress;
use crate::upgrade::upgrade;
use crate::{data_dir, demo, instance_lock, logging};
use agentctl::process::LaunchContext;
use anyhow::Context;
use gateway::api::Api;
use gateway::codes::Codes;
use gateway::gateway::{Gateway, GatewayConfig};
use gateway::hub::Hub;
use gateway::readiness::{Gate, Readiness};
use git::Git;
use git::config::GitConfig;
use model::bounds;
use model::clock::Clock;
use model::event::EventHub;
use model::ids::{InstanceId, UserId};
use orchestrator::config::OrchestratorConfig;
use orchestrator::orchestrator::Orchestrator;
use orchestrator::recovery::Repairing;
use projector::running::{Progress as Converging, Projector};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use store::open::Store;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Runs the server until a signal ends it.
pub(crate) async fn serve(options: ServeOptions) -> anyhow::Result<ExitCode> {
    logging::start(&options.log, options.log_json)?;
    let mut signals = Signals::new()?;
    let name = if options.demo {
        "flightstrip-demo"
    } else {
        "flightstrip"
    };
    let dir = data_dir::choose(options.data_dir.clone(), name)?;
    data_dir::prepare(&dir)?;
    let instance_id = InstanceId::generate();
    let readiness = Arc::new(Readiness::default());
    let _lock = tokio::select! {
        lock = instance_lock::take(&dir, &instance_id) => lock?,
        () = signals.next() => return Ok(ExitCode::SUCCESS),
    };
    let database = Database::choose(options.database.url.as_deref(), &dir)?;
    let hold = tokio::select! {
        hold = instance_lock::take_database(&database, &instance_id) => hold?,
        () = signals.next() => return Ok(ExitCode::SUCCESS),
    };
    readiness.open(Gate::InstanceLock);
    let codes = Arc::new(Codes::default());
    let mut config = GatewayConfig::new(options.listen);
    config.allowed_hosts.clone_from(&options.allowed_hosts);
    let gateway = Gateway::bind(config, Arc::clone(&readiness), codes)
        .await
        .with_context(|| {
            format!(
                "{} cannot be listened on; choose another address with --listen",
                options.listen
            )
        })?;
    let gateway = Arc::new(gateway);
    let started = tokio::select! {
        started = start(&options, &dir, &database, &instance_id, &readiness, &gateway) => started?,
        () = signals.next() => return Ok(ExitCode::SUCCESS),
    };
    let control = control::listen(&dir)?;
    let answering = tokio::spawn(control::answer(
        control,
        Control {
            gateway: Arc::clone(&gateway),
            readiness: Arc::clone(&readiness),
            owner: started.owner.clone(),
            clock: started.store.clock(),
        },
    ));
    announce(&gateway, &started, &dir)?;
    let seeding = options.demo.then(|| {
        let (orchestrator, owner, dir) = (
            started.orchestrator.clone(),
            started.owner.clone(),
            dir.clone(),
        );
        tokio::spawn(async move {
            if let Err(error) = demo::seed(&orchestrator, &owner, &dir).await {
                tracing::error!(error = format!("{error:#}"), "the demo could not be set up");
            }
        })
    });
    let lost = async {
        match hold {
            Some(hold) => hold.lost().await,
            None => std::future::pending().await,
        }
    };
    let robbed = tokio::select! {
        () = signals.next() => false,
        () = lost => true,
    };
    if robbed {
        tracing::error!(
            "another server took over the database while it was out of reach; stopping"
        );
    } else {
        tracing::info!("stopping; a second signal does not wait");
    }
    for task in [Some(answering), seeding].into_iter().flatten() {
        task.abort();
        let _ = task.await; // aborted just now
    }
    tokio::select! {
        () = stop(gateway, started) => Ok(if robbed { ExitCode::FAILURE } else { ExitCode::SUCCESS }),
        () = signals.next() => Ok(ExitCode::FAILURE),
    }
}

/// What a started server consists of.
struct Started {
    store: Store,
    orchestrator: Orchestrator,
    owner: UserId,
    projecting: CancellationToken,
    projector: tokio::task::JoinHandle<()>,
}

async fn start(
    options: &ServeOptions,
    dir: &Path,
    database: &Database,
    instance_id: &InstanceId,
    readiness: &Readiness,
    gateway: &Gateway,
) -> anyhow::Result<Started> {
    let clock = Arc::new(process_clock());
    let progress = Progress::new(readiness);
    progress.step("opening the database");
    let store = database.open(Arc::clone(&clock) as Arc<dyn Clock>).await?;
    tracing::info!(engine = database.engine(), "database opened");
    upgrade(&store, database, dir, &progress).await?;
    if let Some(latest) = store
        .latest_time()
        .await
        .context("the database cannot be read")?
    {
        clock.seed(latest);
    }
    readiness.open(Gate::DatabaseMigrated);

    let hub = Arc::new(Hub::new(store.clock()));
    let projector = Projector::new(store.clone(), Arc::clone(&hub) as Arc<dyn EventHub>);
    let orchestrator = Orchestrator::new(
        configuration(options, dir, instance_id)?,
        store.clone(),
        Arc::clone(&hub) as Arc<dyn EventHub>,
        projector.clone(),
        Git::new(GitConfig::new(std::env::vars_os())),
    );
    orchestrator.offer_questions(gateway.mcp_url());
    progress.step("ending leftover agents and repairing sessions");
    let recovered = orchestrator
        .recover_telling(&|repairing, done, of| {
            let words = match repairing {
                Repairing::Sessions => "repairing sessions",
                Repairing::Tasks => "repairing tasks",
                Repairing::Environments => "removing unfinished worktrees",
            };
            progress.count(words, done, of);
        })
        .await
        .context("recovery failed")?;
    tracing::info!(
        groups_ended = recovered.groups_ended,
        sessions = recovered.sessions,
        tasks = recovered.tasks,
        environments = recovered.environments,
        "recovered"
    );
    let owner = orchestrator
        .ensure_owner()
        .await
        .context("the first workspace cannot be made")?;
    readiness.open(Gate::RecoveryDone);

    progress.step("bringing summaries up to date");
    let converged = projector
        .converge_telling(&|step| match step {
            Converging::Looked { done, of } => progress.count("looking at summaries", done, of),
            Converging::Derived { done, of } => progress.count("deriving summaries", done, of),
        })
        .await
        .context("summaries cannot be read")?;
    tracing::info!(
        tasks = converged.tasks,
        written = converged.written,
        failed = converged.failed,
        "summaries converged"
    );
    readiness.set_summaries_failed(converged.failed as u64);
    readiness.open(Gate::SummariesConverged);

    let projecting = CancellationToken::new();
    let running = tokio::spawn(projector.clone().run(projecting.clone()));
    progress.step("serving");
    gateway.open(Api::new(
        orchestrator.clone(),
        projector,
        hub,
        instance_id.to_string(),
    ));
    Ok(Started {
        store,
        orchestrator,
        owner: owner.id,
        projecting,
        projector: running,
    })
}

fn configuration(
    options: &ServeOptions,
    dir: &Path,
    instance_id: &InstanceId,
) -> anyhow::Result<OrchestratorConfig> {
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let pace = options
        .demo_pace
        .clone()
        .map(|pace| ("FLIGHTSTRIP_DEMO_PACE".to_owned(), pace));
    Ok(OrchestratorConfig {
        data_dir: dir.to_path_buf(),
        instance_id: instance_id.clone(),
        launch: LaunchContext {
            shim_program: program,
            shim_args: vec!["agent-shim".into()],
            server_env: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
        },
        demo_args: vec!["demo-agent".to_owned()],
        demo_env: pace.into_iter().collect(),
        live_agents: options
            .max_agents
            .map_or_else(agents_by_memory, |n| n as usize),
        question_wait: options
            .question_wait_ms
            .map_or(bounds::QUESTION_WAIT, Duration::from_millis),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        home: std::env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute()),
    })
}

/// One agent per GiB of memory: real ones take 0.3 to 0.8 GB each.
fn agents_by_memory() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = text.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse::<usize>()
            .ok()
    });
    kib.map_or(8, |kib| kib / (1024 * 1024)).clamp(4, 200)
}

/// Prints the address to open, and nothing else, to stdout. A server whose output nobody reads serves all the same:
/// `flightstrip sign-in` prints another address.
fn announce(gateway: &Gateway, started: &Started, dir: &Path) -> anyhow::Result<()> {
    let url = gateway.sign_in_url(&started.owner, started.store.now())?;
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("flightstrip"));
    let text = format!(
        "flightstrip is ready. Open:\n\n  {url}\n\n\
         The address signs one browser in, within 10 minutes. For another one:\n\n  \
         {} sign-in --data-dir {}\n\n",
        program.display(),
        dir.display()
    );
    let mut out = std::io::stdout();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        tracing::warn!(%error, "the address could not be printed");
    }
    Ok(())
}

/// Clients are told first, so that they see an ordinary restart; then sessions flush and end.
async fn stop(gateway: Arc<Gateway>, started: Started) {
    gateway.shutdown().await;
    started.orchestrator.shutdown().await;
    started.projecting.cancel();
    let _ = started.projector.await; // it was told to end
    started.store.close().await;
}

/// The two signals that ask for an end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("signals cannot be listened for");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
