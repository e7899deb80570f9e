//! The Git monitor on real repositories: when it looks, what it hands up, and that it ends.

use agentctl::git_monitor::{GitMonitor, ObservationSink, ObservedRepository, WatchedRepository};
use futures_util::future::{BoxFuture, join_all};
use git::Git;
use git::config::GitConfig;
use model::clock::{Clock, NeverBack, Timestamp};
use model::git::MeasureFailure;
use model::ids::EnvironmentId;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::yield_now;

/// Keeps what it is handed and lets tests wait for it.
struct Recorder {
    seen: watch::Sender<Vec<ObservedRepository>>,
}

impl ObservationSink for Recorder {
    fn observed<'a>(&'a self, observed: &'a ObservedRepository) -> BoxFuture<'a, ()> {
        self.seen.send_modify(|seen| seen.push(observed.clone()));
        Box::pin(std::future::ready(()))
    }
}

impl Recorder {
    /// Waits until `enough` holds for everything seen so far.
    async fn until(
        &self,
        enough: impl FnMut(&Vec<ObservedRepository>) -> bool,
    ) -> Vec<ObservedRepository> {
        let mut seen = self.seen.subscribe();
        seen.wait_for(enough)
            .await
            .expect("the recorder lives")
            .clone()
    }

    fn count(&self) -> usize {
        self.seen.borrow().len()
    }
}

struct Bench {
    root: TempDir,
    recorder: Arc<Recorder>,
    environment: EnvironmentId,
}

fn git_environment() -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    vec![
        ("PATH".into(), path),
        ("HOME".into(), "/nonexistent".into()),
        ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
        ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
    ]
}

impl Bench {
    fn new() -> Self {
        Self {
            root: tempfile::tempdir().expect("a temporary folder"),
            recorder: Arc::new(Recorder {
                seen: watch::Sender::new(Vec::new()),
            }),
            environment: EnvironmentId::parse("env").expect("an id"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root
            .path()
            .canonicalize()
            .expect("the folder exists")
            .join(name)
    }

    /// A repository with one commit, under the name of its folder.
    fn repository(&self, name: &str) -> WatchedRepository {
        let worktree = self.path(name);
        fs::create_dir_all(&worktree).expect("a folder");
        run(&worktree, &["init", "-q", "-b", "main"]);
        run(
            &worktree,
            &[
                "-c",
                "user.name=T",
                "-c",
                "user.email=t@example.com",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "x",
            ],
        );
        WatchedRepository {
            repository_name: name.to_owned(),
            worktree,
            base_branch: Some("main".to_owned()),
        }
    }

    fn monitor(&self, git: Git) -> GitMonitor {
        let ticks = Mutex::new(0);
        let clock: Arc<dyn Clock> = Arc::new(NeverBack::new(move || {
            let mut ticks = ticks.lock().expect("nothing panics with it");
            *ticks += 1;
            Timestamp::from_micros(*ticks)
        }));
        GitMonitor::new(
            git,
            clock,
            Arc::clone(&self.recorder) as Arc<dyn ObservationSink>,
        )
    }

    fn git(&self) -> Git {
        Git::new(GitConfig::new(git_environment()))
    }

    /// A Git that waits, in a folder with a file `hold`, until `go` exists beside the repositories. It appends its
    /// process id to `pids`.
    fn held_git(&self) -> Git {
        let program = self.path("held-git");
        let root = self.path("");
        let body = format!(
            "#!/bin/sh\nif [ -e hold ] && [ ! -e '{0}go' ]; then echo $$ >> '{0}pids'; mkfifo '{0}pipe' 2>/dev/null; read line < '{0}pipe'; fi\nexec git \"$@\"\n",
            root.display()
        );
        fs::write(&program, body).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its mode");
        Git::new(GitConfig::new(git_environment()).with_program(program))
    }

    /// Waits until the held Git has begun; its process id.
    async fn held(&self) -> String {
        loop {
            let pids = fs::read_to_string(self.path("pids")).unwrap_or_default();
            if let Some(pid) = pids
                .lines()
                .next()
                .filter(|_| pids.ends_with('\n') && self.path("pipe").exists())
            {
                return pid.to_owned();
            }
            yield_now().await;
        }
    }

    /// Lets the held Git go on, and every later one pass.
    fn let_go(&self) {
        fs::write(self.path("go"), "").expect("a file");
        fs::write(self.path("pipe"), "go\n").expect("the reader waits");
    }
}

fn run(folder: &Path, args: &[&str]) {
    let ended = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env_clear()
        .envs(git_environment())
        .status()
        .expect("git starts");
    assert!(ended.success(), "git {args:?}");
}

fn changed_files(observed: &ObservedRepository) -> Option<u64> {
    observed
        .outcome
        .as_ref()
        .ok()
        .map(|seen| seen.totals.changed_files)
}

async fn ended(pid: &str) {
    let stat = Path::new("/proc").join(pid).join("stat");
    while fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
        yield_now().await;
    }
}

#[tokio::test]
async fn a_request_looks_at_every_repository_and_reports_to_the_sink() {
    let bench = Bench::new();
    let (root, api) = (bench.repository("root"), bench.repository("api"));
    fs::write(api.worktree.join("new"), "1\n").unwrap();
    let monitor = bench.monitor(bench.git());
    monitor.watch(bench.environment.clone(), vec![root, api]);
    let observed = monitor.observe_now(&bench.environment).await;
    let names: Vec<_> = observed
        .iter()
        .map(|one| (one.repository_name.as_str(), changed_files(one)))
        .collect();
    assert_eq!(names, [("root", Some(0)), ("api", Some(1))]);
    assert_eq!(bench.recorder.count(), 2, "the sink had them first");
    let status = observed[1].status().expect("it was measured");
    assert_eq!(status.repository_name.as_deref(), Some("api"));
    assert_eq!(
        (status.base_branch.as_deref(), status.totals.additions),
        (Some("main"), 1)
    );
    assert_eq!(
        observed[0].status().unwrap().files,
        Some(Vec::new()),
        "details, of nothing"
    );
    let again = monitor.observe_now(&bench.environment).await;
    assert!(observed[0].looked_at < again[0].looked_at);
}

/// GIT-04.
#[tokio::test]
async fn git_04_a_repository_that_cannot_be_measured_says_so_and_its_siblings_are_measured() {
    let bench = Bench::new();
    let (first, second) = (bench.repository("r1"), bench.repository("r2"));
    let gone = second.worktree.clone();
    let monitor = bench.monitor(bench.git());
    monitor.watch(bench.environment.clone(), vec![first, second]);
    fs::rename(&gone, bench.path("moved")).unwrap();
    let observed = monitor.observe_now(&bench.environment).await;
    assert_eq!(changed_files(&observed[0]), Some(0));
    assert_eq!(
        observed[1].outcome.as_ref().unwrap_err(),
        &MeasureFailure::WorktreeMissing
    );
    fs::rename(bench.path("moved"), &gone).unwrap();
    let observed = monitor.observe_now(&bench.environment).await;
    assert_eq!(
        changed_files(&observed[1]),
        Some(0),
        "a successful empty answer is a real zero"
    );
}

/// GIT-06.
#[tokio::test]
async fn git_06_settled_is_looked_at_only_on_request_and_live_without_any() {
    let bench = Bench::new();
    let monitor = bench.monitor(bench.git());
    let repository = bench.repository("r");
    let worktree = repository.worktree.clone();
    monitor.watch(bench.environment.clone(), vec![repository]);
    monitor.focus(&bench.environment, true);
    monitor.observe_now(&bench.environment).await;
    assert_eq!(bench.recorder.count(), 1, "focus alone does not look");

    monitor.set_live(&bench.environment, true);
    bench.recorder.until(|seen| seen.len() == 2).await;
    // Watched and live: a change is seen without anybody asking.
    fs::write(worktree.join("new"), "1\n").unwrap();
    bench
        .recorder
        .until(|seen| seen.last().and_then(changed_files) == Some(1))
        .await;
}

/// GIT-05.
#[tokio::test]
async fn git_05_requests_during_a_run_share_the_one_that_waits() {
    let bench = Bench::new();
    let repository = bench.repository("r");
    fs::write(repository.worktree.join("hold"), "").unwrap();
    let worktree = repository.worktree.clone();
    let monitor = bench.monitor(bench.held_git());
    monitor.watch(bench.environment.clone(), vec![repository]);

    let (early, environment) = (monitor.clone(), bench.environment.clone());
    let running = tokio::spawn(async move { early.observe_now(&environment).await });
    bench.held().await;
    let late = (0..5).map(|_| monitor.observe_now(&bench.environment));
    let late = join_all(late);
    tokio::pin!(late);
    // All five have asked before the running one goes on.
    assert!(futures_util::poll!(&mut late).is_pending());
    fs::write(worktree.join("new"), "1\n").unwrap();
    bench.let_go();
    let late = late.await;
    assert_eq!(running.await.unwrap().len(), 1);
    assert_eq!(
        bench.recorder.count(),
        2,
        "one run, and one for all that came during it"
    );
    for observed in late {
        assert_eq!(
            changed_files(&observed[0]),
            Some(2),
            "it began after they asked"
        );
    }
}

#[tokio::test]
async fn forgetting_ends_a_look_and_answers_who_waits() {
    let bench = Bench::new();
    let repository = bench.repository("r");
    fs::write(repository.worktree.join("hold"), "").unwrap();
    let monitor = bench.monitor(bench.held_git());
    monitor.watch(bench.environment.clone(), vec![repository]);
    let (asked, environment) = (monitor.clone(), bench.environment.clone());
    let waiting = tokio::spawn(async move { asked.observe_now(&environment).await });
    let pid = bench.held().await;
    monitor.forget(&bench.environment);
    assert!(waiting.await.unwrap().is_empty());
    ended(&pid).await;
    assert!(monitor.observe_now(&bench.environment).await.is_empty());
    assert_eq!(bench.recorder.count(), 0);
}

#[tokio::test]
async fn dropping_or_shutting_down_leaves_no_process() {
    for by_drop in [true, false] {
        let bench = Bench::new();
        let repository = bench.repository("r");
        fs::write(repository.worktree.join("hold"), "").unwrap();
        let monitor = bench.monitor(bench.held_git());
        monitor.watch(bench.environment.clone(), vec![repository]);
        monitor.set_live(&bench.environment, true);
        let pid = bench.held().await;
        if by_drop {
            drop(monitor);
        } else {
            monitor.shutdown().await;
        }
        ended(&pid).await;
    }
}

#[tokio::test]
async fn watching_again_keeps_what_did_not_change() {
    let bench = Bench::new();
    let (kept, dropped) = (bench.repository("kept"), bench.repository("dropped"));
    fs::write(kept.worktree.join("hold"), "").unwrap();
    let monitor = bench.monitor(bench.held_git());
    monitor.watch(bench.environment.clone(), vec![kept.clone(), dropped]);
    let (asked, environment) = (monitor.clone(), bench.environment.clone());
    let waiting = tokio::spawn(async move { asked.observe_now(&environment).await });
    bench.held().await;
    bench.recorder.until(|seen| seen.len() == 1).await;
    let added = bench.repository("added");
    monitor.watch(bench.environment.clone(), vec![kept, added]);
    bench.let_go();
    let names: Vec<_> = waiting
        .await
        .unwrap()
        .into_iter()
        .map(|one| one.repository_name)
        .collect();
    assert_eq!(
        names,
        ["kept", "dropped"],
        "the look that was going on went on"
    );
    let names: Vec<_> = monitor
        .observe_now(&bench.environment)
        .await
        .into_iter()
        .map(|one| one.repository_name)
        .collect();
    assert_eq!(names, ["kept", "added"]);
}
