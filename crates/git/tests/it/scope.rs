//! What the totals count (C16, C17, C18): the tables of the cases, with their numbers.

use crate::fixture::{Fixture, Tree, git, lines};
use git::observe::Observation;
use model::git::{FileChangeKind, GitTotals};
use std::os::unix::fs::symlink;

fn totals(files: u64, additions: u64, deletions: u64) -> GitTotals {
    GitTotals {
        additions,
        deletions,
        changed_files: files,
        ahead: None,
        behind: None,
    }
}

fn with(ahead: u64, behind: u64, of: GitTotals) -> GitTotals {
    GitTotals {
        ahead: Some(ahead),
        behind: Some(behind),
        ..of
    }
}

async fn observe(tree: &Tree, base: Option<&str>) -> Observation {
    git()
        .observe(&tree.path, base)
        .await
        .expect("it can be measured")
}

fn as_an_agent_leaves_it() -> (Fixture, Tree) {
    let (fixture, repo) = Fixture::with(&[("keep.txt", "l1\nl2\nl3\n"), ("gone.txt", "a\nb\n")]);
    let tree = fixture.worktree(&repo, "feat", "main");
    tree.write("keep.txt", "l1\nL2\nl3\nl4\n");
    tree.commit("change");
    tree.git(&["rm", "-q", "gone.txt"]);
    tree.write("new_test.txt", lines(107));
    tree.write("d/tail.txt", "no line end");
    tree.write("blob.dat", b"a\0b\nc\n");
    tree.write("empty.txt", "");
    tree.write(".gitignore", "*.log\n");
    tree.write("x.log", "ignored\n");
    symlink("keep.txt", tree.path.join("lnk")).expect("a link");
    (fixture, tree)
}

#[tokio::test]
async fn c17_the_badge_counts_from_the_merge_base_with_untracked_files() {
    let (_fixture, tree) = as_an_agent_leaves_it();
    let seen = observe(&tree, Some("main")).await;
    assert_eq!(seen.totals, with(1, 0, totals(8, 112, 3)));
    assert_eq!(seen.branch.as_deref(), Some("feat"));
    assert!(seen.base_resolvable && !seen.truncated);
}

#[tokio::test]
async fn c17_files_and_lines_describe_the_same_set() {
    let (_fixture, tree) = as_an_agent_leaves_it();
    let seen = observe(&tree, Some("main")).await;
    let listed: Vec<_> = seen
        .files
        .iter()
        .map(|file| {
            (
                file.path.as_str(),
                file.kind,
                file.additions,
                file.deletions,
                file.binary,
            )
        })
        .collect();
    use FileChangeKind::{Deleted, Modified, Untracked};
    let expected = [
        (".gitignore", Untracked, 1, 0, false),
        ("blob.dat", Untracked, 0, 0, true),
        ("d/tail.txt", Untracked, 1, 0, false),
        ("empty.txt", Untracked, 0, 0, false),
        ("gone.txt", Deleted, 0, 2, false),
        ("keep.txt", Modified, 2, 1, false),
        ("lnk", Untracked, 1, 0, false),
        ("new_test.txt", Untracked, 107, 0, false),
    ];
    assert_eq!(listed, expected);
    let page = git()
        .changes_page(&tree.path, Some("main"), None)
        .await
        .unwrap();
    assert_eq!(page.files, seen.files);
    let rest = git()
        .changes_page(&tree.path, Some("main"), Some("keep.txt"))
        .await
        .unwrap();
    assert_eq!(rest.files, seen.files[6..]);
    assert_eq!((rest.changed_files, rest.next), (8, None));
}

/// `origin/main` of ten lines; `feature-a` exists only here (+2), `feature-b` goes on from it (+5); then `origin/main`
/// gains three commits of 100 lines and is fetched.
fn stacked() -> (Fixture, Tree) {
    let (fixture, upstream) = Fixture::with(&[("file", &lines(10))]);
    let url = upstream.path.to_str().expect("a UTF-8 folder").to_owned();
    let clone = Tree {
        path: fixture.path("clone"),
    };
    upstream.git(&["clone", "-q", &url, "../clone"]);
    clone.identify();
    // Made from a remote branch, it has that as its upstream; it is no copy of it.
    clone.git(&[
        "checkout",
        "-q",
        "--track",
        "-b",
        "feature-a",
        "origin/main",
    ]);
    clone.write("file", lines(12));
    clone.commit("a");
    let tree = fixture.worktree(&clone, "feature-b", "feature-a");
    tree.write("five", lines(5));
    tree.commit("b");
    for number in 1..=3 {
        upstream.write(&format!("hundred-{number}"), lines(100));
        upstream.commit("more");
    }
    clone.git(&["fetch", "-q"]);
    (fixture, tree)
}

#[tokio::test]
async fn c18_a_local_base_is_used_as_recorded() {
    let (_fixture, tree) = stacked();
    let seen = observe(&tree, Some("feature-a")).await;
    assert_eq!(seen.totals, with(1, 0, totals(1, 5, 0)));
}

#[tokio::test]
async fn c18_without_a_recorded_base_the_default_branch_is_the_base() {
    let (_fixture, tree) = stacked();
    let seen = observe(&tree, None).await;
    assert_eq!(seen.totals, with(2, 3, totals(2, 7, 0)));
    assert_eq!(
        observe(&tree, Some("origin/main")).await.totals,
        seen.totals
    );
}

#[tokio::test]
async fn c18_a_detached_head_has_no_name_and_no_ahead() {
    let (_fixture, tree) = stacked();
    tree.git(&["checkout", "-q", "--detach"]);
    let seen = observe(&tree, Some("feature-a")).await;
    assert_eq!((seen.branch, seen.totals), (None, totals(1, 5, 0)));
    assert!(seen.base_resolvable);
}

#[tokio::test]
async fn c18_before_the_first_commit_everything_is_new() {
    let (_fixture, tree) = Fixture::unborn();
    tree.write("four", lines(4));
    let seen = observe(&tree, None).await;
    assert_eq!(seen.totals, totals(1, 4, 0));
    assert!(seen.base_resolvable);
    assert_eq!((seen.head_commit, seen.base_commit), (None, None));
    tree.git(&["add", "four"]);
    assert_eq!(observe(&tree, Some("main")).await.totals, totals(1, 4, 0));
}

#[tokio::test]
async fn c18_a_base_that_cannot_be_found_is_unknown_not_zero() {
    let (fixture, tree) = stacked();
    let gone = observe(&tree, Some("no-such-branch")).await;
    assert!(!gone.base_resolvable);
    assert_eq!(
        (gone.base_commit, gone.totals.ahead, gone.totals.behind),
        (None, None, None)
    );

    let orphan = fixture.worktree(&tree, "orphan", "HEAD");
    orphan.git(&["checkout", "-q", "--orphan", "rootless"]);
    orphan.commit("another root");
    assert!(!observe(&orphan, Some("feature-a")).await.base_resolvable);
}

#[tokio::test]
async fn work_that_the_local_base_has_but_did_not_push_is_not_the_tasks() {
    let (fixture, tree) = stacked();
    let clone = Tree {
        path: fixture.path("clone"),
    };
    clone.git(&["checkout", "-q", "main"]);
    clone.write("unpushed", lines(50));
    clone.commit("unpushed");
    let task = fixture.worktree(&tree, "task", "main");
    task.write("mine", lines(2));
    task.commit("mine");
    let seen = observe(&task, Some("main")).await;
    assert_eq!(seen.totals, with(1, 3, totals(1, 2, 0)));
}

#[tokio::test]
async fn c16_a_clean_tree_is_a_measured_zero() {
    let (_fixture, tree) = Fixture::with(&[("a", "1\n")]);
    let seen = observe(&tree, None).await;
    assert_eq!(seen.totals, with(0, 0, totals(0, 0, 0)));
    assert_eq!(seen.head_commit, Some(tree.head()));
    assert_eq!(seen.base_commit, seen.head_commit);
}

#[tokio::test]
async fn touched_files_are_not_changed_files() {
    let (_fixture, tree) = Fixture::with(&[("text", "1\n"), ("blob", "a\0b")]);
    // Rewriting gives new time-stamps, and with the old size Git must look inside.
    tree.write("text", "1\n");
    tree.write("blob", "a\0b");
    let past = "202001010101";
    let touched = ["text", "blob"].map(|name| tree.path.join(name));
    let ended = std::process::Command::new("touch")
        .args(["-t", past])
        .args(touched)
        .status();
    assert!(ended.unwrap().success());
    assert_eq!(observe(&tree, None).await.totals.changed_files, 0);
    tree.write("blob", "a\0c");
    assert_eq!(observe(&tree, None).await.totals.changed_files, 1);
}

#[tokio::test]
async fn renames_modes_conflicts_and_strange_names_are_one_file_each() {
    let (fixture, repo) = Fixture::with(&[("old", &lines(20)), ("run", "x\n"), ("both", "0\n")]);
    let tree = fixture.worktree(&repo, "feat", "main");
    tree.git(&["mv", "old", "new \"name\"\twith\nall"]);
    tree.git(&["update-index", "--chmod=+x", "run"]);
    tree.git(&["checkout", "-q", "--", "run"]);
    let seen = observe(&tree, Some("main")).await;
    let listed: Vec<_> = seen
        .files
        .iter()
        .map(|file| (file.kind, file.old_path.as_deref()))
        .collect();
    use FileChangeKind::{Modified, Renamed};
    assert_eq!(listed, [(Renamed, Some("old")), (Modified, None)]);
    assert_eq!(seen.totals.additions + seen.totals.deletions, 0);

    tree.commit("moved");
    tree.write("both", "mine\n");
    tree.commit("mine");
    repo.write("both", "theirs\n");
    repo.commit("theirs");
    assert!(
        !tree.try_git(&["merge", "main"]).status.success(),
        "it conflicts"
    );
    let seen = observe(&tree, Some("main")).await;
    let conflicted: Vec<_> = seen
        .files
        .iter()
        .filter(|file| file.path == "both")
        .collect();
    assert_eq!(conflicted.len(), 1);
    assert_eq!(conflicted[0].kind, Modified);
}

#[tokio::test]
async fn a_conflict_about_a_file_that_is_gone_is_a_changed_file() {
    let (fixture, repo) = Fixture::with(&[("both", "0\n"), ("a", "1\n")]);
    let tree = fixture.worktree(&repo, "feat", "main");
    tree.git(&["rm", "-q", "both"]);
    tree.commit("gone");
    repo.write("both", "theirs\n");
    repo.commit("theirs");
    assert!(
        !tree.try_git(&["merge", "main"]).status.success(),
        "it conflicts"
    );
    std::fs::remove_file(tree.path.join("both")).unwrap();
    let seen = observe(&tree, Some("main")).await;
    let paths: Vec<_> = seen.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["both"]);
}

#[tokio::test]
async fn a_long_list_is_cut_but_its_totals_are_not() {
    let (_fixture, tree) = Fixture::with(&[("a", "1\n")]);
    for number in 0..2_100 {
        tree.write(&format!("many/{number:05}"), "x\n");
    }
    let seen = observe(&tree, None).await;
    assert_eq!(
        (seen.totals.changed_files, seen.totals.additions),
        (2_100, 2_100)
    );
    assert!(seen.truncated);
    let last = &seen.files[seen.files.len() - 1].path;
    let rest = git()
        .changes_page(&tree.path, None, Some(last))
        .await
        .unwrap();
    assert_eq!(seen.files.len() + rest.files.len(), 2_100);
    assert_eq!(rest.next, None);
}

#[tokio::test]
async fn a_repository_inside_the_worktree_is_one_file_without_lines() {
    let (_fixture, tree) = Fixture::with(&[("a", "1\n")]);
    let inner = Tree {
        path: tree.path.join("inner"),
    };
    tree.git(&["init", "-q", "inner"]);
    inner.identify();
    inner.write("b", lines(9));
    inner.commit("inner");
    let seen = observe(&tree, None).await;
    assert_eq!((seen.totals.changed_files, seen.totals.additions), (1, 0));
}
