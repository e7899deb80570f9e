//! Making and removing worktrees.

use crate::fixture::{Fixture, Tree, config, git, lines};
use git::Git;
use git::error::GitError;
use git::worktree::Removal;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn tree_at(fixture: &Fixture, name: &str) -> Tree {
    Tree {
        path: fixture.path(name),
    }
}

#[tokio::test]
async fn a_worktree_starts_at_its_base_on_a_new_branch() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    let tree = tree_at(&fixture, "data/trees/one");
    let made = git()
        .add_worktree(&repo.path, &tree.path, "task/one", "main")
        .await
        .unwrap();
    assert_eq!(made.branch, "task/one");
    assert_eq!(made.head_commit, Some(repo.head()));
    assert_eq!(made.base_commit, made.head_commit);
    assert_eq!(tree.read("a"), "1\n");
    assert_eq!(tree.git(&["symbolic-ref", "--short", "HEAD"]), "task/one");
    assert!(!git().has_uncommitted(&tree.path).await.unwrap());
    tree.write("new", "1\n");
    assert!(git().has_uncommitted(&tree.path).await.unwrap());
}

#[tokio::test]
async fn a_taken_branch_gets_a_number_also_when_asked_at_once() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    repo.git(&["branch", "task"]);
    let git = git();
    let paths: Vec<_> = (0..4)
        .map(|number| fixture.path(&format!("trees/{number}")))
        .collect();
    let add = |number: usize| git.add_worktree(&repo.path, &paths[number], "task", "main");
    let made = tokio::join!(add(0), add(1), add(2), add(3));
    let mut branches = [made.0, made.1, made.2, made.3].map(|made| made.unwrap().branch);
    branches.sort();
    assert_eq!(branches, ["task-2", "task-3", "task-4", "task-5"]);
}

/// Git reads every worktree of a repository when it adds one; a half-made one of somebody else must not be met.
#[tokio::test]
async fn many_worktrees_of_one_repository_come_and_go_at_once() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    let git = git();
    let mut running = tokio::task::JoinSet::new();
    for number in 0..16 {
        let (git, repository) = (git.clone(), repo.path.clone());
        let folder = fixture.path(&format!("trees/{number}"));
        running.spawn(async move {
            let made = git
                .add_worktree(&repository, &folder, "task", "main")
                .await?;
            git.remove_worktree(&repository, &folder, Some(&made.branch))
                .await
        });
    }
    while let Some(done) = running.join_next().await {
        assert_eq!(done.unwrap().unwrap(), Removal::Removed);
    }
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);
}

#[tokio::test]
async fn an_empty_repository_gives_an_empty_worktree() {
    let (fixture, repo) = Fixture::unborn();
    // Not even a name is needed.
    repo.git(&["config", "--unset", "user.name"]);
    repo.git(&["config", "--unset", "user.email"]);
    let tree = tree_at(&fixture, "tree");
    let made = git()
        .add_worktree(&repo.path, &tree.path, "task", "main")
        .await
        .unwrap();
    assert_eq!((made.head_commit, made.base_commit), (None, None));
    tree.identify();
    tree.write("first", lines(3));
    let seen = git().observe(&tree.path, Some("main")).await.unwrap();
    assert_eq!(
        (seen.branch.as_deref(), seen.totals.additions),
        (Some("task"), 3)
    );
    tree.commit("first");
    let seen = git().observe(&tree.path, Some("main")).await.unwrap();
    assert!(seen.base_resolvable);
    assert_eq!((seen.totals.additions, seen.totals.ahead), (3, None));
}

#[tokio::test]
async fn a_failing_hook_leaves_a_worktree_that_stands() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    let hook = repo.git_dir().join("hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ntouch hook-ran\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let tree = tree_at(&fixture, "tree");
    git()
        .add_worktree(&repo.path, &tree.path, "task", "main")
        .await
        .unwrap();
    assert_eq!(tree.read("a"), "1\n");
    assert!(
        tree.path.join("hook-ran").exists(),
        "hooks run when a person asks for a worktree"
    );
}

#[tokio::test]
async fn a_failed_attempt_leaves_neither_branch_nor_folder() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    // A filter that cannot run makes checking out fail half way.
    repo.write(".gitattributes", "a filter=broken\n");
    repo.commit("attributes");
    repo.git(&["config", "filter.broken.smudge", "false"]);
    repo.git(&["config", "filter.broken.required", "true"]);
    let tree = tree_at(&fixture, "tree");
    let problem = git()
        .add_worktree(&repo.path, &tree.path, "task", "main")
        .await
        .unwrap_err();
    assert!(problem.explanation().is_some(), "{problem:?}");
    assert!(!tree.path.exists());
    assert_eq!(repo.git(&["branch", "--list", "task"]), "");
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);
}

#[tokio::test]
async fn a_worktree_needs_a_base_a_valid_name_and_a_free_folder() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    let git = git();
    let free = fixture.path("free");
    let gone = git
        .add_worktree(&repo.path, &free, "task", "gone")
        .await
        .unwrap_err();
    assert!(matches!(gone, GitError::BaseBranchMissing { .. }));
    let name = git
        .add_worktree(&repo.path, &free, "a..b", "main")
        .await
        .unwrap_err();
    assert!(matches!(name, GitError::InvalidBranchName));
    let taken = git
        .add_worktree(&repo.path, &repo.path, "task", "main")
        .await
        .unwrap_err();
    assert!(matches!(taken, GitError::WorktreePathTaken));
    assert!(!free.exists());
}

#[tokio::test]
async fn work_starts_at_the_copy_of_the_base_that_has_everything() {
    let (fixture, upstream) = Fixture::with(&[("a", "1\n")]);
    upstream.git(&["clone", "-q", ".", "../clone"]);
    let clone = tree_at(&fixture, "clone");
    clone.identify();
    upstream.write("a", "2\n");
    let pushed = upstream.commit("newer");
    clone.git(&["fetch", "-q"]);
    let base = async || {
        git()
            .resolve_base(&clone.path, Some("main"))
            .await
            .unwrap()
            .commit
    };
    assert_eq!(base().await, Some(pushed), "the local copy is behind");
    clone.git(&["merge", "-q", "--ff-only", "origin/main"]);
    clone.write("b", "1\n");
    let local = clone.commit("not pushed");
    assert_eq!(base().await, Some(local), "the local copy is ahead");
}

#[tokio::test]
async fn removing_takes_the_folder_and_only_the_named_branch() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    let git = git();
    let tree = tree_at(&fixture, "tree");
    git.add_worktree(&repo.path, &tree.path, "task", "main")
        .await
        .unwrap();
    tree.write("dirty", "1\n");
    tree.git(&["checkout", "-q", "-b", "precious"]);
    let removed = git
        .remove_worktree(&repo.path, &tree.path, Some("task"))
        .await
        .unwrap();
    assert_eq!(removed, Removal::Removed);
    assert!(!tree.path.exists());
    assert_eq!(
        repo.git(&["branch", "--format=%(refname:short)"]),
        "main\nprecious"
    );
    let again = git
        .remove_worktree(&repo.path, &tree.path, Some("task"))
        .await
        .unwrap();
    assert_eq!(again, Removal::AlreadyGone);
}

#[tokio::test]
async fn removing_works_after_the_folder_was_deleted_by_hand() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    let git = git();
    let tree = tree_at(&fixture, "tree");
    git.add_worktree(&repo.path, &tree.path, "task", "main")
        .await
        .unwrap();
    fs::remove_dir_all(&tree.path).unwrap();
    git.remove_worktree(&repo.path, &tree.path, Some("task"))
        .await
        .unwrap();
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(repo.git(&["branch", "--list", "task"]), "");
}

#[tokio::test]
async fn what_is_not_a_worktree_of_the_repository_is_never_removed() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    let other = fixture.init("other");
    for path in [&repo.path, &other.path] {
        let problem = git()
            .remove_worktree(&repo.path, path, Some("main"))
            .await
            .unwrap_err();
        assert!(matches!(problem, GitError::NotAWorktree));
        assert!(path.exists());
    }
    // Nor is a branch deleted that somebody has checked out.
    let tree = fixture.worktree(&repo, "task", "main");
    git()
        .remove_worktree(&repo.path, &tree.path, Some("main"))
        .await
        .unwrap();
    assert_eq!(
        repo.git(&["branch", "--format=%(refname:short)"]),
        "main\ntask"
    );
}

#[tokio::test]
async fn a_missing_git_is_told_from_a_missing_folder() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    let none = Git::new(config().with_program(fixture.path("no-such-program")));
    let problem = none.observe(&repo.path, None).await.unwrap_err();
    assert!(matches!(problem, GitError::NoProgram(_)), "{problem:?}");
}
