//! Several writers: one at a time, and who waited in vain can write later.

use anyhow::Result;
use store::error::StoreError;
use testkit::story::Story;

testkit::on_every_engine!(a_writer_that_waited_in_vain_writes_later);

/// Another process holds the lock for longer than a writer waits. What the wait leaves of a transaction must not be
/// what the next one finds.
async fn a_writer_that_waited_in_vain_writes_later(story: Story) -> Result<()> {
    let other = story.db.open_again().await?;
    let held = other.write().await?;
    for _ in 0..2 {
        let refused = story.store().write().await.err();
        assert!(matches!(refused, Some(StoreError::Busy)), "{refused:?}");
    }
    let _ = held.commit().await?; // nothing was written
    let task = story.task().await?;
    let mut tx = other.read().await?;
    let seen = store::tasks::load(&mut tx, std::slice::from_ref(&task)).await?;
    assert_eq!(seen.len(), 1, "it is committed");
    Ok(())
}
