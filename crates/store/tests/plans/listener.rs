//! Hears the text of every statement that reaches a database driver.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps what it hears until it is taken.
#[derive(Clone, Default)]
pub(crate) struct Listener(Arc<Mutex<Vec<String>>>);

impl Listener {
    /// The one of this process. (SQLite's driver speaks from a thread of its own, so that a listener per thread would
    /// not hear it.)
    pub(crate) fn of_the_process() -> Self {
        static ONE: OnceLock<Listener> = OnceLock::new();
        let one = ONE.get_or_init(|| {
            let listener = Self::default();
            tracing::subscriber::set_global_default(listener.clone())
                .expect("nobody else listens in this process");
            listener
        });
        one.clone()
    }

    /// What was heard since the last time and asks a planner something, each text once.
    pub(crate) fn take(&self) -> Vec<String> {
        let mut heard = std::mem::take(&mut *self.0.lock().unwrap());
        let asks = ["SELECT", "UPDATE", "DELETE", "INSERT", "WITH"];
        heard.retain(|text| asks.iter().any(|verb| text.starts_with(verb)));
        // The lock of the one writer reads nothing.
        heard.retain(|text| !text.contains("pg_advisory"));
        heard.sort();
        heard.dedup();
        heard
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
