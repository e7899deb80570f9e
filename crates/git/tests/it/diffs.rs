//! The shown diff of one file.

use crate::fixture::{Fixture, Tree, git, lines};
use git::diff::{FileDiff, SkipReason};
use git::error::GitError;
use model::bounds;
use model::git::FileChangeKind;
use std::fs;
use std::os::unix::fs::symlink;

async fn diff(tree: &Tree, path: &str) -> FileDiff {
    git()
        .diff_file(&tree.path, None, path)
        .await
        .expect("a diff")
}

#[tokio::test]
async fn a_diff_has_the_scope_of_the_totals() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n2\n3\n"), ("gone", "x\n")]);
    let tree = fixture.worktree(&repo, "feat", "main");
    tree.write("a", "1\nTWO\n3\n");
    tree.commit("committed");
    tree.write("a", "1\nTWO\n3\n4\n");
    tree.git(&["rm", "-q", "gone"]);
    let changed = diff(&tree, "a").await;
    assert_eq!(changed.kind, FileChangeKind::Modified);
    let body = changed.patch.split_once("@@\n").expect("a hunk").1;
    assert_eq!(body, " 1\n-2\n+TWO\n 3\n+4\n");
    let gone = diff(&tree, "gone").await;
    assert_eq!(gone.kind, FileChangeKind::Deleted);
    assert!(gone.patch.ends_with("-x\n"));
}

#[tokio::test]
async fn a_renamed_file_is_compared_with_what_it_was() {
    let (_fixture, tree) = Fixture::with(&[("old", &lines(20))]);
    tree.git(&["mv", "old", "new"]);
    tree.write("new", lines(21));
    let diff = diff(&tree, "new").await;
    assert_eq!(
        (diff.kind, diff.old_path.as_deref()),
        (FileChangeKind::Renamed, Some("old"))
    );
    assert!(diff.patch.contains("rename from old\nrename to new\n"));
    assert!(diff.patch.ends_with("+21\n"));
}

#[tokio::test]
async fn an_untracked_file_reads_as_it_will_once_it_is_added() {
    let (_fixture, tree) = Fixture::with(&[("a", "1\n")]);
    tree.write("d/new", "one\ntwo");
    tree.write("empty", "");
    symlink("/etc/passwd", tree.path.join("link")).unwrap();
    let before = ["d/new", "empty", "link"];
    let mut untracked = Vec::new();
    for path in before {
        untracked.push(diff(&tree, path).await.patch);
    }
    tree.git(&["add", "-A"]);
    for (path, was) in before.into_iter().zip(untracked) {
        let added = diff(&tree, path).await.patch;
        let content = |patch: &str| -> String {
            patch
                .lines()
                .filter(|line| !line.starts_with("index "))
                .map(|line| format!("{line}\n"))
                .collect()
        };
        // Git leaves the count out when it is one.
        assert_eq!(content(&added), was.replace("+1,1 @@", "+1 @@"), "{path}");
    }
}

#[tokio::test]
async fn what_is_not_shown_has_a_reason() {
    let (_fixture, tree) = Fixture::with(&[("blob", "a\0b"), ("a", "1\n")]);
    let limit = usize::try_from(bounds::DIFF_SOURCE_BYTES).unwrap();
    tree.write("blob", "a\0c");
    tree.write("new-blob", "\0");
    tree.write("a", "x".repeat(limit + 1));
    tree.write("huge", "x".repeat(limit + 1));
    tree.write("long", lines(bounds::DIFF_FILE_BYTES / 4));
    let inner = Tree {
        path: tree.path.join("inner"),
    };
    tree.git(&["init", "-q", "inner"]);
    inner.identify();
    inner.commit_empty();
    for (path, reason) in [
        ("blob", SkipReason::Binary),
        ("new-blob", SkipReason::Binary),
        ("a", SkipReason::SourceTooLarge),
        ("huge", SkipReason::SourceTooLarge),
        ("long", SkipReason::DiffTooLarge),
        ("inner/", SkipReason::Submodule),
    ] {
        let diff = diff(&tree, path).await;
        assert_eq!(
            (diff.skipped, diff.patch.as_str()),
            (Some(reason), ""),
            "{path}"
        );
    }
}

#[tokio::test]
async fn only_changed_files_inside_the_worktree_are_shown() {
    let (fixture, tree) = Fixture::with(&[("a", "1\n"), (".gitignore", "secret\n")]);
    fs::write(fixture.path("outside"), "secret\n").unwrap();
    tree.write("secret", "ignored\n");
    symlink(fixture.path(""), tree.path.join("way-out")).unwrap();
    let refused = async |path: &str| {
        git()
            .diff_file(&tree.path, None, path)
            .await
            .expect_err(path)
    };
    for path in [
        "../outside",
        "/etc/passwd",
        "",
        "./a",
        "x/../a",
        ".git/../a",
    ] {
        assert!(
            matches!(refused(path).await, GitError::PathOutside),
            "{path}"
        );
    }
    for path in [
        "a",
        "secret",
        ".git/config",
        "nowhere",
        "way-out/outside",
        ":(top)a",
        "*",
    ] {
        assert!(
            matches!(refused(path).await, GitError::PathUnchanged),
            "{path}"
        );
    }
}
