//! What is printed, and the only module that prints.
//!
//! Lines of our own start at the left edge with a mark, so that they stand out between the output of the
//! tools, which is passed through untouched (build machines read the closing lines of the test runners).
//! No colour codes: the output is read in files as often as on a terminal.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool speaks on its standard output"
)]

use std::time::Duration;

/// Prints one line.
pub(crate) fn line(text: &str) {
    println!("{text}");
}

/// Announces work that is about to start, before the output of its tools.
pub(crate) fn heading(name: &str, about: &str) {
    println!("\n== {name}: {about}");
}

/// Says how announced work ended.
pub(crate) fn ending(name: &str, result: &str, took: Duration) {
    println!("-- {name}: {result} ({})", duration(took));
}

/// One finished piece of quiet work, such as the parts of `run`.
pub(crate) fn done(what: &str, took: Duration) {
    println!("  {what:<42} {:>9}", duration(took));
}

/// What went wrong inside announced work. It goes where the tools' output goes, so that it stands after it.
pub(crate) fn problem(error: &anyhow::Error) {
    println!("{}", with_causes(error));
}

/// Why the whole command failed.
pub(crate) fn complain(error: &anyhow::Error) {
    eprintln!("{}", with_causes(error));
}

fn with_causes(error: &anyhow::Error) -> String {
    let causes = error
        .chain()
        .skip(1)
        .map(|cause| format!("\n  because: {cause}"));
    format!("error: {error}{}", causes.collect::<String>())
}

/// A duration as a person reads it: `0.4 s`, `1 min 05 s`.
pub(crate) fn duration(took: Duration) -> String {
    let seconds = took.as_secs();
    if seconds < 60 {
        format!("{:.1} s", took.as_secs_f64())
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short_and_have_units() {
        assert_eq!(duration(Duration::from_millis(431)), "0.4 s");
        assert_eq!(duration(Duration::from_secs(65)), "1 min 05 s");
        assert_eq!(duration(Duration::from_secs(3_600)), "60 min 00 s");
    }
}
