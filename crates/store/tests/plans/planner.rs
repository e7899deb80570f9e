//! Asks either engine how it finds the rows of a statement, and reads its answer.
//!
//! SQLite is asked by `EXPLAIN QUERY PLAN`. PostgreSQL is asked for the plan that serves any values
//! (`force_generic_plan`), with the types that the driver gave the parameters, of tables as large as those of a server
//! after years ([`crate::size`]): it chooses by their statistics, as it does at work. Where it reads all of a table that
//! is always small it is asked once more, as if that were very dear, which index it would use if the table were not.

use crate::size::HANDFUL;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use store::open::Store;
use store::row::Row;
use store::sql::{Link, sql};
use testkit::store::Engine;

/// One place of a plan where rows of a table are read.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// The table, by its own name.
    pub(crate) table: String,
    /// The index, if one is used.
    pub(crate) index: Option<String>,
    /// All of it is read, because nothing is sought: the table, or the index when there is one.
    pub(crate) whole: bool,
    /// What the engine says, in one line.
    pub(crate) line: String,
}

/// What the schema has.
struct Schema {
    tables: Vec<String>,
    /// The table and the first column of each index, by its name.
    indexes: BTreeMap<String, (String, String)>,
}

/// The planner of one store.
pub(crate) struct Planner {
    engine: Engine,
    schema: Schema,
}

/// Statement texts are static on purpose; the few of this test may stay in memory.
fn forever(text: String) -> &'static str {
    text.leak()
}

impl Planner {
    /// The one of this store.
    pub(crate) async fn of(store: &Store, engine: Engine) -> Result<Self> {
        let mut tx = store.read().await?;
        let indexes = match engine {
            Engine::Sqlite => sql("SELECT m.name AS index_name, m.tbl_name AS table_name, i.name AS first
                FROM sqlite_master m JOIN pragma_index_info(m.name) i ON i.seqno = 0 WHERE m.type = 'index'"),
            Engine::Postgres => sql("SELECT i.relname::text AS index_name, t.relname::text AS table_name,
                    a.attname::text AS first
                FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
                JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
                WHERE i.relnamespace = current_schema()::regnamespace"),
        };
        let entry = |row: &Row| -> Result<_> {
            let place = (row.text("table_name")?, row.text("first")?);
            Ok((row.text("index_name")?, place))
        };
        let rows = tx.all(indexes).await?;
        let indexes: BTreeMap<_, _> = rows.iter().map(entry).collect::<Result<_>>()?;
        // Each table has a primary key, whose index names it.
        let mut tables: Vec<String> = indexes.values().map(|(table, _)| table.clone()).collect();
        tables.push("task_session_message_segments".to_owned()); // SQLite numbers its rows without an index
        tables.retain(|table| table != "_sqlx_migrations");
        tables.sort();
        tables.dedup();
        Ok(Self {
            engine,
            schema: Schema { tables, indexes },
        })
    }

    /// The tables, by name.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &String> {
        self.schema.tables.iter()
    }

    /// The indexes that a migration made by name; those that belong to a key are left out.
    pub(crate) fn made_indexes(&self) -> impl Iterator<Item = &String> {
        let of_a_key = |name: &str| {
            name.starts_with("sqlite_autoindex")
                || name.ends_with("_pkey")
                || name.ends_with("_key")
                || name.starts_with("_sqlx")
        };
        let indexes = self.schema.indexes.keys();
        indexes.filter(move |name| !of_a_key(name))
    }

    /// Every column that refers to another table: table, column, the other table.
    pub(crate) async fn references(&self, link: &mut Link) -> Result<Vec<[String; 3]>> {
        let query = match self.engine {
            Engine::Sqlite => sql("SELECT m.name AS child, f.\"from\" AS field, f.\"table\" AS parent
                FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'"),
            Engine::Postgres => sql("SELECT c.relname::text AS child, a.attname::text AS field, p.relname::text AS parent
                FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class p ON p.oid = f.confrelid
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = f.conkey[1]
                WHERE f.contype = 'f' AND f.connamespace = current_schema()::regnamespace"),
        };
        let rows = link.all(query).await?;
        let read = |row: &Row| Ok([row.text("child")?, row.text("field")?, row.text("parent")?]);
        rows.iter().map(read).collect()
    }

    /// How the rows of each statement are found. PostgreSQL must have met them on this connection.
    pub(crate) async fn explain(
        &self,
        link: &mut Link,
        statements: &[String],
    ) -> Result<Vec<Vec<Read>>> {
        match self.engine {
            Engine::Sqlite => {
                let mut plans = Vec::new();
                for statement in statements {
                    let explain = forever(format!("EXPLAIN QUERY PLAN {statement}"));
                    let rows = link.all(sql(explain)).await?;
                    let lines = rows.iter().map(|row| row.text("detail"));
                    let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
                    plans.push(self.sqlite(statement, &lines));
                }
                Ok(plans)
            }
            Engine::Postgres => {
                let types = parameter_types(link).await?;
                link.execute(sql("SET LOCAL plan_cache_mode = force_generic_plan"))
                    .await?;
                let mut plans = Vec::new();
                for (number, statement) in statements.iter().enumerate() {
                    let types = types
                        .get(statement)
                        .with_context(|| format!("PostgreSQL does not know {statement}"))?;
                    let lines = postgres_lines(link, number, statement, types).await?;
                    let mut plan = self.postgres(&lines);
                    let handful = |read: &Read| HANDFUL.contains(&read.table.as_str());
                    if plan.iter().any(|read| read.whole && handful(read)) {
                        dear_walks(link, "off").await?;
                        let lines = postgres_lines(link, number, statement, types).await?;
                        dear_walks(link, "on").await?;
                        plan.retain(|read| !handful(read));
                        plan.extend(self.postgres(&lines).into_iter().filter(handful));
                    }
                    plans.push(plan);
                }
                Ok(plans)
            }
        }
    }

    /// The table behind a name of a statement; what the statement makes on its way is none.
    fn table(&self, statement: &str, name: &str) -> Option<String> {
        let known = |word: &str| self.schema.tables.iter().any(|table| table == word);
        if known(name) {
            return Some(name.to_owned());
        }
        let words = statement.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<&str> = words
            .filter(|word| !word.is_empty() && *word != "AS")
            .collect();
        let named = words
            .array_windows()
            .find(|[table, alias]| *alias == name && known(table));
        named.map(|[table, _]| (*table).to_owned())
    }

    fn sqlite(&self, statement: &str, lines: &[String]) -> Vec<Read> {
        let read = |line: &String| {
            let (verb, rest) = line.split_once(' ')?;
            let whole = match verb {
                "SCAN" => true,
                "SEARCH" => false,
                _ => return None,
            };
            let table = self.table(statement, rest.split(' ').next()?)?;
            let index = rest.split_once(" INDEX ");
            let index = index.and_then(|(_, after)| after.split(' ').next());
            Some(Read {
                table,
                // One that is made for this statement, from the whole table.
                whole: whole || line.contains(" AUTOMATIC "),
                index: index.map(str::to_owned),
                line: line.clone(),
            })
        };
        lines.iter().filter_map(read).collect()
    }

    fn postgres(&self, lines: &[String]) -> Vec<Read> {
        let mut reads: Vec<Read> = Vec::new();
        for line in lines {
            let line = line.trim_start().trim_start_matches("->").trim();
            if let Some(condition) = line.strip_prefix("Index Cond: ") {
                if let Some(read) = reads.last_mut() {
                    let first = read.index.as_ref().and_then(|i| self.schema.indexes.get(i));
                    // Only a condition on the first column is a way into an index.
                    read.whole = first.is_none_or(|(_, first)| !mentions(condition, first));
                    read.line = format!("{} {condition}", read.line);
                }
                continue;
            }
            let index = line
                .split_once("Index Scan on ")
                .or_else(|| line.split_once(" using "))
                .and_then(|(_, after)| after.split(' ').next());
            let table = match index.and_then(|index| self.schema.indexes.get(index)) {
                Some((table, _)) => Some(table.as_str()),
                // A bitmap is made of an index, which is the next line.
                None if line.starts_with("Bitmap Heap Scan on ") => None,
                None => line
                    .split_once("Scan on ")
                    .and_then(|(_, after)| after.split(' ').next()),
            };
            let table = table.filter(|name| self.schema.tables.iter().any(|table| table == name));
            if let Some(table) = table {
                reads.push(Read {
                    table: table.to_owned(),
                    index: index.map(str::to_owned),
                    whole: true,
                    line: line.to_owned(),
                });
            }
        }
        reads
    }
}

/// Whether PostgreSQL may read a table for its own sake, or as one side of a join.
async fn dear_walks(link: &mut Link, so: &str) -> Result<()> {
    for way in ["seqscan", "hashjoin", "mergejoin"] {
        link.execute(sql(forever(format!("SET LOCAL enable_{way} = {so}"))))
            .await?;
    }
    Ok(())
}

/// Whether a condition speaks of this column of the table itself; other tables' columns have a prefix.
fn mentions(condition: &str, column: &str) -> bool {
    let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
    words.any(|word| word == column)
}

/// The types of the parameters of every statement that the driver has prepared on this connection, by its text.
async fn parameter_types(link: &mut Link) -> Result<BTreeMap<String, String>> {
    let query = sql(
        "SELECT statement, coalesce(array_to_string(parameter_types, ','), '') AS types
                     FROM pg_prepared_statements",
    );
    let rows = link.all(query).await?;
    let entry = |row: &Row| -> Result<_> {
        let text = row.text("statement")?;
        Ok((text.trim().to_owned(), row.text("types")?))
    };
    rows.iter().map(entry).collect()
}

async fn postgres_lines(
    link: &mut Link,
    number: usize,
    statement: &str,
    types: &str,
) -> Result<Vec<String>> {
    let name = format!("asked_{number}");
    let (declared, given) = match types.split(',').filter(|one| !one.is_empty()).count() {
        0 => (String::new(), String::new()),
        count => (
            format!(" ({types})"),
            format!(" ({})", vec!["NULL"; count].join(", ")),
        ),
    };
    let prepare = forever(format!("PREPARE {name}{declared} AS {statement}"));
    link.execute(sql(prepare)).await?;
    let explain = forever(format!("EXPLAIN (COSTS OFF) EXECUTE {name}{given}"));
    let rows = link.all(sql(explain)).await?;
    link.execute(sql(forever(format!("DEALLOCATE {name}"))))
        .await?;
    let lines = rows.iter().map(|row| row.text("QUERY PLAN"));
    Ok(lines.collect::<Result<_, _>>()?)
}
