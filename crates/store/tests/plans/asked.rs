//! What was asked of a planner, and what must be true of its answers.

use crate::listener::Listener;
use crate::planner::{Planner, Read};
use crate::size::{self, HANDFUL};
use crate::walks::{RARE, UNFINISHED, WALKS, Walk};
use anyhow::{Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use store::sql::sql;
use store::tx::WriteTx;
use testkit::store::Engine;
use testkit::story::Story;
use tokio::sync::{Mutex, MutexGuard};

/// Only one test at a time listens in this process.
static TURN: Mutex<()> = Mutex::const_new(());

/// Set: the table of indexes is printed.
const PRINT: &str = "FLIGHTSTRIP_PRINT_PLANS";

/// Where people read of tables, indexes and walks.
const PAGE: &str = include_str!("../../../../docs/storage.md");

/// How an index was used.
struct Use {
    by: BTreeSet<String>,
    line: String,
}

/// A story whose statements are explained.
pub(crate) struct Plans {
    /// What they are run on.
    pub(crate) story: Story,
    planner: Planner,
    listener: Listener,
    indexes: BTreeMap<String, Use>,
    /// Which of [`WALKS`] were met.
    walked: BTreeSet<usize>,
    problems: Vec<String>,
    _turn: MutexGuard<'static, ()>,
}

impl Plans {
    /// Nothing asked yet, beside so many tasks.
    pub(crate) async fn of(story: Story, tasks: i64) -> Result<Self> {
        let turn = TURN.lock().await;
        if story.db.engine() == Engine::Postgres {
            size::grow(&story, tasks).await?;
        }
        Ok(Self {
            planner: Planner::of(story.store(), story.db.engine()).await?,
            story,
            listener: Listener::of_the_process(),
            indexes: BTreeMap::new(),
            walked: BTreeSet::new(),
            problems: Vec::new(),
            _turn: turn,
        })
    }

    /// Runs `work`, which is what `by` does, and explains each statement of it: `indexes` are used, among others, and
    /// nothing is read from end to end but what [`WALKS`] says.
    pub(crate) async fn ask<T>(
        &mut self,
        by: &str,
        indexes: &[&str],
        work: impl AsyncFnOnce(&mut WriteTx) -> store::error::Result<T>,
    ) -> Result<T> {
        self.listener.take();
        let done = self.story.change(&[], work).await?;
        let heard = self.listener.take();
        let mut reads = Vec::new();
        let mut tx = self.story.store().write().await?;
        let plans = self.planner.explain(&mut tx, &heard).await?;
        drop(tx);
        if heard.is_empty() {
            self.problems.push(format!("{by}: nothing was heard"));
        }
        for (statement, plan) in heard.iter().zip(plans) {
            for read in &plan {
                self.judge(by, statement, read);
            }
            reads.extend(plan);
        }
        for index in indexes {
            let used = |read: &Read| read.index.as_deref() == Some(index);
            if !reads.iter().any(used) {
                self.problems
                    .push(format!("{by}: {index} is not used: {reads:#?}"));
            }
        }
        Ok(done)
    }

    fn judge(&mut self, by: &str, statement: &str, read: &Read) {
        self.note(&format!("`{by}`"), read);
        let unfinished = |index: &String| UNFINISHED.contains(&index.as_str());
        if !read.whole || read.index.as_ref().is_some_and(unfinished) {
            return;
        }
        match WALKS.iter().position(|walk| self.is(walk, by, read)) {
            Some(number) => {
                self.walked.insert(number);
            }
            None if self.is_handful(read) => {}
            None => self.problems.push(format!(
                "{by}: all of {} is read ({})\n    by {statement}",
                read.table, read.line
            )),
        }
    }

    /// Whether PostgreSQL, which knows how many rows there are, reads a table that is always small.
    fn is_handful(&self, read: &Read) -> bool {
        self.story.db.engine() == Engine::Postgres && HANDFUL.contains(&read.table.as_str())
    }

    fn is(&self, walk: &Walk, by: &str, read: &Read) -> bool {
        self.concerns(walk) && walk.by == by && walk.table == read.table
    }

    fn concerns(&self, walk: &Walk) -> bool {
        walk.only.is_none_or(|only| only == self.story.db.engine())
    }

    fn note(&mut self, by: &str, read: &Read) {
        if let Some(index) = &read.index {
            let used = self.indexes.entry(index.clone()).or_insert_with(|| Use {
                by: BTreeSet::new(),
                line: read.line.clone(),
            });
            used.by.insert(by.to_owned());
        }
    }

    /// Deleting a row finds those that refer to it by an index, [`RARE`] excepted.
    pub(crate) async fn references(&mut self) -> Result<()> {
        let mut tx = self.story.store().write().await?;
        for [child, field, parent] in self.planner.references(&mut tx).await? {
            let probe = format!("SELECT 1 AS found FROM {child} WHERE {field} = $1");
            let text: &'static str = probe.clone().leak();
            tx.all(sql(text).bind("nobody")).await?;
            let plan = self.planner.explain(&mut tx, &[probe]).await?;
            let rare = RARE.contains(&[child.as_str(), field.as_str()]);
            for read in plan.iter().flatten() {
                if read.whole && !rare {
                    self.problems.push(format!(
                        "a deletion from {parent} reads all of {child} for {field}: {}",
                        read.line
                    ));
                }
                self.note(&format!("deletion from `{parent}`"), read);
            }
        }
        Ok(())
    }

    /// What was wrong so far.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Whatever was wrong, all at once; each index that a migration made is needed by somebody, and the page knows it.
    pub(crate) fn end(mut self) -> Result<()> {
        for index in self.planner.made_indexes() {
            if !self.indexes.contains_key(index) {
                self.problems.push(format!("nobody needs {index}"));
            }
        }
        let walks = WALKS.iter().map(|walk| walk.by);
        let names = self.planner.tables().map(String::as_str).chain(walks);
        for name in names.chain(self.planner.made_indexes().map(String::as_str)) {
            if !PAGE.contains(&format!("`{name}`")) {
                self.problems
                    .push(format!("docs/storage.md does not speak of {name}"));
            }
        }
        // PostgreSQL chooses by a random sample of its rows, so near a tie it may walk today and seek tomorrow.
        let chooses_alike = self.story.db.engine() == Engine::Sqlite;
        for (number, walk) in WALKS.iter().enumerate() {
            if chooses_alike && self.concerns(walk) && !self.walked.contains(&number) {
                self.problems
                    .push(format!("{} reads {} by an index now", walk.by, walk.table));
            }
        }
        if std::env::var_os(PRINT).is_some() {
            self.print();
        }
        ensure!(self.problems.is_empty(), "{}", self.problems.join("\n"));
        Ok(())
    }

    /// Rows of the tables of [`PAGE`]: sorted, those of one index stand together.
    fn print(&self) {
        let engine = match self.story.db.engine() {
            Engine::Sqlite => "SQLite",
            Engine::Postgres => "PostgreSQL",
        };
        for index in self.planner.made_indexes() {
            if let Some(used) = self.indexes.get(index) {
                let by: Vec<&str> = used.by.iter().map(String::as_str).collect();
                let (by, line) = (by.join(", "), &used.line);
                println!("| `{index}` | {engine} | {by} | `{line}` |");
            }
        }
        for walk in WALKS.iter().filter(|walk| self.concerns(walk)) {
            let Walk { by, table, why, .. } = walk;
            println!("| walk | `{by}` | `{table}` | {engine} | {why} |");
        }
    }
}
