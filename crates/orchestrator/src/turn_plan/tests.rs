//! Whatever happens to a session, in whatever order: its rows say what the turn machine says.
//!
//! `model` explores the machine by itself. Here it is driven as the product drives it, on real databases: facts are
//! loaded, the machine is asked, and what it decides is carried out, one transaction for each step; some are rolled back,
//! and in some the store fails. Beside that the machine goes on by itself, with everything it ever knew. After each step both agree,
//! field by field.
//!
//! - [`happening`] names what can happen; [`mind`] is the machine by itself, with what only a session's owner knows.
//! - [`step`] lets something happen in a transaction, as the product's own callers do; [`rows`] reads everything back,
//!   and [`told`] compares what is told of it.
//! - [`world`] is a session with both sides of it; [`cases`] makes cases from seeds and names the seed of one that fails.
//! - [`reach`] holds that cases come everywhere: what no case does is not proven by any.

mod cases;
mod happening;
mod mind;
mod reach;
mod rows;
mod step;
mod told;
mod world;

use anyhow::Result;
use testkit::store::Engine;
use testkit::story::Story;

testkit::on_every_engine!(pen_03_the_rows_say_what_the_turn_machine_says);

/// PEN-02, PEN-03, PEN-04, PEN-05, API-06, SUM-09, REC-01, REC-06.
async fn pen_03_the_rows_say_what_the_turn_machine_says(story: Story) -> Result<()> {
    let usual = match story.db.engine() {
        Engine::Sqlite => cases::USUAL,
        Engine::Postgres => cases::USUAL / 4,
    };
    cases::run(story, usual).await
}
