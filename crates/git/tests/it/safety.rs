//! Observing never writes and never runs what a repository configures (C19); it answers only for the folder asked.

use crate::fixture::{Fixture, Tree, footprint, git, lines};
use git::diff::SkipReason;
use git::error::GitError;
use model::git::MeasureFailure;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

/// Does everything that observing can do.
async fn look_at_everything(tree: &Tree) {
    let git = git();
    git.inspect(&tree.path).await.expect("inspect");
    git.branches(&tree.path, 10).await.expect("branches");
    git.resolve_base(&tree.path, None).await.expect("base");
    let seen = git.observe(&tree.path, None).await.expect("observe");
    git.changes_page(&tree.path, None, None)
        .await
        .expect("page");
    git.has_uncommitted(&tree.path).await.expect("uncommitted");
    for file in &seen.files {
        git.diff_file(&tree.path, None, &file.path)
            .await
            .expect("diff");
    }
    assert!(!seen.files.is_empty());
}

/// Configures everything that Git could run so that running it leaves a file in `traces`.
fn set_traps(fixture: &Fixture, tree: &Tree, traces: &Path) {
    fs::create_dir_all(traces).expect("a folder");
    let folder = traces.display();
    // `$0` names the trap; filters and textconv must pass something on.
    let trap = |name: &str| {
        let body = format!("touch '{folder}/{name}'; cat 2>/dev/null; exit 0");
        fixture
            .script(name, &body)
            .to_str()
            .expect("a UTF-8 folder")
            .to_owned()
    };
    let set = |key: &str, value: &str| drop(tree.git(&["config", key, value]));
    // Git prefers `process`; the second driver has none, so its `clean` would run.
    for (driver, variables) in [
        ("evil", &["clean", "smudge", "process"][..]),
        ("Odd.name=x", &["clean", "smudge"]),
    ] {
        for variable in variables {
            let key = format!("filter.{driver}.{variable}");
            set(&key, &trap(&format!("filter-{variable}")));
        }
        set(&format!("filter.{driver}.required"), "true");
    }
    set("core.fsmonitor", &trap("fsmonitor"));
    set("diff.external", &trap("external-diff"));
    set("diff.evil.command", &trap("diff-driver"));
    set("diff.evil.textconv", &trap("textconv"));
    set("core.pager", &trap("pager"));
    set("pager.status", "true");
    set("core.sshCommand", &trap("ssh"));
    set("core.askPass", &trap("askpass"));
    set("credential.helper", &trap("credential"));
    set("core.editor", &trap("editor"));
    set("gpg.program", &trap("gpg"));
    set("log.showSignature", "true");
    set("core.alternateRefsCommand", &trap("alternate-refs"));
    let hooks = fixture.path("hooks");
    fs::create_dir_all(&hooks).expect("a folder");
    for hook in [
        "post-index-change",
        "post-checkout",
        "fsmonitor-watchman",
        "reference-transaction",
        "pre-auto-gc",
    ] {
        fixture.script(
            &format!("hooks/{hook}"),
            &format!("touch '{folder}/hook-{hook}'"),
        );
    }
    set("core.hooksPath", hooks.to_str().expect("a UTF-8 folder"));
}

fn traces_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).expect("a folder");
    names
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

/// A tree in which every file is worth a filter, a textconv and a comparison, and its traps, set.
fn trapped() -> (Fixture, Tree, std::path::PathBuf) {
    let (fixture, tree) =
        Fixture::with(&[("a", &lines(3)), ("b", &lines(3)), ("c.odd", &lines(3))]);
    tree.write("sub-source", "x");
    let traces = fixture.path("traces");
    let inner = fixture.init("inner");
    inner.write("s", "1\n");
    inner.commit("inner");
    let url = inner.path.to_str().expect("a UTF-8 folder").to_owned();
    tree.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &url,
        "sub",
    ]);
    tree.write(
        ".gitattributes",
        "* filter=evil diff=evil\n*.odd filter=Odd.name=x\n",
    );
    tree.commit("attributes");
    set_traps(&fixture, &tree, &traces);
    let sub = Tree {
        path: tree.path.join("sub"),
    };
    set_traps(&fixture, &sub, &traces);
    sub.write("s", "2\n");
    tree.write("a", lines(3));
    tree.write("b", lines(4));
    // Only touched: with the size it had Git must look inside, through the filter.
    tree.write("c.odd", lines(3));
    tree.write("new", lines(2));
    for trace in traces_in(&traces) {
        fs::remove_file(traces.join(trace)).expect("a trace of setting up");
    }
    (fixture, tree, traces)
}

#[tokio::test]
async fn observing_runs_nothing_that_the_repository_configures() {
    let (_fixture, tree, traces) = trapped();
    look_at_everything(&tree).await;
    assert_eq!(traces_in(&traces), Vec::<String>::new());

    // The traps work: plain commands walk into them, one after the other has been taken away.
    let plain = |args: &[&str]| {
        tree.try_git(args);
        traces_in(&traces)
    };
    let sprung = plain(&["status"]);
    assert!(sprung.contains(&"filter-process".to_owned()), "{sprung:?}");
    assert!(sprung.contains(&"fsmonitor".to_owned()), "{sprung:?}");
    tree.git(&["config", "--unset", "core.fsmonitor"]);
    tree.git(&["config", "--remove-section", "filter.evil"]);
    let sprung = plain(&["status"]);
    assert!(sprung.contains(&"filter-clean".to_owned()), "{sprung:?}");
    tree.git(&["config", "--remove-section", "filter.Odd.name=x"]);
    let sprung = plain(&["diff"]);
    assert!(sprung.contains(&"diff-driver".to_owned()), "{sprung:?}");
    let sprung = plain(&["diff", "--no-ext-diff"]);
    assert!(sprung.contains(&"textconv".to_owned()), "{sprung:?}");
    let sprung = plain(&["status"]);
    assert!(
        sprung.contains(&"hook-post-index-change".to_owned()),
        "{sprung:?}"
    );
}

#[tokio::test]
async fn c19_observing_writes_nothing_into_the_repository() {
    let (_fixture, tree) = Fixture::with(&[("a", &lines(3)), ("blob", "a\0b")]);
    // With a new time-stamp a plain status would store what it found in the index.
    let touched = ["a", "blob"].map(|name| tree.path.join(name));
    let ended = std::process::Command::new("touch")
        .args(["-t", "202001010101"])
        .args(touched)
        .status();
    assert!(ended.unwrap().success());
    tree.write("new", lines(2));
    let before = footprint(&tree.git_dir());
    look_at_everything(&tree).await;
    assert_eq!(footprint(&tree.git_dir()), before);

    tree.git(&["status"]);
    assert_ne!(
        footprint(&tree.git_dir()),
        before,
        "the plain command does write"
    );
}

#[tokio::test]
async fn c19_somebody_elses_index_lock_does_not_disturb() {
    let (_fixture, tree) = Fixture::with(&[("a", "1\n")]);
    tree.write("a", "2\n");
    let lock = tree.git_dir().join("index.lock");
    fs::write(&lock, "").unwrap();
    look_at_everything(&tree).await;
    assert!(lock.exists());
}

#[tokio::test]
async fn a_filtered_file_counts_without_lines_and_is_not_shown() {
    let (_fixture, tree) = Fixture::with(&[("big.bin", "pointer\n"), ("plain", "1\n")]);
    tree.git(&["config", "filter.lfs.clean", "false"]);
    tree.write(
        ".gitattributes",
        "*.bin filter=lfs\nplain filter=not-configured\n",
    );
    tree.write("big.bin", lines(40));
    tree.write("new.bin", lines(40));
    tree.write("plain", "2\n");
    let seen = git().observe(&tree.path, None).await.unwrap();
    assert_eq!(
        (
            seen.totals.changed_files,
            seen.totals.additions,
            seen.totals.deletions
        ),
        (4, 3, 1)
    );
    for path in ["big.bin", "new.bin"] {
        let diff = git().diff_file(&tree.path, None, path).await.unwrap();
        assert_eq!(diff.skipped, Some(SkipReason::Filtered));
    }
}

#[tokio::test]
async fn c16_a_worktree_that_is_gone_or_answers_for_its_parent_is_not_measured() {
    let (fixture, outer) = Fixture::with(&[("a", "1\n")]);
    let inner = fixture.init("repo/inner");
    inner.write("b", "1\n");
    inner.commit("inner");
    git()
        .observe(&inner.path, None)
        .await
        .expect("it is a repository");

    fs::rename(inner.path.join(".git"), inner.path.join("was-git")).unwrap();
    let problem = git().observe(&inner.path, None).await.unwrap_err();
    assert!(matches!(problem, GitError::NotARepository), "{problem:?}");

    // Git that answers for another folder than the one asked.
    fs::write(
        inner.path.join(".git"),
        format!("gitdir: {}\n", outer.git_dir().display()),
    )
    .unwrap();
    outer.git(&["config", "core.worktree", outer.path.to_str().unwrap()]);
    let problem = git().observe(&inner.path, None).await.unwrap_err();
    assert_eq!(
        problem.measure_failure(),
        MeasureFailure::NotThisRepository,
        "{problem:?}"
    );

    fs::remove_dir_all(&inner.path).unwrap();
    let problem = git().observe(&inner.path, None).await.unwrap_err();
    assert_eq!(
        problem.measure_failure(),
        MeasureFailure::WorktreeMissing,
        "{problem:?}"
    );
}

#[tokio::test]
async fn a_repository_of_another_user_is_refused_in_so_many_words() {
    let (_fixture, tree) = Fixture::with(&[("a", "1\n")]);
    let is_root = fs::metadata("/proc/self").is_ok_and(|facts| facts.uid() == 0);
    if !is_root {
        // Only root can give a folder away.
        return;
    }
    for path in [tree.path.clone(), tree.git_dir()] {
        chown(path, Some(12_345), Some(12_345)).unwrap();
    }
    let problem = git().observe(&tree.path, None).await.unwrap_err();
    assert!(matches!(problem, GitError::NotOwned), "{problem:?}");
}

#[tokio::test]
async fn more_filters_than_can_be_switched_off_are_not_measured() {
    let (_fixture, tree) = Fixture::with(&[("a", "1\n")]);
    let config = tree.git_dir().join("config");
    let mut text = fs::read_to_string(&config).unwrap();
    for number in 0..=model::bounds::GIT_FILTER_DRIVERS {
        text += &format!("[filter \"f{number}\"]\n\tclean = false\n");
    }
    fs::write(&config, text).unwrap();
    let problem = git().observe(&tree.path, None).await.unwrap_err();
    assert!(matches!(problem, GitError::TooManyFilters), "{problem:?}");
}

#[tokio::test]
async fn what_a_partial_clone_lacks_is_not_fetched() {
    let (fixture, source) = Fixture::with(&[("a", &lines(5))]);
    source.git(&["config", "uploadpack.allowFilter", "true"]);
    source.git(&["branch", "old"]);
    source.write("a", lines(6));
    source.commit("newer");
    let url = format!("file://{}", source.path.display());
    source.git(&["clone", "-q", "--filter=blob:none", &url, "../partial"]);
    let partial = Tree {
        path: fixture.path("partial"),
    };
    let trace = fixture.path("fetched");
    let trap = fixture.script("fetch", &format!("touch '{}'; exit 1", trace.display()));
    partial.git(&["config", "remote.origin.uploadpack", trap.to_str().unwrap()]);
    git()
        .observe(&partial.path, Some("main"))
        .await
        .expect("nothing is lacking");
    let problem = git().observe(&partial.path, Some("old")).await.unwrap_err();
    assert_eq!(
        problem.measure_failure(),
        MeasureFailure::GitFailed,
        "{problem:?}"
    );
    assert!(!trace.exists());
    partial.try_git(&["diff", "origin/old"]);
    assert!(trace.exists(), "the plain command fetches");
}

#[tokio::test]
async fn settings_of_the_user_change_no_number() {
    let (fixture, repo) = Fixture::with(&[("old", &lines(20)), ("a", "1\n")]);
    let tree = fixture.worktree(&repo, "feat", "main");
    tree.git(&["mv", "old", "new"]);
    tree.write("a", "2\n");
    tree.write("dir/untracked", "3\n");
    let plain = git().observe(&tree.path, Some("main")).await.unwrap();
    let shown = git()
        .diff_file(&tree.path, Some("main"), "a")
        .await
        .unwrap();
    for (key, value) in [
        ("status.showUntrackedFiles", "no"),
        ("status.renames", "false"),
        ("diff.renames", "false"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.relative", "true"),
        ("diff.ignoreSubmodules", "all"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("diff.colorMoved", "zebra"),
        ("diff.context", "0"),
        ("core.quotePath", "true"),
    ] {
        tree.git(&["config", key, value]);
    }
    assert_eq!(
        git().observe(&tree.path, Some("main")).await.unwrap(),
        plain
    );
    assert_eq!(
        git()
            .diff_file(&tree.path, Some("main"), "a")
            .await
            .unwrap(),
        shown
    );
}
