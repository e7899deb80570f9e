//! Waiting for a state.

use anyhow::{Result, bail};
use std::time::Duration;
use tokio::time::Instant;

/// How long a test waits for anything: far longer than it takes, far shorter than a person waits for a test run.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// How often a state that nobody announces is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Looks until `look` gives something.
///
/// # Errors
/// When it gives nothing within [`DEADLINE`]; the error names `what`.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if deadline < Instant::now() {
            bail!("waited {DEADLINE:?} in vain for: {what}");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
