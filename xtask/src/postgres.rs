//! A PostgreSQL for the tests: found, or installed where that can be done without asking, and then a cluster of
//! our own that holds nothing and goes when the tests are over.
//!
//! The cluster lies in a temporary folder, in memory where there is enough. It listens on a socket in that folder
//! and on no network, and promises no durability: nobody will read it after a crash. PostgreSQL refuses to run as
//! root; as root it is run as `postgres` or `nobody`.
//!
//! Invariant: a cluster ends with the value that owns it, or with Ctrl-C (`processes`). One whose owner was killed
//! is ended by the next start.
//! Read next: `testkit::postgres`, which makes a database per test in it.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal};

use crate::packages::Installer;
use crate::places::Places;
use crate::{processes, screen, tools};

/// The variable that tells tests where to make their databases: the URL of a database that exists already.
pub(crate) const VARIABLE: &str = "FLIGHTSTRIP_TEST_POSTGRES";

/// The server with its `initdb`.
const PACKAGES: [&str; 1] = ["postgresql"];

const ADVICE: &str = "the tests need PostgreSQL: install its server programs (`initdb`, `postgres`), \
    or set FLIGHTSTRIP_TEST_POSTGRES to the URL of a database whose user may create databases";

/// Where Debian keeps the programs of each version, away from the PATH.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Debian's package would also start a server for the whole machine; nobody asked for that.
const NO_SYSTEM_CLUSTER: &str = "file=/etc/postgresql-common/createcluster.conf; \
    test -e $file || { mkdir -p ${file%/*} && echo 'create_main_cluster = false' > $file; }";

/// Folder names begin so, followed by the process id of the owner.
const PREFIX: &str = "flightstrip-postgres-";

/// Part of the socket's file name; no port of the machine is taken.
const PORT: &str = "5432";

/// Tests run in parallel, as many as there are processors, each with a store or two of nine connections.
const SETTINGS: [&str; 9] = [
    "max_connections=1000",
    "shared_buffers=128MB",
    "listen_addresses=",
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_wal_size=256MB",
];

/// A folder in memory. A new database is three hundred small files: 20 ms there, and up to 300 ms on a disk that is
/// also written by a compiler.
const MEMORY: &str = "/dev/shm";

/// What the tests of a few processes at a time may need of it. Containers often have 64 MiB.
const MEMORY_BYTES: u64 = 2 << 30;

/// A start takes a second; a machine that is busy compiling may take ten.
const START_GRACE: Duration = Duration::from_secs(60);

/// An immediate end takes less than a second.
const END_GRACE: Duration = Duration::from_secs(10);

/// `cargo xtask postgres`: a cluster until Ctrl-C, or for as long as `command` runs.
pub(crate) fn run(places: &Places, command: &[String]) -> anyhow::Result<()> {
    find_or_install()?;
    processes::guard()?;
    let mut cluster = Cluster::start()?;
    if let [program, arguments @ ..] = command {
        let mut command = Command::new(program);
        command.args(arguments).env(VARIABLE, cluster.url());
        // Where the caller stands, and not in the root of the repository: the command is the caller's own.
        return processes::run(&mut command);
    }
    screen::line("PostgreSQL runs until Ctrl-C. For tests started by hand:\n");
    screen::line(&format!("  export {VARIABLE}='{}'\n", cluster.url()));
    screen::line(&format!(
        "  cd {} && cargo nextest run -p store",
        places.root.display()
    ));
    let ended = cluster.server.wait();
    processes::wait_if_interrupted();
    bail!("PostgreSQL ended by itself ({})\n{}", ended?, cluster.log())
}

/// What tests are told in [`VARIABLE`], and the cluster behind it.
pub(crate) struct ForTests {
    pub(crate) url: String,
    _cluster: Option<Cluster>,
}

/// The PostgreSQL that the variable names already, else a cluster that lives as long as the answer.
pub(crate) fn for_tests() -> anyhow::Result<ForTests> {
    if let Ok(url) = std::env::var(VARIABLE) {
        return Ok(ForTests {
            url,
            _cluster: None,
        });
    }
    let cluster = Cluster::start()?;
    Ok(ForTests {
        url: cluster.url(),
        _cluster: Some(cluster),
    })
}

/// Makes sure that the tests will have one, and says which.
pub(crate) fn available() -> anyhow::Result<String> {
    if std::env::var_os(VARIABLE).is_some() {
        return Ok(format!("the one that {VARIABLE} names"));
    }
    Ok(find_or_install()?.display().to_string())
}

/// The folder of the server programs, installed first when there are none and the machine lets us.
fn find_or_install() -> anyhow::Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    let installer = Installer::find(ADVICE, &PACKAGES)?;
    installer.run(&["sh", "-c", NO_SYSTEM_CLUSTER])?;
    installer.install(&PACKAGES)?;
    find().context("apt-get installed PostgreSQL, but there is no initdb")
}

/// `initdb` on the PATH with `postgres` beside it, else the newest of Debian's folders.
fn find() -> Option<PathBuf> {
    let on_path = tools::on_path(&["initdb"])
        .and_then(|path| path.canonicalize().ok())
        .and_then(|path| path.parent().map(Path::to_path_buf));
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = versions.map(|entry| entry.path()).collect();
    debian.sort_by_key(|path| version(path));
    let debian = debian.into_iter().rev().map(|path| path.join("bin"));
    on_path
        .into_iter()
        .chain(debian)
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

/// The number that a folder is named after; 0 when it is none.
fn version(folder: &Path) -> u32 {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.split('.').next()?.parse().ok())
        .unwrap_or(0)
}

/// Who runs the server when we are root.
#[derive(Clone, Copy)]
struct Account {
    user: u32,
    group: u32,
}

impl Account {
    /// `None` when we may run it ourselves.
    fn needed() -> anyhow::Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let id = |flag, name| {
            let said = processes::read(Command::new("id").args([flag, name])).ok()?;
            said.trim().parse::<u32>().ok()
        };
        for name in ["postgres", "nobody"] {
            if let (Some(user), Some(group)) = (id("-u", name), id("-g", name)) {
                return Ok(Some(Self { user, group }));
            }
        }
        bail!("PostgreSQL does not run as root, and there is no user `postgres` or `nobody`")
    }
}

/// A running cluster. It ends, and its folder goes, with this value.
struct Cluster {
    folder: PathBuf,
    server: Child,
}

impl Cluster {
    fn start() -> anyhow::Result<Self> {
        let programs = find_or_install()?;
        for base in [PathBuf::from(MEMORY), std::env::temp_dir()] {
            end_stale(&base);
        }
        let base = base_folder();
        let folder = base.join(format!("{PREFIX}{}", std::process::id()));
        DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        processes::remove_when_interrupted(folder.clone());
        let started = start_in(&programs, &folder);
        if started.is_err() {
            // The error says what went wrong; a folder that stays goes with the next start.
            let _ = std::fs::remove_dir_all(&folder);
        }
        let cluster = Self {
            server: started?,
            folder,
        };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    /// The database that exists from the beginning, as a superuser.
    fn url(&self) -> String {
        format!(
            "postgres://postgres@localhost:{PORT}/postgres?host={}",
            self.folder.display()
        )
    }

    /// The server's last words.
    fn log(&self) -> String {
        let text = std::fs::read_to_string(log_file(&self.folder)).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let first = lines.len().saturating_sub(20);
        lines.get(first..).unwrap_or_default().join("\n")
    }

    /// The server says so in the eighth line of its own file.
    fn wait_until_ready(&self) -> anyhow::Result<()> {
        let file = data(&self.folder).join("postmaster.pid");
        let mut waited = Duration::ZERO;
        while waited < START_GRACE {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if text
                .lines()
                .nth(7)
                .is_some_and(|line| line.trim() == "ready")
            {
                return Ok(());
            }
            processes::pause(processes::LOOK_AGAIN);
            waited += processes::LOOK_AGAIN;
        }
        bail!("PostgreSQL does not start\n{}", self.log())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let pid = i32::try_from(self.server.id()).unwrap_or_default();
        end(pid, || matches!(self.server.try_wait(), Ok(None)));
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            let error = anyhow::Error::from(error);
            screen::problem(&error.context(format!("removing {}", self.folder.display())));
        }
    }
}

/// In memory where there is enough of it, else among temporary files.
fn base_folder() -> PathBuf {
    let free = rustix::fs::statvfs(MEMORY).map_or(0, |there| there.f_bavail * there.f_frsize);
    let writable = rustix::fs::access(MEMORY, rustix::fs::Access::WRITE_OK).is_ok();
    if writable && MEMORY_BYTES <= free {
        PathBuf::from(MEMORY)
    } else {
        std::env::temp_dir()
    }
}

fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("log")
}

/// Makes the cluster and starts its server.
fn start_in(programs: &Path, folder: &Path) -> anyhow::Result<Child> {
    let account = Account::needed()?;
    if let Some(Account { user, group }) = account {
        std::os::unix::fs::chown(folder, Some(user), Some(group))
            .with_context(|| format!("giving away {}", folder.display()))?;
    }
    let program = |name| {
        let mut command = Command::new(programs.join(name));
        if let Some(Account { user, group }) = account {
            command.gid(group).uid(user);
        }
        command.current_dir(folder).env("LC_ALL", "C");
        command
    };
    processes::run_quietly(
        program("initdb")
            .args(["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"])
            .args(["--username=postgres", "--pgdata"])
            .arg(data(folder)),
    )?;
    let log = log_file(folder);
    let log = File::create(&log).with_context(|| format!("creating {}", log.display()))?;
    let mut server = program("postgres");
    server.arg("-D").arg(data(folder)).args(["-p", PORT]);
    server.arg("-k").arg(folder);
    for setting in SETTINGS {
        server.args(["-c", setting]);
    }
    server
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .context("starting PostgreSQL")
}

/// Ends a server the quick way: nobody needs its files again.
fn end(pid: i32, mut runs: impl FnMut() -> bool) {
    for how in [Signal::QUIT, Signal::KILL] {
        processes::signal(pid, how);
        let mut waited = Duration::ZERO;
        while waited < END_GRACE {
            if !runs() {
                return;
            }
            processes::pause(processes::LOOK_AGAIN);
            waited += processes::LOOK_AGAIN;
        }
    }
}

/// Ends clusters whose owner is gone: it was killed, or the machine was.
fn end_stale(base: &Path) {
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let Some(owner) = owner
            .and_then(|owner| owner.parse().ok())
            .and_then(Pid::from_raw)
        else {
            continue;
        };
        let ours = owner == rustix::process::getpid();
        if !ours && rustix::process::test_kill_process(owner).is_ok() {
            continue;
        }
        let folder = entry.path();
        if let Some(pid) = server_of(&folder) {
            end(pid, || server_of(&folder) == Some(pid));
        }
        // Somebody else's, or already gone: nothing that harms us.
        let _ = std::fs::remove_dir_all(&folder);
    }
}

/// The server that works in this folder, if it still does: its number may belong to another program by now.
fn server_of(folder: &Path) -> Option<i32> {
    let data = data(folder);
    let text = std::fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let pid: i32 = text.lines().next()?.trim().parse().ok()?;
    let works_in = std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    (works_in == data.canonicalize().ok()?).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_a_number_and_not_a_text() {
        let mut folders = ["/p/9.6", "/p/17", "/p/old", "/p/15"].map(PathBuf::from);
        folders.sort_by_key(|folder| version(folder));
        assert_eq!(folders.last(), Some(&PathBuf::from("/p/17")));
    }

    #[test]
    fn a_folder_whose_server_is_another_program_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("xtask-test-{}", std::process::id()));
        std::fs::create_dir_all(data(&folder)).unwrap();
        let own = std::process::id();
        std::fs::write(data(&folder).join("postmaster.pid"), format!("{own}\n")).unwrap();
        let found = server_of(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, None);
    }
}
