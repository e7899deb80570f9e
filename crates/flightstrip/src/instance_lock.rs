//! One server per data directory: a locked file that names its holder. One per PostgreSQL database as well: see
//! [`store::instance`].

use crate::database::{Database, unreachable};
use anyhow::{Context, bail};
use model::bounds;
use model::ids::InstanceId;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;
use store::instance::{self, InstanceHold, TakeOutcome};
use tokio::time::Instant;

/// How often a held lock is tried.
const TRY_EVERY: Duration = Duration::from_millis(100);

/// Held while this server works on the data; the kernel frees it whatever happens to the process.
pub(crate) struct InstanceLock {
    _file: File,
}

/// Takes the lock, waiting at most `bounds::INSTANCE_LOCK_WAIT` for a server that is just ending.
pub(crate) async fn take(dir: &Path, instance_id: &InstanceId) -> anyhow::Result<InstanceLock> {
    let path = dir.join("instance.lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .context("the instance lock cannot be opened")?;
    let deadline = Instant::now() + bounds::INSTANCE_LOCK_WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                tokio::time::sleep(TRY_EVERY).await;
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder); // the message is clear without it
                bail!(
                    "another server (instance {}) works on {}; stop it first, or use another --data-dir",
                    holder.trim(),
                    dir.display()
                );
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).context("the instance lock cannot be taken");
            }
        }
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .context("the instance lock cannot be written")?;
    writeln!(file, "{instance_id}").context("the instance lock cannot be written")?;
    Ok(InstanceLock { _file: file })
}

/// Whether a server works on this database now. A server that is just starting may try once more because of it.
pub(crate) async fn is_held(database: &Database, dir: &Path) -> anyhow::Result<bool> {
    if let Database::Postgres(url) = database {
        return instance::is_held(url).await.map_err(unreachable);
    }
    let file = match File::open(dir.join("instance.lock")) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error).context("the instance lock cannot be opened"),
    };
    match file.try_lock() {
        Ok(()) => Ok(false), // given back with the file
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error).context("the instance lock cannot be tried"),
    }
}

/// As [`take`], for the database: nothing for SQLite, which lies in the data directory.
pub(crate) async fn take_database(
    database: &Database,
    instance_id: &InstanceId,
) -> anyhow::Result<Option<Box<InstanceHold>>> {
    let Database::Postgres(url) = database else {
        return Ok(None);
    };
    match instance::take(url, instance_id)
        .await
        .map_err(unreachable)?
    {
        TakeOutcome::Taken(hold) => Ok(Some(hold)),
        TakeOutcome::HeldBy(holder) => bail!(
            "another server (instance {}) works on this PostgreSQL database; stop it first, or use another database",
            holder.as_deref().unwrap_or("unknown")
        ),
    }
}
