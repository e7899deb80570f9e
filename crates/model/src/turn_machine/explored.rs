//! The machine in every order: all interleavings, up to a depth, of two prompts, three permissions, one bundle of
//! questions, stops, exits, restarts at every moment and subagents; and long random walks beyond that depth.
//!
//! `FLIGHTSTRIP_TURN_DEPTH` explores deeper than the default.

use super::invariants::wrong;
use super::world::{Event, World, bundle, prompt};
use crate::message::Disposition;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

fn step(world: &World, event: &Event) -> World {
    let mut next = world.clone();
    next.happen(event).expect("only what is possible happens");
    next
}

fn fingerprint(world: &World) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(world)
}

/// The events that lead to the first world in which something is wrong, and what.
fn explore(depth: usize) -> Result<(usize, usize), String> {
    let mut seen = HashSet::new();
    let mut frontier = vec![(World::new(), Vec::<Event>::new())];
    let mut steps = 0;
    for _ in 0..depth {
        let mut next = Vec::new();
        for (world, path) in &frontier {
            for event in world.possible() {
                steps += 1;
                let path = || {
                    let mut path = path.clone();
                    path.push(event.clone());
                    path
                };
                let reached = step(world, &event);
                wrong(world, &reached)
                    .map_err(|what| format!("{what}: {:?}\n{reached:?}", path()))?;
                if seen.insert(fingerprint(&reached)) {
                    next.push((reached, path()));
                }
            }
        }
        frontier = next;
    }
    Ok((seen.len(), steps))
}

/// PEN-02, PEN-03, PEN-04, PEN-05, PEN-08, API-06, S-14, S-15: whatever the order of two prompts, three permissions, one
/// bundle of questions, stops, exits, subagents and restarts in every window, every answer reaches its own request
/// once, every prompt is sent once or visibly not, and nothing superseded comes back.
#[test]
fn in_every_order_everything_happens_once_or_visibly_not() {
    let wanted = std::env::var("FLIGHTSTRIP_TURN_DEPTH").ok();
    let depth = wanted.and_then(|depth| depth.parse().ok()).unwrap_or(8);
    let (states, steps) = explore(depth).unwrap_or_else(|what| panic!("{what}"));
    println!("depth {depth}: {states} states, {steps} steps");
    assert!(
        depth < 8 || 10_000 < states,
        "the exploration got stuck: {states} states"
    );
}

/// The same, on long random ways: what needs many steps to go wrong.
#[test]
fn on_long_random_ways_everything_happens_once_or_visibly_not() {
    let mut dice = 0x9E37_79B9_7F4A_7C15_u64;
    for way in 0..3_000 {
        let mut world = World::new();
        let mut path = Vec::new();
        for _ in 0..80 {
            let possible = world.possible();
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let roll = usize::try_from(dice >> 33).expect("31 bits");
            let Some(event) = possible.get(roll % possible.len().max(1)) else {
                break;
            };
            path.push(event.clone());
            let reached = step(&world, event);
            if let Err(what) = wrong(&world, &reached) {
                panic!("way {way}: {what}: {path:?}\n{reached:?}");
            }
            world = reached;
        }
    }
}

/// Every outcome is met: an exploration that cannot reach something proves nothing about it.
#[test]
fn the_exploration_reaches_every_outcome() {
    let mut dice = 7_u64;
    let mut met = HashSet::new();
    for _ in 0..10_000 {
        let mut world = World::new();
        for _ in 0..60 {
            let possible = world.possible();
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let roll = usize::try_from(dice >> 33).expect("31 bits");
            let Some(event) = possible.get(roll % possible.len().max(1)) else {
                break;
            };
            world = step(&world, event);
            for index in 0..world.sent.len() {
                met.extend(
                    world
                        .facts
                        .disposition(&prompt(index))
                        .map(Disposition::as_str),
                );
            }
            met.extend(
                world
                    .facts
                    .turns
                    .iter()
                    .filter_map(|t| t.outcome)
                    .map(|o| o.as_str()),
            );
            met.extend(world.facts.permissions.iter().map(|p| p.status.as_str()));
            met.insert(world.facts.session.as_str());
            for q in world.facts.questions.iter().filter(|q| q.id == bundle()) {
                met.extend((q.delivered == Some(true) && !q.attached).then_some("answers sent"));
                met.extend((q.delivered == Some(false)).then_some("answers given up"));
            }
        }
    }
    let wanted = [
        "queued",
        "sending",
        "dispatched",
        "uncertain",
        "undelivered",
        "completed",
        "cancelled",
        "failed",
        "not_dispatched",
        "interrupted",
        "approved",
        "rejected",
        "expired",
        "RUNNING",
        "IDLE",
        "STARTING",
        "answers sent",
        "answers given up",
    ];
    for word in wanted {
        assert!(met.contains(word), "{word} was never met: {met:?}");
    }
}
