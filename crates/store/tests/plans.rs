//! The hot statements find their rows by an index: SQLite's query planner is asked about what the store really ran.
//!
//! One test and a binary of its own, because listening to statements is global to a process.

#[cfg(test)]
mod plans {
    use anyhow::Result;
    use model::git::SnapshotTrigger;
    use model::message::RequestStatus;
    use model::summary::SummaryPayload;
    use std::fmt::Debug;
    use std::sync::{Arc, Mutex};
    use store::activity;
    use store::messages::{self, Window};
    use store::sql::sql;
    use store::summaries::CompareOutcome;
    use store::tx::WriteTx;
    use store::{
        authority, hydration, recovery, requests, segments, sessions, snapshots, summaries, tasks,
    };
    use testkit::story::Story;
    use testkit::story::look::Look;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    /// Keeps the text of every statement that the database driver reports.
    #[derive(Clone, Default)]
    struct Listener(Arc<Mutex<Vec<String>>>);

    impl Listener {
        fn take(&self) -> Vec<String> {
            std::mem::take(&mut self.0.lock().unwrap())
        }
    }

    /// A short statement is reported as its summary alone, a longer one in full beside it.
    #[derive(Default)]
    struct Text {
        summary: String,
        full: String,
    }

    impl Visit for Text {
        fn record_str(&mut self, field: &Field, value: &str) {
            match field.name() {
                "summary" => value.clone_into(&mut self.summary),
                "db.statement" => value.trim().clone_into(&mut self.full),
                _ => {}
            }
        }

        fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
    }

    impl Subscriber for Listener {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "sqlx::query"
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut text = Text::default();
            event.record(&mut text);
            let text = if text.full.is_empty() {
                text.summary
            } else {
                text.full
            };
            self.0.lock().unwrap().push(text);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    struct Plans {
        story: Story,
        listener: Listener,
    }

    impl Plans {
        /// Runs `work`, then asks how each of its statements finds its rows: by `indexes` among others, and never by
        /// going through a whole table, `scanned` excepted.
        async fn check(
            &self,
            indexes: &[&str],
            scanned: &[&str],
            work: impl AsyncFnOnce(&mut WriteTx) -> store::error::Result<()>,
        ) -> Result<()> {
            self.listener.take();
            self.story.change(&[], work).await?;
            let mut steps = Vec::new();
            for statement in self.listener.take() {
                let asks = ["SELECT", "UPDATE", "DELETE", "INSERT", "WITH"];
                if asks.iter().any(|verb| statement.starts_with(verb)) {
                    steps.extend(self.explain(&statement).await?);
                }
            }
            assert!(!steps.is_empty(), "nothing was heard");
            for index in indexes {
                assert!(
                    steps.iter().any(|step| step.contains(index)),
                    "{index} is not used: {steps:#?}"
                );
            }
            let made_on_the_way = ["pairs", "wanted", "CONSTANT", "(subquery"];
            for step in &steps {
                let whole = step.strip_prefix("SCAN ").filter(|table| {
                    let name = table.split(' ').next().unwrap_or("");
                    !made_on_the_way.contains(&name) && !scanned.contains(&name)
                });
                assert_eq!(whole, None, "a whole table is read: {steps:#?}");
                assert!(!step.contains("AUTOMATIC"), "an index is missing: {step}");
            }
            Ok(())
        }

        async fn explain(&self, statement: &str) -> Result<Vec<String>> {
            // Statement texts are static on purpose; the few of this test may stay in memory.
            let explain: &'static str = format!("EXPLAIN QUERY PLAN {statement}").leak();
            let mut tx = self.story.store().read().await?;
            let rows = tx.all(sql(explain)).await?;
            self.listener.take();
            Ok(rows
                .iter()
                .map(|row| row.text("detail"))
                .collect::<Result<_, _>>()?)
        }
    }

    /// PST-04.
    #[tokio::test]
    async fn pst_04_hot_statements_read_no_whole_table() -> Result<()> {
        let listener = Listener::default();
        tracing::subscriber::set_global_default(listener.clone())?;
        let story = Story::sqlite().await?;
        let task = story.task().await?;
        let environment = story.environment(&task, &["root"]).await?;
        let session = story.session(&task, Some(&environment)).await?;
        let (turn, _) = story.prompt(&session, "go").await?;
        let asked = story.permission(&session, &turn).await?;
        let streaming = story.stream(&session, &turn, "text").await?;
        let look = Look {
            by: SnapshotTrigger::AgentCompleted,
            ..Look::at(story.now(), 1)
        };
        let snapshot = look.snapshot(&environment);
        let (workspace, ids) = (story.workspace.clone(), [task.clone()]);
        let plans = Plans { story, listener };

        let open = "task_session_messages_open_requests";
        let pair = "task_session_git_snapshots_current";
        plans
            .check(&[open, pair, "task_sessions_by_task"], &[], async |tx| {
                authority::load(tx, &ids).await.map(drop)
            })
            .await?;
        plans
            .check(&["tasks_living"], &[], async |tx| {
                let page = tasks::page(tx, &workspace, None, false, None, 50).await?;
                tasks::load(tx, &page).await.map(drop)
            })
            .await?;
        // The projector's writes: made, then replaced, then marked.
        plans
            .check(&["task_status_summaries", "tasks"], &[], async |tx| {
                let now = tx.now();
                let (mut payload, mut seen) = (SummaryPayload::default(), None);
                for count in [1, 2] {
                    payload.queued_prompt_count = Some(count);
                    let (id, seen_row) = (&ids[0], seen.as_ref());
                    let outcome =
                        summaries::compare_and_update(tx, id, &workspace, seen_row, &payload, now);
                    seen = match outcome.await? {
                        CompareOutcome::Written(summary) => Some(*summary),
                        _ => None,
                    };
                }
                assert!(seen.is_some(), "both were written");
                summaries::mark_derived(tx, &ids[0], 1).await
            })
            .await?;
        plans
            .check(&[open, "task_sessions_by_task"], &[], async |tx| {
                hydration::open_requests(tx, &ids).await.map(drop)
            })
            .await?;
        plans
            .check(
                &[
                    "task_session_messages_prompts",
                    "task_session_turns_by_session",
                ],
                &[],
                async |tx| {
                    let behind = activity::behind(tx, &ids).await?;
                    assert_eq!(behind.len(), 1);
                    activity::raise(tx, &behind).await.map(drop)
                },
            )
            .await?;
        plans
            .check(&["tasks_stale"], &["tasks"], async |tx| {
                summaries::stale_tasks(tx, None, 200).await.map(drop)
            })
            .await?;
        plans
            .check(&[open, "task_session_turns_by_session"], &[], async |tx| {
                sessions::get(tx, &session).await?;
                sessions::of_task(tx, &task).await?;
                requests::of_task(tx, &task).await.map(drop)
            })
            .await?;
        plans
            .check(&[open], &[], async |tx| {
                let now = tx.now();
                let status = RequestStatus::Expired;
                requests::end_permissions(tx, &session, status, now)
                    .await
                    .map(drop)
            })
            .await?;
        plans
            .check(&[pair], &[], async |tx| {
                snapshots::record(tx, &snapshot).await.map(drop)
            })
            .await?;
        plans
            .check(
                &[
                    "task_session_messages_by_seq",
                    "task_session_messages_queued",
                    "task_session_messages_streaming",
                ],
                &[],
                async |tx| {
                    messages::list(tx, &session, Window::Newest, 50).await?;
                    messages::list(tx, &session, Window::After(0), 50).await?;
                    messages::get(tx, &asked.message_id).await?;
                    messages::prompts_of_turn(tx, &turn).await?;
                    messages::queue(tx, &session).await?;
                    segments::unsettled(tx, &session).await?;
                    let now = tx.now();
                    segments::fold(tx, &streaming, now).await
                },
            )
            .await?;
        // Start-up goes through sessions once, and through nothing that grows with what agents say.
        plans
            .check(
                &[
                    open,
                    "task_session_messages_streaming",
                    "task_session_turns_open",
                ],
                &["s"],
                async |tx| recovery::sessions(tx).await.map(drop),
            )
            .await
    }
}
