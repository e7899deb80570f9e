//! The command line of `cargo xtask`, read by hand.
//!
//! A parser crate would be built before every first `cargo xtask run`; these few words do not pay for it.
//! An unknown word is an error that names it: a mistyped option must never look like a passed check.

use anyhow::bail;

/// What `cargo xtask help` prints.
pub(crate) const HELP: &str = "\
cargo xtask COMMAND

  run [--demo] [-- ARGS]   build the web app and the server, then start `flightstrip serve ARGS`
      --demo               also fill an empty server with a sample repository and working tasks

  test [OPTIONS]           install what the tests need, then run every check and test
      --only STEP          this step alone (repeatable, or separated by commas)
      --keep-going         go on after a failed step
      --long               more random cases, and every browser test three times
      --real-agents[=LIST] also drive real agents from npm: opencode (the default), gemini
      --list               print the steps and stop

  bench WHAT [OPTIONS]     measure: build optimised, then run `loadgen WHAT OPTIONS`
      summary              deriving, loading, publishing, listing and converging on both engines;
                           --sizes 1000,10000,100000 and --engines sqlite,postgres are what it does by itself

  postgres [-- COMMAND]    run a PostgreSQL that holds nothing, for tests started by hand: until Ctrl-C,
                           or for as long as COMMAND runs

  web                      build the web app
  types [--check]          generate the TypeScript of the wire types; --check: fail if it would change
  tidy                     check the rules that no compiler knows";

/// One request of the user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Print what there is.
    Help,
    /// Build and start the product.
    Run(RunOptions),
    /// Check everything.
    Test(TestOptions),
    /// Measure: the words for `loadgen`.
    Bench(Vec<String>),
    /// Run a PostgreSQL for tests, around this command or (empty) until interrupted.
    Postgres(Vec<String>),
    /// Build the web app.
    Web,
    /// Generate TypeScript, or check that it is current.
    Types {
        /// Compare instead of write.
        check: bool,
    },
    /// Check our own rules.
    Tidy,
}

/// Options of `run`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RunOptions {
    /// Start with a sample workspace.
    pub(crate) demo: bool,
    /// Passed to `flightstrip serve` as they are.
    pub(crate) passed_on: Vec<String>,
}

/// Options of `test`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestOptions {
    /// Names of the only steps to run; empty: all of them.
    pub(crate) only: Vec<String>,
    /// Run the remaining steps after a failure.
    pub(crate) keep_going: bool,
    /// Spend more time on random cases.
    pub(crate) long: bool,
    /// Names of the real agents to install and drive; empty: none.
    pub(crate) real_agents: Vec<String>,
    /// Print the steps and stop.
    pub(crate) list: bool,
}

/// Reads the words after `cargo xtask`.
pub(crate) fn parse(words: &[String]) -> anyhow::Result<Request> {
    let Some((command, rest)) = words.split_first() else {
        return Ok(Request::Help);
    };
    match (command.as_str(), rest) {
        ("help" | "--help" | "-h", _) => Ok(Request::Help),
        ("run", rest) => Ok(Request::Run(parse_run(rest)?)),
        ("test", rest) => Ok(Request::Test(parse_test(rest)?)),
        ("bench", [what, options @ ..]) if what == "summary" => {
            let mut words = vec![what.clone()];
            words.extend_from_slice(options);
            Ok(Request::Bench(words))
        }
        ("bench", []) => bail!("`cargo xtask bench` needs to know what: summary"),
        ("postgres", []) => Ok(Request::Postgres(Vec::new())),
        ("postgres", [dashes, command @ ..]) if dashes == "--" && !command.is_empty() => {
            Ok(Request::Postgres(command.to_vec()))
        }
        ("web", []) => Ok(Request::Web),
        ("tidy", []) => Ok(Request::Tidy),
        ("types", []) => Ok(Request::Types { check: false }),
        ("types", [flag]) if flag == "--check" => Ok(Request::Types { check: true }),
        ("bench" | "postgres" | "web" | "tidy" | "types", [unknown, ..]) => {
            bail!("`cargo xtask {command}` does not know `{unknown}`")
        }
        _ => bail!("`{command}` is no command; `cargo xtask help` lists them"),
    }
}

fn parse_run(words: &[String]) -> anyhow::Result<RunOptions> {
    let mut options = RunOptions::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--demo" => options.demo = true,
            "--" => options.passed_on.extend(words.by_ref().cloned()),
            unknown => bail!(
                "`cargo xtask run` does not know `{unknown}`; options of the server go after `--`"
            ),
        }
    }
    Ok(options)
}

fn parse_test(words: &[String]) -> anyhow::Result<TestOptions> {
    let mut options = TestOptions::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (word.as_str(), None),
        };
        match (flag, value) {
            ("--keep-going", None) => options.keep_going = true,
            ("--long", None) => options.long = true,
            ("--list", None) => options.list = true,
            ("--real-agents", None) => options.real_agents.push("opencode".to_owned()),
            ("--real-agents", Some(list)) => options.real_agents.extend(names(list)),
            ("--only", Some(list)) => options.only.extend(names(list)),
            ("--only", None) => match words.next() {
                Some(list) => options.only.extend(names(list)),
                None => bail!("`--only` needs the name of a step; `--list` prints them"),
            },
            _ => bail!("`cargo xtask test` does not know `{word}`"),
        }
    }
    Ok(options)
}

fn names(list: &str) -> impl Iterator<Item = String> {
    list.split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> anyhow::Result<Request> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn server_options_go_through_untouched() {
        let request = parsed("run --demo -- --port 8080 --demo").unwrap();
        let expected = RunOptions {
            demo: true,
            passed_on: vec!["--port".to_owned(), "8080".to_owned(), "--demo".to_owned()],
        };
        assert_eq!(request, Request::Run(expected));
    }

    #[test]
    fn a_command_for_postgres_goes_through_untouched() {
        let request = parsed("postgres -- cargo test -- --nocapture").unwrap();
        let words = ["cargo", "test", "--", "--nocapture"].map(str::to_owned);
        assert_eq!(request, Request::Postgres(words.to_vec()));
        assert_eq!(parsed("postgres").unwrap(), Request::Postgres(Vec::new()));
    }

    #[test]
    fn a_measure_is_named_and_its_options_go_through() {
        let request = parsed("bench summary --sizes 10").unwrap();
        let words = ["summary", "--sizes", "10"].map(str::to_owned);
        assert_eq!(request, Request::Bench(words.to_vec()));
    }

    #[test]
    fn steps_are_named_in_either_form() {
        let request = parsed("test --only tidy,format --only clippy --keep-going").unwrap();
        let Request::Test(options) = request else {
            panic!("not a test request: {request:?}");
        };
        assert_eq!(options.only, ["tidy", "format", "clippy"]);
        assert!(options.keep_going);
    }

    #[test]
    fn real_agents_default_to_the_one_with_an_open_licence_and_no_second_process() {
        let Request::Test(options) = parsed("test --real-agents").unwrap() else {
            panic!("not a test request");
        };
        assert_eq!(options.real_agents, ["opencode"]);
    }

    #[test]
    fn a_mistyped_option_is_refused_by_name() {
        for line in [
            "test --fast",
            "run --port 1",
            "tidy --fix",
            "types --chek",
            "tset",
            "test --only",
            "postgres psql",
            "bench",
            "bench everything",
            "postgres --",
        ] {
            assert!(parsed(line).is_err(), "`{line}` was accepted");
        }
    }
}
