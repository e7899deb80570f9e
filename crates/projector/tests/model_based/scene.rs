//! Where changes happen: what exists, what it is made of, and names for what comes.

use crate::change::{Change, Failing, Pick};
use crate::facts::{Facts, FailureFact};
use crate::{asking, beside, pulling, queueing, seeing, talking, working};
use model::clock::Timestamp;
use model::error::RecoveryAction;
use model::ids::{InvalidId, TaskId, TaskRepositoryId};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::error::Result;
use store::tx::WriteTx;
use testkit::story::Story;

/// What a change starts from, and leaves behind if it is committed.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) facts: Facts,
    pub(crate) story: Arc<Story>,
    named: u32,
}

impl Scene {
    /// Nothing has happened.
    pub(crate) fn new(story: Arc<Story>) -> Self {
        Self {
            facts: Facts::default(),
            story,
            named: 0,
        }
    }

    /// A fresh id. The same in every run of the same case, and not in the order of creation: nothing may depend on
    /// ids being sorted.
    pub(crate) fn name<T>(&mut self, parse: fn(&str) -> std::result::Result<T, InvalidId>) -> T {
        self.named += 1;
        // An odd factor, so that no two are equal.
        let shuffled = self.named.wrapping_mul(2_654_435_761);
        parse(&format!("{shuffled:08x}")).expect("digits are an id")
    }

    /// Goes on naming where `other` stopped, whatever becomes of its facts.
    pub(crate) fn skip_names_of(&mut self, other: &Self) {
        self.named = self.named.max(other.named);
    }

    /// Makes one change, in the database and in the facts.
    pub(crate) async fn make(&mut self, tx: &mut WriteTx, change: &Change) -> Result<()> {
        match change {
            Change::Task(what) => Box::pin(working::task(tx, self, what)).await,
            Change::Session(what) => Box::pin(working::session(tx, self, what)).await,
            Change::Talk(what) => Box::pin(talking::talk(tx, self, what)).await,
            Change::Ask(what) => Box::pin(asking::ask(tx, self, what)).await,
            Change::Git(what) => Box::pin(seeing::git(tx, self, what)).await,
            Change::Pull(what) => Box::pin(pulling::change(tx, self, what)).await,
            Change::Queue(what) => Box::pin(queueing::change(tx, self, what)).await,
            Change::Beside(what) => Box::pin(beside::change(tx, self, what)).await,
        }
    }

    /// A failure that happens now, or at the very time of an earlier one of the task.
    pub(crate) fn failure(&self, task: &TaskId, failing: &Failing, now: Timestamp) -> FailureFact {
        let sessions = self.facts.sessions.values();
        let earlier = sessions
            .filter(|session| session.task == *task)
            .filter_map(|session| session.failure.as_ref())
            .chain(&self.facts.tasks[task].failure)
            .map(|failure| failure.at)
            .max();
        let at = earlier.filter(|_| failing.again).unwrap_or(now);
        FailureFact {
            stamp: format!("{:032x}", failing.stamp % 4),
            at,
            preview: format!("it failed in way {}", failing.stamp),
            category: (failing.actions != 1).then(|| "agent_exited".to_owned()),
            actions: RecoveryAction::ALL[..failing.actions].to_vec(),
            repository: failing.repository.then(|| {
                let name = if failing.stamp < 128 {
                    "repo-a"
                } else {
                    "repo-b"
                };
                TaskRepositoryId::parse(name).expect("an id")
            }),
        }
    }

    /// Marks every task that binds an environment, as storing an observation of it does.
    pub(crate) async fn touch_bound(
        tx: &mut WriteTx,
        environment: &model::ids::EnvironmentId,
    ) -> Result<()> {
        for task in store::environments::tasks_of(tx, environment).await? {
            tx.touch(&task);
        }
        Ok(())
    }
}

/// The chosen one of those that exist.
pub(crate) fn chosen<K: Clone, V>(all: &BTreeMap<K, V>, pick: Pick) -> Option<K> {
    chosen_of(all, pick, |_| true)
}

/// The chosen one of those that fit.
pub(crate) fn chosen_of<K: Clone, V>(
    all: &BTreeMap<K, V>,
    pick: Pick,
    fits: impl Fn(&V) -> bool,
) -> Option<K> {
    let fitting: Vec<&K> = all
        .iter()
        .filter(|(_, value)| fits(value))
        .map(|(key, _)| key)
        .collect();
    fitting
        .get(pick % fitting.len().max(1))
        .map(|key| (*key).clone())
}
