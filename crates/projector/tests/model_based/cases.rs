//! Running cases: from a seed to happenings, and from a failure to the fewest happenings that still fail.

use crate::happening::{Happening, happening};
use crate::world::World;
use anyhow::{Result, anyhow, bail};
use futures_util::FutureExt;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::hash::{BuildHasher, RandomState};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use testkit::story::Story;

/// How many cases run; `cargo xtask test --long` sets it.
const CASES: &str = "PROPTEST_CASES";

/// Cases of the faster engine, where nobody says how many.
pub(crate) const USUAL: u64 = 256;

/// The seed of the first case; the next has the next number. Without it every run tries others.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Happenings of one case, at most.
const LENGTH: usize = 140;

/// Runs while looking for fewer happenings, at most.
const SHRINKS: usize = 1_000;

fn from_environment<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs cases: `usual`, or as many as asked for, of which an engine with fewer usual ones takes its part.
pub(crate) async fn run(story: Story, usual: u64) -> Result<()> {
    let story = Arc::new(story);
    // Long runs keep the proportion between the engines.
    let cases = from_environment(CASES).map_or(usual, |all: u64| (all * usual / USUAL).max(1));
    let first = from_environment(SEED).unwrap_or_else(|| RandomState::new().hash_one(CASES) >> 16);
    for n in 0..cases {
        let seed: u64 = first + n;
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let tree = vec(happening(), 1..LENGTH).new_tree(&mut runner);
        let mut tree = tree.map_err(|reason| anyhow!("no case: {reason}"))?;
        if let Err(error) = case(&story, &tree.current()).await {
            let found = format!("case {} of {cases}, seed {seed}", n + 1);
            let (fewest, error) = shrink(&story, &mut tree, error).await;
            let happenings: Vec<String> =
                fewest.iter().map(|what| format!("  {what:?},\n")).collect();
            bail!(
                "{found} (again: {SEED}={seed} {CASES}=1)\n{error:?}\nafter [\n{}]",
                happenings.concat()
            );
        }
    }
    Ok(())
}

/// One case from beginning to end; a panic is a failure.
pub(crate) async fn case(story: &Arc<Story>, happenings: &[Happening]) -> Result<()> {
    let lived = AssertUnwindSafe(async {
        let mut world = World::begin(Arc::clone(story)).await?;
        for what in happenings {
            world.happen(what).await?;
        }
        world.fall_quiet().await?;
        world.end().await;
        anyhow::Ok(())
    });
    match Box::pin(lived.catch_unwind()).await {
        Ok(lived) => lived,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            bail!("panicked: {}", text.unwrap_or_default());
        }
    }
}

async fn shrink(
    story: &Arc<Story>,
    tree: &mut impl ValueTree<Value = Vec<Happening>>,
    error: anyhow::Error,
) -> (Vec<Happening>, anyhow::Error) {
    let mut fewest = (tree.current(), error);
    let mut failed = true;
    for _ in 0..SHRINKS {
        let more = if failed {
            tree.simplify()
        } else {
            tree.complicate()
        };
        if !more {
            break;
        }
        let outcome = case(story, &tree.current()).await;
        failed = outcome.is_err();
        if let Err(error) = outcome {
            fewest = (tree.current(), error);
        }
    }
    fewest
}
