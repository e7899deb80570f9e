//! One writer per repository: what makes or removes worktrees and branches of the same repository waits for its turn.
//!
//! Git itself reads every worktree's administrative folder when it adds one, and fails when it meets one that is just
//! being made. Agents of one repository are started together all the time, so this is no rare meeting.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// Who writes where. As many entries as repositories are written to at this moment.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    turns: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
}

impl Writers {
    /// Waits, first come first served, for the repository in this folder to have no other writer of ours.
    pub(crate) async fn turn(&self, repository: &Path) -> OwnedMutexGuard<()> {
        let real = tokio::fs::canonicalize(repository).await;
        let key = real.unwrap_or_else(|_| repository.to_owned()); // whoever opens it says what is wrong with it
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| 1 < Arc::strong_count(turn));
            Arc::clone(turns.entry(key).or_default())
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Waker};

    #[tokio::test]
    async fn writers_of_one_repository_take_turns_and_others_do_not_wait() {
        let writers = Writers::default();
        let (one, two) = (Path::new("/nonexistent/one"), Path::new("/nonexistent/two"));
        let first = writers.turn(one).await;
        let _other = writers.turn(two).await;
        let mut second = Box::pin(writers.turn(one));
        let mut nobody = Context::from_waker(Waker::noop());
        assert!(second.as_mut().poll(&mut nobody).is_pending());
        drop(first);
        let _second = second.await;
        let kept = writers.turns.lock().unwrap().len();
        assert!(kept <= 2, "{kept} entries");
    }
}
