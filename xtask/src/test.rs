//! `cargo xtask test`: every check and every test, in the order in which they are cheap to fail.
//!
//! The build machine runs exactly this and nothing else, so "it passes here" and "it passes there" are one
//! sentence. The tests see no personal Git configuration and are told the absolute paths of the server and
//! the browser; they need no network, only the package managers' own downloads before them do.
//!
//! Read next: `docs/TESTING.md` for what each step proves.

use std::path::PathBuf;
use std::process::Command;

use crate::arguments::TestOptions;
use crate::places::Places;
use crate::steps::{self, Step};
use crate::stopwatch::Stopwatch;
use crate::{agents, browser, postgres, processes, screen, tidy, tools, types, web};

/// Cases per property test under `--long`; sixteen times proptest's own default.
const LONG_PROPERTY_CASES: &str = "4096";

/// How often a server at work is killed, on each engine, under `--long`; six times what is done otherwise.
const LONG_KILL_ROUNDS: &str = "30";

/// Runs the steps that were asked for and prints the table. `Ok(false)`: something failed.
pub(crate) fn run(places: &Places, options: &TestOptions) -> anyhow::Result<bool> {
    let steps = steps::select(all_steps(places, options), &options.only)?;
    if options.list {
        for step in &steps {
            screen::line(&format!("{:<15} {}", step.name, step.about));
        }
        return Ok(true);
    }
    processes::guard()?;
    let watch = Stopwatch::start();
    let rows = steps::run(&steps, options.keep_going, processes::end_leftovers);
    Ok(steps::summarise(&rows, watch.elapsed()))
}

fn all_steps<'a>(places: &'a Places, options: &'a TestOptions) -> Vec<Step<'a>> {
    let mut steps = vec![
        Step::new(
            "tools",
            "the programs that the checks need",
            tools::check_for_testing,
        ),
        Step::new("browser", "a browser for the browser tests", || {
            browser::find_or_install().map(report)
        }),
        Step::new("postgres", "a PostgreSQL for the tests", || {
            postgres::available().map(|found| screen::line(&found))
        }),
    ];
    steps.extend(source_checks(places));
    steps.extend(web_checks(places));
    steps.push(Step::new("rust-tests", "all Rust tests", move || {
        rust_tests(places, options)
    }));
    steps.push(Step::new(
        "doc-tests",
        "the examples in the documentation",
        move || {
            processes::run(cargo_for_tests(places, options).args(["test", "--workspace", "--doc"]))
        },
    ));
    steps.push(Step::new(
        "browser-tests",
        "the whole product in a real browser",
        move || browser_tests(places, options),
    ));
    if !options.real_agents.is_empty() {
        steps.push(Step::new(
            "real-agents",
            "agents that nobody here wrote",
            move || real_agent_tests(places, options),
        ));
    }
    steps
}

fn source_checks(places: &Places) -> Vec<Step<'_>> {
    vec![
        Step::new("format", "one style", || {
            processes::run(cargo(places).args(["fmt", "--all", "--check"]))
        }),
        Step::new("clippy", "no warning in any crate or test", || {
            processes::run(cargo(places).args([
                "clippy",
                "--workspace",
                "--all-targets",
                "--features",
                "flightstrip/real-agents",
                "--",
                "--deny",
                "warnings",
            ]))
        }),
        Step::new(
            "tidy",
            "the rules that no compiler knows",
            || match tidy::run(places)? {
                true => Ok(()),
                false => anyhow::bail!("tidy found something"),
            },
        ),
        Step::new("types", "TypeScript says what Rust says", || {
            types::check(places)
        }),
    ]
}

fn web_checks(places: &Places) -> Vec<Step<'_>> {
    vec![
        Step::new("web-install", "the packages of the web app", || {
            web::install(places)
        }),
        Step::new("web-types", "TypeScript accepts the web app", || {
            web::script(places, "typecheck")
        }),
        Step::new("web-lint", "Biome accepts the web app", || {
            web::script(places, "lint")
        }),
        Step::new("web-tests", "unit tests of the web app", || {
            web::script(places, "test")
        }),
        Step::new("web-build", "the bundle that the server embeds", || {
            web::bundle(places)
        }),
    ]
}

/// nextest when it is installed, since it is faster and names tests that hang; else Cargo's own runner. Both
/// must pass, so no test may depend on having a process to itself.
fn rust_tests(places: &Places, options: &TestOptions) -> anyhow::Result<()> {
    let database = postgres::for_tests()?;
    let mut command = cargo_for_tests(places, options);
    command.env(postgres::VARIABLE, &database.url);
    if processes::succeeds(cargo(places).args(["nextest", "--version"])) {
        command.args(["nextest", "run", "--workspace"]);
    } else {
        command.args(["test", "--workspace", "--lib", "--bins", "--tests"]);
    }
    if options.keep_going {
        command.arg("--no-fail-fast");
    }
    processes::run(&mut command)
}

fn browser_tests(places: &Places, options: &TestOptions) -> anyhow::Result<()> {
    let browser = browser::find_or_install()?;
    // Built the way the Rust tests build it: the same features, hence the same files and no second compilation.
    processes::run(cargo(places).args(["test", "--workspace", "--no-run", "--quiet"]))?;
    let database = postgres::for_tests()?;
    let mut npm = web::npm(places);
    npm.env(postgres::VARIABLE, &database.url);
    npm.args(["run", "e2e"]);
    if options.long {
        npm.args(["--", "--repeat-each=3"]);
    }
    without_personal_git(&mut npm);
    npm.env("CHROMIUM", browser).env(
        "FLIGHTSTRIP_BIN",
        places.target.join("debug").join("flightstrip"),
    );
    processes::run(&mut npm)
}

fn real_agent_tests(places: &Places, options: &TestOptions) -> anyhow::Result<()> {
    agents::install(places, &options.real_agents)?;
    processes::run(
        cargo_for_tests(places, options)
            .env(
                "FLIGHTSTRIP_REAL_AGENTS",
                places.agents.join("node_modules").join(".bin"),
            )
            .env(
                "FLIGHTSTRIP_REAL_AGENT_NAMES",
                options.real_agents.join(","),
            )
            .args([
                "test",
                "--package",
                "flightstrip",
                "--features",
                "real-agents",
                "--test",
                "real_agents",
            ]),
    )
}

fn cargo(places: &Places) -> Command {
    let mut cargo = tools::cargo();
    cargo.current_dir(&places.root);
    cargo
}

fn cargo_for_tests(places: &Places, options: &TestOptions) -> Command {
    let mut cargo = cargo(places);
    without_personal_git(&mut cargo);
    if options.long {
        cargo
            .env("PROPTEST_CASES", LONG_PROPERTY_CASES)
            .env("FLIGHTSTRIP_LONG", "1")
            .env("FLIGHTSTRIP_KILL_ROUNDS", LONG_KILL_ROUNDS);
    }
    cargo
}

/// A bare machine has no Git identity and no aliases; a developer's machine must not hide a test that needs them.
fn without_personal_git(command: &mut Command) {
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
}

fn report(found: PathBuf) {
    screen::line(&found.display().to_string());
}
