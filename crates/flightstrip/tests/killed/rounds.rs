//! Work, kill, check, start, check, again.

use crate::commands::doctor;
use crate::dice::Dice;
use crate::people::{Person, Place};
use crate::promises::{Kept, Promises};
use crate::support::{Bench, text};
use anyhow::{Context, Result, ensure};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinSet;

testkit::on_every_engine!(crate::support::Bench =>
    rec_05_a_server_killed_at_any_moment_loses_nothing_that_it_promised,
);

/// Kills of each engine when nobody asks for another number.
const ROUNDS: u64 = 5;
/// People at once.
const PEOPLE: u64 = 3;
/// A kill comes at most this long after work began: long enough for turns to begin, stream and end.
const LONGEST_MS: u64 = 4_000;
/// On a machine so busy that every kill came before anything was promised, there are up to this many rounds more, each
/// with twice the time.
const SLOWER: u32 = 4;

fn number(variable: &str) -> Result<Option<u64>> {
    let Some(value) = std::env::var_os(variable) else {
        return Ok(None);
    };
    let value = value.to_str().and_then(|value| value.parse().ok());
    Ok(Some(
        value.with_context(|| format!("{variable} is not a number"))?,
    ))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a seed nobody chose; it is printed, so the run can be repeated"
)]
fn fresh_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(u64::MAX)
}

/// REC-05, REC-06, REC-01.
async fn rec_05_a_server_killed_at_any_moment_loses_nothing_that_it_promised(
    mut bench: Bench,
) -> Result<()> {
    let seed = number("FLIGHTSTRIP_KILL_SEED")?.unwrap_or_else(fresh_seed);
    let rounds = number("FLIGHTSTRIP_KILL_ROUNDS")?.unwrap_or(ROUNDS);
    println!("FLIGHTSTRIP_KILL_SEED={seed}");
    let mut dice = Dice::new(seed);
    let place = place(&bench).await?;
    let mut promises = Promises::default();
    let mut unrecovered = 0;
    let (mut round, mut longest) = (0, LONGEST_MS);
    let kept = loop {
        round += 1;
        let said = one(
            &mut bench,
            &place,
            &mut dice,
            &mut promises,
            (round, longest),
        );
        let (left, kept) = said
            .await
            .with_context(|| format!("round {round} of FLIGHTSTRIP_KILL_SEED={seed}"))?;
        unrecovered += u64::from(left);
        let at_stake = 0 < kept.messages && 0 < kept.pieces;
        if rounds <= round && (at_stake || LONGEST_MS << SLOWER <= longest) {
            break kept;
        }
        if rounds <= round {
            longest *= 2;
        }
    };
    println!(
        "{round} kills, {unrecovered} of them in the middle of something; kept: {} messages, {} answers, {} pieces \
         of {} rows; {} tasks made, {} deleted",
        kept.messages,
        kept.answers,
        kept.pieces,
        kept.rows,
        promises.tasks.len(),
        promises.deleted.len()
    );
    ensure!(
        0 < kept.messages && 0 < kept.pieces,
        "nothing was at stake: {kept:?}"
    );
    bench.server.stop().await?;
    bench.server.no_agents_left().await
}

async fn place(bench: &Bench) -> Result<Place> {
    let boot = bench.server.get("/api/v1/boot").await?;
    let steps = boot["workspaces"][0]["workflows"][0]["steps"]
        .as_array()
        .context("no steps")?
        .iter()
        .map(|step| text(&step["id"]))
        .collect::<Result<_>>()?;
    Ok(Place {
        workspace_id: bench.workspace_id.clone(),
        repository_id: bench.repository_id.clone(),
        steps,
        living: Arc::default(),
    })
}

/// One round; says whether the kill left something to recover, and what was kept so far.
async fn one(
    bench: &mut Bench,
    place: &Place,
    dice: &mut Dice,
    promises: &mut Promises,
    (round, longest): (u64, u64),
) -> Result<(bool, Kept)> {
    let mut people = JoinSet::new();
    for person in 0..PEOPLE {
        let client = bench.server.connect().await?;
        let dice = Dice::new(dice.below(u64::MAX));
        let name = format!("r{round}-p{person}");
        people.spawn(Person::new(client, place.clone(), dice, name).live());
    }
    // The one wait for a time: the moment of the kill is what is random.
    tokio::time::sleep(Duration::from_millis(dice.below(longest))).await;
    bench.server.kill().await?;
    while let Some(told) = people.join_next().await {
        promises.absorb(told?);
    }
    bench.server.no_agents_left().await?;

    let dead = doctor(&bench.server, &[]).await?;
    let report = dead.json()?;
    for truth in report["truths"].as_array().context("no truths")? {
        ensure!(truth["cure"] == "next_start", "broken by the kill: {truth}");
    }
    for one in report["summaries"]["listed"]
        .as_array()
        .context("no list")?
    {
        ensure!(one["stale"] == true, "wrong, and nothing says so: {one}");
    }

    bench.server.launch().await?;
    bench.reconnect().await?;
    let living = doctor(&bench.server, &[]).await?;
    ensure!(living.code == 0, "after the start: {living:?}");
    // A deletion or an archiving that was never answered may not have happened.
    let kept = promises.check(bench).await?;
    Ok((dead.code != 0, kept))
}
