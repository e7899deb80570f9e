//! Folders that a newcomer probably means: repositories near the server's home and working folder.

use crate::error::Result;
use crate::orchestrator::Orchestrator;
use model::bounds;
use model::ids::WorkspaceId;
use std::path::{Path, PathBuf};
use store::repositories;

impl Orchestrator {
    /// Repositories found near `starts` and the server's home that are not registered yet, at most
    /// `bounds::SUGGESTED_REPOSITORIES`. Looks at a bounded number of folders, two levels deep.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn suggest_repositories(&self, workspace_id: &WorkspaceId) -> Result<Vec<String>> {
        let registered: Vec<String> = {
            let mut tx = self.inner.store.read().await?;
            let all = repositories::of_workspace(&mut tx, workspace_id).await?;
            all.into_iter().map(|repository| repository.path).collect()
        };
        let mut starts: Vec<PathBuf> = std::env::current_dir().into_iter().collect();
        starts.extend(self.inner.config.home.clone());
        let data_dir = self.inner.config.data_dir.clone();
        let found = tokio::task::spawn_blocking(move || search(&starts, &data_dir))
            .await
            .unwrap_or_default();
        Ok(found
            .into_iter()
            .filter(|path| !registered.contains(path))
            .collect())
    }
}

fn search(starts: &[PathBuf], not_in: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut looked_at = 0;
    for start in starts {
        let mut level = vec![start.clone()];
        for _ in 0..3 {
            let mut next = Vec::new();
            for folder in level {
                looked_at += 1;
                if bounds::SUGGESTION_FOLDERS < looked_at
                    || found.len() == bounds::SUGGESTED_REPOSITORIES
                {
                    return found;
                }
                if folder.starts_with(not_in) {
                    continue;
                }
                if folder.join(".git").is_dir() {
                    let path = folder
                        .canonicalize()
                        .unwrap_or(folder)
                        .to_string_lossy()
                        .into_owned();
                    if !found.contains(&path) {
                        found.push(path);
                    }
                    continue;
                }
                let Ok(entries) = std::fs::read_dir(&folder) else {
                    continue;
                };
                let visible = |path: &PathBuf| {
                    path.file_name()
                        .is_some_and(|name| !name.to_string_lossy().starts_with('.'))
                };
                let mut inner: Vec<PathBuf> = entries
                    .flatten()
                    .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                    .map(|entry| entry.path())
                    .filter(visible)
                    .take(bounds::SUGGESTION_FOLDERS)
                    .collect();
                inner.sort();
                next.append(&mut inner);
            }
            level = next;
        }
    }
    found
}
