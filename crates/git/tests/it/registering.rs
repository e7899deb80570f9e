//! What a folder is, before it is registered.

use crate::fixture::{Fixture, Tree, git};
use git::error::GitError;
use git::facts::{Branch, Remote};
use std::fs;

async fn refusal(path: &std::path::Path) -> GitError {
    git().inspect(path).await.expect_err("it is refused")
}

#[tokio::test]
async fn a_repository_tells_its_facts() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    repo.git(&["branch", "develop"]);
    repo.git(&[
        "remote",
        "add",
        "origin",
        "https://me:secret@host.example/o/r.git",
    ]);
    let facts = git().inspect(&repo.path).await.unwrap();
    assert_eq!(facts.top_level, fixture.path("repo"));
    assert_eq!(facts.default_branch.as_deref(), Some("main"));
    assert_eq!(facts.head_branch.as_deref(), Some("main"));
    assert!(!facts.is_empty);
    let develop = Branch {
        name: "develop".to_owned(),
        is_remote: false,
    };
    assert!(facts.branches.contains(&develop));
    let origin = Remote {
        name: "origin".to_owned(),
        url: "https://host.example/o/r.git".to_owned(),
    };
    assert_eq!(facts.remotes, [origin]);
    assert_eq!(git().branches(&repo.path, 1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_empty_repository_can_be_registered() {
    let (_fixture, repo) = Fixture::unborn();
    let facts = git().inspect(&repo.path).await.unwrap();
    assert!(facts.is_empty && facts.branches.is_empty());
    assert_eq!(facts.default_branch.as_deref(), Some("main"));
    let base = git().resolve_base(&repo.path, None).await.unwrap();
    assert_eq!((base.branch.as_str(), base.commit), ("main", None));
}

#[tokio::test]
async fn a_tracked_folder_registers_its_top_level_and_a_stray_one_does_not() {
    let (fixture, repo) = Fixture::with(&[("src/deep/a", "1\n"), (".gitignore", "ignored\n")]);
    let facts = git().inspect(&repo.path.join("src/deep")).await.unwrap();
    assert_eq!(facts.top_level, fixture.path("repo"));
    repo.write("ignored/x", "1");
    let problem = refusal(&repo.path.join("ignored")).await;
    assert!(
        matches!(problem, GitError::InsideParent { top_level } if top_level == fixture.path("repo"))
    );
}

#[tokio::test]
async fn what_is_no_repository_is_refused_with_its_reason() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    assert!(matches!(
        refusal(&fixture.path("nowhere")).await,
        GitError::NotFound
    ));
    assert!(matches!(
        refusal(&repo.path.join("a")).await,
        GitError::Unreadable
    ));
    assert!(matches!(
        refusal(&repo.git_dir()).await,
        GitError::NotARepository
    ));
    repo.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    assert!(matches!(
        refusal(&fixture.path("bare.git")).await,
        GitError::Bare
    ));

    let plain = fixture.path("plain");
    fs::create_dir(&plain).unwrap();
    assert!(matches!(refusal(&plain).await, GitError::NotARepository));
}

#[tokio::test]
async fn the_default_branch_is_the_remotes_then_a_usual_name_then_what_is_checked_out() {
    let (fixture, upstream) = Fixture::with(&[("a", "1\n")]);
    upstream.git(&["checkout", "-q", "-b", "trunk"]);
    upstream.git(&["clone", "-q", ".", "../clone"]);
    let clone = Tree {
        path: fixture.path("clone"),
    };
    let default = async |tree: &Tree| git().inspect(&tree.path).await.unwrap().default_branch;
    assert_eq!(default(&clone).await.as_deref(), Some("trunk"));
    assert_eq!(default(&upstream).await.as_deref(), Some("main"));
    upstream.git(&["config", "init.defaultBranch", "trunk"]);
    assert_eq!(default(&upstream).await.as_deref(), Some("trunk"));

    let other = fixture.init("other");
    other.git(&["checkout", "-q", "-b", "odd"]);
    other.commit_empty();
    let task = fixture.worktree(&other, "task", "odd");
    assert_eq!(
        default(&task).await.as_deref(),
        Some("odd"),
        "not the task's own branch"
    );
    other.git(&["checkout", "-q", "--detach"]);
    assert_eq!(default(&other).await, None);
    let problem = git().resolve_base(&other.path, None).await.unwrap_err();
    assert!(matches!(problem, GitError::DefaultBranchUnresolved));
}

#[tokio::test]
async fn a_base_that_does_not_exist_is_named() {
    let (_fixture, repo) = Fixture::with(&[("a", "1\n")]);
    for wanted in ["gone", "-x", "ma*", "HEAD"] {
        let problem = git()
            .resolve_base(&repo.path, Some(wanted))
            .await
            .unwrap_err();
        assert!(matches!(problem, GitError::BaseBranchMissing { branch } if branch == wanted));
    }
}
