//! `loadgen summary`: what a status summary costs, from deriving one to listing a hundred thousand.

mod converge;
mod derive;
mod latency;
mod lists;
mod load;

use crate::ServerOptions;
use crate::table::say;
use anyhow::Result;
use testkit::store::Engine;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) server: ServerOptions,
    /// How many tasks the lists hold.
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000")]
    pub(crate) sizes: Vec<i64>,
    /// Which tables.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Part::ALL)]
    pub(crate) parts: Vec<Part>,
    /// On which engines.
    #[arg(long, value_delimiter = ',', default_value = "sqlite,postgres", value_parser = engine)]
    pub(crate) engines: Vec<Engine>,
}

/// One table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Deriving one, with everything loaded.
    Derive,
    /// Loading what a batch is derived from.
    Load,
    /// From a commit to what is published.
    Latency,
    /// Boot and lists.
    Lists,
    /// The start that has to repair.
    Converge,
}

impl Part {
    /// All, from the small to the large.
    const ALL: [Self; 5] = [
        Self::Derive,
        Self::Load,
        Self::Latency,
        Self::Lists,
        Self::Converge,
    ];
}

fn engine(word: &str) -> Result<Engine, String> {
    match word {
        "sqlite" => Ok(Engine::Sqlite),
        "postgres" => Ok(Engine::Postgres),
        _ => Err("sqlite or postgres".to_owned()),
    }
}

/// An engine's name in a table.
const fn name(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "SQLite",
        Engine::Postgres => "PostgreSQL",
    }
}

/// Measures all of it, and prints each table when it is known.
pub(crate) async fn run(options: &Options) -> Result<()> {
    say(
        "The status summary. Times in milliseconds unless a column says otherwise; compare figures of one run only.",
    );
    for part in &options.parts {
        match part {
            Part::Derive => derive::measure().await?,
            Part::Load => load::measure(&options.engines).await?,
            Part::Latency => latency::measure(&options.engines).await?,
            Part::Lists => lists::measure(options).await?,
            Part::Converge => converge::measure(options).await?,
        }
    }
    Ok(())
}
