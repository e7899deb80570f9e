//! An agent that writes without end while the database is stalled: memory stays flat, nothing is lost.

use crate::support::Bench;
use anyhow::{Context, Result};
use testkit::waiting::until;

testkit::on_every_engine!(crate::support::Bench =>
    str_04_a_stalled_database_loses_nothing_and_memory_stays_flat,
    a_long_answer_is_cut_in_lists_and_whole_by_http,
);

/// The text that the scripted agent streams: see `mock_agent::directive::stream_chunk`.
fn expected(count: usize, bytes: usize) -> String {
    (0..count)
        .map(|number| mock_agent::directive::stream_chunk(number, bytes))
        .collect()
}

#[expect(
    clippy::print_stdout,
    reason = "the figure is worth more than that it passed"
)]
/// STR-04's ground: 30,000 chunks, byte for byte, with the database locked in the middle for longer than the server waits.
async fn str_04_a_stalled_database_loses_nothing_and_memory_stays_flat(
    mut bench: Bench,
) -> Result<()> {
    let chunks: usize = if std::env::var_os("FLIGHTSTRIP_LONG").is_some() {
        200_000
    } else {
        30_000
    };
    const BYTES: usize = 200;
    let gate = tempfile::tempdir()?;
    let go = gate.path().join("go");
    let prompt = format!("/wait-file {}\n/stream {chunks} {BYTES}", go.display());
    let task = bench.start_task("Flood", &prompt).await?;
    bench
        .summary(&task, "work", |s| s["foreground_activity"] == "generating")
        .await?;
    let session = bench.session(&task).await?;
    let before = bench.server.resident_bytes()?;

    // Another process (this one) holds the write lock, as a backup or a curious person would.
    let other = bench.server.open_store().await?;
    let lock = other.write().await?;
    std::fs::write(&go, "")?;
    // Until the server itself says that a stream waits: its own patience with the lock is over then.
    until("a stream that waits", async || {
        Ok(bench.server.log().contains("a stream waits").then_some(()))
    })
    .await?;
    let stalled = bench.server.resident_bytes()?;
    let released = lock.commit().await?;
    assert!(
        released.touched.is_empty(),
        "nothing was written under the lock"
    );
    other.close().await;

    bench.settled(&task).await?;
    let text = content(&mut bench, &session).await?;
    let wanted = expected(chunks, BYTES);
    assert_eq!(text.len(), wanted.len());
    assert!(text == wanted, "the text differs");
    let grown = stalled.saturating_sub(before);
    println!("{chunks} chunks of {BYTES} bytes: {grown} bytes grew while stalled");
    // 4 MiB may stand in the hand-off, 1 MiB in the coalescer; the rest is the allocator's. All of it would be 6 MB of
    // text in well over 10 MB of lines and events.
    assert!(grown < 24 * 1024 * 1024, "{grown} bytes grew while stalled");
    bench.server.stop().await
}

/// The content endpoint gives what a list cuts.
async fn a_long_answer_is_cut_in_lists_and_whole_by_http(mut bench: Bench) -> Result<()> {
    let task = bench.start_task("Long", "/stream 2000 200").await?;
    bench.settled(&task).await?;
    let session = bench.session(&task).await?;
    let whole = content(&mut bench, &session).await?;
    assert!(whole == expected(2000, 200), "{} bytes", whole.len());
    bench.server.stop().await
}

/// The whole text of a session's first answer: lists cut it, HTTP does not.
async fn content(bench: &mut Bench, session: &str) -> Result<String> {
    let transcript = bench.transcript(session).await?;
    let row = transcript
        .iter()
        .find(|row| row["author"] == "agent")
        .context("no answer")?;
    assert_eq!(row["content_truncated"], true);
    let id = row["id"].as_str().context("no id")?;
    let bearer = format!("Bearer {}", bench.server.secret());
    let path = format!("/api/v1/messages/{id}/content");
    let port = bench.server.port();
    let whole = testkit::http::send(port, "GET", &path, &[("Authorization", &bearer)], "").await?;
    assert_eq!(whole.status, 200);
    Ok(whole.body)
}
