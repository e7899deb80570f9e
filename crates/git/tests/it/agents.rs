//! An agent works with Git while it is watched as closely as possible (C19).

use crate::fixture::{Fixture, Tree, git};
use git::Git;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const COMMITS: u32 = 60;

/// Commits, then rebases eleven commits; every command must succeed, which `Tree::git` asserts.
fn work(tree: &Tree) {
    for number in 0..COMMITS {
        tree.write("file", format!("{number}\n"));
        tree.git(&["add", "file"]);
        tree.git(&["commit", "-q", "-m", "step"]);
    }
    tree.git(&["rebase", "-q", "--onto", "main", "HEAD~11", "-X", "theirs"]);
}

async fn watch(git: Git, tree: Tree, over: Arc<AtomicBool>, looks: Arc<AtomicU32>) {
    while !over.load(Ordering::SeqCst) {
        git.observe(&tree.path, Some("main"))
            .await
            .expect("it can be measured");
        looks.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c19_watching_never_makes_an_agents_git_fail() {
    let (fixture, repo) = Fixture::with(&[("file", "start\n")]);
    let tree = fixture.worktree(&repo, "feat", "main");
    for number in 0..300 {
        tree.write(&format!("many/{number}"), "x\n");
    }
    tree.commit("many");
    let over = Arc::new(AtomicBool::new(false));
    let looks = Arc::new(AtomicU32::new(0));
    let git = git();
    let watchers: Vec<_> = (0..2)
        .map(|_| {
            tokio::spawn(watch(
                git.clone(),
                tree.clone(),
                Arc::clone(&over),
                Arc::clone(&looks),
            ))
        })
        .collect();
    // A third watcher is killed in the middle of its looks, again and again.
    let (killer, watched, until) = (git.clone(), tree.clone(), Arc::clone(&over));
    let killing = tokio::spawn(async move {
        while !until.load(Ordering::SeqCst) {
            let look = tokio::spawn({
                let (git, path) = (killer.clone(), watched.path.clone());
                async move { git.observe(&path, Some("main")).await }
            });
            killer.branches(&watched.path, 1).await.expect("branches");
            look.abort();
        }
    });
    let agent = tree.clone();
    tokio::task::spawn_blocking(move || work(&agent))
        .await
        .expect("the agent's Git never fails");
    over.store(true, Ordering::SeqCst);
    for watcher in watchers {
        watcher.await.expect("watching never fails");
    }
    killing.await.expect("nor does being killed");
    assert!(
        COMMITS / 4 < looks.load(Ordering::SeqCst),
        "it was watched closely"
    );
    assert!(!tree.git_dir().join("index.lock").exists());
}
