//! Logs: to stderr, as text or JSON. Ids and counts, never content, tokens or workspace paths.

use anyhow::anyhow;
use tracing_subscriber::EnvFilter;

/// Starts logging with this filter.
pub(crate) fn start(filter: &str, json: bool) -> anyhow::Result<()> {
    let filter =
        EnvFilter::try_new(filter).map_err(|error| anyhow!("--log {filter:?}: {error}"))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = if json {
        builder.json().try_init()
    } else {
        builder.with_target(false).try_init()
    };
    started.map_err(|error| anyhow!("logging could not be started: {error}"))
}
