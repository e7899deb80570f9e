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
    /// On which engines.
    #[arg(long, value_delimiter = ',', default_value = "sqlite,postgres", value_parser = engine)]
    pub(crate) engines: Vec<Engine>,
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
    derive::measure().await?;
    load::measure(&options.engines).await?;
    latency::measure(&options.engines).await?;
    lists::measure(options).await?;
    converge::measure(options).await
}
