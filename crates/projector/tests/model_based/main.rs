//! Whatever happens, in whatever order, under whatever failure: once all is quiet the stored summary is what a naive
//! reference says, a rebuild gives the same, and clients were told exactly what is stored.
//!
//! - [`facts`] is the reference: what is true, and what a row must say of it. It knows no rule of the product.
//! - [`change`] names every kind of change of a summary's input; [`working`], [`talking`], [`queueing`],
//!   [`asking`], [`seeing`], [`pulling`] and [`beside`] make it twice, by the store's functions in the database and by hand in the facts.
//! - [`happening`] adds pokes, lost and repeated, two servers, faults at every use of the store, kills, restarts and
//!   clocks that jump; [`world`] lets them happen, [`hearing`] is a client that listens, [`quiet`] looks at the end.
//! - [`cases`] makes cases from seeds and names the seed of one that fails.

#![cfg(test)]

mod asking;
mod beside;
mod cases;
mod change;
mod facts;
mod happening;
mod hearing;
mod pulling;
mod queueing;
mod quiet;
mod regressions;
mod scene;
mod seeing;
mod talking;
mod working;
mod world;

use anyhow::Result;
use testkit::store::Engine;
use testkit::story::Story;

testkit::on_every_engine!(
    sum_04_stored_is_what_the_facts_say_whatever_happens,
    sum_04_what_failed_once_stays_fixed,
);

/// SUM-04, SUM-05, SUM-06, PST-02, PST-03, REC-03, REC-06.
async fn sum_04_stored_is_what_the_facts_say_whatever_happens(story: Story) -> Result<()> {
    let usual = match story.db.engine() {
        Engine::Sqlite => cases::USUAL,
        Engine::Postgres => cases::USUAL / 4,
    };
    cases::run(story, usual).await
}

/// SUM-04, PST-02.
async fn sum_04_what_failed_once_stays_fixed(story: Story) -> Result<()> {
    regressions::stay_fixed(story).await
}
