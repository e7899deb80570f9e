//! Running cases: from a seed to happenings, and from a failure to the fewest happenings that still fail.

use super::happening::{Beginning, Happening, beginning, happening};
use super::world::{Stage, World};
use anyhow::{Context, Result, anyhow, bail};
use futures_util::FutureExt;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::hash::{BuildHasher, RandomState};
use std::panic::AssertUnwindSafe;
use testkit::story::Story;

/// How many cases run; `cargo xtask test --long` sets it.
const CASES: &str = "PROPTEST_CASES";

/// Cases of the faster engine, where nobody says how many.
pub(super) const USUAL: u64 = 64;

/// The seed of the first case; the next has the next number. Without it every run tries others.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Happenings of one case, at most.
const LENGTH: usize = 120;

/// Runs while looking for fewer happenings, at most.
const SHRINKS: usize = 1_000;

/// How a case begins, and what happens then.
pub(super) type Case = (Beginning, Vec<Happening>);

fn from_environment<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// The case of this seed, and how it becomes a smaller one.
fn tree(seed: u64) -> Result<impl ValueTree<Value = Case>> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let tree = (beginning(), vec(happening(), 1..LENGTH)).new_tree(&mut runner);
    tree.map_err(|reason| anyhow!("no case: {reason}"))
}

/// The case of this seed.
pub(super) fn of_seed(seed: u64) -> Result<Case> {
    Ok(tree(seed)?.current())
}

/// Runs cases: `usual`, or as many as asked for, of which an engine with fewer usual ones takes its part.
pub(super) async fn run(story: Story, usual: u64) -> Result<()> {
    let stage = Stage::on(story).await?;
    let cases = from_environment(CASES).map_or(usual, |all: u64| (all * usual / USUAL).max(1));
    let first = from_environment(SEED).unwrap_or_else(|| RandomState::new().hash_one(CASES) >> 16);
    for n in 0..cases {
        let seed: u64 = first + n;
        let mut tree = tree(seed)?;
        if let Err(error) = case(&stage, &tree.current()).await {
            let found = format!("case {} of {cases}, seed {seed}", n + 1);
            let error = shrink(&stage, &mut tree, error).await;
            bail!("{found} (again: {SEED}={seed} {CASES}=1)\n{error:?}");
        }
    }
    Ok(())
}

/// One case from beginning to end; a panic is a failure. A failure says what happened before.
async fn case(stage: &Stage, (beginning, happenings): &Case) -> Result<()> {
    let mut before = Vec::new();
    let lived = AssertUnwindSafe(async {
        let mut world = World::begin(stage, *beginning).await?;
        for what in happenings {
            before.extend(world.happen(what).await?);
        }
        anyhow::Ok(())
    });
    let lived = match Box::pin(lived.catch_unwind()).await {
        Ok(lived) => lived,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            Err(anyhow!("panicked: {}", text.unwrap_or_default()))
        }
    };
    lived.with_context(|| format!("{beginning:?}, after [\n  {}\n]", before.join("\n  ")))
}

async fn shrink(
    stage: &Stage,
    tree: &mut impl ValueTree<Value = Case>,
    mut fewest: anyhow::Error,
) -> anyhow::Error {
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
        let outcome = case(stage, &tree.current()).await;
        failed = outcome.is_err();
        if let Err(error) = outcome {
            fewest = error;
        }
    }
    fewest
}
