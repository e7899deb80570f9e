//! `flightstrip backup`: one consistent file, from a server at work.

use crate::commands::{on, run, utf8};
use crate::support::{Bench, answers};
use anyhow::{Context, Result, ensure};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use testkit::server::Server;
use testkit::store::Engine;
use testkit::waiting::until;

/// REC-05: copied while agents stream and people write, a start on the copy finds nothing missing that was there.
#[tokio::test]
async fn rec_05_a_copy_made_while_the_server_writes_is_whole() -> Result<()> {
    let mut bench = Bench::on(Engine::Sqlite).await?;
    let task = bench
        .start_task("Streams", "/stream 20000 64\n/sleep 600000")
        .await?;
    let session = bench.session(&task).await?;
    let length = async |bench: &mut Bench| Ok(answers(&bench.transcript(&session).await?).len());
    until("the stream to be under way", async || {
        let length: Result<usize> = length(&mut bench).await;
        Ok((0 < length?).then_some(()))
    })
    .await?;
    let before = length(&mut bench).await?;
    let place = tempfile::tempdir()?;
    let file = place.path().join("flightstrip.db");
    let made = on(&bench.server, "backup", &[utf8(&file)?]).await?;
    assert_eq!(made.code, 0, "{made:?}");
    let after = length(&mut bench).await?;
    let metadata = std::fs::metadata(&file)?;
    assert_eq!(
        made.out.trim_end(),
        format!("{} ({} bytes)", file.display(), metadata.len())
    );
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    bench.server.kill().await?;
    bench.server.no_agents_left().await?;

    // The copy becomes the server's database: it starts, and nothing is wrong with it.
    replace(&bench.server, &file)?;
    bench.server.launch().await?;
    bench.reconnect().await?;
    let sound = on(&bench.server, "doctor", &[]).await?;
    assert_eq!(sound.code, 0, "{sound:?}");
    let kept = length(&mut bench).await?;
    assert!(
        before <= kept && kept <= after,
        "{before} <= {kept} <= {after}"
    );
    let task = bench.task(&task).await?;
    assert_eq!(task["state"], "REVIEW", "{task}");
    bench.server.stop().await
}

/// Puts a database in the place of a stopped server's.
fn replace(server: &Server, file: &Path) -> Result<()> {
    let database = server.data_dir().join("flightstrip.db");
    for beside in ["flightstrip.db-wal", "flightstrip.db-shm"] {
        let beside = server.data_dir().join(beside);
        if beside.exists() {
            std::fs::remove_file(beside)?;
        }
    }
    std::fs::copy(file, database)?;
    Ok(())
}

#[tokio::test]
async fn a_copy_overwrites_nothing_and_leaves_nothing_half_made() -> Result<()> {
    let mut bench = Bench::on(Engine::Sqlite).await?;
    bench.server.stop().await?;
    let place = tempfile::tempdir()?;
    let taken = place.path().join("taken.db");
    std::fs::write(&taken, "mine")?;
    let refused = on(&bench.server, "backup", &[utf8(&taken)?]).await?;
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("File exists"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&taken)?, "mine");

    let nowhere = place.path().join("no such folder/copy.db");
    let refused = on(&bench.server, "backup", &[utf8(&nowhere)?]).await?;
    assert_ne!(refused.code, 0, "{refused:?}");

    // Without a name: a new file in the data directory, and another one the next time.
    for expected in 1..=2 {
        let made = on(&bench.server, "backup", &[]).await?;
        assert_eq!(made.code, 0, "{made:?}");
        let folder = bench.server.data_dir().join("backups");
        assert_eq!(std::fs::read_dir(&folder)?.count(), expected);
        assert_eq!(
            std::fs::metadata(&folder)?.permissions().mode() & 0o777,
            0o700
        );
        let path = made.out.split(" (").next().context("a path")?;
        ensure!(store::backup::is_sound(Path::new(path)).await?, "{path}");
    }

    let empty = tempfile::tempdir()?;
    let nothing = run(&["backup", "--data-dir", utf8(empty.path())?]).await?;
    assert_ne!(nothing.code, 0);
    assert!(nothing.err.contains("there is no database"), "{nothing:?}");
    Ok(())
}

#[tokio::test]
async fn postgres_is_left_to_its_own_programs() -> Result<()> {
    let mut bench = Bench::on(Engine::Postgres).await?;
    let refused = on(&bench.server, "backup", &[]).await?;
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("pg_dump"), "{refused:?}");
    assert!(!bench.server.data_dir().join("backups").exists());
    bench.server.stop().await
}
