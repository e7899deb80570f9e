//! Taking a result into the base.

use crate::fixture::{Fixture, Tree, config, git, lines};
use git::Git;
use git::merge::{MergeOutcome, MergeRefusal};

/// `main` checked out in the repository, and a task's worktree with one commit on `task`.
fn task() -> (Fixture, Tree, Tree) {
    let (fixture, repo) = Fixture::with(&[("a", &lines(10)), ("b", "1\n")]);
    let tree = fixture.worktree(&repo, "task", "main");
    tree.write("a", format!("first\n{}", lines(10)));
    tree.commit("task");
    (fixture, repo, tree)
}

async fn merge(repo: &Tree, tree: &Tree) -> MergeOutcome {
    git()
        .merge_into_base(&repo.path, &tree.path, "task", "main")
        .await
        .expect("Git works")
}

#[track_caller]
fn refused(outcome: MergeOutcome) -> MergeRefusal {
    match outcome {
        MergeOutcome::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

fn tip(repo: &Tree) -> String {
    repo.git(&["rev-parse", "main"])
}

#[tokio::test]
async fn a_base_that_did_not_move_is_fast_forwarded_where_it_is_checked_out() {
    let (_fixture, repo, tree) = task();
    repo.write("notes", "untracked files of mine stay\n");
    assert_eq!(
        merge(&repo, &tree).await,
        MergeOutcome::FastForward { head: tree.head() }
    );
    assert!(repo.read("a").starts_with("first"));
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? notes");
    assert_eq!(
        merge(&repo, &tree).await,
        MergeOutcome::AlreadyUpToDate { head: tree.head() }
    );
}

#[tokio::test]
async fn a_base_that_is_checked_out_nowhere_moves_as_a_ref() {
    let (_fixture, repo, tree) = task();
    repo.git(&["checkout", "-q", "-b", "elsewhere"]);
    assert_eq!(
        merge(&repo, &tree).await,
        MergeOutcome::FastForward { head: tree.head() }
    );
    assert_eq!(tip(&repo), tree.head());
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn sides_that_went_apart_are_merged_in_both_ways() {
    for checked_out in [true, false] {
        let (_fixture, repo, tree) = task();
        repo.write("b", "2\n");
        let theirs = repo.commit("theirs");
        if !checked_out {
            repo.git(&["checkout", "-q", "-b", "elsewhere"]);
        }
        let MergeOutcome::Merged { head } = merge(&repo, &tree).await else {
            panic!("a merge commit");
        };
        assert_eq!(tip(&repo), head);
        assert_eq!(repo.git(&["show", "main:b"]), "2");
        assert!(repo.git(&["show", "main:a"]).starts_with("first"));
        let parents = repo.git(&["log", "-1", "--format=%P %s", "main"]);
        assert_eq!(
            parents,
            format!("{theirs} {} Merge branch 'task' into main", tree.head())
        );
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
    }
}

#[tokio::test]
async fn a_conflict_names_its_files_and_touches_nothing() {
    let (_fixture, repo, tree) = task();
    repo.write("a", format!("other\n{}", lines(10)));
    let before = repo.commit("theirs");
    let refusal = refused(merge(&repo, &tree).await);
    assert_eq!(
        refusal,
        MergeRefusal::Conflict {
            paths: vec!["a".to_owned()]
        }
    );
    assert_eq!(tip(&repo), before);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_dirty_base_checkout_is_left_alone() {
    let (_fixture, repo, tree) = task();
    repo.write("b", "mine\n");
    assert_eq!(
        refused(merge(&repo, &tree).await),
        MergeRefusal::BaseCheckoutDirty
    );
    assert_eq!(repo.read("b"), "mine\n");
}

#[tokio::test]
async fn a_merge_that_somebody_has_not_finished_is_left_alone() {
    let (_fixture, repo, tree) = task();
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("c", "1\n");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&[
        "merge",
        "-q",
        "--no-ff",
        "--no-commit",
        "-s",
        "ours",
        "side",
    ]);
    assert_eq!(
        refused(merge(&repo, &tree).await),
        MergeRefusal::BaseCheckoutDirty
    );
    repo.git(&["rev-parse", "--verify", "MERGE_HEAD"]);
}

#[tokio::test]
async fn an_untracked_file_in_the_way_is_not_overwritten() {
    let (_fixture, repo, tree) = task();
    tree.write("c", "theirs\n");
    tree.commit("c");
    repo.write("c", "mine\n");
    let before = tip(&repo);
    let refusal = refused(merge(&repo, &tree).await);
    assert!(
        matches!(&refusal, MergeRefusal::CheckoutRefused { explanation } if explanation.contains('c'))
    );
    assert_eq!((repo.read("c"), tip(&repo)), ("mine\n".to_owned(), before));
}

#[tokio::test]
async fn only_committed_work_on_the_tasks_own_branch_is_taken() {
    let (_fixture, repo, tree) = task();
    tree.write("new", "1\n");
    assert_eq!(
        refused(merge(&repo, &tree).await),
        MergeRefusal::UncommittedChanges
    );
    tree.commit("new");
    tree.git(&["checkout", "-q", "-b", "other"]);
    assert_eq!(
        refused(merge(&repo, &tree).await),
        MergeRefusal::OtherBranch
    );
}

#[tokio::test]
async fn a_base_that_is_not_here_or_not_related_is_refused() {
    let (fixture, repo, tree) = task();
    let into = async |base: &str| {
        let merged = git()
            .merge_into_base(&repo.path, &tree.path, "task", base)
            .await;
        refused(merged.expect("Git works"))
    };
    assert_eq!(into("gone").await, MergeRefusal::BaseNotLocal);
    let rootless = fixture.worktree(&repo, "temporary", "main");
    rootless.git(&["checkout", "-q", "--orphan", "rootless"]);
    rootless.commit("another root");
    assert_eq!(into("rootless").await, MergeRefusal::UnrelatedHistories);
}

#[tokio::test]
async fn a_merge_commit_needs_a_name() {
    let (_fixture, repo, tree) = task();
    repo.write("b", "2\n");
    repo.commit("theirs");
    repo.git(&["config", "--unset", "user.name"]);
    repo.git(&["config", "--unset", "user.email"]);
    repo.git(&["config", "user.useConfigOnly", "true"]);
    assert_eq!(
        refused(merge(&repo, &tree).await),
        MergeRefusal::IdentityMissing
    );
}

#[tokio::test]
async fn a_base_that_moves_meanwhile_is_not_overwritten() {
    let (fixture, repo, tree) = task();
    repo.write("b", "2\n");
    let theirs = repo.commit("theirs");
    repo.git(&["checkout", "-q", "-b", "elsewhere"]);
    repo.write("b", "3\n");
    let racing = repo.commit("racing");
    // Between making the merge commit and moving the base, somebody else moves it.
    let racer = fixture.script(
        "racer",
        &format!("if [ \"$1\" = commit-tree ]; then git update-ref refs/heads/main {racing} {theirs}; fi; exec git \"$@\""),
    );
    let git = Git::new(config().with_program(racer));
    let outcome = git
        .merge_into_base(&repo.path, &tree.path, "task", "main")
        .await
        .unwrap();
    assert_eq!(refused(outcome), MergeRefusal::BaseMoved);
    assert_eq!(tip(&repo), racing);
}

#[tokio::test]
async fn the_first_result_of_an_empty_repository_can_be_taken() {
    let (fixture, repo) = Fixture::unborn();
    let tree = Tree {
        path: fixture.path("tree"),
    };
    git()
        .add_worktree(&repo.path, &tree.path, "task", "main")
        .await
        .unwrap();
    assert_eq!(
        refused(merge(&repo, &tree).await),
        MergeRefusal::NothingCommitted
    );
    tree.write("first", "1\n");
    let head = tree.commit("first");
    assert_eq!(
        merge(&repo, &tree).await,
        MergeOutcome::FastForward { head }
    );
    assert_eq!(repo.read("first"), "1\n");
}
