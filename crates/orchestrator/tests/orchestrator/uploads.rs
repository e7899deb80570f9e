//! Files on disk and their rows: whatever fails in between, one is not left without the other for longer than until
//! the next start.

use crate::world::World;
use anyhow::{Context, Result};
use model::attachment::Attachment;
use model::bounds;
use model::ids::TaskId;
use orchestrator::error::CommandError;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use store::attachments;
use store::faults::FaultPoint;
use testkit::waiting::until;

testkit::on_every_engine!(crate::world::World =>
    a_file_is_there_when_its_row_is,
    an_upload_that_is_given_up_leaves_nothing,
    who_goes_away_at_the_end_leaves_row_and_file_together,
    uploads_at_once_are_bounded,
    a_file_that_nobody_sends_expires,
    a_lost_answer_leaves_row_and_file_together,
    a_failed_commit_leaves_a_file_that_the_next_start_removes,
    a_database_without_files_clears_nothing_away,
);

/// The names in the folder of files.
fn stored(world: &World) -> Vec<String> {
    let folder = std::fs::read_dir(world.data_dir().join("attachments"));
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        Some(entry.file_name().to_string_lossy().into_owned())
    };
    let mut names: Vec<String> = folder.into_iter().flatten().filter_map(name).collect();
    names.sort();
    names
}

async fn rows(world: &World) -> Result<Vec<String>> {
    let mut tx = world.story.store().read().await?;
    let ids = attachments::all(&mut tx).await?;
    let mut ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    ids.sort();
    Ok(ids)
}

async fn upload(world: &World, task: &TaskId) -> Result<Attachment, CommandError> {
    let mut upload = world.orchestrator.begin_upload(task, "a.txt", "").await?;
    upload.write(b"one ").await?;
    upload.write(b"two").await?;
    upload.finish().await
}

async fn a_file_is_there_when_its_row_is(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let kept = upload(&world, &task).await?;
    assert_eq!(
        (&*kept.name, &*kept.media_type, kept.size),
        ("a.txt", "text/plain", 7)
    );
    assert_eq!(stored(&world), [kept.id.to_string()]);
    let file = world.data_dir().join("attachments").join(kept.id.as_str());
    assert_eq!(std::fs::read(file)?, b"one two");
    let mut tx = world.story.store().read().await?;
    let row = attachments::get(&mut tx, &kept.id)
        .await?
        .context("a row")?;
    assert_eq!((row.attachment, row.message_id), (kept, None));
    let digest = "8ab63e29a4ba14e4e1688f9c15e5af90895421358c945b0431f85d66977bd3d2";
    assert_eq!(row.sha256, digest);
    Ok(())
}

async fn an_upload_that_is_given_up_leaves_nothing(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let mut given_up = world.orchestrator.begin_upload(&task, "a", "").await?;
    given_up.write(b"half").await?;
    assert_eq!(stored(&world).len(), 1);
    drop(given_up);
    assert_eq!(stored(&world), Vec::<String>::new());

    let mut large = world.orchestrator.begin_upload(&task, "a", "").await?;
    let half = vec![0; usize::try_from(bounds::ATTACHMENT_BYTES / 2)?];
    large.write(&half).await?;
    large.write(&half).await?;
    let refused = large.write(b"x").await;
    assert!(
        matches!(refused, Err(CommandError::Invalid(_))),
        "{refused:?}"
    );
    drop(large);
    assert_eq!(stored(&world), Vec::<String>::new());

    // Its task went while it was under way.
    let mut late = world.orchestrator.begin_upload(&task, "a", "").await?;
    late.write(b"x").await?;
    world.orchestrator.delete_task(&task, true).await?;
    let refused = late.finish().await;
    assert!(
        matches!(refused, Err(CommandError::NotFound("task"))),
        "{refused:?}"
    );
    until("nothing left", async || {
        Ok(stored(&world).is_empty().then_some(()))
    })
    .await?;
    Ok(())
}

/// Dropped after any number of steps of its end, an upload is kept whole or not at all.
async fn who_goes_away_at_the_end_leaves_row_and_file_together(world: World) -> Result<()> {
    let task = world.story.task().await?;
    for steps in 1..=8 {
        let mut upload = world.orchestrator.begin_upload(&task, "a", "").await?;
        upload.write(b"whole").await?;
        let mut finishing = Box::pin(upload.finish());
        for _ in 0..steps {
            if poll_fn(|context| Poll::Ready(finishing.as_mut().poll(context).is_ready())).await {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(finishing);
        until("a file for every row", async || {
            Ok((stored(&world) == rows(&world).await?).then_some(()))
        })
        .await?;
    }
    Ok(())
}

async fn uploads_at_once_are_bounded(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let mut under_way = Vec::new();
    for _ in 0..bounds::UPLOADS {
        under_way.push(world.orchestrator.begin_upload(&task, "a", "").await?);
    }
    let refused = world.orchestrator.begin_upload(&task, "a", "").await;
    assert!(matches!(refused, Err(CommandError::Busy(_))));
    under_way.pop();
    drop(world.orchestrator.begin_upload(&task, "a", "").await?);
    Ok(())
}

async fn a_file_that_nobody_sends_expires(world: World) -> Result<()> {
    let (task, other) = (world.story.task().await?, world.story.task().await?);
    let old = upload(&world, &task).await?;
    let night = bounds::UNCLAIMED_LIFE - Duration::from_secs(60);
    world.story.db.clock.advance(night);
    let young = upload(&world, &task).await?;
    assert_eq!(stored(&world).len(), 2);
    world.story.db.clock.advance(Duration::from_secs(120));
    // The next upload, of whatever task, looks for such files,
    let next = upload(&world, &other).await?;
    until("the old one to go", async || {
        Ok((!stored(&world).contains(&old.id.to_string())).then_some(()))
    })
    .await?;
    assert_eq!(
        rows(&world).await?,
        [young.id.to_string(), next.id.to_string()]
    );
    // and so does a start.
    world.story.db.clock.advance(bounds::UNCLAIMED_LIFE * 2);
    let recovered = world.orchestrator.recover().await?;
    assert_eq!(recovered.files, 2);
    assert_eq!(
        (rows(&world).await?, stored(&world)),
        (Vec::new(), Vec::new())
    );
    Ok(())
}

async fn a_lost_answer_leaves_row_and_file_together(world: World) -> Result<()> {
    let task = world.story.task().await?;
    world
        .story
        .store()
        .faults()
        .fail(FaultPoint::AfterCommit, 1);
    let lost = upload(&world, &task).await;
    assert!(matches!(lost, Err(CommandError::Store(_))), "{lost:?}");
    assert_eq!(rows(&world).await?, stored(&world));
    assert_eq!(world.orchestrator.recover().await?.files, 0);
    assert_eq!(stored(&world).len(), 1);
    Ok(())
}

async fn a_failed_commit_leaves_a_file_that_the_next_start_removes(world: World) -> Result<()> {
    let task = world.story.task().await?;
    let first = upload(&world, &task).await?;
    world.orchestrator.discard_upload(&first.id).await?;
    until("no file", async || {
        Ok(stored(&world).is_empty().then_some(()))
    })
    .await?;
    world
        .story
        .store()
        .faults()
        .fail(FaultPoint::BeforeCommit, 1);
    let failed = upload(&world, &task).await;
    assert!(matches!(failed, Err(CommandError::Store(_))), "{failed:?}");
    assert_eq!(rows(&world).await?, Vec::<String>::new());
    assert_eq!(stored(&world).len(), 1);
    assert_eq!(world.orchestrator.recover().await?.files, 1);
    assert_eq!(stored(&world), Vec::<String>::new());
    Ok(())
}

/// Somebody started the server on this data directory with another database.
async fn a_database_without_files_clears_nothing_away(world: World) -> Result<()> {
    let folder = world.data_dir().join("attachments");
    std::fs::create_dir(&folder)?;
    std::fs::write(folder.join("of-another"), "x")?;
    assert_eq!(world.orchestrator.recover().await?.files, 0);
    assert_eq!(stored(&world), ["of-another"]);
    Ok(())
}
