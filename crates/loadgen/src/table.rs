//! Tables of figures on stdout.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

/// A table that is printed when it is complete: a title, columns, rows.
#[derive(Debug)]
pub(crate) struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(title: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            rows: vec![columns.iter().map(|&name| name.to_owned()).collect()],
        }
    }

    /// Adds a row, one text per column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Prints it, columns aligned: the first to the left, figures to the right.
    pub(crate) fn print(&self) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = format!("\n{}\n", self.title);
        for row in &self.rows {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
                let (before, after) = if column == 0 {
                    ("", padding.as_str())
                } else {
                    (padding.as_str(), "")
                };
                text.push_str(&format!("  {before}{cell}{after}"));
            }
            text.push('\n');
        }
        say(&text);
    }
}

/// Prints a line on stdout; a reader who has gone does not matter.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}"); // nobody is left to tell
}

/// Says on stderr why a measure could not be taken.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "loadgen: {error:#}"); // nobody is left to tell
    ExitCode::FAILURE
}

/// A duration in milliseconds with one decimal.
pub(crate) fn ms(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64() * 1000.0)
}

/// How many times `base` goes into `value`.
pub(crate) fn ratio(value: Duration, base: Duration) -> String {
    format!("{:.2}", value.as_secs_f64() / base.as_secs_f64().max(1e-9))
}

/// The middle one of several durations.
pub(crate) fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples
        .get(samples.len() / 2)
        .copied()
        .unwrap_or(Duration::ZERO)
}
