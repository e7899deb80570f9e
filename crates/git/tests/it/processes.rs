//! Git's processes: bounded in time, in number and in what they leave behind.

use crate::fixture::{Fixture, Tree, config, git};
use git::Git;
use git::error::GitError;
use model::bounds;
use model::git::MeasureFailure;
use std::fs;
use std::path::Path;
use tokio::task::yield_now;

/// A Git that never answers in the repository whose folder has a file `hang`; it notes itself and a child of it.
fn hanging(fixture: &Fixture) -> Git {
    let pids = fixture.path("pids");
    let body = format!(
        "if [ -e hang ]; then sleep 100000 & echo \"$$ $!\" > '{0}.new'; mv '{0}.new' '{0}'; wait; fi; exec git \"$@\"",
        pids.display()
    );
    Git::new(config().with_program(fixture.script("hanging-git", &body)))
}

/// Waits until the file is there; reading it is the state, so there is nothing to sleep for.
async fn pids(fixture: &Fixture) -> Vec<String> {
    loop {
        if let Ok(text) = fs::read_to_string(fixture.path("pids")) {
            return text.split_whitespace().map(str::to_owned).collect();
        }
        yield_now().await;
    }
}

/// Waits until the process is gone, or waits only to be collected.
async fn ended(pid: &str) {
    let stat = Path::new("/proc").join(pid).join("stat");
    while fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
        yield_now().await;
    }
}

#[tokio::test]
async fn c16_a_git_that_does_not_answer_is_ended_with_its_children_and_not_measured() {
    let (fixture, tree) = Fixture::with(&[("a", "1\n")]);
    tree.write("hang", "");
    let git = hanging(&fixture);
    let path = tree.path.clone();
    let looking = tokio::spawn(async move { git.observe(&path, None).await });
    let started = pids(&fixture).await;
    // From here on time jumps to the next deadline whenever there is nothing else to do.
    tokio::time::pause();
    let problem = looking.await.unwrap().unwrap_err();
    assert!(matches!(problem, GitError::TimedOut { .. }), "{problem:?}");
    assert_eq!(problem.measure_failure(), MeasureFailure::Timeout);
    assert_eq!(started.len(), 2);
    for pid in &started {
        ended(pid).await;
    }
}

#[tokio::test]
async fn a_look_that_is_given_up_ends_its_processes() {
    let (fixture, tree) = Fixture::with(&[("a", "1\n")]);
    tree.write("hang", "");
    let git = hanging(&fixture);
    let path = tree.path.clone();
    let looking = tokio::spawn(async move { git.observe(&path, None).await });
    let started = pids(&fixture).await;
    looking.abort();
    for pid in &started {
        ended(pid).await;
    }
}

#[tokio::test]
async fn c19_a_slow_repository_delays_only_itself() {
    let (fixture, slow) = Fixture::with(&[("a", "1\n")]);
    let quick = fixture.init("quick");
    quick.write("b", "1\n");
    quick.commit("b");
    slow.write("hang", "");
    let git = hanging(&fixture);
    let (asked, path) = (git.clone(), slow.path.clone());
    let looking = tokio::spawn(async move { asked.observe(&path, None).await });
    pids(&fixture).await;
    for _ in 0..3 {
        git.observe(&quick.path, None).await.unwrap();
    }
    assert!(!looking.is_finished());
    looking.abort();
}

#[tokio::test]
async fn concurrent_work_is_bounded_and_everybody_gets_a_turn() {
    let (fixture, tree) = Fixture::with(&[("a", "1\n")]);
    // Leaves its mark while it runs, and fails if it ever sees more marks than there may be.
    let marks = fixture.path("marks");
    fs::create_dir(&marks).unwrap();
    let body = format!(
        "cd_marks='{0}'; touch \"$cd_marks/$$\"; [ $(ls \"$cd_marks\" | wc -l) -le 2 ] || touch '{0}-exceeded'; git \"$@\"; code=$?; rm \"$cd_marks/$$\"; exit $code",
        marks.display()
    );
    let program = fixture.script("counting-git", &body);
    let git = Git::new(config().with_program(program).with_concurrency(2));
    let looks: Vec<_> = (0..8)
        .map(|_| {
            let (git, path) = (git.clone(), tree.path.clone());
            tokio::spawn(async move { git.observe(&path, None).await })
        })
        .collect();
    for look in looks {
        look.await.unwrap().unwrap();
    }
    assert!(!fixture.path("marks-exceeded").exists());
}

#[tokio::test]
async fn c16_a_failed_command_is_not_a_clean_tree() {
    let (fixture, tree) = Fixture::with(&[("a", "1\n")]);
    tree.write("a", "2\n");
    for command in [
        "status",
        "diff-index",
        "config",
        "for-each-ref",
        "merge-base",
    ] {
        // Nothing is printed, as when a process is killed at its limit.
        let body = format!("if [ \"$2\" = {command} ]; then exit 137; fi; exec git \"$@\"");
        let broken = Git::new(config().with_program(fixture.script("broken-git", &body)));
        let problem = broken.observe(&tree.path, None).await.unwrap_err();
        assert!(
            matches!(
                problem,
                GitError::Failed {
                    code: Some(137),
                    ..
                }
            ),
            "{command}: {problem:?}"
        );
        assert_eq!(problem.measure_failure(), MeasureFailure::GitFailed);
    }
    // An empty answer with a good exit code is no clean tree either.
    let body = "if [ \"$2\" = status ]; then exit 0; fi; exec git \"$@\"";
    let silent = Git::new(config().with_program(fixture.script("silent-git", body)));
    let problem = silent.observe(&tree.path, None).await.unwrap_err();
    assert!(matches!(problem, GitError::Malformed { .. }), "{problem:?}");
}

/// C19: a file that an agent's rebase takes away under Git's eyes is no failure; one that never comes back is.
#[tokio::test]
async fn c19_a_comparison_that_was_overtaken_is_made_again() {
    let (fixture, tree) = Fixture::with(&[("a", "1\n")]);
    tree.write("a", "2\n");
    let tries = fixture.path("tries");
    let overtaken = |times: usize| {
        let body = format!(
            "if [ \"$2\" = diff-index ]; then echo >> {tries}; if [ $(wc -l < {tries}) -le {times} ]; then \
             echo \"fatal: stat 'a': No such file or directory\" >&2; exit 128; fi; fi; exec git \"$@\"",
            tries = tries.display()
        );
        Git::new(config().with_program(fixture.script("hasty-git", &body)))
    };
    let seen = overtaken(bounds::GIT_COMPARE_TRIES - 1)
        .observe(&tree.path, None)
        .await
        .expect("it is measured in the end");
    assert_eq!(seen.totals.changed_files, 1);
    fs::remove_file(&tries).expect("the count begins anew");
    let problem = overtaken(bounds::GIT_COMPARE_TRIES)
        .observe(&tree.path, None)
        .await
        .unwrap_err();
    assert_eq!(problem.measure_failure(), MeasureFailure::GitFailed);
    let made = fs::read_to_string(&tries)
        .expect("the count")
        .lines()
        .count();
    assert_eq!(made, bounds::GIT_COMPARE_TRIES, "the tries are bounded");
}

#[tokio::test]
async fn a_git_that_would_ignore_the_safety_switches_is_not_used() {
    let (fixture, tree) = Fixture::with(&[("a", "1\n")]);
    let body = "if [ \"$1\" = version ]; then echo git version 2.30.2; else exit 1; fi";
    let old = Git::new(config().with_program(fixture.script("old-git", body)));
    let problem = old.observe(&tree.path, None).await.unwrap_err();
    assert!(
        matches!(&problem, GitError::TooOld { found, .. } if found == "2.30"),
        "{problem:?}"
    );
}

#[tokio::test]
async fn a_hook_that_leaves_something_running_does_not_hold_a_command_up() {
    let (fixture, repo) = Fixture::with(&[("a", "1\n")]);
    let pids_file = fixture.path("pids");
    fixture.script(
        "repo/.git/hooks/post-checkout",
        &format!("sleep 100000 & echo $! > '{}'", pids_file.display()),
    );
    let tree = Tree {
        path: fixture.path("tree"),
    };
    git()
        .add_worktree(&repo.path, &tree.path, "task", "main")
        .await
        .unwrap();
    let left = pids(&fixture).await;
    // It was the person's hook and lives on; the test ends what the test started.
    let pid = left.first().expect("its id");
    let killed = std::process::Command::new("kill")
        .arg(pid)
        .status()
        .unwrap();
    assert!(killed.success());
}
