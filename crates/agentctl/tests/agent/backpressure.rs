//! An agent that writes without end while nobody takes its events.

use crate::bench::Bench;
use crate::talk::{prompt, start, stop_reason, text_of, until_end};
use agentctl::event::{StopReason, TextKind};
use mock_agent::directive::stream_chunk;
use model::bounds;
use std::time::Duration;

/// STR-04.
#[tokio::test]
async fn str_04_a_stalled_consumer_blocks_the_agent_and_nothing_is_lost() {
    const COUNT: usize = 30_000;
    const BYTES: usize = 200;
    /// To `initialize` and `session/new`, and the line that waits at the gate.
    const REPLIES_AND_ONE_MORE: u64 = 3;
    let bench = Bench::new();
    let (agent, mut events) = start(&bench, &[]).await;
    prompt(
        &agent,
        &format!("/stream {COUNT} {BYTES}\n/edit written done"),
    );

    // The consumer holds one event and takes no other: the gate closes, and stays closed.
    let held = events.next().await.expect("a first event");
    while events.outstanding().0 < bounds::HANDOFF_EVENTS {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let lines = agent.counters().lines;
    assert!(
        lines <= bounds::HANDOFF_EVENTS as u64 + REPLIES_AND_ONE_MORE,
        "{lines} lines were read"
    );
    assert!(events.outstanding().1 <= bounds::HANDOFF_BYTES);
    assert!(
        !bench.worktree().join("written").exists(),
        "the agent could not go on"
    );
    drop(held);

    let seen = until_end(&mut events).await;
    let expected: String = (1..COUNT).map(|index| stream_chunk(index, BYTES)).collect();
    let text = text_of(&seen, TextKind::Message);
    // The held event was the first update or, when commands came first, not a chunk.
    let whole: String = stream_chunk(0, BYTES) + &expected;
    assert!(
        text == expected || text == whole,
        "{} of {} bytes",
        text.len(),
        whole.len()
    );
    assert_eq!(stop_reason(&seen), Some(StopReason::EndTurn));
    agent.stop().await;
}
