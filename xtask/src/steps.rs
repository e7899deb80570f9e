//! A list of named steps, run in order, with a table of results at the end.
//!
//! Invariant: every step that was asked for has a row in the table, also those that were not reached. A check
//! that did not run must never look like one that passed.

use std::time::Duration;

use anyhow::bail;

use crate::processes::Leftover;
use crate::screen;
use crate::stopwatch::Stopwatch;

/// One step.
pub(crate) struct Step<'a> {
    /// What `--only` calls it.
    pub(crate) name: &'static str,
    /// What it makes sure of, in a few words.
    pub(crate) about: &'static str,
    /// Does it. An error is a failed step.
    pub(crate) work: Box<dyn Fn() -> anyhow::Result<()> + 'a>,
}

impl<'a> Step<'a> {
    pub(crate) fn new(
        name: &'static str,
        about: &'static str,
        work: impl Fn() -> anyhow::Result<()> + 'a,
    ) -> Self {
        Self {
            name,
            about,
            work: Box::new(work),
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Passed,
    Failed,
    /// An earlier step failed.
    NotReached,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) ending: Ending,
    pub(crate) took: Duration,
}

/// Keeps the steps whose names are in `only` (all when empty), in their own order.
pub(crate) fn select<'a>(steps: Vec<Step<'a>>, only: &[String]) -> anyhow::Result<Vec<Step<'a>>> {
    if let Some(unknown) = only
        .iter()
        .find(|name| steps.iter().all(|step| step.name != name.as_str()))
    {
        let known: Vec<&str> = steps.iter().map(|step| step.name).collect();
        bail!(
            "there is no step `{unknown}`; the steps are: {}",
            known.join(", ")
        );
    }
    Ok(steps
        .into_iter()
        .filter(|step| only.is_empty() || only.iter().any(|name| name == step.name))
        .collect())
}

/// Runs the steps in order. `leftovers` is asked after each one; a step that leaves processes has failed.
pub(crate) fn run(
    steps: &[Step<'_>],
    keep_going: bool,
    leftovers: impl Fn() -> Vec<Leftover>,
) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::with_capacity(steps.len());
    for step in steps {
        let stopped = !keep_going && rows.iter().any(|row| row.ending == Ending::Failed);
        rows.push(if stopped {
            Row {
                name: step.name,
                ending: Ending::NotReached,
                took: Duration::ZERO,
            }
        } else {
            run_one(step, &leftovers)
        });
    }
    rows
}

fn run_one(step: &Step<'_>, leftovers: impl Fn() -> Vec<Leftover>) -> Row {
    screen::heading(step.name, step.about);
    let watch = Stopwatch::start();
    let mut ending = Ending::Passed;
    if let Err(error) = (step.work)() {
        screen::problem(&error);
        ending = Ending::Failed;
    }
    let took = watch.elapsed();
    for Leftover { pid, name } in leftovers() {
        screen::problem(&anyhow::anyhow!(
            "left running and ended by us: {name} (process {pid})"
        ));
        ending = Ending::Failed;
    }
    screen::ending(step.name, word(ending), took);
    Row {
        name: step.name,
        ending,
        took,
    }
}

/// The closing table and, when something failed, its names. Returns whether everything passed.
pub(crate) fn summarise(rows: &[Row], took: Duration) -> bool {
    screen::line("\nstep              result         time");
    for row in rows {
        let time = match row.ending {
            Ending::NotReached => String::new(),
            Ending::Passed | Ending::Failed => screen::duration(row.took),
        };
        screen::line(&format!(
            "{:<17} {:<11} {time:>12}",
            row.name,
            word(row.ending)
        ));
    }
    screen::line(&format!(
        "{:<17} {:<11} {:>12}",
        "all",
        "",
        screen::duration(took)
    ));
    let failed: Vec<&str> = rows
        .iter()
        .filter(|row| row.ending == Ending::Failed)
        .map(|row| row.name)
        .collect();
    if failed.is_empty() {
        screen::line("\neverything passed");
    } else {
        screen::line(&format!("\nfailed: {}", failed.join(", ")));
    }
    failed.is_empty()
}

fn word(ending: Ending) -> &'static str {
    match ending {
        Ending::Passed => "passed",
        Ending::Failed => "FAILED",
        Ending::NotReached => "not reached",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_steps<'a>() -> Vec<Step<'a>> {
        vec![
            Step::new("first", "", || Ok(())),
            Step::new("second", "", || bail!("broken")),
            Step::new("third", "", || Ok(())),
        ]
    }

    fn endings(rows: &[Row]) -> Vec<Ending> {
        rows.iter().map(|row| row.ending).collect()
    }

    #[test]
    fn the_first_failure_stops_and_the_rest_is_shown_as_not_reached() {
        let rows = run(&three_steps(), false, Vec::new);
        assert_eq!(
            endings(&rows),
            [Ending::Passed, Ending::Failed, Ending::NotReached]
        );
        assert!(!summarise(&rows, Duration::ZERO));
    }

    #[test]
    fn keep_going_runs_the_rest_and_still_fails() {
        let rows = run(&three_steps(), true, Vec::new);
        assert_eq!(
            endings(&rows),
            [Ending::Passed, Ending::Failed, Ending::Passed]
        );
        assert!(!summarise(&rows, Duration::ZERO));
    }

    #[test]
    fn a_step_that_leaves_a_process_has_failed() {
        let steps = [Step::new("tests", "", || Ok(()))];
        let rows = run(&steps, false, || {
            vec![Leftover {
                pid: 7,
                name: "agent".to_owned(),
            }]
        });
        assert_eq!(endings(&rows), [Ending::Failed]);
    }

    #[test]
    fn an_unknown_step_is_refused() {
        assert!(select(three_steps(), &["forth".to_owned()]).is_err());
        let chosen = select(three_steps(), &["third".to_owned(), "first".to_owned()]).unwrap();
        let names: Vec<&str> = chosen.iter().map(|step| step.name).collect();
        assert_eq!(names, ["first", "third"]);
    }
}
