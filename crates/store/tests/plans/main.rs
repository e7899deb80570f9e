//! The hot statements find their rows by an index: each engine's planner is asked about what the store really ran.
//!
//! A binary of its own, because listening to statements is global to a process. With `FLIGHTSTRIP_PRINT_PLANS` set it
//! prints the table of indexes that `docs/storage.md` shows.

#[cfg(test)]
mod asked;
#[cfg(test)]
mod listener;
#[cfg(test)]
mod planner;
#[cfg(test)]
mod size;
#[cfg(test)]
mod story;
#[cfg(test)]
mod walks;

#[cfg(test)]
mod plans {
    use crate::asked::Plans;
    use crate::size;
    use anyhow::Result;
    use store::sql::sql;
    use store::turns;
    use store::tx::WriteTx;
    use testkit::story::Story;

    testkit::on_every_engine!(
        pst_04_hot_statements_read_no_whole_table,
        an_index_that_is_missing_is_noticed,
    );

    /// PST-04.
    async fn pst_04_hot_statements_read_no_whole_table(story: Story) -> Result<()> {
        let mut plans = Plans::of(story, size::YEARS).await?;
        crate::story::tell(&mut plans).await?;
        plans.references().await?;
        plans.end()
    }

    async fn an_index_that_is_missing_is_noticed(story: Story) -> Result<()> {
        let task = story.task().await?;
        let session = story.session(&task, None).await?;
        story
            .tamper(sql("DROP INDEX task_session_turns_by_session"))
            .await?;
        let mut plans = Plans::of(story, size::WEEKS).await?;
        let work = async |tx: &mut WriteTx| turns::current(tx, &session).await;
        plans.ask("turns::current", &[], work).await?;
        let problems = plans.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        let expected = "turns::current: all of task_session_turns is read";
        assert!(problems[0].starts_with(expected), "{problems:?}");
        Ok(())
    }
}
